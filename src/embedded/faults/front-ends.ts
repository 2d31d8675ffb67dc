import type { Fault } from './types.ts';

const issue = (repository: string, number: number) => `https://github.com/${repository}/issues/${number}`;
const SERVER = 'triton-inference-server/server';
const PYTHON_OPENAI = `https://github.com/${SERVER}/blob/main/python/openai/openai_frontend/engine`;

/** Defects whose mechanism sits in the gRPC, HTTP and OpenAI front ends. */
export const FRONT_END_FAULTS: readonly Fault[] = [
  {
    id: 'openai-frontend-empty-content',
    class: 'agreement',
    mechanism: 'Chat answers are built without the text of text_output; tokens are generated and counted all the same.',
    thread: issue(SERVER, 7724),
    caughtBy: ['text-is-true-decode'],
  },
  {
    id: 'openai-default-max-tokens-16',
    class: 'agreement',
    mechanism: 'max_tokens of the request is dropped and the default of 16 is sent to the model.',
    thread: issue(SERVER, 7796),
    caughtBy: ['count-limit', 'text-is-true-decode'],
  },
  {
    id: 'usage-null-trtllm',
    class: 'framing',
    mechanism: 'return_num_input_tokens and return_num_output_tokens are not sent, so that the answer has no counts.',
    thread: issue(SERVER, 8510),
    caughtBy: ['usage-counts'],
  },
  {
    id: 'sse-client-needs-done',
    class: 'framing',
    mechanism: 'OpenAI streams end without the [DONE] event.',
    thread: issue('triton-inference-server/client', 748),
    caughtBy: ['done-marker'],
  },
  {
    id: 'no-end-marker-in-sse',
    class: 'framing',
    mechanism: 'Event streams (generate_stream and OpenAI) end by closing the connection, without the last HTTP chunk.',
    thread: issue('triton-inference-server/tensorrtllm_backend', 383),
    caughtBy: ['framing'],
  },
  {
    id: 'double-bos-templated-prompt',
    class: 'prompt',
    mechanism:
      'The BOS text of the chat template stays in the prompt, and preprocessing adds BOS again. Releases whose profile has doubleBos do so anyway.',
    thread: issue('vllm-project/vllm', 27515),
    profile: 'ideal',
    caughtBy: ['prompt-ids'],
  },
  {
    id: 'harmony-tokens-leak',
    class: 'prompt',
    mechanism: 'The control token that ends the turn is appended to the content of chat answers.',
    thread: issue('NVIDIA/TensorRT-LLM', 9256),
    caughtBy: ['no-control-text', 'text-is-true-decode'],
  },
  {
    id: 'echo-default-nonstream',
    class: 'configuration',
    mechanism: 'HTTP generate drops exclude_input_in_output, so that the text of answers that are not streamed begins with the prompt.',
    thread: issue(SERVER, 7665),
    caughtBy: ['text-is-true-decode'],
  },
  {
    id: 'chat-stream-without-role',
    class: 'framing',
    mechanism: 'Chat streams begin with the first text; the event that names the role is not sent.',
    thread: issue('ModelTC/LightLLM', 1262),
    caughtBy: ['role-first'],
  },
  {
    id: 'finish-reason-always-eos',
    class: 'endings',
    mechanism:
      'The number of tokens is not looked at: every answer ends with "stop". Releases whose profile has finishReasonAlwaysStop do so anyway.',
    thread: issue('huggingface/text-generation-inference', 2466),
    profile: 'ideal',
    caughtBy: ['finish-reason-true'],
  },
  {
    id: 'openai-disconnect-not-cancelled',
    class: 'cancellation',
    mechanism:
      'Nothing in the OpenAI front end looks whether its client is still there, so the engine goes on to the natural end. Releases whose profile has no disconnectCancels do so anyway.',
    thread: `${PYTHON_OPENAI}/triton_engine.py`,
    profile: 'ideal',
    caughtBy: ['cancel-frees'],
  },
  {
    id: 'openai-drops-parameters-trtllm',
    class: 'agreement',
    mechanism: 'The converter to TensorRT-LLM tensors drops the stop words of OpenAI requests.',
    thread: `${PYTHON_OPENAI}/utils/triton.py`,
    caughtBy: ['stop-words'],
  },
  {
    id: 'openai-logprobs-vllm-only',
    class: 'configuration',
    mechanism: 'Log-probabilities, which the front end has for vLLM models only, are passed over where they should be refused.',
    thread: issue(SERVER, 8538),
    caughtBy: ['as-observed'],
  },
  {
    id: 'segv-generate-stream-close',
    class: 'cancellation',
    mechanism: 'A generate_stream connection that its client closes is used after it was freed: the process dies.',
    thread: issue(SERVER, 6576),
    caughtBy: ['server-survives'],
  },
  {
    id: 'cancel-reaches-whole-connection',
    class: 'cancellation',
    mechanism: 'Requests are kept per gRPC connection, so that the end of one stream cancels those of all others.',
    thread: issue(SERVER, 7368),
    caughtBy: ['neighbours-unchanged'],
  },
  {
    id: 'request-id-not-in-response',
    class: 'framing',
    mechanism: 'The responses of a gRPC stream are made without the id of their request.',
    thread: issue(SERVER, 5503),
    caughtBy: ['request-id-echoed'],
  },
  {
    id: 'final-flag-always-false-go',
    class: 'framing',
    mechanism: 'triton_final_response is true only for requests that opted in to empty final responses.',
    thread: issue(SERVER, 6463),
    caughtBy: ['as-observed'],
  },
  {
    id: 'temperature-and-seed-ignored',
    class: 'parameters',
    mechanism: 'The OpenAI front end validates temperature and seed and sends neither to the model.',
    thread: issue('ai-dynamo/dynamo', 3162),
    caughtBy: ['accepted-means-applied'],
  },
  {
    id: 'response-format-not-enforced',
    class: 'parameters',
    mechanism: 'response_format is accepted and reaches nothing. Releases whose profile drops it do so anyway.',
    thread: issue('NVIDIA/TensorRT', 4855),
    profile: 'ideal',
    caughtBy: ['accepted-means-applied'],
  },
  {
    id: 'min-tokens-not-enforced-serve',
    class: 'endings',
    mechanism: 'trtllm-serve accepts min_tokens and does not hand it to the engine, so that answers end at EOS before it.',
    thread: issue('NVIDIA/TensorRT-LLM', 7693),
    profile: 'openai=trtllm-serve-1.1',
    caughtBy: ['min-tokens', 'deltas-equal-whole'],
  },
  {
    id: 'usage-chunk-of-another-endpoint',
    class: 'framing',
    mechanism:
      'The usage chunk of a completions stream is made by the code of the chat endpoint. Releases of trtllm-serve whose profile has completionsUsageIsChat do so anyway.',
    thread: 'https://github.com/NVIDIA/TensorRT-LLM/pull/14708',
    profile: 'openai=trtllm-serve-1.3rc',
    caughtBy: ['one-object'],
  },
  {
    id: 'serve-waits-for-failed-prompt',
    class: 'framing',
    mechanism:
      'trtllm-serve merges the answers to several prompts and hears of no end of one that fails: the others end, the stream never does.',
    thread: 'https://github.com/NVIDIA/TensorRT-LLM/blob/v1.1.0/tensorrt_llm/serve/openai_server.py',
    profile: 'openai=trtllm-serve-1.1',
    caughtBy: ['answers-after-error'],
  },
  {
    id: 'segv-grpc-low-cancel-timeout',
    class: 'cancellation',
    mechanism:
      'The last response of a gRPC stream frees what its cancel would need, and a cancel or deadline in the moment before its status leaves uses it: the process dies.',
    thread: issue(SERVER, 7368),
    caughtBy: ['server-survives'],
  },
  {
    id: 'http-close-not-seen-nonstream',
    class: 'cancellation',
    mechanism:
      'Whether the client of an HTTP answer that is not streamed has gone is looked at when the answer is whole, so the engine goes on to its end. Releases whose profile has no httpCloseSeenWhileSilent do so anyway.',
    thread: issue(SERVER, 7077),
    profile: 'ideal',
    caughtBy: ['cancel-frees'],
  },
  {
    id: 'http-generate-stops-answering',
    class: 'load',
    mechanism: 'Every answer to generate keeps one of the eight workers, and none comes back: later requests wait for ever.',
    thread: issue(SERVER, 6660),
    caughtBy: ['answers-at-all'],
  },
];
