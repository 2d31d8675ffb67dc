import type { Fault } from './types.ts';

const issue = (repository: string, number: number) => `https://github.com/${repository}/issues/${number}`;

/** Defects whose mechanism sits in the LLM API and in the model that calls it. */
export const LLMAPI_FAULTS: readonly Fault[] = [
  {
    id: 'llmapi-cannot-stream',
    class: 'framing',
    mechanism: 'llmapi does not hand `streaming` on: the one response that comes has everything.',
    thread: issue('NVIDIA/TensorRT-LLM', 6207),
    caughtBy: ['streams-as-it-goes'],
  },
  {
    id: 'stream-trailing-fffd-trtllm',
    class: 'detokenization',
    mechanism: "The LLM API's streams decode the ids of every response by themselves: nothing waits until a character is whole.",
    thread: issue('NVIDIA/TensorRT-LLM', 7069),
    caughtBy: ['no-broken-utf8', 'deltas-equal-whole'],
  },
  {
    id: 'echo-breaks-token-counts',
    class: 'parameters',
    mechanism: 'llmapi drops sampling_param_exclude_input_from_output, so that answers that are not streamed begin with the prompt.',
    thread: issue('triton-inference-server/perf_analyzer', 194),
    caughtBy: ['text-is-true-decode'],
  },
  {
    id: 'stopped-request-unanswered',
    class: 'cancellation',
    mechanism: 'llmapi sends nothing more for a request that was stopped and is not streamed: its client waits until its own deadline.',
    thread: 'https://github.com/NVIDIA/TensorRT-LLM/blob/v1.1.0/triton_backend/all_models/llmapi/tensorrt_llm/1/model.py',
    caughtBy: ['answers-after-error'],
  },
];
