import { IGNORED } from '../judge.ts';
import { chances, winner } from '../oracle.ts';
import type { PairProbe, Shown } from '../probe.ts';
import type { Words } from '../words.ts';

const DRAWN: Words = { maxTokens: 6, temperature: 2, topP: 1, seed: 5, generationLogits: true };
/** So small that the second token and all behind it are the likeliest. */
const DECAY = 1e-6;

/** A top_p that leaves no choice where one token has more than that. */
const SURE = 0.6;

const idsOf = (r: Shown, name: string): readonly number[] => r.replies[name]!.answers[0]?.ids ?? [];

/** How top_p changes from token to token; tensorrt_llm alone has these inputs. */
export const TOP_P_OVER_TIME: readonly PairProbe[] = [
  {
    kind: 'pair',
    id: 'top-p-decay',
    effect: 'After each token top_p is multiplied by the decay: with a tiny one all but the first token are the likeliest.',
    words: ['topPDecay'],
    subjects: 6,
    oneIsEnough: true,
    asks: () => ({ without: DRAWN, with: { ...DRAWN, topPDecay: DECAY } }),
    shows(r) {
      const [before, after] = [idsOf(r, 'without'), idsOf(r, 'with')];
      if (before.join() === after.join()) return IGNORED;
      return likeliest(r) ? undefined : 'a token behind the first is not the likeliest';
    },
  },
  {
    kind: 'pair',
    id: 'top-p-min',
    effect: 'top_p does not decay below the minimum: with a minimum of 1 it does not decay at all.',
    words: ['topPMin', 'topPDecay'],
    subjects: 6,
    oneIsEnough: true,
    asks: () => ({ without: { ...DRAWN, topPDecay: DECAY }, with: { ...DRAWN, topPDecay: DECAY, topPMin: 1 }, undecayed: DRAWN }),
    shows(r) {
      const [before, after] = [idsOf(r, 'without'), idsOf(r, 'with')];
      if (before.join() === after.join()) return IGNORED;
      return idsOf(r, 'undecayed').join() === after.join() ? undefined : 'the answer is not the one without a decay';
    },
  },
  {
    kind: 'pair',
    id: 'top-p-reset',
    effect: 'The reset id sets top_p back to what it was.',
    words: ['topPResetId', 'topPDecay'],
    subjects: 8,
    oneIsEnough: true,
    asks(s) {
      const words: Words = { ...DRAWN, maxTokens: 2, topP: SURE, topPDecay: DECAY };
      const [first, second] = s.logits.map((logits) => Math.max(...chances(logits, { temperature: 2 })));
      // The first token is certain, the second is not.
      if (first === undefined || second === undefined || first < SURE || second > SURE) return undefined;
      return { without: words, with: { ...words, topPResetId: s.greedy[0]! }, undecayed: { ...words, topPDecay: 1 } };
    },
    shows(r) {
      const [before, after] = [idsOf(r, 'without'), idsOf(r, 'with')];
      if (before.join() === after.join()) return IGNORED;
      return idsOf(r, 'undecayed').join() === after.join() ? undefined : 'the second token is not the one without a decay';
    },
  },
];

function likeliest(r: Shown): boolean {
  const ids = idsOf(r, 'with');
  const [logits] = r.replies['with']!.outputs.get('generation_logits') ?? [];
  const vocabulary = r.tokenizer.vocabSize;
  const values = Array.from(logits?.values ?? []);
  return ids.every((id, k) => k === 0 || winner(values.slice(k * vocabulary, (k + 1) * vocabulary))[0] === id);
}
