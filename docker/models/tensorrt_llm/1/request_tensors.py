"""Turns the tensors of one Triton request into settings per batch row, or refuses them.

Names, defaults and error texts: TensorRT-LLM `triton_backend/inflight_batcher_llm` (`src/utils.cc`,
`src/model_instance_state.cc`) and `all_models/inflight_batcher_llm/tensorrt_llm/1/model.py`.
"""

import numpy as np

from refusals import (
    ExecutorError, RequestError, check_features, check_settings, check_transaction, check_word_list,
)

_SCALARS = {
    "request_output_len": int, "end_id": int, "runtime_top_k": int, "min_tokens": int, "seed": int,
    "beam_width": int, "num_return_sequences": int, "len_penalty": float, "early_stopping": bool,
    "beam_search_diversity_rate": float,
    "temperature": float, "runtime_top_p": float, "runtime_top_p_decay": float, "runtime_top_p_min": float,
    "runtime_top_p_reset_ids": int,
    "repetition_penalty": float, "presence_penalty": float, "frequency_penalty": float,
    "return_log_probs": bool, "return_context_logits": bool, "return_generation_logits": bool,
    "return_perf_metrics": bool, "return_num_input_tokens": bool, "return_num_output_tokens": bool,
    "exclude_input_in_output": bool, "streaming": bool,
}

# Without effect here, as on the real engine under the same conditions: no decoder prompt on a decoder-only
# model, no padding (what is short is filled with -1), ids of a prompt table that there is not.
_NO_EFFECT = {
    "decoder_input_ids", "decoder_input_lengths", "pad_id", "prompt_table_extra_ids", "prompt_vocab_size", "stop",
}

_SPECIAL = {"input_ids", "input_lengths", "stop_words_list", "bad_words_list", "embedding_bias"}


def read_tensors(request):
    """{name: array}; empty tensors (what preprocessing sends for an absent list) count as absent."""
    arrays = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
    return {name: array for name, array in arrays.items() if array.size > 0 or name in ("input_ids", "input_lengths")}


def wants_stop(tensors):
    return "stop" in tensors and bool(tensors["stop"].reshape(-1)[0])


def read_settings(tensors, limits, decoupled):
    """One settings dictionary per batch row."""
    for name in ("input_ids", "input_lengths", "request_output_len"):
        if name not in tensors:
            raise RequestError(f"{name} is not present in the request")
    rows = tensors["input_lengths"].reshape(-1).shape[0]
    check_transaction(tensors, rows, decoupled)
    for row in range(rows):
        for name in ("bad_words_list", "stop_words_list"):
            if name in tensors:
                check_word_list(tensors[name][row])
    check_features(tensors)
    for name in tensors:
        if name not in _SCALARS and name not in _NO_EFFECT and name not in _SPECIAL:
            raise ExecutorError(f"{name} is not supported by this engine")
    return [_row(tensors, row, limits) for row in range(rows)]


def _row(tensors, row, limits):
    settings = {}
    for name, kind in _SCALARS.items():
        if name in tensors:
            settings[name] = kind(tensors[name].reshape(-1)[row])
    settings["prompt"] = _prompt(tensors, row, limits)
    for name in ("stop_words_list", "bad_words_list"):
        if name in tensors:
            settings[name] = _words(tensors[name][row])
    if "embedding_bias" in tensors:
        bias = tensors["embedding_bias"][row].astype(np.float64)
        if bias.shape != (limits.vocab,):
            raise ExecutorError(f"embedding_bias must have {limits.vocab} values, got {bias.size}")
        settings["embedding_bias"] = bias
    check_settings(settings, limits)
    return settings


def _prompt(tensors, row, limits):
    ids = tensors["input_ids"][row].reshape(-1)
    length = int(tensors["input_lengths"].reshape(-1)[row])
    if length < 1 or length > ids.shape[0]:
        raise ExecutorError(f"input_lengths {length} does not fit input_ids of {ids.shape[0]} tokens")
    if length > limits.max_input_len:
        raise ExecutorError(
            f"Prompt length ({length}) exceeds maximum input length ({limits.max_input_len}). Set log level to info "
            "and check TRTGptModel logs for how maximum input length is set"
        )
    prompt = ids[:length].tolist()
    if min(prompt) < 0 or max(prompt) >= limits.vocab:
        raise ExecutorError(f"input_ids holds a token outside [0, {limits.vocab})")
    return prompt


def _words(table):
    """The words of a checked list."""
    words, begin = [], 0
    for end in table[1].tolist():
        if end < 0:
            break
        words.append(table[0, begin:end].tolist())
        begin = end
    return [word for word in words if word]
