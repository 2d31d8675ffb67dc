import { chances } from '../oracle.ts';
import type { DrawProbe, SeedProbe } from '../probe.ts';

/** The highest that the OpenAI schema takes: it flattens the distribution, so that draws tell much. */
const HOT = 2;
const TOP_K = 2;
const TOP_P = 0.3;

const hot = (logits: Float32Array) => chances(logits, { temperature: HOT });

/** Parameters of the draw. */
export const DRAWS: readonly (DrawProbe | SeedProbe)[] = [
  {
    kind: 'draw',
    id: 'temperature',
    effect: 'Logits are divided by the temperature: a high one makes unlikely tokens likely.',
    words: ['temperature', 'topP'],
    with: { temperature: HOT, topP: 1 },
    chances: (logits) => ({ applied: hot(logits), ignored: chances(logits, {}) }),
  },
  {
    kind: 'draw',
    id: 'top-k',
    effect: 'Only the top_k likeliest tokens are drawn.',
    words: ['topK', 'temperature'],
    with: { temperature: HOT, topK: TOP_K },
    chances: (logits) => ({ applied: chances(logits, { temperature: HOT, topK: TOP_K }), ignored: hot(logits) }),
  },
  {
    kind: 'draw',
    id: 'top-p',
    effect: 'Only the likeliest tokens that together hold top_p of the chance are drawn.',
    words: ['topP', 'temperature'],
    with: { temperature: HOT, topP: TOP_P },
    chances: (logits) => ({ applied: chances(logits, { temperature: HOT, topP: TOP_P }), ignored: hot(logits) }),
  },
  {
    kind: 'seed',
    id: 'seed',
    effect: 'An answer is repeated by its seed, and another seed can give another answer.',
    words: ['seed', 'temperature', 'topP'],
    with: { temperature: HOT, topP: 1 },
    chances: hot,
  },
];
