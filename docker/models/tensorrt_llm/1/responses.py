"""Builds and sends the responses of one sequence.

Shapes as observed on the wire and read from `model_instance_state.cc`: output_ids [1, 1, n],
sequence_length [1, 1] (tokens in *this* response), cum_log_probs [1, 1], output_log_probs [1, 1, n],
generation_logits [1, 1, rows, vocab] with one row per sampled step since the last response, the step that
drew EOS included; batch_index [1, 1] only when the request has several rows,
sequence_index [1, 1] only when it asks for several sequences.
"""

import numpy as np
import triton_python_backend_utils as pb_utils

_FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def send_tokens(sequence, last):
    """Sends what was not sent yet; `last` closes the sequence, and the request with its last one."""
    job = sequence.job
    tokens = sequence.ids[sequence.sent :]
    new = len(sequence.ids) - max(sequence.sent, len(sequence.prompt))
    sequence.sent = len(sequence.ids)
    outputs = [
        _tensor("output_ids", [[tokens]], np.int32, (1, 1, len(tokens))),
        _tensor("sequence_length", len(tokens), np.int32, (1, 1)),
    ]
    wants = sequence.wants
    if wants:
        _add_wanted(outputs, sequence, new, last)
    if job.rows > 1:
        outputs.append(_tensor("batch_index", sequence.row, np.int32, (1, 1)))
    if sequence.one_of_several:
        outputs.append(_tensor("sequence_index", sequence.index, np.int32, (1, 1)))
    response = pb_utils.InferenceResponse(outputs)
    if not last:
        job.sender.send(response)
        return
    job.open -= 1
    if job.open > 0:
        job.sender.send(response)
    else:
        close(job, response)


def close(job, response=None):
    """Sends FINAL, with or without data. After this the sender must not be touched: asking it
    `is_cancelled` after FINAL crashes the server (observed on 2.51)."""
    if job.closed:
        return
    job.closed = True
    if response is None:
        job.sender.send(flags=_FINAL)
    else:
        job.sender.send(response, flags=_FINAL)


def fail(job, message):
    close(job, pb_utils.InferenceResponse(output_tensors=[], error=pb_utils.TritonError(message)))


def _add_wanted(outputs, sequence, new, last):
    wants = sequence.wants
    if "return_log_probs" in wants:
        outputs.append(_tensor("cum_log_probs", sequence.cum_log_prob, np.float32, (1, 1)))
        outputs.append(_tensor("output_log_probs", sequence.log_probs, np.float32, (1, 1, len(sequence.log_probs))))
        sequence.log_probs = []
    if "return_generation_logits" in wants:
        rows = np.array(sequence.logits, dtype=np.float32).reshape(1, 1, -1, sequence.job.vocab)
        outputs.append(pb_utils.Tensor("generation_logits", rows))
        sequence.logits = []
    if "return_num_input_tokens" in wants:
        outputs.append(_tensor("num_input_tokens", len(sequence.prompt), np.int32, (1, 1)))
    if "return_num_output_tokens" in wants:
        outputs.append(_tensor("num_output_tokens", new, np.int32, (1, 1)))
    if last and "return_perf_metrics" in wants:
        total, reused = sequence.blocks_held
        for name, value, dtype in (
            ("kv_cache_alloc_new_blocks", total - reused, np.int32),
            ("kv_cache_reused_blocks", reused, np.int32),
            ("kv_cache_alloc_total_blocks", total, np.int32),
            ("arrival_time_ns", sequence.arrival_ns, np.int64),
            ("first_scheduled_time_ns", sequence.scheduled_ns, np.int64),
            ("first_token_time_ns", sequence.first_token_ns, np.int64),
            ("last_token_time_ns", sequence.last_token_ns, np.int64),
            ("acceptance_rate", 0.0, np.float32),
            ("total_accepted_draft_tokens", 0, np.int32),
            ("total_draft_tokens", 0, np.int32),
        ):
            outputs.append(_tensor(name, value, dtype, (1, 1)))


def _tensor(name, value, dtype, shape):
    return pb_utils.Tensor(name, np.array(value, dtype=dtype).reshape(shape))
