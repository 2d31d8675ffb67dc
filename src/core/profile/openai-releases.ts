/**
 * NVIDIA's OpenAI front end (triton-inference-server/server, python/openai) by release: each is the one before it and
 * what changed. Releases that are not listed answered like the one before, or were not run
 * (docs/observed.md#openai-front-end-by-release).
 */
import { observed } from './facts.ts';
import type { Fact, OpenAiProfile } from './profile.ts';

const PAGE = 'docs/observed.md#openai-front-end-by-release';
const seen = <T>(value: T): Fact<T> => observed(value, PAGE);

function after(previous: OpenAiProfile, id: string, changes: Partial<Omit<OpenAiProfile, 'id'>>): OpenAiProfile {
  return { ...previous, ...changes, id };
}

/** Of fields that the schema knows; what it does not know is refused by every release. */
const ALWAYS_DROPPED = ['min_tokens', 'ignore_eos', 'response_format', 'functions', 'function_call'];
const DROPPED_BEFORE_25_12 = [...ALWAYS_DROPPED, 'echo', 'top_logprobs'];

const R24_11: OpenAiProfile = {
  id: 'r24.11',
  finishReasonAlwaysStop: seen(true),
  disconnectCancels: seen(false),
  doubleBos: seen(true),
  chatExcludesInput: seen(false),
  completionsExcludeInput: seen(false),
  serverFailureStatus: seen(400),
  defaultMaxTokens: seen(16),
  droppedFields: seen([...DROPPED_BEFORE_25_12, 'tools', 'tool_choice']),
  emptyMaxTokens: seen('not-sent'),
  maxCompletionTokens: seen(false),
  seedTensor: seen('random_seed'),
  tokenCounts: seen(false),
  streamOptions: seen('unknown'),
  usageKeyInChunks: seen(false),
  logProbs: seen('refused-with-logit-bias'),
  responsesExpected: seen('1'),
  tools: seen('ignored'),
  contentParts: seen('models'),
  embeddings: seen(false),
  modelManagement: seen(false),
  restrictedApis: seen(false),
  maxInputBytes: seen(undefined),
  maxToolCallParseBytes: seen(undefined),
  integerOverflow: seen('wraps'),
  httpParser: seen('httptools'),
};

const R25_05 = after(R24_11, 'r25.05', {
  tools: seen('honoured'),
  droppedFields: seen(DROPPED_BEFORE_25_12),
  contentParts: seen('dicts'),
  httpParser: seen('h11'),
});
const R25_06 = after(R25_05, 'r25.06', { seedTensor: seen('seed') });
const R25_07 = after(R25_06, 'r25.07', { streamOptions: seen('without-usage'), usageKeyInChunks: seen(true) });
const R25_08 = after(R25_07, 'r25.08', { emptyMaxTokens: seen('sent'), maxCompletionTokens: seen(true) });
const R25_09 = after(R25_08, 'r25.09', { restrictedApis: seen(true) });
const R25_10 = after(R25_09, 'r25.10', {});
const R25_11 = after(R25_10, 'r25.11', {
  tokenCounts: seen(true),
  streamOptions: seen('served'),
  serverFailureStatus: seen(500),
  responsesExpected: seen('1 or 2'),
  embeddings: seen(true),
});
export const OPENAI_R25_12 = after(R25_11, 'r25.12', {
  completionsExcludeInput: seen(true),
  droppedFields: seen(ALWAYS_DROPPED),
  logProbs: seen('vllm-only'),
});
const R26_04 = after(OPENAI_R25_12, 'r26.04', { modelManagement: seen(true) });
const R26_06 = after(R26_04, 'r26.06', { maxInputBytes: seen(67_108_864) });
const MAIN = after(R26_06, 'main', { maxToolCallParseBytes: seen(131_072) });
/** The same front end where NumPy 2 is installed. */
const MAIN_NUMPY_2 = after(MAIN, 'main-numpy2', { integerOverflow: seen('fails') });

export const OPENAI_RELEASES: readonly OpenAiProfile[] = [
  R24_11,
  R25_05,
  R25_06,
  R25_07,
  R25_08,
  R25_09,
  R25_10,
  R25_11,
  OPENAI_R25_12,
  R26_04,
  R26_06,
  MAIN,
  MAIN_NUMPY_2,
];
