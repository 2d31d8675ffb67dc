"""The step scheduler: one thread, in-flight batching, endings by the executor's contract.

Each step: look for cancels, take stop orders, admit what fits, then give every active sequence its
prompt or one token. A sequence is computed alone, so its answer does not depend on its neighbours.

Endings (`llmRequest.cpp`, `stopCriteriaKernels.cu`; see docs of the contract in ../../README.md):
EOS: an extra response without tokens; length and stop words: FINAL on the response with the last token;
EOS wins over length; cancel: flag-only FINAL; stop order: an ordinary last response.
"""

import collections
import threading
import time

import numpy as np

import responses
from beams import log_softmax
from kv_blocks import BlockPool
from sampling import log_softmax_at


class Engine:
    """Owns the model, the block pool and all open jobs. `submit` and `stop` may be called from any thread."""

    def __init__(self, model, limits, publish, log):
        self.model, self.limits, self._publish, self._log = model, limits, publish, log
        self.pool = BlockPool(limits.kv_cache_blocks, limits.tokens_per_block, limits.reuse)
        self.waiting, self.active = collections.deque(), []
        self.iteration = 0
        self._free_caches = [model.new_cache() for _ in range(limits.max_num_sequences)]
        self.memory_bytes = sum(cache.nbytes for cache in self._free_caches) + model.output.nbytes
        self._jobs, self._by_id = [], {}
        self._inbox, self._stops, self._closing = collections.deque(), collections.deque(), False
        self._orders = collections.deque()
        self._changed = threading.Condition()
        self._next_publish = 0.0
        self._publish(self)
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def submit(self, job):
        with self._changed:
            self._inbox.append(job)
            self._changed.notify()

    def stop(self, request_id):
        """Ends the newest job of that id at the next step; unknown ids are no error."""
        with self._changed:
            self._stops.append(request_id)
            self._changed.notify()

    def shut_down(self):
        """Ends the thread, which is done within a step, and lets go of jobs that are still open: the server waits for
        their ends, but not for ever, and then takes no more responses either, so that a step may hang in `send`."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout=5)
        for held in (self._jobs, self._by_id, self._inbox, self.waiting, self.active):
            held.clear()

    def _run(self):
        while self._collect():
            try:
                self._step()
            except Exception as error:  # nothing may hang because the scheduler itself failed
                self._log(f"engine step failed: {error!r}")
                for job in list(self._jobs):
                    self._fail(job, str(error))

    def _collect(self):
        """Moves new work in; sleeps while there is none. False: shut down."""
        with self._changed:
            while not (self._closing or self._jobs or self._inbox):
                self._stops.clear()
                self._changed.wait()
            if self._closing:
                return False
            jobs, self._inbox = self._inbox, collections.deque()
            stops, self._stops = self._stops, collections.deque()
        for job in jobs:
            self._jobs.append(job)
            self.waiting.extend(job.sequences)
            if job.request_id:
                self._by_id[job.request_id] = job  # a later stop reaches the newer one only
        self._orders = stops
        return True

    def _step(self):
        self.iteration += 1
        while self._orders:
            job = self._by_id.get(self._orders.popleft())
            if job is not None:
                self._stop_job(job)
        self._drop_cancelled()
        self._admit()
        for sequence in list(self.active):
            if sequence.lease is None or sequence.job.closed:
                continue
            try:
                self._advance(sequence)
            except Exception as error:
                self._log(f"request {sequence.job.number} failed: {error!r}")
                self._fail(sequence.job, str(error))
        now = time.monotonic()
        if now >= self._next_publish:
            self._next_publish = now + self.limits.stats_period_s
            self._publish(self)

    def _admit(self):
        admitted = False
        while self.waiting and self._free_caches and self._fits(self.waiting[0]):
            sequence = self.waiting.popleft()
            sequence.cache = self._free_caches.pop()
            sequence.lease, sequence.computed = self.pool.open(
                sequence.prompt, sequence.longest, sequence.cache, sequence.beam_count,
                reuse="return_context_logits" not in sequence.wants,
            )
            sequence.open_beams()
            sequence.scheduled_ns = time.monotonic_ns()
            self.active.append(sequence)
            admitted = True
        if admitted:
            self._publish(self)

    def _fits(self, sequence):
        return self.pool.fits(len(sequence.prompt), sequence.longest, sequence.beam_count)

    def _context(self, sequence):
        rows = [] if "return_context_logits" in sequence.wants else None
        raw = self.model.prefill(sequence.prompt, sequence.computed, sequence.cache, rows)
        self.pool.keep(sequence.lease, sequence.prompt, sequence.cache)
        sequence.computed = len(sequence.prompt)
        if rows is not None:
            sequence.context_logits = np.array(rows, dtype=np.float32)
        return raw

    def _advance_beams(self, sequence):
        """One token of every beam."""
        search, start = sequence.beams, len(sequence.prompt)
        if sequence.in_context_phase:
            raw = [self._context(sequence)]
        else:
            position = start + search.generated - 1
            self.pool.grow(sequence.lease, position + 1, len(search.live))
            raw = [self.model.decode(beam.tokens[-1], position, beam.cache) for beam in search.live]
        shape = sequence.sampler.shape
        shaped = [shape(row, sequence.prompt + beam.tokens, search.generated) for row, beam in zip(raw, search.live)]
        log_probs = np.array([log_softmax(row) for row in shaped])
        search.step(log_probs, raw, "return_generation_logits" in sequence.wants)
        self._mark_token(sequence)
        if search.finished:
            self._finish(sequence)
        elif sequence.streaming:
            responses.send_beams(sequence, last=False)

    @staticmethod
    def _mark_token(sequence):
        sequence.first_token_ns = sequence.first_token_ns or time.monotonic_ns()

    def _advance(self, sequence):
        """Prompt or one token, then the token that follows from it."""
        if sequence.beams is not None:
            self._advance_beams(sequence)
            return
        if sequence.in_context_phase:
            raw = self._context(sequence)
        else:
            self.pool.grow(sequence.lease, len(sequence.ids))
            raw = self.model.decode(sequence.ids[-1], len(sequence.ids) - 1, sequence.cache)
        sequence.computed = len(sequence.ids)
        token, logits = self._sample(sequence, raw)
        self._mark_token(sequence)
        if token == sequence.end_id:
            self._finish(sequence)
            return
        sequence.ids.append(token)
        if "return_log_probs" in sequence.wants:
            value = log_softmax_at(logits, token)
            sequence.cum_log_prob += value
            sequence.log_probs.append(value)
        if sequence.generated >= sequence.max_new or sequence.ends_with_stop_word():
            self._finish(sequence)
        elif sequence.streaming:
            responses.send_tokens(sequence, last=False)

    def _sample(self, sequence, raw):
        if "return_generation_logits" in sequence.wants:
            sequence.logits.append(raw.astype(np.float32))
        logits = sequence.sampler.shape(raw, sequence.ids, sequence.generated)
        return sequence.sampler.choose(logits), logits

    def _finish(self, sequence):
        """Memory and gauges first, the response after: who has seen the end finds the engine free."""
        sequence.last_token_ns = time.monotonic_ns()
        self._release(sequence)
        if sequence.job.open == 1:
            self._forget(sequence.job)
        self._publish(self)
        send = responses.send_tokens if sequence.beam_settings is None else responses.send_beams
        send(sequence, last=True)

    def _release(self, sequence):
        if sequence.lease is not None:
            sequence.blocks_held = sequence.blocks_now
            self.pool.close(sequence.lease)
            self._free_caches.append(sequence.cache)
            sequence.lease = sequence.cache = None
            self.active.remove(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)

    def _forget(self, job):
        self._jobs.remove(job)
        if self._by_id.get(job.request_id) is job:
            del self._by_id[job.request_id]

    def _drop(self, job):
        """Frees everything a job holds."""
        for sequence in job.sequences:
            self._release(sequence)
        if job in self._jobs:
            self._forget(job)
        self._publish(self)

    def _drop_cancelled(self):
        now = time.monotonic()
        for job in list(self._jobs):
            if now < job.next_poll:
                continue
            job.next_poll = now + self.limits.cancel_period_s
            if _is_cancelled(job.sender):
                self._drop(job)
                responses.close(job)

    def _stop_job(self, job):
        for sequence in job.sequences:
            if sequence.lease is not None or sequence in self.waiting:
                self._finish(sequence)

    def _fail(self, job, text):
        self._drop(job)
        responses.fail(job, executor_error(job, text))


def executor_error(job, text):
    """The words in which the C++ backend reports an engine error."""
    return f"Executor failed process requestId {job.number} due to the following error: {text}"


def _is_cancelled(sender):
    """Up to Triton 2.36 nothing tells a model that its client has gone (observed)."""
    ask = getattr(sender, "is_cancelled", None)
    return ask is not None and ask()
