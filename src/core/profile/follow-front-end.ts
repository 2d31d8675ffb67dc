import { compareReleases } from './compare-releases.ts';
import type { Followed } from './follow-core.ts';
import { profileOf } from './profile-of.ts';
import { RELEASES } from './releases.ts';

const PREFIX = 'trtllm-serve-';

/**
 * The profile with its front end on the trtllm-serve that an endpoint says it is, by the TensorRT-LLM release of its /version. A
 * front end that was named stays; a release that no profile knows behaves like the newest one before it, as far as is known.
 */
export function followFrontEnd(profile: string, tensorrtLlm: string | undefined): Followed {
  if (tensorrtLlm === undefined || !/^\d+\.\d+/.test(tensorrtLlm) || /(^|,)openai=/.test(profile)) return { profile, note: undefined };
  const numberOf = (id: string) => id.slice(PREFIX.length).replace(/rc$/, '');
  const known = RELEASES.openai
    .filter(({ trtllmServe }) => trtllmServe !== undefined)
    .toSorted((a, b) => compareReleases(numberOf(a.id), numberOf(b.id)));
  const found = known.findLast(({ id }) => compareReleases(numberOf(id), tensorrtLlm) <= 0) ?? known[0];
  if (found === undefined) return { profile, note: undefined };
  const exact = tensorrtLlm.startsWith(`${numberOf(found.id)}.`) || tensorrtLlm.startsWith(`${numberOf(found.id)}rc`);
  const note = exact ? undefined : `trtllm-serve ${tensorrtLlm} is not known, held to ${found.id.slice(PREFIX.length)}`;
  return { profile: profileOf(`${profile},openai=${found.id}`).id, note };
}
