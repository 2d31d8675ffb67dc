"""Which tensor of a request goes to which model, and under which name."""

import numpy as np

TO_PREPROCESSING = {
    "text_input": "QUERY",
    "decoder_text_input": "DECODER_QUERY",
    "max_tokens": "REQUEST_OUTPUT_LEN",
    "bad_words": "BAD_WORDS_DICT",
    "stop_words": "STOP_WORDS_DICT",
    "embedding_bias_words": "EMBEDDING_BIAS_WORDS",
    "embedding_bias_weights": "EMBEDDING_BIAS_WEIGHTS",
    "pad_id": "PAD_ID",
    "end_id": "END_ID",
    "prompt_table_extra_id": "PROMPT_TABLE_EXTRA_ID",
}

# REQUEST_DECODER_INPUT_LEN is not handed on.
PREPROCESSED_TO_ENGINE = {
    "INPUT_ID": "input_ids",
    "DECODER_INPUT_ID": "decoder_input_ids",
    "REQUEST_INPUT_LEN": "input_lengths",
    "BAD_WORDS_IDS": "bad_words_list",
    "STOP_WORDS_IDS": "stop_words_list",
    "EMBEDDING_BIAS": "embedding_bias",
    "OUT_PAD_ID": "pad_id",
    "OUT_END_ID": "end_id",
    "OUT_PROMPT_TABLE_EXTRA_IDS": "prompt_table_extra_ids",
}

# num_return_sequences is declared, and goes nowhere.
TO_ENGINE = {
    "beam_width": "beam_width",
    "top_k": "runtime_top_k",
    "top_p": "runtime_top_p",
    "temperature": "temperature",
    "length_penalty": "len_penalty",
    "repetition_penalty": "repetition_penalty",
    "min_tokens": "min_tokens",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "seed": "seed",
    "return_log_probs": "return_log_probs",
    "stream": "streaming",
    "prompt_embedding_table": "prompt_embedding_table",
    "prompt_vocab_size": "prompt_vocab_size",
    "lora_task_id": "lora_task_id",
    "lora_weights": "lora_weights",
    "lora_config": "lora_config",
    "exclude_input_in_output": "exclude_input_in_output",
    "return_perf_metrics": "return_perf_metrics",
    "guided_decoding_guide_type": "guided_decoding_guide_type",
    "guided_decoding_guide": "guided_decoding_guide",
    "return_num_input_tokens": "return_num_input_tokens",
    "return_num_output_tokens": "return_num_output_tokens",
    "max_tokens": "request_output_len",
}

# In the order in which they are sent, behind text_output.
HANDED_ON = (
    "cum_log_probs", "output_log_probs", "context_logits", "generation_logits", "batch_index", "sequence_index",
    "kv_cache_alloc_new_blocks", "kv_cache_reused_blocks", "kv_cache_alloc_total_blocks", "arrival_time_ns",
    "first_scheduled_time_ns", "first_token_time_ns", "last_token_time_ns", "acceptance_rate",
    "total_accepted_draft_tokens", "total_draft_tokens", "num_input_tokens", "num_output_tokens",
)


def as_sent(array):
    """[batch, 1] again of what a reshape in the configuration made [batch]; upstream's has some of them."""
    return array.reshape(-1, 1) if array.ndim == 1 else array


def renamed(tensors, names):
    return {names[name]: array for name, array in tensors.items() if name in names}


def engine_tensors(request, preprocessed):
    """{name: array} of the request to the engine; the two switches for logits are always there."""
    tensors = {**renamed(preprocessed, PREPROCESSED_TO_ENGINE), **renamed(request, TO_ENGINE)}
    batch = request["text_input"].shape[0]
    for name in ("return_context_logits", "return_generation_logits"):
        tensors[name] = request.get(name, np.zeros((batch, 1), dtype=bool))
    return tensors


def stop_tensors():
    """The request that stops another one of the same id."""
    one = np.zeros((1, 1), dtype=np.int32)
    return {"input_ids": one, "input_lengths": one, "request_output_len": one, "stop": np.array([[True]])}
