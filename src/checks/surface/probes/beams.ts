import { IGNORED } from '../judge.ts';
import { chances } from '../oracle.ts';
import type { PairProbe, Shown } from '../probe.ts';
import type { Given, Reply } from '../reply.ts';
import type { Words } from '../words.ts';

const WIDTH = 3;
const TOKENS = 8;
const BEAMS: Words = { maxTokens: TOKENS, beamWidth: WIDTH, logProbs: true };
const HOT: Words = { maxTokens: TOKENS, temperature: 2, topP: 1, seed: 11 };
/** Differences of float32 sums. */
const ROUNDING = 1e-3;

/** Several answers to one request: beams, which search for likely ones, and sequences, which draw. */
export const BEAMS_AND_SEQUENCES: readonly PairProbe[] = [
  {
    kind: 'pair',
    id: 'beam-width',
    effect: 'beam_width gives that many different answers, the likeliest first, and the first no less likely than the greedy one.',
    words: ['beamWidth'],
    outputs: ['cum_log_probs'],
    subjects: 2,
    asks: (s) => (s.ended && s.greedy.length < TOKENS ? { without: { maxTokens: TOKENS, logProbs: true }, with: BEAMS } : undefined),
    shows(r) {
      const { answers } = r.replies['with']!;
      if (answers.length !== WIDTH) return `${answers.length} answers came, ${WIDTH} beams were asked for`;
      if (new Set(answers.map(said)).size !== WIDTH) return `the beams are not different: ${JSON.stringify(answers.map((a) => a.text))}`;
      const scores = scoresOf(r.replies['with']!);
      const greedy = r.subject.logits.reduce(
        (sum, row, k) => sum + Math.log(chances(row, {})[r.subject.greedy[k] ?? r.tokenizer.eosId!]!),
        0,
      );
      if (scores.length !== WIDTH || !descends(scores)) return `the scores do not descend: ${list(scores)}`;
      return scores[0]! >= greedy - ROUNDING ? undefined : `the best beam has ${scores[0]}, the greedy answer ${greedy}`;
    },
  },
  {
    kind: 'pair',
    id: 'length-penalty',
    effect: 'With len_penalty the beams are in the order of log-probability by length to that power.',
    words: ['lengthPenalty', 'beamWidth'],
    subjects: 12,
    oneIsEnough: true,
    asks: (s) => (s.ended ? { without: BEAMS, with: { ...BEAMS, lengthPenalty: 2 } } : undefined),
    shows: (r) => beamsDiffer(r),
  },
  {
    kind: 'pair',
    id: 'beam-diversity',
    effect: 'beam_search_diversity_rate favours continuations of the beams behind.',
    words: ['beamDiversity', 'beamWidth'],
    subjects: 6,
    oneIsEnough: true,
    asks: () => ({ without: BEAMS, with: { ...BEAMS, beamDiversity: 3 } }),
    shows: (r) => beamsDiffer(r),
  },
  {
    kind: 'pair',
    id: 'early-stopping',
    effect: 'Without early_stopping the search goes on after as many beams have ended, while better ones can still come.',
    words: ['earlyStopping', 'beamWidth', 'lengthPenalty'],
    subjects: 12,
    oneIsEnough: true,
    asks(s) {
      const words: Words = { ...BEAMS, maxTokens: 16, lengthPenalty: 2 };
      return s.ended ? { without: { ...words, earlyStopping: true }, with: { ...words, earlyStopping: false } } : undefined;
    },
    shows: (r) => beamsDiffer(r),
  },
  {
    kind: 'pair',
    id: 'num-return-sequences',
    effect: 'num_return_sequences gives that many answers; the i-th is drawn by the seed plus i.',
    words: ['sequences', 'seed', 'temperature', 'topP'],
    outputs: ['sequence_index'],
    severalResponses: true,
    asks: (s) =>
      s.greedy.length < TOKENS
        ? undefined
        : { without: HOT, second: { ...HOT, seed: HOT.seed! + 1 }, third: { ...HOT, seed: HOT.seed! + 2 }, with: { ...HOT, sequences: 3 } },
    shows(r) {
      const together = r.replies['with']!.answers;
      if (together.length === 1) return `${IGNORED}: one sequence`;
      const alone = ['without', 'second', 'third'].map((name) => r.replies[name]!.answers[0]!);
      if (together.map((a) => a.sequence).join() !== '0,1,2') return `the sequences are ${together.map((a) => a.sequence).join(', ')}`;
      const wrong = together.findIndex((answer, i) => said(answer) !== said(alone[i]!));
      if (wrong < 0 || !r.exact) return undefined;
      return `sequence ${wrong} is ${JSON.stringify(together[wrong]!.text)}, its seed alone gives ${JSON.stringify(alone[wrong]!.text)}`;
    },
  },
];

function said({ ids, text }: Given): string {
  return ids?.join() ?? text;
}

function beamsDiffer(r: Shown): string | undefined {
  const [before, after] = [r.replies['without']!, r.replies['with']!].map((reply) => reply.answers.map(said).join('\n'));
  return before === after ? IGNORED : undefined;
}

/** cum_log_probs FP32 [1, beams]. */
function scoresOf(reply: Reply): number[] {
  return Array.from(reply.outputs.get('cum_log_probs')?.[0]?.values ?? []);
}

function descends(scores: readonly number[]): boolean {
  return scores.every((score, i) => i === 0 || score <= scores[i - 1]! + ROUNDING);
}

function list(scores: readonly number[]): string {
  return `[${scores.map((score) => score.toPrecision(4)).join(', ')}]`;
}
