/** What could change an answer and is not, or not known to be, as it was when the goldens were recorded. */
import { UNKNOWN } from '#core/identity/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { IdentityDifference } from './provided.ts';

type Identity = Readonly<Record<string, string>>;

/** Without these two a comparison of identities says nothing. */
const NEEDED = ['weights', 'tokenizer'] as const;

/** What any recording in use and the target both state, and state differently. */
export function identityDifferences(recordings: readonly Identity[], target: Identity): readonly IdentityDifference[] {
  return Object.entries(target).flatMap(([key, value]) => {
    if (value === UNKNOWN) return [];
    const others = new Set(recordings.map((r) => r[key]).filter((v) => v !== undefined && v !== UNKNOWN && v !== value));
    return [...others].map((golden) => ({ key, golden: golden as string, target: value }));
  });
}

/** For --strict-identity. Errors: `identity-differs`, `identity-unknown`. */
export function refuseOtherIdentity(recordings: readonly Identity[], target: Identity): void {
  const differing = identityDifferences(recordings, target);
  if (differing.length > 0) {
    throw new LockstepError(
      'identity-differs',
      `the target is not what the goldens were recorded on: ${differing.map((d) => `${d.key} ${d.golden} → ${d.target}`).join('; ')}`,
      { hint: 'Run without --strict-identity to compare all the same, or record goldens on this target.' },
    );
  }
  if (recordings.length === 0) {
    throw new LockstepError('identity-unknown', 'there are no goldens, so there is no identity to hold the target to', {
      hint: 'Record them with `lockstep goldens record`, or run without --strict-identity.',
    });
  }
  const silent = NEEDED.flatMap((key) => [
    ...(known(target[key]) ? [] : [`the target does not tell its ${key}`]),
    ...(recordings.every((r) => known(r[key])) ? [] : [`a recording of the goldens does not tell its ${key}`]),
  ]);
  if (silent.length === 0) return;
  throw new LockstepError('identity-unknown', `nothing shows that the target is what the goldens were recorded on: ${silent.join('; ')}`, {
    hint: 'Run without --strict-identity to compare all the same; a target that this project starts tells both.',
  });
}

function known(value: string | undefined): boolean {
  return value !== undefined && value !== UNKNOWN;
}
