"""Builds and sends the responses of one sequence.

Shapes as observed on the wire and read from `model_instance_state.cc`: output_ids [1, beams, n] padded with -1,
sequence_length [1, beams] (tokens in *this* response), cum_log_probs [1, beams], output_log_probs [1, beams, n] and
generation_logits [1, beams, rows, vocab] padded with 0; of one sequence one row per sampled step since the last
response, the step that drew EOS included; context_logits [1, prompt, vocab] on every response; batch_index [1, 1] only
when the request has several rows, sequence_index [1, 1] only when it asks for several sequences.
"""

import numpy as np
import triton_python_backend_utils as pb_utils

_FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def send_tokens(sequence, last):
    """Sends what was not sent yet; `last` closes the sequence, and the request with its last one."""
    tokens = sequence.ids[sequence.sent :]
    new = len(sequence.ids) - max(sequence.sent, len(sequence.prompt))
    sequence.sent = len(sequence.ids)
    outputs = [
        _tensor("output_ids", [[tokens]], np.int32, (1, 1, len(tokens))),
        _tensor("sequence_length", len(tokens), np.int32, (1, 1)),
    ]
    wants = sequence.wants
    if "return_log_probs" in wants:
        outputs.append(_tensor("cum_log_probs", sequence.cum_log_prob, np.float32, (1, 1)))
        outputs.append(_tensor("output_log_probs", sequence.log_probs, np.float32, (1, 1, len(sequence.log_probs))))
        sequence.log_probs = []
    if "return_generation_logits" in wants:
        rows = np.array(sequence.logits, dtype=np.float32).reshape(1, 1, -1, sequence.job.vocab)
        outputs.append(pb_utils.Tensor("generation_logits", rows))
        sequence.logits = []
    _send(sequence, outputs, new, last)


def send_beams(sequence, last):
    """The same for all beams at once, as they rank now. In a stream each tells what it has beyond the longest that
    was sent, so a beam that comes to the front late is not told in full (`llmRequest.cpp`, createResult)."""
    beams = [] if sequence.beams is None else sequence.beams.ranked()
    lead = [] if sequence.streaming or sequence.exclude_input else sequence.prompt
    begin = sequence.sent - len(sequence.prompt) if sequence.streaming else 0
    told = [lead + beam.tokens[begin:] for beam in beams]
    longest = max((len(beam.tokens) for beam in beams), default=0)
    if not last and longest <= begin:
        return
    sequence.sent = len(sequence.prompt) + max(longest, begin)
    outputs = [
        pb_utils.Tensor("output_ids", _padded(told, -1, np.int32)),
        _tensor("sequence_length", [len(tokens) for tokens in told], np.int32, (1, len(told))),
    ]
    if "return_log_probs" in sequence.wants:
        outputs.append(_tensor("cum_log_probs", [beam.cum for beam in beams], np.float32, (1, len(beams))))
        values = [beam.log_probs[begin:] for beam in beams]
        outputs.append(pb_utils.Tensor("output_log_probs", _padded(values, 0, np.float32)))
    if "return_generation_logits" in sequence.wants:
        rows = [beam.rows[begin:] for beam in beams]
        table = np.zeros((1, len(rows), max(map(len, rows)), sequence.job.vocab), dtype=np.float32)
        for index, own in enumerate(rows):
            table[0, index, : len(own)] = np.array(own, dtype=np.float32).reshape(-1, sequence.job.vocab)
        outputs.append(pb_utils.Tensor("generation_logits", table))
    _send(sequence, outputs, sum(len(tokens) - len(lead) for tokens in told), last)


def _padded(rows, filler, dtype):
    """[1, rows, longest]."""
    table = np.full((1, len(rows), max(map(len, rows), default=0)), filler, dtype=dtype)
    for index, row in enumerate(rows):
        table[0, index, : len(row)] = row
    return table


def _send(sequence, outputs, new, last):
    job, wants = sequence.job, sequence.wants
    if sequence.context_logits is not None:
        outputs.append(pb_utils.Tensor("context_logits", sequence.context_logits[None]))
    if job.rows > 1:
        outputs.append(_tensor("batch_index", sequence.row, np.int32, (1, 1)))
    if sequence.one_of_several:
        outputs.append(_tensor("sequence_index", sequence.index, np.int32, (1, 1)))
    if "return_num_input_tokens" in wants:
        outputs.append(_tensor("num_input_tokens", len(sequence.prompt), np.int32, (1, 1)))
    if "return_num_output_tokens" in wants:
        outputs.append(_tensor("num_output_tokens", new, np.int32, (1, 1)))
    if "return_perf_metrics" in wants:
        outputs.extend(_measured(sequence))
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
    """Sends FINAL, with or without data. After this the sender must not be touched: asking it `is_cancelled` after FINAL
    crashes the server (observed on 2.51). So the job lets go of it, and it is destroyed here, by the thread that used
    it, and not by a collection of garbage at some later time: job and sequences refer to each other."""
    if job.closed:
        return
    job.closed = True
    sender, job.sender = job.sender, None
    if response is None:
        sender.send(flags=_FINAL)
    else:
        sender.send(response, flags=_FINAL)


def fail(job, message):
    close(job, pb_utils.InferenceResponse(output_tensors=[], error=pb_utils.TritonError(message)))


def _measured(sequence):
    """On every response; last_token_time_ns is 0 before the end (`llmRequest.h`, updatePerfMetrics). No tokens are
    drafted here."""
    total, reused = sequence.blocks_now
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
        yield _tensor(name, value, dtype, (1, 1))


def _tensor(name, value, dtype, shape):
    return pb_utils.Tensor(name, np.array(value, dtype=dtype).reshape(shape))
