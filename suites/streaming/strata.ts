import fc from 'fast-check';
import type { Lab } from '#checks/lab/lab.ts';
import { type PoolPrompt, requestOf } from '#checks/lab/plan.ts';
import type { Request } from '#core/request/index.ts';

/** A phrase of several tokens that no answer has: the one behind it in the list must work all the same. */
const NEVER_SAID = 'zq zq zq';

/** A generated case, before it is known what its answer looks like. */
export interface Drawn {
  readonly prompt: PoolPrompt;
  readonly maxTokens: number;
  /** Position of the token that becomes the stop word, counted from the start and wrapped to the answer's length. */
  readonly stopAt: number;
  readonly minTokens: number;
}

export interface Stratum {
  readonly id: 'eos' | 'length' | 'stop-words' | 'min-tokens' | 'split';
  readonly arbitrary: (lab: Lab) => fc.Arbitrary<Drawn>;
  /** The request, or undefined when the drawn values do not fit the prompt's answer. */
  readonly request: (lab: Lab, drawn: Drawn) => Promise<Request | undefined>;
  /** Routes that cannot carry it are left out by the route itself. */
}

const base = (prompts: readonly PoolPrompt[], maxTokens: fc.Arbitrary<number>): fc.Arbitrary<Drawn> =>
  fc.record({ prompt: fc.constantFrom(...prompts), maxTokens, stopAt: fc.nat(40), minTokens: fc.integer({ min: 1, max: 20 }) });

const pool = (lab: Lab, only?: (p: PoolPrompt) => boolean): readonly PoolPrompt[] => {
  const some = lab.plan.prompts.filter((p) => p.long !== true && (only?.(p) ?? true));
  return some.length > 0 ? some : lab.plan.prompts;
};

/** Each stratum aims at one way in which an answer ends, so that no law is left without cases by chance. */
export const STRATA: readonly Stratum[] = [
  {
    id: 'eos',
    arbitrary: (lab) => base(pool(lab), fc.integer({ min: 40, max: 60 })),
    request: async (_, d) => requestOf(d.prompt, { maxTokens: d.maxTokens }),
  },
  {
    id: 'length',
    arbitrary: (lab) =>
      base(
        pool(lab, (p) => p.eosAtOnce !== true),
        fc.integer({ min: 1, max: 6 }),
      ),
    request: async (_, d) => requestOf(d.prompt, { maxTokens: d.maxTokens }, `-max-${d.maxTokens}`),
  },
  {
    id: 'split',
    arbitrary: (lab) =>
      base(
        pool(lab, (p) => p.split === true),
        fc.integer({ min: 1, max: 40 }),
      ),
    request: async (_, d) => requestOf(d.prompt, { maxTokens: d.maxTokens }, `-max-${d.maxTokens}`),
  },
  {
    id: 'stop-words',
    arbitrary: (lab) =>
      base(
        pool(lab, (p) => p.eosAtOnce !== true),
        fc.integer({ min: 20, max: 40 }),
      ),
    async request(lab, d) {
      const plain = requestOf(d.prompt, { maxTokens: d.maxTokens });
      if (!lab.knows(plain)) return undefined;
      const whole = await lab.truth(plain);
      const at = d.stopAt % Math.max(1, whole.ids.length);
      const ids = whole.ids.slice(at, at + 1 + (d.stopAt % 2));
      const word = lab.tokenizer.decode(ids);
      // Only a phrase that is spelt with these very tokens can be met.
      if (ids.length === 0 || lab.tokenizer.encode(word, { addSpecialTokens: false }).join() !== ids.join()) return undefined;
      const stopWords = d.minTokens % 2 === 0 ? [word] : [NEVER_SAID, word];
      return requestOf(d.prompt, { maxTokens: d.maxTokens, stopWords }, `-stop-${ids.join('-')}${stopWords.length > 1 ? '-second' : ''}`);
    },
  },
  {
    id: 'min-tokens',
    arbitrary: (lab) => base(pool(lab), fc.integer({ min: 20, max: 30 })),
    request: async (_, d) => requestOf(d.prompt, { maxTokens: d.maxTokens, minTokens: d.minTokens }, `-min-${d.minTokens}`),
  },
];
