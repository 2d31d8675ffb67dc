import type { Fault } from './types.ts';

const issue = (repository: string, number: number) => `https://github.com/${repository}/issues/${number}`;
const TRTLLM = 'NVIDIA/TensorRT-LLM';
const BACKEND = 'triton-inference-server/tensorrtllm_backend';
const SERVER = 'triton-inference-server/server';

/** Defects whose mechanism sits in the models of the repository and in the core that runs them. */
export const MODEL_FAULTS: readonly Fault[] = [
  {
    id: 'stop-words-bos-in-ids',
    class: 'tokenization',
    mechanism: 'preprocessing encodes stop and bad words with special tokens, so BOS leads every phrase and none ever matches.',
    thread: issue(BACKEND, 47),
    caughtBy: ['stop-words', 'deltas-equal-whole'],
  },
  {
    id: 'stop-words-dummy-prefix',
    class: 'tokenization',
    mechanism:
      'preprocessing encodes stop and bad words with a slow SentencePiece tokenizer, which keeps a space in front as a token of its own, so none ever matches.',
    thread: 'https://github.com/huggingface/transformers/pull/25278',
    checkpoint: 'tiny-spm',
    caughtBy: ['stop-words', 'deltas-equal-whole'],
  },
  {
    id: 'add-special-tokens-default-false',
    class: 'tokenization',
    mechanism: 'preprocessing adds no BOS, whatever the parameter says.',
    thread: issue(BACKEND, 446),
    caughtBy: ['prompt-ids'],
  },
  {
    id: 'stream-no-spaces-ensemble',
    class: 'detokenization',
    mechanism: 'postprocessing loses the leading space of every list it decodes, as SentencePiece decoders do.',
    thread: issue(BACKEND, 332),
    caughtBy: ['deltas-equal-whole', 'text-is-true-decode'],
  },
  {
    id: 'leading-space-put-back',
    class: 'detokenization',
    mechanism:
      'postprocessing gives every list that begins with a space its space back, to mend streams: whole answers now begin with one.',
    thread: `https://github.com/${BACKEND}/pull/423`,
    checkpoint: 'tiny-spm',
    caughtBy: ['text-is-true-decode', 'deltas-equal-whole'],
  },
  {
    id: 'byte-tokens-spelt-out',
    class: 'detokenization',
    mechanism: 'postprocessing shows byte tokens by their names, so that 猫 reads <0xE7><0x8C><0xAB>.',
    thread: issue('cactus-compute/cactus', 684),
    checkpoint: 'tiny-spm',
    caughtBy: ['text-is-true-decode', 'deltas-equal-whole'],
  },
  {
    id: 'im-end-in-output',
    class: 'detokenization',
    mechanism: 'postprocessing decodes with special tokens.',
    thread: issue(TRTLLM, 2228),
    caughtBy: ['no-control-text', 'text-is-true-decode'],
  },
  {
    id: 'health-200-dead-python-stub',
    class: 'health',
    mechanism: 'The process behind postprocessing is gone after 40 requests; every later one fails while ready stays 200.',
    thread: issue(SERVER, 8604),
    caughtBy: ['ready-is-true', 'answers-at-all'],
  },
  {
    id: 'positional-args-shift',
    class: 'parameters',
    mechanism: 'min_tokens arrives in the place of frequency_penalty, and the minimum is never set.',
    thread: issue(TRTLLM, 13633),
    caughtBy: ['min-tokens'],
  },
  {
    id: 'metrics-missing-python-backend',
    class: 'metrics',
    mechanism: 'tensorrt_llm registers none of its families.',
    thread: issue(BACKEND, 479),
    caughtBy: ['metrics-present'],
  },
  {
    id: 'decoupled-client-one-token',
    class: 'framing',
    mechanism: 'Of a stream only the first response is sent; the rest is dropped and the end comes flag-only.',
    thread: issue(BACKEND, 70),
    caughtBy: ['deltas-equal-whole', 'length-ending'],
  },
  {
    id: 'stream-reordered-postprocessing',
    class: 'order',
    mechanism: 'Every third chunk is decoded on a slower instance of postprocessing and overtaken by its successor.',
    thread: issue(SERVER, 8073),
    caughtBy: ['same-text', 'deltas-equal-whole'],
  },
  {
    id: 'stats-fail-when-kv-off',
    class: 'metrics',
    mechanism: 'Updates of the statistics fail, so no request is ever counted.',
    thread: issue(TRTLLM, 2443),
    caughtBy: ['conservation'],
  },
  {
    id: 'several-instances-one-gpu',
    class: 'health',
    mechanism: 'preprocessing runs on two instances in turn, and the second one has no device: every other request fails.',
    thread: issue(BACKEND, 351),
    caughtBy: ['answers-at-all'],
  },
  {
    id: 'stream-cjk-replacement-char',
    class: 'detokenization',
    mechanism: 'Each chunk of a stream is decoded alone although the release holds parts of characters back.',
    thread: issue(BACKEND, 196),
    profile: 'ideal',
    caughtBy: ['no-broken-utf8', 'deltas-equal-whole'],
  },
  {
    id: 'sequence-length-ignores-end-id',
    class: 'framing',
    mechanism: 'sequence_length is prompt plus max_tokens, as it was planned, not the number of ids.',
    thread: issue(BACKEND, 634),
    caughtBy: ['sequence-lengths-true'],
  },
  {
    id: 'stats-of-first-iteration-only',
    class: 'metrics',
    mechanism: 'The metrics of the engine are those of the moment when the model was loaded.',
    thread: issue(BACKEND, 645),
    caughtBy: ['gauges-true'],
  },
  {
    id: 'beam-width-ignored',
    class: 'parameters',
    mechanism: 'beam_width is not looked at: seven beams are accepted as well as two, and one is served.',
    thread: issue(TRTLLM, 1574),
    caughtBy: ['error-as-documented'],
  },
  {
    id: 'mm-reuse-needs-hash',
    class: 'isolation',
    mechanism: 'A kept prompt is found by a key that leaves out its content, so a prompt of equal length gets the answer of the first.',
    thread: issue(TRTLLM, 5444),
    caughtBy: ['no-contamination', 'golden'],
  },
  {
    id: 'cancel-disabled-upstream',
    class: 'cancellation',
    mechanism: 'A stop request is answered, and no engine request is cancelled.',
    thread: issue('ai-dynamo/dynamo', 5827),
    caughtBy: ['cancel-stops', 'cancel-frees'],
  },
  {
    id: 'repetition-penalty-no-effect-inflight',
    class: 'parameters',
    mechanism: 'repetition_penalty is read from the request and not handed on to the in-flight batch.',
    thread: issue(BACKEND, 93),
    caughtBy: ['accepted-means-applied', 'batch-invariance'],
  },
  {
    id: 'first-row-samples-for-all',
    class: 'parameters',
    mechanism: 'One sampler is made for a batch of prompts, from the settings of its first row.',
    thread: 'https://github.com/Blaizzy/mlx-vlm/issues/1647',
    caughtBy: ['batch-invariance'],
  },
  {
    id: 'generation-logits-dtype',
    class: 'log-probabilities',
    mechanism: 'Half-precision logits are read as single precision, two as one.',
    thread: issue(BACKEND, 598),
    caughtBy: ['greedy-is-argmax', 'accepted-means-applied'],
  },
  {
    id: 'bls-drops-temperature',
    class: 'parameters',
    mechanism: 'The map from the inputs of tensorrt_llm_bls to those of the engine lacks temperature.',
    thread: issue(BACKEND, 523),
    caughtBy: ['accepted-means-applied', 'greedy-as-spelled'],
  },
];
