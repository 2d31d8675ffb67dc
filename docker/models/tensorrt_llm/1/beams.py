"""Beam search over one request, as TensorRT-LLM's decoder defines it for small widths.

Sources: `cpp/tensorrt_llm/kernels/beamSearchKernels/beamSearchKernelsTemplate.h` (beamStage3Kernel),
`beamSearchKernels.h` (applyLengthPenalty), `decodingKernels.cu` (insertUnfinishedPathKernel, finalizeKernel),
`layers/defaultDecodingParams.h`.

Of the 2 * width best continuations, ranked with a bonus of diversity_rate per beam index and without it in every
score, EOS ends its beam when it is among the first `width`, and any other token makes a beam of the next step. Ended
beams are kept by cum_log_prob / length ** len_penalty, EOS counted in the length. A stop word ends its beam as EOS does
and stays in it.
"""

import numpy as np


class Beam:
    """One answer: tokens behind the prompt, their log-probabilities, the raw rows they were drawn from, its memory."""

    __slots__ = ("tokens", "log_probs", "rows", "cum", "cache")

    def __init__(self, tokens, log_probs, rows, cum, cache):
        self.tokens, self.log_probs, self.rows, self.cum, self.cache = tokens, log_probs, rows, cum, cache

    def grown(self, token, cum, row):
        rows = self.rows if row is None else self.rows + [row]
        return Beam(self.tokens + [token], self.log_probs + [cum - self.cum], rows, cum, None)


class BeamSearch:
    """All beams of one sequence. `live` are to be computed, best first; `ended` are (score, beam)."""

    def __init__(self, settings, end_id, max_new, stops, cache):
        self.width = settings["beam_width"]
        self.returned = min(self.width, settings.get("num_return_sequences", self.width))
        self.len_penalty = settings.get("len_penalty", 0.0)
        self.early_stopping = settings.get("early_stopping", True)
        self.diversity_rate = settings.get("beam_search_diversity_rate", 0.0)
        self._end_id, self._max_new, self._stops = end_id, max_new, stops
        self.live, self.ended = [Beam([], [], [], 0.0, cache)], []
        self.generated, self.satisfied = 0, False

    @property
    def finished(self):
        return self.satisfied or not self.live or self.generated == self._max_new

    def step(self, log_probs, raw, keep_rows):
        """log_probs, raw: [live, vocab]. Each new beam takes over or copies the memory of the one it grew from."""
        totals = log_probs + np.array([beam.cum for beam in self.live])[:, None]
        ranks = (totals + self.diversity_rate * np.arange(len(self.live))[:, None]).ravel()
        order = np.argsort(-ranks, kind="stable")[: 2 * self.width]
        vocab, length, following, parents = log_probs.shape[1], self.generated + 1, [], []
        for place, flat in enumerate(order.tolist()):
            parent, token = divmod(flat, vocab)
            cum = float(totals[parent, token])
            if token != self._end_id:
                row = raw[parent].astype(np.float32) if keep_rows else None
                following.append(self.live[parent].grown(token, cum, row))
                parents.append(self.live[parent])
            elif place < self.width:
                ended = self.live[parent]
                self._end(Beam(ended.tokens, ended.log_probs, ended.rows, cum, None), length)
            if len(following) == self.width:
                break
        self.generated = length
        for beam in [beam for beam in following if self._stops(beam.tokens)]:
            parents.pop(following.index(beam))
            following.remove(beam)
            self._end(beam, length)
        self._hand_down(following, parents)
        self.live = following
        if len(self.ended) == self.width:
            attainable = _score(float(ranks[order[0]]), length, self.len_penalty)
            self.satisfied = self.early_stopping or min(score for score, _ in self.ended) >= attainable

    def ranked(self):
        """The beams to return, best score first; the earlier one of equals."""
        running = [] if self.satisfied else [(_score(b.cum, self.generated, self.len_penalty), b) for b in self.live]
        return [beam for _, beam in sorted(self.ended + running, key=lambda pair: -pair[0])][: self.returned]

    def _end(self, beam, length):
        score = _score(beam.cum, length, self.len_penalty)
        if len(self.ended) < self.width:
            self.ended.append((score, beam))
            return
        worst = min(range(self.width), key=lambda index: self.ended[index][0])
        if score >= self.ended[worst][0]:
            self.ended[worst] = (score, beam)

    @staticmethod
    def _hand_down(following, parents):
        taken = set()
        for beam, parent in zip(following, parents):
            beam.cache = parent.cache if id(parent) not in taken else parent.cache.copy()
            taken.add(id(parent))


def _score(cum, length, len_penalty):
    return cum if len_penalty == 0 or length == 1 else cum / length**len_penalty


def log_softmax(logits):
    top = logits.max()
    return logits - (top + np.log(np.exp(logits - top).sum()))
