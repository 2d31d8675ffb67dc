"""What is refused before a request reaches the engine, in the words of the real back end where they are public.

Sources: TensorRT-LLM `triton_backend/inflight_batcher_llm/src/utils.cc` (BackendError: the text as it is),
`cpp/tensorrt_llm/batch_manager/llmRequest.cpp` and `executor/executorImpl.cpp` (ExecutorError: behind the executor's
own words). Other texts are this engine's own, the same as those of Lockstep's embedded engine.
"""


class RequestError(Exception):
    """A refusal; the text goes to the client."""


class ExecutorError(RequestError):
    """A refusal by the engine: the text is sent behind the executor's own words."""


def check_transaction(tensors, rows, decoupled):
    if decoupled:
        return
    if "streaming" in tensors and tensors["streaming"].reshape(-1)[0]:
        raise RequestError("Streaming is only supported if model is deployed using decoupled mode.")
    if rows > 1:
        raise RequestError("Batch size > 1 requires the tensorrt_llm backend to be using decoupled transaction policy")
    scalar = lambda name: int(tensors[name].reshape(-1)[0]) if name in tensors else 1
    if scalar("beam_width") == 1 and scalar("num_return_sequences") > 1:
        raise RequestError(
            f"num_return_sequences {scalar('num_return_sequences')} requires the decoupled transaction policy"
        )


def check_word_list(table):
    """[2, L]: ids in a line, then the end of each word, -1 where there is none."""
    flat = table.reshape(-1).tolist()
    length = len(flat) // 2
    shown = "".join(f"{value} " for value in flat)
    ends = flat[length:]
    count = ends.index(-1) if -1 in ends else length
    if any(end != -1 for end in ends[count:]):
        raise RequestError(f"Sparse list must not have additional -1s: {shown}")
    previous = None
    for end in ends[:count]:
        if end > length:
            raise RequestError(f"Sparse list must not have out-of-bound offsets: {shown}")
        if previous is not None and end <= previous:
            raise RequestError(f"Sparse list must not have non-increasing offsets: {shown}")
        previous = end


def check_features(tensors):
    """Inputs of features that this engine is not set up for."""
    starts = tensors.get("retention_token_range_starts")
    if starts is not None:
        for name in ("retention_token_range_ends", "retention_token_range_priorities"):
            if name not in tensors or tensors[name].size != starts.size:
                raise RequestError(
                    f"{name} must be provided, and have the same length as retention_token_range_starts"
                )
        if tensors.get("retention_token_range_durations_ms", starts).size != starts.size:
            raise RequestError(
                "retention_token_range_durations_ms must have the same length as retention_token_range_starts"
            )
    if "lookahead_window_size" in tensors:
        for name in ("lookahead_ngram_size", "lookahead_verification_set_size"):
            if name not in tensors:
                raise RequestError(f"Failed to extract {name}")
        raise RequestError(
            "Cannot set the request lookahead decoding configuration when model instance lookahead parameters are not set."
        )
    if "guided_decoding_guide_type" in tensors:
        raise ExecutorError(
            "Request is specified with GuidedDecodingParams, but GuidedDecoder is not setup. "
            "Please provide a valid GuidedDecodingConfig to setup GuidedDecoder."
        )
    if "draft_input_ids" in tensors:
        drafted = tensors["draft_input_ids"].shape[1]
        raise ExecutorError(f"Draft tokens length ({drafted}) exceeds maximum draft tokens length (0).")


def check_settings(settings, limits):
    get, vocab = settings.get, limits.vocab
    if not -1 <= get("end_id", -1) < vocab:
        raise ExecutorError(f"EndId ({get('end_id')}) is not within acceptable range [-1, {vocab}).")
    if settings["request_output_len"] < 1:
        raise ExecutorError(f"request_output_len must be at least 1, got {settings['request_output_len']}")
    _check_beams(settings, limits)
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


def _check_beams(settings, limits):
    get = settings.get
    beams, sequences = get("beam_width", 1), get("num_return_sequences", 1)
    if not 1 <= beams <= limits.max_beam_width:
        raise ExecutorError(f"beam_width {beams} exceeds max_beam_width {limits.max_beam_width}")
    if sequences < 1:
        raise ExecutorError(f"num_return_sequences must be at least 1, got {sequences}")
    if beams > 1 and sequences > beams:
        raise ExecutorError(f"num_return_sequences {sequences} exceeds beam_width {beams}")
    if not get("beam_search_diversity_rate", 0.0) >= 0:
        raise ExecutorError(f"beam_search_diversity_rate must be >= 0, got {get('beam_search_diversity_rate')}")
    if not get("len_penalty", 0.0) >= 0:
        raise ExecutorError(f"len_penalty must be >= 0, got {get('len_penalty')}")
    if beams > 1:
        _check_room(settings, beams, limits)


def _check_room(settings, beams, limits):
    """Beams that can never find room would wait for ever, and all requests behind them."""
    size, prompt = limits.tokens_per_block, len(settings["prompt"])
    longest = min(prompt + settings["request_output_len"], limits.max_seq_len)
    total = -(-(longest - 1) // size)
    need = total + (beams - 1) * (total - prompt // size)
    if need > limits.kv_cache_blocks:
        raise ExecutorError(f"{beams} beams need {need} cache blocks, there are {limits.kv_cache_blocks}")
