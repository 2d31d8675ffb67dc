"""What the engine works on: a job (one Triton request) made of sequences (one or several per batch row)."""

import time

from beams import BeamSearch
from sampling import Sampler


class Sequence:
    """One prompt and the answer that grows behind it."""

    def __init__(self, job, row, index, settings, limits):
        self.job, self.row, self.index = job, row, index
        self.one_of_several = settings.get("num_return_sequences", 1) > 1
        self.prompt = settings["prompt"]
        self.ids = list(self.prompt)
        self.max_new = min(settings["request_output_len"], limits.max_seq_len - len(self.prompt))
        self.longest = len(self.prompt) + self.max_new
        self.end_id = settings.get("end_id", -1)
        self.stop_words = settings.get("stop_words_list", [])
        self.streaming = settings.get("streaming", False)
        self.exclude_input = settings.get("exclude_input_in_output", limits.exclude_input)
        self.wants = {name for name in WANTS if settings.get(name, False)}
        self.sampler = Sampler(settings)
        self.beam_settings = settings if settings.get("beam_width", 1) > 1 else None
        self.beams = None  # from admission on, where beams were asked for
        self.context_logits = None
        self.cum_log_prob = 0.0
        self.log_probs = []  # of tokens not sent yet
        self.logits = []  # raw rows of steps not sent yet
        self.sent = len(self.prompt) if self.streaming or self.exclude_input else 0
        self.cache = self.lease = None
        self.blocks_held = (0, 0)
        self.computed = 0
        self.arrival_ns = time.monotonic_ns()
        self.scheduled_ns = self.first_token_ns = self.last_token_ns = 0

    @property
    def blocks_now(self):
        """Blocks held, and those of them that were found computed."""
        return self.blocks_held if self.lease is None else (self.lease.blocks, self.lease.reused)

    @property
    def beam_count(self):
        return 1 if self.beam_settings is None else self.beam_settings["beam_width"]

    def open_beams(self):
        if self.beam_settings is not None:
            self.beams = BeamSearch(self.beam_settings, self.end_id, self.max_new, self._beam_stops, self.cache)

    def _beam_stops(self, tokens):
        return bool(self.stop_words) and ends_with_any(self.prompt + tokens, self.stop_words)

    @property
    def generated(self):
        return len(self.ids) - len(self.prompt)

    @property
    def in_context_phase(self):
        return self.computed < len(self.prompt)

    def ends_with_stop_word(self):
        return ends_with_any(self.ids, self.stop_words)


def ends_with_any(ids, words):
    """The window may begin inside the prompt (kernels/stopCriteriaKernels.cu)."""
    return any(ids[-len(word) :] == word for word in words)


WANTS = (
    "return_log_probs",
    "return_context_logits",
    "return_generation_logits",
    "return_perf_metrics",
    "return_num_input_tokens",
    "return_num_output_tokens",
)


def sequences_of(job, row, settings, limits):
    """The sequences of one batch row. Several sample with seeds that count up from the request's, or from 0
    (`llmRequest.cpp`, createChildRequest)."""
    count = settings.get("num_return_sequences", 1) if settings.get("beam_width", 1) == 1 else 1
    for index in range(count):
        own = settings if count == 1 else settings | {"seed": settings.get("seed", 0) + index}
        yield Sequence(job, row, index, own, limits)


class Job:
    """One request: its response sender and the sequences that are still open."""

    def __init__(self, number, request_id, sender):
        self.number, self.request_id, self.sender = number, request_id, sender
        self.sequences, self.open = [], 0
        self.rows = 1
        self.closed = False
        self.next_poll = 0.0

    def add(self, sequence):
        self.sequences.append(sequence)
        self.open += 1
