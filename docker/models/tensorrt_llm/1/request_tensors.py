"""Turns the tensors of one Triton request into settings per batch row, or refuses them.

Names, defaults and error texts: TensorRT-LLM `triton_backend/inflight_batcher_llm` (`src/utils.cc`,
`src/model_instance_state.cc`) and `all_models/inflight_batcher_llm/tensorrt_llm/1/model.py`.
"""

import numpy as np

_SCALARS = {
    "request_output_len": int, "end_id": int, "runtime_top_k": int, "min_tokens": int, "seed": int,
    "beam_width": int, "num_return_sequences": int,
    "temperature": float, "runtime_top_p": float, "runtime_top_p_decay": float, "runtime_top_p_min": float,
    "runtime_top_p_reset_ids": int,
    "repetition_penalty": float, "presence_penalty": float, "frequency_penalty": float,
    "return_log_probs": bool, "return_context_logits": bool, "return_generation_logits": bool,
    "return_perf_metrics": bool, "return_num_input_tokens": bool, "return_num_output_tokens": bool,
    "exclude_input_in_output": bool, "streaming": bool,
}

# Without effect here, as on the real engine under the same conditions: no decoder prompt on a decoder-only
# model, no padding in single sequences, beam settings at one beam.
_NO_EFFECT = {
    "decoder_input_ids", "decoder_input_lengths", "pad_id", "len_penalty", "early_stopping",
    "beam_search_diversity_rate", "stop",
}

_SPECIAL = {"input_ids", "input_lengths", "stop_words_list", "bad_words_list", "embedding_bias"}


class RequestError(Exception):
    """A refusal; the text goes to the client."""


class ExecutorError(RequestError):
    """A refusal by the engine: the text is sent behind the executor's own words."""


def read_tensors(request):
    """{name: array}; empty tensors (what preprocessing sends for an absent list) count as absent."""
    arrays = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
    return {name: array for name, array in arrays.items() if array.size > 0 or name in ("input_ids", "input_lengths")}


def wants_stop(tensors):
    return "stop" in tensors and bool(tensors["stop"].reshape(-1)[0])


def read_settings(tensors, limits):
    """One settings dictionary per batch row."""
    for name in ("input_ids", "input_lengths", "request_output_len"):
        if name not in tensors:
            raise RequestError(f"{name} is not present in the request")
    for name in tensors:
        if name not in _SCALARS and name not in _NO_EFFECT and name not in _SPECIAL:
            raise ExecutorError(f"{name} is not supported by this engine")
    return [_row(tensors, row, limits) for row in range(tensors["input_lengths"].reshape(-1).shape[0])]


def _row(tensors, row, limits):
    settings = {}
    for name, kind in _SCALARS.items():
        if name in tensors:
            settings[name] = kind(tensors[name].reshape(-1)[row])
    settings["prompt"] = _prompt(tensors, row, limits)
    for name in ("stop_words_list", "bad_words_list"):
        if name in tensors:
            settings[name] = _words(name, tensors[name][row], limits.vocab)
    if "embedding_bias" in tensors:
        bias = tensors["embedding_bias"][row].astype(np.float64)
        if bias.shape != (limits.vocab,):
            raise ExecutorError(f"embedding_bias must have {limits.vocab} values, got {bias.size}")
        settings["embedding_bias"] = bias
    _check(settings, limits)
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


def _words(name, table, vocab):
    """[2, L]: row 0 all ids in one line, row 1 the end of each word, -1 where there is none."""
    words, begin = [], 0
    for end in table[1].tolist():
        if end < 0:
            continue
        if end < begin or end > table.shape[1]:
            raise ExecutorError(f"{name}: offset {end} is out of order")
        if end > begin:
            words.append(table[0, begin:end].tolist())
        begin = end
    if any(token < 0 or token >= vocab for word in words for token in word):
        raise ExecutorError(f"{name} holds a token outside [0, {vocab})")
    return words


def _check(settings, limits):
    get = settings.get
    if settings["request_output_len"] < 1:
        raise ExecutorError(f"request_output_len must be at least 1, got {settings['request_output_len']}")
    if not 1 <= get("beam_width", 1) <= limits.max_beam_width:
        raise ExecutorError(f"beam_width {get('beam_width')} exceeds max_beam_width {limits.max_beam_width}")
    if get("num_return_sequences", 1) < 1:
        raise ExecutorError(f"num_return_sequences must be at least 1, got {get('num_return_sequences')}")
    if get("return_context_logits"):
        raise ExecutorError("return_context_logits is not supported by this engine")
    if not 0 <= get("runtime_top_k", 0) <= 1024:
        raise ExecutorError(f"runtime_top_k must be in [0, 1024], got {get('runtime_top_k')}")
    # Written so that a NaN is refused too.
    if not get("temperature", 1.0) >= 0:
        raise ExecutorError(f"temperature must be >= 0, got {get('temperature')}")
    if not get("runtime_top_p", 0.0) <= 1:
        raise ExecutorError(f"runtime_top_p must be <= 1, got {get('runtime_top_p')}")
    if not 0 < get("runtime_top_p_decay", 1.0) <= 1:
        raise ExecutorError(f"runtime_top_p_decay must be in (0, 1], got {get('runtime_top_p_decay')}")
    if not 0 <= get("runtime_top_p_min", 1.0) <= 1:
        raise ExecutorError(f"runtime_top_p_min must be in [0, 1], got {get('runtime_top_p_min')}")
    if get("runtime_top_p_reset_ids", 0) < 0:
        raise ExecutorError(f"runtime_top_p_reset_ids must be at least 0, got {get('runtime_top_p_reset_ids')}")
    if not get("repetition_penalty", 1.0) > 0:
        raise ExecutorError(f"repetition_penalty must be > 0, got {get('repetition_penalty')}")
