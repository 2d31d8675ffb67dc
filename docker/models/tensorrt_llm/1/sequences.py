"""What the engine works on: a job (one Triton request) made of sequences (one or several per batch row)."""

import time

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
        self.sampler = Sampler(settings, self.prompt, limits.vocab)
        self.cum_log_prob = 0.0
        self.log_probs = []  # of tokens not sent yet
        self.logits = []  # raw rows of steps not sent yet
        self.sent = len(self.prompt) if self.streaming or self.exclude_input else 0
        self.cache = self.lease = None
        self.computed = 0
        self.arrival_ns = time.time_ns()
        self.scheduled_ns = self.first_token_ns = self.last_token_ns = 0

    @property
    def generated(self):
        return len(self.ids) - len(self.prompt)

    @property
    def in_context_phase(self):
        return self.computed < len(self.prompt)

    def ends_with_stop_word(self):
        """The window may begin inside the prompt (kernels/stopCriteriaKernels.cu)."""
        return any(self.ids[-len(word) :] == word for word in self.stop_words)


WANTS = (
    "return_log_probs",
    "return_generation_logits",
    "return_perf_metrics",
    "return_num_input_tokens",
    "return_num_output_tokens",
)


def sequences_of(job, row, settings, limits):
    """The sequences of one batch row. Several sample with seeds that count up from the request's, or from 0
    (`llmRequest.cpp`, createChildRequest)."""
    count = settings.get("num_return_sequences", 1)
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
