import type { Claim } from '#checks/lab/claim.ts';
import { rngFrom } from '#core/seed/index.ts';

/** Keys of a part of the claims, at least one of each suite, drawn by the seed; `label` tells one draw of a run from another. */
export function drawnClaims(
  claims: readonly Claim[],
  { seed, part, label }: { readonly seed: number; readonly part: number; readonly label: string },
): readonly string[] {
  return [...Map.groupBy(claims, ({ suite }) => suite)].flatMap(([suite, own]) =>
    rngFrom(seed, `${label}claims of ${suite}`)
      .shuffle(own)
      .slice(0, Math.ceil(own.length * part))
      .map(({ id }) => `${suite}/${id}`),
  );
}
