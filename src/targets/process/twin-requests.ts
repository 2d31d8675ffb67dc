/**
 * Requests to `tensorrt_llm`, and to the ensemble around it, on which its two implementations, the embedded engine and the Python
 * model, must agree. */
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';

export interface TwinRequest {
  readonly name: string;
  /** Default `tensorrt_llm`. */
  readonly model?: 'ensemble';
  readonly inputs: readonly Tensor[];
  /** Set where both must refuse it. */
  readonly refused?: RegExp;
}

/** Any ids are a prompt: this one is followed by nothing in particular, so that many ids are nearly as good. */
const PROMPT = [0, 4, 80, 81, 5];
/** `<|user|>Name three colours.<|assistant|>` and `Hello`: EOS comes early, and in several beams. */
const ENDING = [
  [0, 4, 404, 262, 77, 267, 74, 360, 19, 5],
  [0, 45, 74, 81, 322],
];
const LONG = Array.from({ length: 40 }, (_, i) => 6 + ((i * 7) % 500));

const int = (name: string, value: number): Tensor => int32Tensor(name, [1, 1], [value]);
const float = (name: string, value: number): Tensor => fp32Tensor(name, [1, 1], [value]);
const flag = (name: string): Tensor => boolTensor(name, [1, 1], [true]);
const seed = (value: bigint): Tensor => uint64Tensor('seed', [1, 1], [value]);

function prompt(ids: readonly number[], maxTokens: number): Tensor[] {
  return [int32Tensor('input_ids', [1, ids.length], ids), int('input_lengths', ids.length), int('request_output_len', maxTokens)];
}

const END = int('end_id', 1);
const SAMPLED = [float('temperature', 2), seed(77n)];
const BIAS = fp32Tensor(
  'embedding_bias',
  [1, 512],
  Array.from({ length: 512 }, (_, id) => (id === 80 ? 3 : 0)),
);

const asked = (name: string, ...more: readonly Tensor[]): TwinRequest => ({
  name,
  inputs: [...prompt(PROMPT, 24), flag('return_log_probs'), flag('streaming'), ...more],
});

const beams = (name: string, ...more: readonly Tensor[]): TwinRequest[] =>
  [PROMPT, ...ENDING].map((ids, i) => ({
    name: `${name}, prompt ${i}`,
    inputs: [...prompt(ids, 24), flag('return_log_probs'), flag('streaming'), ...more],
  }));

const refused = (name: string, text: RegExp, ...more: readonly Tensor[]): TwinRequest => ({
  name,
  inputs: [...prompt(PROMPT, 4), ...more],
  refused: text,
});

function through(name: string, rows: number, more: readonly Tensor[]): TwinRequest {
  const texts = ['<|user|>Name three colours.<|assistant|>', 'Hello'].slice(0, rows);
  return {
    name,
    model: 'ensemble',
    inputs: [bytesTensor('text_input', [rows, 1], texts), int32Tensor('max_tokens', [rows, 1], Array<number>(rows).fill(12)), ...more],
  };
}

export const TWIN_REQUESTS: readonly TwinRequest[] = [
  asked('greedy', END),
  asked('top_k', int('runtime_top_k', 40), ...SAMPLED),
  asked('top_p', float('runtime_top_p', 0.9), ...SAMPLED),
  asked('top_k and top_p', int('runtime_top_k', 40), float('runtime_top_p', 0.5), ...SAMPLED),
  asked('temperature 0 with top_k 0', int('runtime_top_k', 0), float('temperature', 0), seed(77n)),
  asked('temperature 0 with top_p', float('runtime_top_p', 0.3), float('temperature', 0), seed(77n)),
  asked('top_p 0', float('runtime_top_p', 0), ...SAMPLED),
  asked('top_p that decays', float('runtime_top_p', 1), float('runtime_top_p_decay', 0.8), float('runtime_top_p_min', 0.3), ...SAMPLED),
  asked(
    'top_p that an id sets back',
    float('runtime_top_p', 1),
    float('runtime_top_p_decay', 0.5),
    int('runtime_top_p_reset_ids', 80),
    BIAS,
    ...SAMPLED,
  ),
  asked('repetition_penalty', float('repetition_penalty', 1.7)),
  asked('presence_penalty', float('presence_penalty', 3)),
  asked('frequency_penalty', float('frequency_penalty', 1.5)),
  asked('all penalties, sampled', float('repetition_penalty', 1.2), float('frequency_penalty', 0.5), int('runtime_top_k', 30), ...SAMPLED),
  asked('min_tokens', END, int('min_tokens', 20)),
  asked('embedding_bias', BIAS),
  asked('bad words', int32Tensor('bad_words_list', [1, 2, 3], [80, 81, 82, 1, 3, -1])),
  asked('num_return_sequences', int('num_return_sequences', 3), int('runtime_top_k', 40), ...SAMPLED),
  ...[2, 3, 4].flatMap((width) => beams(`${width} beams`, END, int('beam_width', width))),
  ...beams('beams without end_id', int('beam_width', 3)),
  {
    name: 'beams, not streamed, with the prompt, all logits and log-probabilities',
    inputs: [
      ...prompt(LONG, 12),
      END,
      int('beam_width', 3),
      flag('return_log_probs'),
      flag('return_generation_logits'),
      flag('return_context_logits'),
    ],
  },
  ...beams('beams with generation logits', int('beam_width', 2), flag('return_generation_logits')),
  ...beams('beams with a length penalty', END, int('beam_width', 4), float('len_penalty', 1.5)),
  ...beams(
    'beams that do not stop early',
    END,
    int('beam_width', 4),
    float('len_penalty', 1),
    boolTensor('early_stopping', [1, 1], [false]),
  ),
  ...beams('beams with a diversity rate', END, int('beam_width', 4), float('beam_search_diversity_rate', 0.7)),
  ...beams('beams with penalties', END, int('beam_width', 3), float('repetition_penalty', 1.3), float('frequency_penalty', 0.4)),
  ...beams(
    'beams with temperature, bias and min_tokens',
    END,
    int('beam_width', 3),
    float('temperature', 1.7),
    BIAS,
    int('min_tokens', 15),
  ),
  ...beams('beams with a stop word', END, int('beam_width', 3), int32Tensor('stop_words_list', [1, 2, 1], [82, 1])),
  ...beams('two of four beams', END, int('beam_width', 4), int('num_return_sequences', 2)),
  {
    name: 'a batch of beams',
    inputs: [
      int32Tensor('input_ids', [2, 40], [...PROMPT, ...Array<number>(35).fill(2), ...LONG]),
      int32Tensor('input_lengths', [2, 1], [5, 40]),
      int32Tensor('request_output_len', [2, 1], [6, 9]),
      int32Tensor('beam_width', [2, 1], [2, 2]),
      boolTensor('streaming', [2, 1], [true, true]),
    ],
  },
  asked('context and generation logits', END, flag('return_context_logits'), flag('return_generation_logits')),
  {
    name: 'measurements',
    inputs: [
      ...prompt(
        Array.from({ length: 50 }, (_, i) => 400 - i),
        20,
      ),
      flag('return_perf_metrics'),
      flag('streaming'),
    ],
  },
  {
    name: 'measurements of a prompt that is in the cache',
    inputs: [
      ...prompt(
        Array.from({ length: 50 }, (_, i) => 400 - i),
        20,
      ),
      flag('return_perf_metrics'),
    ],
  },
  {
    name: 'measurements of beams',
    inputs: [
      ...prompt(
        Array.from({ length: 50 }, (_, i) => 300 - i),
        20,
      ),
      int('beam_width', 3),
      flag('return_perf_metrics'),
    ],
  },
  {
    name: 'num_return_sequences without a seed',
    inputs: [...prompt(PROMPT, 8), int('num_return_sequences', 2), float('runtime_top_p', 0.9), float('temperature', 2)],
  },
  {
    name: 'a batch of padded rows',
    inputs: [
      int32Tensor('input_ids', [2, 40], [...PROMPT, ...Array<number>(35).fill(2), ...LONG]),
      int32Tensor('input_lengths', [2, 1], [5, 40]),
      int32Tensor('request_output_len', [2, 1], [6, 9]),
      boolTensor('streaming', [2, 1], [true, true]),
      int32Tensor('num_return_sequences', [2, 1], [2, 2]),
    ],
  },
  { name: 'a length that is clipped', inputs: [...prompt([...LONG, ...LONG, ...LONG, ...LONG, ...LONG, ...LONG], 500), flag('streaming')] },
  refused('no sequences', /num_return_sequences must be at least 1, got 0$/, int('num_return_sequences', 0)),
  refused('a decay of 0', /runtime_top_p_decay must be in \(0, 1\], got 0\.0$/, float('runtime_top_p_decay', 0)),
  refused('a minimum of 2', /runtime_top_p_min must be in \[0, 1\], got 2\.0$/, float('runtime_top_p_min', 2)),
  refused('a reset id of -1', /runtime_top_p_reset_ids must be at least 0, got -1$/, int('runtime_top_p_reset_ids', -1)),
  refused('more beams than the engine has', /beam_width 5 exceeds max_beam_width 4$/, int('beam_width', 5)),
  refused(
    'more sequences than beams',
    /num_return_sequences 3 exceeds beam_width 2$/,
    int('beam_width', 2),
    int('num_return_sequences', 3),
  ),
  refused('a diversity rate below 0', /beam_search_diversity_rate must be >= 0, got -1\.0$/, float('beam_search_diversity_rate', -1)),
  refused('a length penalty below 0', /len_penalty must be >= 0, got -1\.0$/, float('len_penalty', -1)),
  refused('an end_id beyond the vocabulary', /EndId \(512\) is not within acceptable range \[-1, 512\)\.$/, int('end_id', 512)),
  refused('a short bias', /embedding_bias must have 512 values, got 3$/, fp32Tensor('embedding_bias', [1, 3], [1, 2, 3])),
  refused(
    'stop words with an offset out of bounds',
    /^Sparse list must not have out-of-bound offsets: 80 81 3 -1 $/,
    int32Tensor('stop_words_list', [1, 2, 2], [80, 81, 3, -1]),
  ),
  refused(
    'bad words with offsets that do not ascend',
    /^Sparse list must not have non-increasing offsets: 80 81 1 1 $/,
    int32Tensor('bad_words_list', [1, 2, 2], [80, 81, 1, 1]),
  ),
  refused(
    'bad words behind a -1',
    /^Sparse list must not have additional -1s: 80 81 -1 1 $/,
    int32Tensor('bad_words_list', [1, 2, 2], [80, 81, -1, 1]),
  ),
  refused(
    'retention without ends',
    /^retention_token_range_ends must be provided, and have the same length as retention_token_range_starts$/,
    int32Tensor('retention_token_range_starts', [1, 2], [0, 10]),
  ),
  refused(
    'retention',
    /retention_token_range_starts is not supported by this engine$/,
    ...['starts', 'ends', 'priorities'].map((part) => int32Tensor(`retention_token_range_${part}`, [1, 1], [10])),
  ),
  refused(
    'guided decoding',
    /Request is specified with GuidedDecodingParams, but GuidedDecoder is not setup\. Please provide a valid GuidedDecodingConfig to setup GuidedDecoder\.$/,
    bytesTensor('guided_decoding_guide_type', [1, 1], ['json']),
  ),
  refused('a guide alone', /guided_decoding_guide is not supported by this engine$/, bytesTensor('guided_decoding_guide', [1, 1], ['{}'])),
  refused(
    'draft tokens',
    /Draft tokens length \(3\) exceeds maximum draft tokens length \(0\)\.$/,
    int32Tensor('draft_input_ids', [1, 3], [7, 8, 9]),
  ),
  refused('LoRA', /lora_task_id is not supported by this engine$/, uint64Tensor('lora_task_id', [1, 1], [1n])),
  refused(
    'lookahead',
    /^Cannot set the request lookahead decoding configuration when model instance lookahead parameters are not set\.$/,
    ...['window_size', 'ngram_size', 'verification_set_size'].map((part) => int(`lookahead_${part}`, 4)),
  ),
  refused('lookahead in part', /^Failed to extract lookahead_ngram_size$/, int('lookahead_window_size', 4)),
  {
    name: 'a prompt that is too long',
    inputs: prompt(
      Array.from({ length: 512 }, (_, i) => 6 + (i % 200)),
      4,
    ),
    refused:
      /Prompt length \(512\) exceeds maximum input length \(511\)\. Set log level to info and check TRTGptModel logs for how maximum input length is set$/,
  },
  through('beams through the ensemble', 1, [int32Tensor('beam_width', [1, 1], [3])]),
  through('beams through the ensemble, streamed', 1, [int32Tensor('beam_width', [1, 1], [3]), flag('stream')]),
  through('sequences through the ensemble', 1, [int('num_return_sequences', 2), int('top_k', 40), ...SAMPLED, flag('stream')]),
  through('a batch through the ensemble', 2, [boolTensor('stream', [2, 1], [true, true])]),
  through('measurements and logits through the ensemble', 1, [
    flag('return_perf_metrics'),
    flag('return_context_logits'),
    flag('return_generation_logits'),
  ]),
];

/** On a repository without the decoupled policy. */
export const UNARY_TWIN_REQUESTS: readonly TwinRequest[] = [
  { name: 'one answer', inputs: [...prompt(PROMPT, 12), flag('return_log_probs')] },
  { name: 'three beams', inputs: [...prompt(PROMPT, 12), int('beam_width', 3)] },
  refused('a stream', /^Streaming is only supported if model is deployed using decoupled mode\.$/, flag('streaming')),
  {
    name: 'a batch',
    inputs: [
      int32Tensor('input_ids', [2, 5], [...PROMPT, ...PROMPT]),
      int32Tensor('input_lengths', [2, 1], [5, 5]),
      int32Tensor('request_output_len', [2, 1], [3, 3]),
    ],
    refused: /^Batch size > 1 requires the tensorrt_llm backend to be using decoupled transaction policy$/,
  },
  refused('several sequences', /^num_return_sequences 2 requires the decoupled transaction policy$/, int('num_return_sequences', 2)),
  { name: 'an answer after the refusals', inputs: prompt(PROMPT, 3) },
];
