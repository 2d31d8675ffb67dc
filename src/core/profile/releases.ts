import { observed, read, wished } from './facts.ts';
import { OPENAI_R25_12, OPENAI_RELEASES } from './openai-releases.ts';
import { CORE_2_51, CORE_RELEASES } from './core-releases.ts';
import type { CoreProfile, ModelsProfile, OpenAiProfile, ReleaseProfile, TorchPath } from './profile.ts';
import { REPOSITORY_0_19, REPOSITORY_1_X } from './repository-releases.ts';
import { TRTLLM_SERVE_RELEASES } from './trtllm-serve-releases.ts';

const MODELS = 'docs/observed.md#model-repository-1-x';
const TORCH = 'docs/observed.md#torch-path';
const BLS = 'docs/observed.md#bls';

/** Of autumn 2025, whose result and detokenisation classes ran on a stand-in engine; the samplers themselves were read. */
const TORCH_PATH = {
  streamHoldsBackStopStrings: observed(false, TORCH),
  streamShowsCutCharacter: observed(false, TORCH),
  llmapiTakesStopStrings: read(false, 'triton_backend/all_models/llmapi/tensorrt_llm/1/helpers.py'),
};

/** The sampler in Python: the token is appended first, then EOS, length and stop words are looked for, in this order. */
const TORCH_SAMPLER: TorchPath = {
  ...TORCH_PATH,
  sampler: read('TorchSampler', 'docs/source/features/sampling.md'),
  eosInIds: read(true, 'tensorrt_llm/_torch/pyexecutor/sampler.py'),
  usageCountsEos: observed(true, TORCH),
  finalResponseEmpty: read(false, 'tensorrt_llm/_torch/pyexecutor/sampler.py'),
  appliesPenalties: read(false, 'https://github.com/NVIDIA/TensorRT-LLM/issues/9442'),
};

/** The C++ decoder inside the PyTorch back end: an id is told only when the sequence grew, and EOS does not make it grow. */
const TRTLLM_SAMPLER: TorchPath = {
  ...TORCH_PATH,
  sampler: read('TRTLLMSampler', 'docs/source/release-notes.md, 1.1'),
  eosInIds: read(false, 'tensorrt_llm/_torch/pyexecutor/sampler.py'),
  usageCountsEos: observed(false, TORCH),
  finalResponseEmpty: read(true, 'tensorrt_llm/_torch/pyexecutor/sampler.py'),
  appliesPenalties: read(true, 'cpp/tensorrt_llm/kernels/penaltyKernels.cu'),
};

/** What the releases 1.x share on the TensorRT path, with the Torch path of 1.1, which the container 25.12 holds. */
export const MODELS_1_X: ModelsProfile = {
  ...REPOSITORY_1_X,
  streamedTextHoldsBackPartialCharacters: observed(false, MODELS),
  bls: {
    checksMaxTokens: observed(true, BLS),
    innerRequestId: observed('uuid', BLS),
    textStopWords: observed(true, BLS),
    passesCancel: observed(false, BLS),
    forwardsSequences: observed(false, BLS),
  },
  torch: TRTLLM_SAMPLER,
  temperatureZeroWithTopPSamples: read(true, 'docs/determinism.md#greedy'),
};

/** The same repository; what differs is which sampler the PyTorch back end takes by itself. */
const MODELS_BY_SAMPLER: readonly ModelsProfile[] = [
  { ...MODELS_1_X, id: '1.0', torch: TORCH_SAMPLER },
  { ...MODELS_1_X, id: '1.1', torch: TRTLLM_SAMPLER },
  { ...MODELS_1_X, id: '1.2', torch: TORCH_SAMPLER },
];

/** What TensorRT-LLM 0.19 (25.05) served before the tensors got their names of today, and no counts. */
const MODELS_0_19: ModelsProfile = { ...MODELS_1_X, ...REPOSITORY_0_19 };

/** Every release that a profile can be made of, by axis and id. */
export const RELEASES: {
  readonly core: readonly CoreProfile[];
  readonly models: readonly ModelsProfile[];
  readonly openai: readonly OpenAiProfile[];
} = {
  core: CORE_RELEASES,
  models: [MODELS_0_19, MODELS_1_X, ...MODELS_BY_SAMPLER],
  openai: [...OPENAI_RELEASES, ...TRTLLM_SERVE_RELEASES],
};

export const DEFAULT_PROFILE: ReleaseProfile = { id: 'default', core: CORE_2_51, models: MODELS_1_X, openai: OPENAI_R25_12 };

/** The same releases without any gap: what the contracts say, not what servers were seen to do. */
export function idealOf({ core, models, openai }: ReleaseProfile): Omit<ReleaseProfile, 'id'> {
  return {
    core: {
      ...core,
      ensembleCancelReachesRunningStep: wished(core.ensembleCancelReachesRunningStep, true),
      missingRequiredInputDetected: wished(core.missingRequiredInputDetected, true),
      httpCloseSeenWhileSilent: wished(core.httpCloseSeenWhileSilent, true),
      cancelReachesModels: wished(core.cancelReachesModels, true),
      streamsEnd: wished(core.streamsEnd, true),
      streamsStandStill: wished(core.streamsStandStill, false),
      cancelsKillFor: wished(core.cancelsKillFor, []),
    },
    models: {
      ...models,
      streamedTextHoldsBackPartialCharacters: wished(models.streamedTextHoldsBackPartialCharacters, true),
      bls: {
        ...models.bls,
        textStopWords: wished(models.bls.textStopWords, false),
        passesCancel: wished(models.bls.passesCancel, true),
        forwardsSequences: wished(models.bls.forwardsSequences, true),
      },
      torch: {
        ...models.torch,
        // The end of an answer is no part of it: neither told nor counted.
        eosInIds: wished(models.torch.eosInIds, false),
        usageCountsEos: wished(models.torch.usageCountsEos, false),
        finalResponseEmpty: wished(models.torch.finalResponseEmpty, true),
        appliesPenalties: wished(models.torch.appliesPenalties, true),
        streamHoldsBackStopStrings: wished(models.torch.streamHoldsBackStopStrings, true),
        streamShowsCutCharacter: wished(models.torch.streamShowsCutCharacter, true),
        llmapiTakesStopStrings: wished(models.torch.llmapiTakesStopStrings, true),
      },
      temperatureZeroWithTopPSamples: wished(models.temperatureZeroWithTopPSamples, false),
    },
    openai: {
      ...openai,
      finishReasonAlwaysStop: wished(openai.finishReasonAlwaysStop, false),
      disconnectCancels: wished(openai.disconnectCancels, true),
      doubleBos: wished(openai.doubleBos, false),
      chatExcludesInput: wished(openai.chatExcludesInput, true),
      completionsExcludeInput: wished(openai.completionsExcludeInput, true),
      ...(openai.trtllmServe === undefined
        ? {}
        : {
            trtllmServe: {
              ...openai.trtllmServe,
              idPerChunk: wished(openai.trtllmServe.idPerChunk, false),
              completionsUsageIsChat: wished(openai.trtllmServe.completionsUsageIsChat, false),
              usageCountsPastStop: wished(openai.trtllmServe.usageCountsPastStop, false),
              disconnectPollMs: wished(openai.trtllmServe.disconnectPollMs, 0),
            },
          }),
      droppedFields: wished(openai.droppedFields, []),
    },
  };
}
