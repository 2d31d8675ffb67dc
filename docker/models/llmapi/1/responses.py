"""Builds and sends the responses of one request: what the engine of `tensorrt_llm` calls when there is news.

text_output holds the whole text so far; everything beside it is BYTES, Python's `str()` of the value.
"""

import numpy as np
import triton_python_backend_utils as pb_utils
from tokenizers.decoders import DecodeStream

_FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
_CANCELLED = "Request cancelled by client"


class Output:
    """The text of one answer as it grows. Streamed, it holds back parts of a character, and loses a last one."""

    def __init__(self, tokenizer, sequence, settings):
        self._tokenizer, self._sequence = tokenizer, sequence
        self._stream = DecodeStream(skip_special_tokens=True)
        self._taken = len(sequence.prompt)
        self.text = ""
        self.finish_reason = None
        self.returns = {name for name, value in settings.items() if name.startswith("return_") and value}

    def update(self, last):
        sequence = self._sequence
        if sequence.streaming:
            for token in sequence.ids[self._taken :]:
                self.text += self._piece(token)
            self._taken = len(sequence.ids)
        else:
            self.text = self._tokenizer.decode(sequence.ids[sequence.sent :], skip_special_tokens=True)
        if last:
            at_limit = sequence.generated >= sequence.max_new
            self.finish_reason = "cancelled" if sequence.job.stopped else "length" if at_limit else "stop"

    def _piece(self, token):
        try:
            return self._stream.step(self._tokenizer, token) or ""
        except Exception:  # "Invalid prefix encountered": byte tokens spoiled what was given, and nothing comes any more
            return ""


def send_tokens(sequence, last):
    job, output = sequence.job, sequence.output
    if last:
        _forget(job)
    if last and job.stopped and not sequence.streaming:
        job.closed, job.sender = True, None  # as upstream: an answer that is not streamed is dropped, and its client waits
        return
    output.update(last)
    texts = [("text_output", output.text)]
    if "return_finish_reason" in output.returns:
        texts.append(("finish_reason", output.finish_reason))
    if "return_stop_reason" in output.returns:
        texts.append(("stop_reason", None))
    if "return_cumulative_logprob" in output.returns:
        texts.append(("cumulative_logprob", None))
    if "return_perf_metrics" in output.returns:
        texts.extend(_metrics(sequence))
    response = pb_utils.InferenceResponse([_bytes(name, value) for name, value in texts])
    if last:
        close(job, response)
    else:
        job.sender.send(response)


def close(job, response=None):
    """FINAL, once; without a response it is the answer to a request that was cancelled. After this the sender must not
    be touched: asking it `is_cancelled` after FINAL crashes the server (observed on 2.51). So the job lets go of it, as
    in `tensorrt_llm`."""
    if job.closed:
        return
    job.closed = True
    sender, job.sender = job.sender, None
    _forget(job)
    if response is None:
        # Up to Triton 2.36 errors have no codes (observed).
        codes = [code for code in (getattr(pb_utils.TritonError, "CANCELLED", None),) if code is not None]
        error = pb_utils.TritonError(_CANCELLED, *codes)
        response = pb_utils.InferenceResponse(output_tensors=[], error=error)
    sender.send(response, flags=_FINAL)


def fail(job, message):
    refuse(job, f"Error generating request: {message}")


def refuse(job, message):
    close(job, pb_utils.InferenceResponse(output_tensors=[], error=pb_utils.TritonError(message)))


def _forget(job):
    getattr(job, "forget", lambda: None)()


def _metrics(sequence):
    lease = sequence.lease
    total, reused = (lease.blocks, lease.reused) if lease is not None else sequence.blocks_held
    return (
        ("kv_cache_reused_block", reused),
        ("kv_cache_hit_rate", reused / total if total else 0.0),
        ("kv_cache_alloc_new_blocks", total - reused),
        ("kv_cache_alloc_total_blocks", total),
        ("kv_cache_missed_block", total - reused),
        ("arrival_time_ns", sequence.arrival_ns),
        ("first_scheduled_time_ns", sequence.scheduled_ns),
        ("first_token_time_ns", sequence.first_token_ns),
        ("last_token_time_ns", sequence.last_token_ns),
        ("acceptance_rate", 0.0),
        ("total_accepted_draft_tokens", 0),
        ("total_draft_tokens", 0),
    )


def _bytes(name, value):
    return pb_utils.Tensor(name, np.array([str(value).encode("utf-8")], dtype=np.object_))
