/** Which tensor of a BLS request goes where, as upstream's decoder maps them (`tensorrt_llm_bls/1/lib/triton_decoder.py`). */
import type { CoreTensor, ModelRequest } from '../core/index.ts';
import { boolTensor, int32Tensor } from './values.ts';

const TO_PREPROCESSING: ReadonlyMap<string, string> = new Map([
  ['text_input', 'QUERY'],
  ['decoder_text_input', 'DECODER_QUERY'],
  ['max_tokens', 'REQUEST_OUTPUT_LEN'],
  ['bad_words', 'BAD_WORDS_DICT'],
  ['stop_words', 'STOP_WORDS_DICT'],
  ['embedding_bias_words', 'EMBEDDING_BIAS_WORDS'],
  ['embedding_bias_weights', 'EMBEDDING_BIAS_WEIGHTS'],
  ['pad_id', 'PAD_ID'],
  ['end_id', 'END_ID'],
  ['prompt_table_extra_id', 'PROMPT_TABLE_EXTRA_ID'],
]);

/** Of what preprocessing gives; decoder_input_lengths is not among them (observed). */
const PREPROCESSED_TO_ENGINE: ReadonlyMap<string, string> = new Map([
  ['INPUT_ID', 'input_ids'],
  ['DECODER_INPUT_ID', 'decoder_input_ids'],
  ['REQUEST_INPUT_LEN', 'input_lengths'],
  ['BAD_WORDS_IDS', 'bad_words_list'],
  ['STOP_WORDS_IDS', 'stop_words_list'],
  ['EMBEDDING_BIAS', 'embedding_bias'],
  ['OUT_PAD_ID', 'pad_id'],
  ['OUT_END_ID', 'end_id'],
  ['OUT_PROMPT_TABLE_EXTRA_IDS', 'prompt_table_extra_ids'],
]);

const TO_ENGINE: ReadonlyMap<string, string> = new Map([
  ['beam_width', 'beam_width'],
  ['num_return_sequences', 'num_return_sequences'],
  ['top_k', 'runtime_top_k'],
  ['top_p', 'runtime_top_p'],
  ['temperature', 'temperature'],
  ['length_penalty', 'len_penalty'],
  ['repetition_penalty', 'repetition_penalty'],
  ['min_tokens', 'min_tokens'],
  ['min_length', 'min_length'],
  ['presence_penalty', 'presence_penalty'],
  ['frequency_penalty', 'frequency_penalty'],
  ['seed', 'seed'],
  ['random_seed', 'random_seed'],
  ['return_log_probs', 'return_log_probs'],
  ['stream', 'streaming'],
  ['prompt_embedding_table', 'prompt_embedding_table'],
  ['prompt_vocab_size', 'prompt_vocab_size'],
  ['lora_task_id', 'lora_task_id'],
  ['lora_weights', 'lora_weights'],
  ['lora_config', 'lora_config'],
  ['exclude_input_in_output', 'exclude_input_in_output'],
  ['return_perf_metrics', 'return_perf_metrics'],
  ['guided_decoding_guide_type', 'guided_decoding_guide_type'],
  ['guided_decoding_guide', 'guided_decoding_guide'],
  ['return_num_input_tokens', 'return_num_input_tokens'],
  ['return_num_output_tokens', 'return_num_output_tokens'],
  ['max_tokens', 'request_output_len'],
]);

/** Outputs of the engine that a BLS hands on, in its order; text_output comes before them. */
const HANDED_ON: readonly string[] = [
  'cum_log_probs',
  'output_log_probs',
  'context_logits',
  'generation_logits',
  'batch_index',
  'sequence_index',
  'kv_cache_alloc_new_blocks',
  'kv_cache_reused_blocks',
  'kv_cache_alloc_total_blocks',
  'arrival_time_ns',
  'first_scheduled_time_ns',
  'first_token_time_ns',
  'last_token_time_ns',
  'acceptance_rate',
  'total_accepted_draft_tokens',
  'total_draft_tokens',
  'num_input_tokens',
  'num_output_tokens',
];

function renamed(tensors: Iterable<CoreTensor>, names: ReadonlyMap<string, string>): CoreTensor[] {
  const out: CoreTensor[] = [];
  for (const tensor of tensors) {
    const name = names.get(tensor.name);
    if (name !== undefined) out.push({ ...tensor, name });
  }
  return out;
}

/** `drops`: inputs of the client that are handed to nobody. */
export function preprocessingInputs(request: ModelRequest, drops: ReadonlySet<string>): CoreTensor[] {
  return renamed(kept(request, drops), TO_PREPROCESSING);
}

/** `drops`: inputs of the client that are handed to nobody. The two switches for logits are always sent, false unless asked for. */
export function engineInputs(request: ModelRequest, preprocessed: readonly CoreTensor[], drops: ReadonlySet<string>): CoreTensor[] {
  const switches = ['return_context_logits', 'return_generation_logits'].map(
    (name) =>
      request.inputs.get(name) ??
      boolTensor(
        name,
        [request.batchSize, 1],
        Array.from({ length: request.batchSize }, () => false),
      ),
  );
  return [...renamed(preprocessed, PREPROCESSED_TO_ENGINE), ...renamed(kept(request, drops), TO_ENGINE), ...switches];
}

/** The request that stops another one of the same id. */
export function stopInputs(): CoreTensor[] {
  const one = (name: string) => int32Tensor(name, [1, 1], [0]);
  return [one('input_ids'), one('input_lengths'), one('request_output_len'), boolTensor('stop', [1, 1], [true])];
}

function kept(request: ModelRequest, drops: ReadonlySet<string>): CoreTensor[] {
  return [...request.inputs.values()].filter(({ name }) => !drops.has(name));
}

export function handedOn(outputs: readonly CoreTensor[]): CoreTensor[] {
  return HANDED_ON.flatMap((name) => outputs.filter((tensor) => tensor.name === name));
}
