/** Requests to `tensorrt_llm` on which its two implementations, the embedded engine and the Python model, must agree. */
import { boolTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';

export interface TwinRequest {
  readonly name: string;
  readonly inputs: readonly Tensor[];
  /** Set where both must refuse it. */
  readonly refused?: RegExp;
}

/** `<|bos|><|user|>` and three words `<|assistant|>` in the tiny checkpoint's vocabulary; any ids are a prompt. */
const PROMPT = [0, 4, 80, 81, 5];
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

const refused = (name: string, text: RegExp, ...more: readonly Tensor[]): TwinRequest => ({
  name,
  inputs: [...prompt(PROMPT, 4), ...more],
  refused: text,
});

export const TWIN_REQUESTS: readonly TwinRequest[] = [
  asked('greedy', END),
  asked('top_k', int('runtime_top_k', 40), ...SAMPLED),
  asked('top_p', float('runtime_top_p', 0.9), ...SAMPLED),
  asked('top_k and top_p', int('runtime_top_k', 40), float('runtime_top_p', 0.5), ...SAMPLED),
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
];
