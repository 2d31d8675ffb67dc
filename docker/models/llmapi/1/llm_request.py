"""Turns the tensors of one request into the engine's settings, or raises with the LLM API's own words.

Names, defaults and error texts: `tensorrt_llm/sampling_params.py` and `triton_backend/all_models/llmapi` (1.x).
"""

import triton_python_backend_utils as pb_utils

_DEFAULT_MAX_TOKENS = 32
_RETURNS = ("return_finish_reason", "return_stop_reason", "return_cumulative_logprob")


def read_request(request, tokenizer, eos, limits):
    scalar = lambda name, default=None: _scalar(request, name, default)
    param = lambda name, default=None: scalar(f"sampling_param_{name}", default)
    text = pb_utils.get_input_tensor_by_name(request, "text_input")
    if text is None:
        raise ValueError("text_input is missing from the request")
    prompt = tokenizer.encode(text.as_numpy()[0].decode("utf-8")).ids
    settings = {
        "prompt": prompt,
        "request_output_len": param("max_tokens", _DEFAULT_MAX_TOKENS),
        "end_id": eos,
        "streaming": bool(scalar("streaming", False)),
        "exclude_input_in_output": bool(param("exclude_input_from_output", False)),
        "return_perf_metrics": bool(param("return_perf_metrics", False)),
        "presence_penalty": param("presence_penalty", 0.0),
        "frequency_penalty": param("frequency_penalty", 0.0),
    }
    settings.update((name, bool(scalar(name, False))) for name in _RETURNS)
    settings.update(_sampling(param("temperature"), param("top_k"), param("top_p"), param("best_of") or 1))
    if param("seed") is not None:
        settings["seed"] = param("seed")
    stop = pb_utils.get_input_tensor_by_name(request, "sampling_param_stop")
    if stop is not None:
        # As upstream: the elements are bytes, which a tokenizer does not take.
        settings["stop_words_list"] = [tokenizer.encode(word, add_special_tokens=False).ids for word in stop.as_numpy()]
    _check_lengths(len(prompt), settings["request_output_len"], limits)
    return settings


def _sampling(temperature, top_k, top_p, best_of):
    """Greedy when nothing is set, or when one setting says so by itself; otherwise the whole vocabulary, cut as asked."""
    if top_p is not None and not 0 <= top_p <= 1:
        raise ValueError(f"require 0 <= top_p <= 1, got top_p={top_p}")
    if top_k is not None and top_k < 0:
        raise ValueError(f"require top_k >= 0, got top_k={top_k}")
    if temperature is not None and temperature < 0:
        raise ValueError(f"require temperature >= 0, got temperature={temperature}")
    unset = temperature is None and top_k is None and top_p is None
    greedy = unset or top_k == 1 or top_p == 0 or temperature == 0
    if best_of < 1:
        raise ValueError(f"best_of ({best_of}) cannot be less than n (1)")
    if best_of > 1 and greedy:
        raise ValueError(
            f"Greedy decoding in the LLM API does not allow multiple returns. Please set to best_of=1, got best_of={best_of}. "
            "Please set to best_of=1 or set an environment variable TLLM_ALLOW_N_GREEDY_DECODING=1 to allow best_of > 1 "
            "under the greedy decoding."
        )
    if greedy:
        return {}
    return {
        "temperature": 1.0 if temperature is None else temperature,
        "runtime_top_k": top_k or 0,
        "runtime_top_p": 1.0 if top_p is None else top_p,
    }


def _check_lengths(prompt, new, limits):
    if prompt > limits.max_seq_len:
        raise ValueError(
            f"The sum of prompt length ({float(prompt)}), query length (0) should not exceed max_num_tokens ({limits.max_seq_len})"
        )
    if new < 1:
        raise ValueError(f"Number of new tokens ({new}) must be larger than 0")
    if prompt > limits.max_input_len:
        raise ValueError(
            f"Prompt length ({prompt}) exceeds maximum input length ({limits.max_input_len}). Set log level to info "
            "and check TRTGptModel logs for how maximum input length is set"
        )


def _scalar(request, name, default):
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return default if tensor is None else tensor.as_numpy().item()
