import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import type { Extra, InertProbe } from '../probe.ts';

const int = (name: string, value: number): Extra => ({ name, value: int32Tensor(name, [1, 1], [value]) });
const float = (name: string, value: number): Extra => ({ name, value: fp32Tensor(name, [1, 1], [value]) });
const flag = (name: string, value: boolean): Extra => ({ name, value: boolTensor(name, [1, 1], [value]) });
const field = (name: string, json: unknown): Extra => ({ name, value: { json } });

const ONE_BEAM = [int('beam_width', 1), int('num_return_sequences', 1), float('length_penalty', 2)];
const TABLE_IDS: Extra = { name: 'prompt_table_extra_ids', value: uint64Tensor('prompt_table_extra_ids', [1, 1], [1n]) };
const TABLE_ID: Extra = { name: 'prompt_table_extra_id', value: uint64Tensor('prompt_table_extra_id', [1, 1], [1n]) };
const DECODER = [
  TABLE_ID,
  int('prompt_vocab_size', 1),
  int('pad_id', 5),
  { name: 'decoder_text_input', value: bytesTensor('decoder_text_input', [1, 1], ['a']) },
];

/** Inputs without effect on a greedy answer of one beam, by what they mean. */
export const INERT: readonly InertProbe[] = [
  {
    kind: 'inert',
    id: 'one-beam',
    effect: 'Settings of beam search, and the numbers of beams and sequences that are the default, change nothing at one beam.',
    inputs: {
      tensorrt_llm: [
        int('beam_width', 1),
        int('num_return_sequences', 1),
        float('len_penalty', 2),
        float('beam_search_diversity_rate', 0.5),
        flag('early_stopping', true),
      ],
      ensemble: ONE_BEAM,
      tensorrt_llm_bls: ONE_BEAM,
      completions: [field('n', 1), field('best_of', 1)],
      chat: [field('n', 1)],
      'trtllm-serve': [
        field('n', 1),
        field('best_of', 1),
        field('use_beam_search', true),
        field('length_penalty', 2),
        field('early_stopping', true),
      ],
    },
  },
  {
    kind: 'inert',
    id: 'top-p-limits',
    effect: 'What shapes top-p over time changes nothing where there is no top_p, or no decay.',
    inputs: {
      tensorrt_llm: [float('runtime_top_p_min', 0.5), int('runtime_top_p_reset_ids', 5), float('runtime_top_p_decay', 1)],
      'trtllm-serve': [field('top_p_min', 0.5)],
    },
  },
  {
    kind: 'inert',
    id: 'nothing-to-act-on',
    effect:
      'A padding id is seen where rows or beams of different lengths meet, a decoder prompt where there is an encoder, the size of a prompt table where there is a table; here are none.',
    inputs: {
      tensorrt_llm: [
        int('pad_id', 5),
        int('decoder_input_ids', 5),
        int('decoder_input_lengths', 1),
        TABLE_IDS,
        int('prompt_vocab_size', 1),
      ],
      ensemble: DECODER,
      tensorrt_llm_bls: DECODER,
    },
  },
  {
    kind: 'inert',
    id: 'nothing-of-the-answer',
    effect: 'A salt parts caches, an effort is for models that reason, and spaces are asked about between special tokens alone.',
    inputs: {
      'trtllm-serve': [
        field('spaces_between_special_tokens', false),
        { ...field('cache_salt', 'probe'), on: 'openai-chat' },
        { ...field('reasoning_effort', 'high'), on: 'openai-chat' },
      ],
    },
  },
  {
    kind: 'inert',
    id: 'user',
    effect: 'user names who asks, for the operator; an answer does not depend on it.',
    inputs: { completions: [field('user', 'probe')], chat: [field('user', 'probe')], 'trtllm-serve': [field('user', 'probe')] },
  },
];
