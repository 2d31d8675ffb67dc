import { LockstepError } from '#core/errors/index.ts';

export interface Identified {
  readonly address: string;
  readonly identity: Readonly<Record<string, string>>;
}

/**
 * Whether all say the same of themselves; what one does not tell differs from what another tells.
 *
 * Errors: `replicas-differ`, with every part that differs and who says what.
 */
export function assertSameIdentity(replicas: readonly Identified[]): void {
  const keys = [...new Set(replicas.flatMap(({ identity }) => Object.keys(identity)))];
  const differing = keys.filter((key) => new Set(replicas.map(({ identity }) => identity[key])).size > 1);
  if (differing.length === 0) return;
  const lines = differing.map(
    (key) => `${key}: ${replicas.map(({ address, identity }) => `${identity[key] ?? 'not told'} at ${address}`).join(', ')}`,
  );
  throw new LockstepError('replicas-differ', `the replicas are not the same server: ${differing.join(', ')}`, {
    hint: 'Start all of them from one image, engine and model repository, or check each one by itself.',
    context: { differs: lines.length === 1 ? lines[0] : lines.join('\n') },
  });
}
