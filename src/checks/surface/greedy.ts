/** Every way to ask for greedy, and what it gives: docs/determinism.md#greedy as data. */
import type { Surface } from './spellings.ts';
import type { Words } from './words.ts';

export interface GreedyRow {
  readonly id: string;
  readonly words: Words;
  /** `greedy`; `draws`, which is no spelling of greedy however much it looks like one; `gap`: greedy but for the known gap. */
  readonly gives: 'greedy' | 'draws' | 'gap';
  readonly surfaces: readonly Surface[];
}

const MODELS: readonly Surface[] = ['tensorrt_llm', 'ensemble', 'tensorrt_llm_bls'];
const FRONT_END: readonly Surface[] = ['completions', 'chat'];
/** The LLM API: nothing set, or one setting that says so by itself (docs/observed.md#torch-path). */
const LLM_API: readonly Surface[] = ['llmapi'];
/** The LLM API behind trtllm-serve, which sends temperature 1 and top_p 1 by itself (docs/observed.md#trtllm-serve). */
const SERVE: readonly Surface[] = ['trtllm-serve'];
const TINY = 1e-6;

export const GREEDY_ROWS: readonly GreedyRow[] = [
  { id: 'nothing', words: {}, gives: 'greedy', surfaces: MODELS },
  { id: 'temperature alone', words: { temperature: 5 }, gives: 'greedy', surfaces: MODELS },
  { id: 'temperature 0', words: { temperature: 0 }, gives: 'greedy', surfaces: MODELS },
  { id: 'top_k 1', words: { topK: 1 }, gives: 'greedy', surfaces: MODELS },
  { id: 'top_k 1, temperature 5, top_p 1', words: { topK: 1, temperature: 5, topP: 1 }, gives: 'greedy', surfaces: MODELS },
  { id: 'top_k 0', words: { topK: 0 }, gives: 'greedy', surfaces: MODELS },
  { id: 'top_p 0', words: { topP: 0 }, gives: 'greedy', surfaces: MODELS },
  { id: 'top_k 0, top_p 0', words: { topK: 0, topP: 0 }, gives: 'greedy', surfaces: MODELS },
  { id: 'temperature 0, top_k 0, top_p 0', words: { temperature: 0, topK: 0, topP: 0 }, gives: 'greedy', surfaces: MODELS },
  { id: 'temperature 0, top_k 50', words: { temperature: 0, topK: 50 }, gives: 'greedy', surfaces: MODELS },
  { id: 'temperature 0, top_k 0, top_p 1', words: { temperature: 0, topK: 0, topP: 1 }, gives: 'greedy', surfaces: MODELS },
  { id: 'top_k 50', words: { topK: 50 }, gives: 'draws', surfaces: MODELS },
  { id: 'top_p tiny', words: { topP: TINY }, gives: 'greedy', surfaces: MODELS },
  { id: 'top_p tiny, temperature 1', words: { topP: TINY, temperature: 1 }, gives: 'greedy', surfaces: [...MODELS, ...FRONT_END] },
  { id: 'temperature 0, top_p 0', words: { temperature: 0, topP: 0 }, gives: 'greedy', surfaces: [...MODELS, ...FRONT_END] },
  { id: 'temperature 0, top_p 1', words: { temperature: 0, topP: 1 }, gives: 'gap', surfaces: [...MODELS, ...FRONT_END] },
  { id: 'temperature 0, top_p 0.5', words: { temperature: 0, topP: 0.5 }, gives: 'gap', surfaces: [...MODELS, ...FRONT_END] },
  { id: 'nothing (LLM API)', words: {}, gives: 'greedy', surfaces: LLM_API },
  { id: 'temperature 0 (LLM API)', words: { temperature: 0 }, gives: 'greedy', surfaces: LLM_API },
  { id: 'temperature 0, top_p 1 (LLM API)', words: { temperature: 0, topP: 1 }, gives: 'greedy', surfaces: LLM_API },
  { id: 'top_k 1, temperature 5, top_p 1 (LLM API)', words: { topK: 1, temperature: 5, topP: 1 }, gives: 'greedy', surfaces: LLM_API },
  { id: 'top_p 0, temperature 5 (LLM API)', words: { topP: 0, temperature: 5 }, gives: 'greedy', surfaces: LLM_API },
  { id: 'temperature alone (LLM API)', words: { temperature: 5 }, gives: 'draws', surfaces: LLM_API },
  { id: 'top_k 0 (LLM API)', words: { topK: 0 }, gives: 'draws', surfaces: LLM_API },
  { id: 'nothing (trtllm-serve)', words: {}, gives: 'draws', surfaces: SERVE },
  { id: 'temperature 1 (trtllm-serve)', words: { temperature: 1 }, gives: 'draws', surfaces: SERVE },
  { id: 'temperature 0 (trtllm-serve)', words: { temperature: 0 }, gives: 'greedy', surfaces: SERVE },
  { id: 'temperature 0, top_p 1 (trtllm-serve)', words: { temperature: 0, topP: 1 }, gives: 'greedy', surfaces: SERVE },
  { id: 'top_k 1, temperature 2 (trtllm-serve)', words: { topK: 1, temperature: 2 }, gives: 'greedy', surfaces: SERVE },
  { id: 'top_p 0, temperature 2 (trtllm-serve)', words: { topP: 0, temperature: 2 }, gives: 'greedy', surfaces: SERVE },
  { id: 'top_p tiny (trtllm-serve)', words: { topP: TINY, temperature: 2 }, gives: 'greedy', surfaces: SERVE },
  // The front end sends top_p 1 by itself, and a temperature of its own.
  { id: 'nothing (front end)', words: {}, gives: 'draws', surfaces: FRONT_END },
  { id: 'temperature 0 (front end)', words: { temperature: 0 }, gives: 'gap', surfaces: FRONT_END },
  { id: 'temperature 0, top_p null', words: { temperature: 0, topP: null }, gives: 'greedy', surfaces: FRONT_END },
  { id: 'temperature null, top_p null', words: { temperature: null, topP: null }, gives: 'greedy', surfaces: FRONT_END },
  { id: 'temperature null, top_p 0', words: { temperature: null, topP: 0 }, gives: 'greedy', surfaces: FRONT_END },
];
