import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import type { RefusalProbe } from '../probe.ts';

type Refused = RefusalProbe['inputs']['ensemble'] & {};

/** Where the engine's own words for a feature are known, they stand for the input's name (docs/observed.md#decoding). */
const WORDS: Readonly<Record<string, RegExp>> = {
  guided_decoding_guide_type: /GuidedDecoder is not setup/,
  draft_input_ids: /Draft tokens length \(2\) exceeds maximum draft tokens length/,
  lookahead_window_size: /lookahead/,
};

/** One tensor each; the refusal must name it, or what preprocessing makes of it. */
function tensors(...all: readonly Tensor[]): Refused {
  return all.map((value) => ({ name: value.name, value, says: WORDS[value.name] ?? new RegExp(value.name) }));
}

function fields(all: Readonly<Record<string, readonly [json: unknown, says: RegExp]>>): Refused {
  return Object.entries(all).map(([name, [json, says]]) => ({ name, value: { json }, says }));
}

const int = (name: string, values: readonly number[] = [1]): Tensor => int32Tensor(name, [1, values.length], values);
const half = (name: string, shape: readonly number[]): Tensor => ({ name, datatype: 'FP16', shape, data: new Uint8Array(2) });
const bytes = (name: string, datatype: 'UINT8' | 'INT64', size: number): Tensor => ({
  name,
  datatype,
  shape: [1, 1],
  data: new Uint8Array(size).fill(1),
});

const GUIDE: readonly Tensor[] = [
  bytesTensor('guided_decoding_guide_type', [1, 1], ['regex']),
  bytesTensor('guided_decoding_guide', [1, 1], ['[0-9]+']),
];
const LORA: readonly Tensor[] = [
  uint64Tensor('lora_task_id', [1, 1], [1n]),
  half('lora_weights', [1, 1, 1]),
  int32Tensor('lora_config', [1, 1, 3], [0, 0, 1]),
];

const ADAPTERS = tensors(...LORA, half('prompt_embedding_table', [1, 1, 1]));
/** What an engine without the feature must refuse by name, and what the front end does not serve for these models. */
export const REFUSED: readonly RefusalProbe[] = [
  {
    kind: 'refusal',
    id: 'guided-decoding',
    effect: 'A guide is refused by an engine that cannot follow it.',
    inputs: { tensorrt_llm: tensors(...GUIDE), ensemble: tensors(...GUIDE), tensorrt_llm_bls: tensors(...GUIDE) },
  },
  {
    kind: 'refusal',
    id: 'cache-retention',
    effect: 'Retention of cache blocks is refused by an engine that evicts them in its own order.',
    inputs: {
      tensorrt_llm: tensors(
        int('retention_token_range_starts', [0]),
        int('retention_token_range_ends', [4]),
        int('retention_token_range_priorities', [90]),
        int('retention_token_range_durations_ms', [1000]),
        int('retention_decode_priority', [90]),
        int('retention_decode_duration_ms', [1000]),
      ),
    },
  },
  {
    kind: 'refusal',
    id: 'speculation',
    effect: 'Draft tokens and lookahead are refused by an engine that does not speculate.',
    inputs: {
      tensorrt_llm: tensors(
        int('draft_input_ids', [4, 5]),
        fp32Tensor('draft_logits', [1, 1, 1], [0]),
        fp32Tensor('draft_acceptance_threshold', [1, 1], [0.5]),
        int('lookahead_window_size'),
        int('lookahead_ngram_size'),
        int('lookahead_verification_set_size'),
      ),
    },
  },
  {
    kind: 'refusal',
    id: 'adapters-and-tables',
    effect: 'LoRA weights and prompt embeddings are refused by an engine that was built without them.',
    inputs: {
      tensorrt_llm: tensors(...LORA, half('prompt_embedding_table', [1, 1, 1])),
      ensemble: ADAPTERS,
      tensorrt_llm_bls: ADAPTERS,
    },
  },
  {
    kind: 'refusal',
    id: 'other-architectures',
    effect: 'Inputs of encoders, of vision models and of disaggregated serving are refused by a decoder.',
    inputs: {
      tensorrt_llm: tensors(
        half('encoder_input_features', [1, 1, 1]),
        int('encoder_output_lengths'),
        boolTensor('cross_attention_mask', [1, 1, 1], [true]),
        boolTensor('skip_cross_attn_blocks', [1, 1], [true]),
        fp32Tensor('mrope_rotary_cos_sin', [1, 1], [1]),
        bytes('mrope_position_deltas', 'INT64', 8),
        bytes('context_phase_params', 'UINT8', 1),
      ),
    },
  },
  {
    kind: 'refusal',
    id: 'unserved-fields',
    effect: 'Fields that the front end cannot serve on TensorRT-LLM models are refused, unknown ones too.',
    inputs: {
      completions: fields({
        n: [2, /n=2/],
        best_of: [2, /best_of=2/],
        logprobs: [1, /log ?probs/],
        logit_bias: [{ 5: 1 }, /logit bias/],
        suffix: ['x', /suffix/],
        top_k: [1, /top_k/],
        repetition_penalty: [2, /repetition_penalty/],
        end_id: [5, /end_id/],
        bad_words: [['a'], /bad_words/],
      }),
      chat: fields({
        n: [2, /n=2/],
        logprobs: [true, /log ?probs/],
        top_logprobs: [1, /log ?probs/],
        logit_bias: [{ 5: 1 }, /logit bias/],
        top_k: [1, /top_k/],
        repetition_penalty: [2, /repetition_penalty/],
        end_id: [5, /end_id/],
        bad_words: [['a'], /bad_words/],
        tools: [[{ type: 'function', function: { name: 'f' } }], /tool/],
        tool_choice: ['required', /tool/],
      }),
    },
  },
  {
    kind: 'refusal',
    id: 'unserved-by-trtllm-serve',
    effect: 'Several answers are refused by an engine that draws one, and what the schema does not know is refused too.',
    inputs: {
      'trtllm-serve': fields({
        n: [2, /Multiple response|multiple returns|n and best_of/],
        best_of: [2, /best_of/],
        suffix: ['x', /suffix is not supported/],
        bad_words: [['a'], /bad_words/],
        end_id: [5, /end_id/],
      }),
    },
  },
];
