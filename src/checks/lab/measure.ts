import { NO_NOISE, type Noise, measureNoise } from '#checks/compare/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Lab } from './lab.ts';
import { promptPool } from './goldens.ts';
import { makePlan, requestOf } from './plan.ts';

/** Few and short: what is looked for, other numbers for equal requests, shows in the first tokens or in the cache's reuse. */
const PROMPTS = 4;
const REPEATS = 3;
const TOKENS = 32;

/**
 * How much this target's numbers move between equal requests, one after the other, on prompts drawn from the whole
 * pool by the run's seed: a claim or a request that is repeated alone is judged by the same bound. A request that gets no answer says nothing about noise.
 */
export async function measuredNoise(lab: Lab): Promise<Noise> {
  if (lab.parts.notServed.has('raw')) return NO_NOISE;
  const groups: Transcript[][] = [];
  for (const prompt of makePlan(promptPool(lab.tokenizer, lab.parts.prompts), lab.plan.seed).draw('noise', PROMPTS)) {
    const request = requestOf(prompt, { maxTokens: TOKENS, stopAtEos: false });
    const group: Transcript[] = [];
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const t = await lab.run({ request, route: 'raw', mode: lab.mode, repeat }, { logProbs: true });
      if (t.errors.length > 0 || t.ending !== 'complete') return measureNoise([...groups, group]);
      group.push(t);
    }
    groups.push(group);
  }
  return measureNoise(groups);
}
