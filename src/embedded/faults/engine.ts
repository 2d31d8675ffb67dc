import type { Fault } from './types.ts';

const issue = (repository: string, number: number) => `https://github.com/${repository}/issues/${number}`;
const TRTLLM = 'NVIDIA/TensorRT-LLM';
const BACKEND = 'triton-inference-server/tensorrtllm_backend';

/** Defects whose mechanism sits in the engine: scheduler, cache, forward pass, sampler. */
export const ENGINE_FAULTS: readonly Fault[] = [
  {
    id: 'batch-size-changes-greedy-logits',
    class: 'determinism',
    mechanism: 'Matrix products are rounded to float32 in an order that follows batch size and place (reduction "batch").',
    thread: issue(TRTLLM, 1336),
    caughtBy: ['batch-invariance'],
  },
  {
    id: 'kv-reuse-first-call-differs',
    class: 'determinism',
    mechanism: 'Keys and values of a block are rounded to bfloat16 when it is kept for reuse.',
    thread: issue(TRTLLM, 15503),
    caughtBy: ['cold-equals-warm'],
  },
  {
    id: 'batch-gt1-wrong-concurrent-equal',
    class: 'determinism',
    mechanism: 'With neighbours in the step, every sequence but the first reads value rows one position off.',
    thread: issue(TRTLLM, 17964),
    caughtBy: ['batch-invariance', 'golden'],
  },
  {
    id: 'sampling-seed-ignored-under-concurrency',
    class: 'determinism',
    mechanism: 'A sequence that joins running ones samples with the seed of the first of them.',
    thread: issue(BACKEND, 468),
    caughtBy: ['seed-decides'],
  },
  {
    id: 'top-k-1-not-argmax-on-ties',
    class: 'determinism',
    mechanism: 'The greedy choice draws among exactly equal maxima instead of taking the lowest id.',
    thread: issue('mstar-project/mstar', 254),
    caughtBy: ['batch-invariance', 'golden'],
  },
  {
    id: 'stream-repeats-last-token-with-endid',
    class: 'streaming',
    mechanism: 'The EOS step tells the last id once more instead of none.',
    thread: issue(BACKEND, 167),
    caughtBy: ['eos-ending', 'golden'],
  },
  {
    id: 'first-event-empty-text',
    class: 'streaming',
    mechanism: 'A step without ids is told before the first id.',
    thread: issue(BACKEND, 632),
    caughtBy: ['no-empty-event'],
  },
  {
    id: 'never-stops-at-eos',
    class: 'endings',
    mechanism: 'The drawn id is not compared with end_id.',
    thread: issue(TRTLLM, 250),
    caughtBy: ['golden'],
  },
  {
    id: 'stop-words-ignored',
    class: 'endings',
    mechanism: 'The tail of the sequence is not compared with the stop words.',
    thread: issue(BACKEND, 128),
    caughtBy: ['stop-words'],
  },
  {
    id: 'min-length-ignored',
    class: 'endings',
    mechanism: 'The EOS logit is not suppressed while the answer is shorter than min_tokens.',
    thread: issue(BACKEND, 557),
    caughtBy: ['min-tokens'],
  },
  {
    id: 'min-tokens-counts-prompt',
    class: 'endings',
    mechanism: 'min_tokens is compared with prompt plus answer, so long prompts satisfy it at once.',
    thread: issue(TRTLLM, 12166),
    caughtBy: ['min-tokens'],
  },
  {
    id: 'cancel-leaks-kv-blocks-disagg',
    class: 'cancellation',
    mechanism: 'A cancelled sequence leaves the batch without giving its cache blocks back.',
    thread: issue(TRTLLM, 12314),
    caughtBy: ['cancel-frees'],
  },
  {
    id: 'engine-run-on-after-abort-python',
    class: 'cancellation',
    mechanism: 'The cancel is accepted and never looked at; the sequence runs to its end.',
    thread: issue(TRTLLM, 10879),
    caughtBy: ['cancel-frees'],
  },
  {
    id: 'tokens-from-other-prompts',
    class: 'isolation',
    mechanism: 'The key of a reusable block forgets its parent: equal ids behind different beginnings share one block.',
    thread: issue(TRTLLM, 8813),
    caughtBy: ['golden'],
  },
  {
    id: 'logprobs-all-zero-flag',
    class: 'log-probabilities',
    mechanism: 'The flag that asks for log-probabilities allocates the arrays and nothing fills them.',
    thread: issue(BACKEND, 291),
    caughtBy: ['log-probs-real'],
  },
  {
    id: 'prompt-over-limit-hangs-engine',
    class: 'limits',
    mechanism: 'After an over-long prompt is refused the step loop never takes another step.',
    thread: issue(TRTLLM, 4441),
    caughtBy: ['answers-after-error'],
  },
  {
    id: 'greedy-varies-with-topk0-topp0',
    class: 'determinism',
    mechanism: 'top_k 0 and top_p 0 count as not set, so that a greedy request is sampled from the whole vocabulary.',
    thread: issue(TRTLLM, 2640),
    caughtBy: ['same-ids', 'greedy-is-argmax'],
  },
  {
    id: 'invalid-token-where-eos-held-back',
    class: 'endings',
    mechanism: 'Where EOS would win and min_tokens holds it back, the reduction keeps its initial id, one past the vocabulary.',
    thread: issue(TRTLLM, 1590),
    caughtBy: ['ids-in-vocabulary'],
  },
  {
    id: 'fixed-length-not-reached',
    class: 'limits',
    mechanism: 'Room for EOS is taken from max_tokens, so that an answer that never ends by itself is one token short.',
    thread: issue(TRTLLM, 10824),
    caughtBy: ['length-ending'],
  },
  {
    id: 'first-token-logits-in-context',
    class: 'log-probabilities',
    mechanism: 'generation_logits is gathered one row late: it begins where the prompt ends, so that every row is that of the id before.',
    thread: issue(BACKEND, 530),
    caughtBy: ['greedy-is-argmax'],
  },
];
