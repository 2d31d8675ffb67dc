import { compareReleases } from './compare-releases.ts';
import type { CoreProfile } from './profile.ts';
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
 * that was named stays; a release that no profile knows behaves like the newest one before it, as far as is known. Of a core behind the
 * front ends of another release, `reported` says both.
 */
export function followCore(profile: string, reported: string | undefined): Followed {
  const asIs: Followed = { profile, note: undefined };
  if (reported === undefined || !/^\d+\.\d+/.test(reported) || /(^|,)core=/.test(profile)) return asIs;
  const cores = RELEASES.core.filter(({ id }) => !id.includes('+')).toSorted((a, b) => compareReleases(a.id, b.id));
  const core = cores.findLast(({ id }) => compareReleases(id, reported) <= 0) ?? cores[0];
  if (core === undefined) return asIs;
  const frontEnds = /front ends of (\d+\.\d+)/.exec(reported)?.[1];
  const found = RELEASES.core.find(({ id }) => id === `${core.id}+${frontEnds}`) ?? core;
  return {
    profile: found === profileOf(profile).core ? profile : profileOf(`${profile},core=${found.id}`).id,
    note: noteOf(core, reported),
  };
}

function noteOf({ id, frontEnds }: CoreProfile, reported: string): string | undefined {
  if (reported !== id && !reported.startsWith(`${id}.`)) return `core ${reported} is not known, held to ${id}`;
  const unseen = frontEnds.value !== id && !reported.includes(`front ends of ${frontEnds.value}`);
  return unseen ? `the front ends of ${reported} were not seen, held to those of ${frontEnds.value}` : undefined;
}
