/**
 * Release profiles: what a release does, as data on three axes. The embedded server reads them to behave like a
 * release; the suite reads them to know which deviations are known gaps. Every fact says how it is known.
 */

import type { RouteId } from '../request/index.ts';

export type Evidence = 'observed' | 'source-read';

export interface Fact<T> {
  readonly value: T;
  readonly evidence: Evidence;
  /** Where: a page of docs/ or an upstream repository path or thread. */
  readonly source: string;
}

/** Triton core and its gRPC and HTTP front ends. */
export interface CoreProfile {
  readonly id: string;
  readonly serverVersion: Fact<string>;
  /** Release of the gRPC and HTTP front ends that were seen before this core. */
  readonly frontEnds: Fact<string>;
  /** False: cancelling an ensemble request leaves a decoupled step that is already running alone. */
  readonly ensembleCancelReachesRunningStep: Fact<boolean>;
  /** False: only the number of inputs is checked, so a missing required input goes unnoticed when others fill the count. */
  readonly missingRequiredInputDetected: Fact<boolean>;
  /** False: a closed HTTP generate(_stream) connection is seen only when the model sends its next response. */
  readonly httpCloseSeenWhileSilent: Fact<boolean>;
  /** True: an ensemble's response waits until every output that was asked for is there, and never comes when one does not. */
  readonly ensembleNeedsAllOutputs: Fact<boolean>;
  /** False: a step that maps an optional input of the client's beside tensors of other steps runs only if the client sent it. */
  readonly ensembleRunsWithoutOptionalInputs: Fact<boolean>;
  /** False: a decoupled model's responses carry every output that it makes, whichever were asked for. */
  readonly decoupledOutputsFiltered: Fact<boolean>;
  /** False: generate answers an error where an output has no elements. */
  readonly generateWritesEmptyOutputs: Fact<boolean>;
  /** False: now and then a gRPC stream is not ended although every request on it has had its final message. */
  readonly streamsEnd: Fact<boolean>;
  /** True: now and then a gRPC stream stands still amid its answer. */
  readonly streamsStandStill: Fact<boolean>;
  /** Routes whose gRPC streams, when clients cancel them, now and then end the server by signal 11. */
  readonly cancelsKillFor: Fact<readonly RouteId[]>;
  /** True: an ensemble counts the failure of a step as the step's and once more as its own. */
  readonly stepFailuresCountTwice: Fact<boolean>;
  /** False: a request that failed in the model is no execution to the statistics. */
  readonly failuresExecute: Fact<boolean>;
  /** Whether HTTP has generate and generate_stream. */
  readonly generate: Fact<boolean>;
  /** False: models have no way to learn that their client has gone. */
  readonly cancelReachesModels: Fact<boolean>;
  /** False: whatever the core's code of an error is, its HTTP status is 400. */
  readonly httpStatusByCode: Fact<boolean>;
  /** What an unknown route, a wrong method and a model that is not ready are answered with. */
  readonly httpRouteErrors: Fact<'json' | 'empty'>;
  readonly unknownCodingStatus: Fact<400 | 415 | 501>;
  /** Content type of errors that HTTP infer gives before and after the model ran. */
  readonly inferErrorType: Fact<'application/json' | 'text/plain'>;
  readonly eventStreamType: Fact<string>;
  /** How a text about an exception in a Python model `m` names where it was. */
  readonly instanceInErrors: Fact<'model instance m_0' | 'model instance m_0_0' | 'model m_0_0'>;
  readonly dtypeTextNamesInput: Fact<boolean>;
  readonly reservedTextEndsInSpace: Fact<boolean>;
  /** Whether the text about too few inputs says which there are and which are missing. */
  readonly missingInputsNamed: Fact<boolean>;
  /** False: raw bytes of any length reach the model as a tensor of the shape that was named. */
  readonly byteSizesChecked: Fact<boolean>;
  /** What becomes of a BYTES tensor whose lengths run past its end. */
  readonly brokenStrings: Fact<'reach-models' | 'kill-stub' | 'refused'>;
  readonly stringCountNamesModel: Fact<boolean>;
  /** False: an offset or size outside a shared-memory region is accepted. */
  readonly sharedMemoryRangeChecked: Fact<boolean>;
  /** False: the text about an unknown CUDA region calls it a system one. */
  readonly cudaRegionsNamed: Fact<boolean>;
  /** True: a CUDA handle is opened before it is looked at, and the text says how that failed. */
  readonly cudaHandlesOpened: Fact<boolean>;
  /** Whether trace settings have a trace_mode. */
  readonly traceMode: Fact<boolean>;
  readonly logFileMovable: Fact<boolean>;
  /** Fields of a configuration that were added after 2.36. */
  readonly configFields: Fact<readonly string[]>;
  /** Whether statistics have response_stats. */
  readonly responseStatistics: Fact<boolean>;
  readonly generateEchoesId: Fact<boolean>;
  /** Whether generate takes a flat array for a batching model whose input has one dimension. */
  readonly generateFlatArrayFitsBatch: Fact<boolean>;
  readonly pendingRequestsMetric: Fact<boolean>;
  readonly pinnedMemoryMetrics: Fact<boolean>;
  /** Whether metrics tell how long each model took to load. */
  readonly modelLoadMetric: Fact<boolean>;
  /** False: front ends that are older than their core answer ModelConfig for an ensemble with an empty configuration. */
  readonly ensembleConfigOverGrpc: Fact<boolean>;
  /** Whether nv_inference_request_failure has a reason. */
  readonly failureReasons: Fact<boolean>;
}

/** What the stock model repository of a TensorRT-LLM release calls things, and what its models do where a setting is left out. */
export interface RepositoryRelease {
  /** `0.19`, or `1.x` for what the releases from 1.0 share. */
  readonly id: string;
  /** Name of the seed tensor on tensorrt_llm and ensemble. */
  readonly seedTensor: Fact<'seed' | 'random_seed'>;
  readonly minTokensTensor: Fact<'min_tokens' | 'min_length'>;
  /** Whether the ensemble accepts exclude_input_in_output. */
  readonly ensembleExcludeInput: Fact<boolean>;
  /** Whether return_num_input_tokens and return_num_output_tokens exist. */
  readonly returnsTokenCounts: Fact<boolean>;
  /** What asks for the use of the KV cache in an answer. */
  readonly perfMetricsTensor: Fact<'none' | 'return_kv_cache_reuse_stats' | 'return_perf_metrics'>;
  /** What preprocessing does without the parameter add_special_tokens. */
  readonly addSpecialTokens: Fact<boolean>;
  /** What tensorrt_llm does without the parameter enable_kv_cache_reuse. */
  readonly kvCacheReuse: Fact<boolean>;
  /** What tensorrt_llm does without the parameter multi_block_mode. */
  readonly multiBlockMode: Fact<boolean>;
  /** Parameter of preprocessing with the folder of a vision model. */
  readonly visionParameter: Fact<'visual_model_path' | 'multimodal_model_path'>;
  /** Whether the runtime of the batching strategy V1 is still there. */
  readonly staticBatching: Fact<boolean>;
  /** Whether the model of the LLM API is part of the release. */
  readonly llmapi: Fact<boolean>;
}

/** A generation of the model repository, and the back ends behind it. */
export interface ModelsProfile extends RepositoryRelease {
  /** False: each streamed chunk is decoded alone, so characters split over tokens become U+FFFD. */
  readonly streamedTextHoldsBackPartialCharacters: Fact<boolean>;
  /** True: temperature 0 with a top-p and without a top-k draws from the whole distribution instead of being greedy. */
  readonly temperatureZeroWithTopPSamples: Fact<boolean>;
  readonly torch: TorchPath;
  readonly bls: BlsPath;
}

/** What `tensorrt_llm_bls` of a generation does beside calling the other models. */
export interface BlsPath {
  /** Whether it refuses max_tokens below 1 itself, or leaves that to what it calls. */
  readonly checksMaxTokens: Fact<boolean>;
  /** The id of a request that it makes of the engine. */
  readonly innerRequestId: Fact<'empty' | 'uuid'>;
  /** True: it looks for stop words in the text too, so that it ends answers that the ensemble goes on with. */
  readonly textStopWords: Fact<boolean>;
  /** False: it never looks whether its client has gone, and the engine runs to its end. */
  readonly passesCancel: Fact<boolean>;
  /** False: num_return_sequences is accepted and goes nowhere. */
  readonly forwardsSequences: Fact<boolean>;
}

/**
 * The PyTorch back end of a release: what stands behind the model `llmapi` and behind trtllm-serve. Which sampler runs
 * decides how an answer ends in ids and counts; its text is the same.
 */
export interface TorchPath {
  /** The sampler that runs where nobody chose one, beams apart. */
  readonly sampler: Fact<'TorchSampler' | 'TRTLLMSampler'>;
  /** True: the EOS that ends an answer is the last of its token ids. */
  readonly eosInIds: Fact<boolean>;
  /** True: completion_tokens of trtllm-serve counts it. */
  readonly usageCountsEos: Fact<boolean>;
  /** True: the response in which EOS ends a stream brings no new id. Its text is empty either way. */
  readonly finalResponseEmpty: Fact<boolean>;
  /** False: repetition, presence and frequency penalties are accepted and change nothing. */
  readonly appliesPenalties: Fact<boolean>;
  /** False: a stream shows the beginning of a stop string before it knows that it is one. */
  readonly streamHoldsBackStopStrings: Fact<boolean>;
  /** False: bytes of a character that the end cut off never come in a stream; the whole answer shows them as U+FFFD. */
  readonly streamShowsCutCharacter: Fact<boolean>;
  /** False: stop strings reach llmapi as bytes, which its tokenizer refuses, so such a request fails. */
  readonly llmapiTakesStopStrings: Fact<boolean>;
}

/** NVIDIA's OpenAI-compatible front end, in front of models that are not vLLM. */
export interface OpenAiProfile {
  readonly id: string;
  /** Set: trtllm-serve takes the place of NVIDIA's front end, and facts that are only about that one do not show. */
  readonly trtllmServe?: TrtllmServeProfile;
  /** True: finish_reason is `stop` whatever ended the answer. */
  readonly finishReasonAlwaysStop: Fact<boolean>;
  /** False: a client that goes away does not stop the engine. */
  readonly disconnectCancels: Fact<boolean>;
  /** True: the rendered template keeps its BOS text and preprocessing adds another. */
  readonly doubleBos: Fact<boolean>;
  /** False: chat answers that are not streamed begin with the rendered prompt. */
  readonly chatExcludesInput: Fact<boolean>;
  /** False: `echo` has no effect, and completions that are not streamed begin with the prompt. */
  readonly completionsExcludeInput: Fact<boolean>;
  /** HTTP status of a failure inside the server: what Triton refuses, what a model fails with, a missing tokenizer. */
  readonly serverFailureStatus: Fact<number>;
  readonly defaultMaxTokens: Fact<number>;
  /** Fields that are accepted for TensorRT-LLM models and reach nothing. */
  readonly droppedFields: Fact<readonly string[]>;
  /** What max_tokens 0 and null become: no tensor at all, or 0 and the default. */
  readonly emptyMaxTokens: Fact<'not-sent' | 'sent'>;
  /** Whether chat knows max_completion_tokens; otherwise 422. */
  readonly maxCompletionTokens: Fact<boolean>;
  /** Name of the seed tensor that is sent. */
  readonly seedTensor: Fact<'seed' | 'random_seed'>;
  /** Whether return_num_input_tokens and return_num_output_tokens are sent, and usage is served from their answers. */
  readonly tokenCounts: Fact<boolean>;
  /** stream_options: 422; or known, and include_usage refused (400); or served. */
  readonly streamOptions: Fact<'unknown' | 'without-usage' | 'served'>;
  /** Whether the events of a stream have the key usage, null. */
  readonly usageKeyInChunks: Fact<boolean>;
  /** Log-probabilities and logit_bias: refused in one sentence, whatever the value; or each in its own, where asked for. */
  readonly logProbs: Fact<'refused-with-logit-bias' | 'vllm-only'>;
  /** How many responses the text says that it expected, where there were more than two. */
  readonly responsesExpected: Fact<'1' | '1 or 2'>;
  /** tools and tool_choice: accepted without effect, or checked, rendered, guided and parsed. */
  readonly tools: Fact<'ignored' | 'honoured'>;
  /** How a template prints content that is a list of parts: as Pydantic prints its models, pictures too, or as dicts of text. */
  readonly contentParts: Fact<'models' | 'dicts'>;
  /** Whether /v1/embeddings is there, to refuse what is not vLLM. */
  readonly embeddings: Fact<boolean>;
  /** Whether models can be loaded and unloaded (`--model-control-mode explicit`). */
  readonly modelManagement: Fact<boolean>;
  /** Whether APIs can be restricted to a header (`--openai-restricted-api`). */
  readonly restrictedApis: Fact<boolean>;
  /** Largest request in bytes (`--http-max-input-size`). */
  readonly maxInputBytes: Fact<number | undefined>;
  /** Largest answer in bytes in which tool calls are looked for while it streams (`--max-tool-call-parse-bytes`). */
  readonly maxToolCallParseBytes: Fact<number | undefined>;
  /** Integers out of the tensor's range: wrapped (NumPy 1.26), or a failure inside the server (NumPy 2). */
  readonly integerOverflow: Fact<'wraps' | 'fails'>;
  /** uvicorn's HTTP parser, which the requirements of the release bring: how it frames, and what it thinks is no HTTP. */
  readonly httpParser: Fact<'httptools' | 'h11'>;
}

/**
 * The front end of TensorRT-LLM's own `trtllm-serve`, which stands on the LLM API and its PyTorch back end, not on Triton.
 * Its facts take the place of those of NVIDIA's front end; how an answer ends is `ModelsProfile.torch`.
 */
export interface TrtllmServeProfile {
  readonly version: Fact<string>;
  /** True: every chunk of a stream has an id and a `created` of its own. False: `cmpl-<request number>` throughout. */
  readonly idPerChunk: Fact<boolean>;
  /** True: the usage chunk of a completions stream is a chat object. */
  readonly completionsUsageIsChat: Fact<boolean>;
  /** Default of continuous_usage_stats: usage in every chunk as soon as `stream_options` is an object. */
  readonly continuousUsageByDefault: Fact<boolean>;
  /** True: a whole answer that a stop string ends by its text is generated to its end first, and all of it is counted. */
  readonly usageCountsPastStop: Fact<boolean>;
  /** False: `n` above 1 is refused on the PyTorch back end. */
  readonly severalChoices: Fact<boolean>;
  /** Whether response_format knows `json_schema`. */
  readonly jsonSchema: Fact<boolean>;
  /** Body of a schema violation, 400 either way: the error object, or `{"error": "<text>"}`. */
  readonly validationErrors: Fact<'error-object' | 'error-text'>;
  /** False: completions refuse `logprobs` other than 0. */
  readonly completionLogProbs: Fact<boolean>;
  /** Whether messages may have keys that nobody knows. */
  readonly extraMessageKeys: Fact<boolean>;
  /** False: a stream whose tool was chosen by name is cut before its first event. */
  readonly namedToolStreams: Fact<boolean>;
  /** How often a request asks whether its client is still there, in ms, counted from its beginning; 0: at once. */
  readonly disconnectPollMs: Fact<number>;
}

export interface ReleaseProfile {
  readonly id: string;
  readonly core: CoreProfile;
  readonly models: ModelsProfile;
  readonly openai: OpenAiProfile;
}
