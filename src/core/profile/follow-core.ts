import { compareReleases } from './compare-releases.ts';
import { profileOf } from './profile-of.ts';
import { RELEASES } from './releases.ts';

export interface Followed {
  /** A name that `profileOf` understands. */
  readonly profile: string;
  /** Said where the release itself is not known, as a phrase. */
  readonly note: string | undefined;
}

/**
 * The profile with its core axis on the release that a running server reports, as `2.47.0`: it knows best what it is. A core
 * that was named stays; a release that no profile knows behaves like the newest one before it, as far as is known.
 */
export function followCore(profile: string, reported: string | undefined): Followed {
  const asIs: Followed = { profile, note: undefined };
  if (reported === undefined || !/^\d+\.\d+/.test(reported) || /(^|,)core=/.test(profile)) return asIs;
  const known = RELEASES.core.toSorted((a, b) => compareReleases(a.id, b.id));
  const found = known.findLast((core) => compareReleases(core.id, reported) <= 0) ?? known[0];
  if (found === undefined) return asIs;
  const exact = reported.startsWith(`${found.id}.`) || reported === found.id;
  const note = exact ? undefined : `core ${reported} is not known, held to ${found.id}`;
  return { profile: found === profileOf(profile).core ? profile : profileOf(`${profile},core=${found.id}`).id, note };
}
