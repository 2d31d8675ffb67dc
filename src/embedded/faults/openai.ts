import type { Fault } from './types.ts';

const issue = (repository: string, number: number) => `https://github.com/${repository}/issues/${number}`;
const SERVER = 'triton-inference-server/server';

/** Defects whose mechanism sits in the HTTP and OpenAI front ends. */
export const OPENAI_FAULTS: readonly Fault[] = [
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
];
