import type { Fault } from './types.ts';

const issue = (repository: string, number: number) => `https://github.com/${repository}/issues/${number}`;
const BACKEND = 'triton-inference-server/tensorrtllm_backend';

/** Defects of `tensorrt_llm_bls`, and of what a client sees of it alone. */
export const BLS_FAULTS: readonly Fault[] = [
  {
    id: 'ensemble-vs-bls-differ',
    class: 'bls',
    mechanism: 'Tokens are accumulated whatever accumulate_tokens says, so every text of a stream repeats those before it.',
    thread: issue(BACKEND, 520),
    caughtBy: ['bls-is-ensemble', 'deltas-equal-whole'],
  },
  {
    id: 'bls-no-final-flag',
    class: 'bls',
    mechanism: 'A flag that comes alone is not sent, so no message of a BLS stream says triton_final_response=true.',
    thread: issue(BACKEND, 552),
    caughtBy: ['final-flag-once'],
  },
  {
    id: 'bls-not-streaming-at-all',
    class: 'bls',
    mechanism: 'The BLS holds the interpreter while it reads the engine, and all its responses leave when the last is there.',
    thread: issue(BACKEND, 308),
    caughtBy: ['streams-as-it-goes'],
  },
  {
    id: 'bls-hangs-on-late-error',
    class: 'bls',
    mechanism:
      'The engine fails every seventh request of the BLS behind its first response, and the loop is never told: it waits, and the instance with it.',
    thread: 'https://github.com/triton-inference-server/python_backend/blob/r25.04/src/infer_response.cc',
    caughtBy: ['answers-at-all'],
  },
  {
    id: 'bls-child-cancel-missing',
    class: 'bls',
    mechanism: 'The BLS of a release that hands cancels on does not ask whether its client has gone, and the engine goes on.',
    thread: issue('triton-inference-server/python_backend', 398),
    profile: 'ideal',
    caughtBy: ['cancel-frees'],
  },
  {
    id: 'finish-state-unknown-in-postproc',
    class: 'bls',
    mechanism: 'The cache of accumulated tokens is emptied when it is full, in the midst of an answer, so that its text begins anew.',
    thread: issue(BACKEND, 106),
    caughtBy: ['texts-only-grow', 'deltas-equal-whole'],
  },
  {
    id: 'stream-fffd-accumulate-mode',
    class: 'bls',
    mechanism: 'Accumulated tokens are decoded with errors ignored, so a cut character at the end of an answer is lost.',
    thread: issue(BACKEND, 493),
    caughtBy: ['deltas-equal-whole'],
  },
  {
    id: 'stop-words-inflight-only',
    class: 'bls',
    mechanism: 'One of the paths to the engine has no stop words: the BLS hands them to nobody, and does not look for them itself.',
    thread: issue('NVIDIA/TensorRT-LLM', 228),
    caughtBy: ['ends-alike', 'stop-words'],
  },
];
