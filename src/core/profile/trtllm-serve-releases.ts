/** trtllm-serve on the axis of OpenAI front ends (docs/observed.md#trtllm-serve). */
import { observed, read } from './facts.ts';
import { OPENAI_R25_12 } from './openai-releases.ts';
import type { Fact, OpenAiProfile, TrtllmServeProfile } from './profile.ts';

const seen = <T>(value: T): Fact<T> => observed(value, 'docs/observed.md#trtllm-serve');

const BETWEEN = 'main of autumn 2025, by the dates of its pull requests';

/** Texts of autumn 2025, between the releases 1.1 and 1.2. */
const SERVE_1_1: TrtllmServeProfile = {
  version: read('1.1.0', BETWEEN),
  idPerChunk: seen(true),
  completionsUsageIsChat: seen(true),
  continuousUsageByDefault: seen(true),
  usageCountsPastStop: seen(true),
  severalChoices: seen(false),
  jsonSchema: seen(false),
  validationErrors: seen('error-object'),
  completionLogProbs: seen(false),
  extraMessageKeys: seen(false),
  namedToolStreams: seen(false),
  disconnectPollMs: seen(1000),
};

/** Texts of 2026, which the late candidates of 1.3 hold. */
const SERVE_1_3RC: TrtllmServeProfile = {
  version: read('1.3.0rc24', 'NVIDIA/TensorRT-LLM#14708, which the candidates of mid-2026 hold'),
  idPerChunk: seen(false),
  completionsUsageIsChat: seen(false),
  continuousUsageByDefault: seen(false),
  usageCountsPastStop: seen(true),
  severalChoices: seen(true),
  jsonSchema: seen(true),
  validationErrors: seen('error-text'),
  completionLogProbs: seen(true),
  extraMessageKeys: seen(true),
  namedToolStreams: seen(true),
  disconnectPollMs: seen(1000),
};

/** What only NVIDIA's front end does is left as it is there; nobody asks for it. */
function release(id: string, trtllmServe: TrtllmServeProfile): OpenAiProfile {
  return {
    ...OPENAI_R25_12,
    id: `trtllm-serve-${id}`,
    trtllmServe,
    droppedFields: seen([]),
    finishReasonAlwaysStop: seen(false),
    disconnectCancels: seen(true),
    doubleBos: seen(false),
    chatExcludesInput: seen(true),
    serverFailureStatus: seen(400),
  };
}

export const TRTLLM_SERVE_RELEASES: readonly OpenAiProfile[] = [release('1.1', SERVE_1_1), release('1.3rc', SERVE_1_3RC)];
