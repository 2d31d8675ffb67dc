"""From raw logits to the next token, by TensorRT-LLM's rules; beam search (`beams.py`) shares the first half.

Order of the changes to the logits as in `cpp/tensorrt_llm/kernels/penaltyKernels.cu`: bias,
temperature, then repetition, presence and frequency penalty per token seen in prompt or answer,
minimum length; then bad words. Which settings mean greedy: `runtime/samplingConfig.h` and
`layers/samplingLayer.cpp`.
"""

import numpy as np

_MASK64 = (1 << 64) - 1


class SplitMix64:
    """Steele, Lea and Flood's splitmix64. `uniform()` uses the upper 53 bits: [0, 1).

    The project's own choice: TensorRT-LLM draws from curand on the GPU, which no other
    implementation reproduces.
    """

    def __init__(self, seed):
        self._state = int(seed) & _MASK64

    def next(self):
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK64
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
        return z ^ (z >> 31)

    def uniform(self):
        return (self.next() >> 11) / (1 << 53)


# Without `seed` each request takes the next value of one generator seeded with 0, so that the answer
# depends on the number of requests since start (executor `generateRandomSeed`).
_process_seeds = SplitMix64(0)


class Sampler:
    """The sampling settings of one sequence and its random state."""

    def __init__(self, settings):
        self.min_tokens = settings.get("min_tokens", 0)
        self.end_id = settings.get("end_id", -1)
        self.bias = settings.get("embedding_bias")
        self.bad_words = settings.get("bad_words_list", [])
        self.repetition = settings.get("repetition_penalty", 1.0)
        self.presence = settings.get("presence_penalty", 0.0)
        self.frequency = settings.get("frequency_penalty", 0.0)
        self._read_shape(settings)
        seed = settings.get("seed")
        self._random = SplitMix64(_process_seeds.next() if seed is None else seed)
        self._penal = self.repetition != 1.0 or self.presence != 0.0 or self.frequency != 0.0

    def _read_shape(self, settings):
        temperature = settings.get("temperature", 1.0)
        top_k = settings.get("runtime_top_k")
        top_p = settings.get("runtime_top_p")
        if top_p is not None and top_p <= 0:
            top_p = None  # the Triton backends drop it
        if temperature == 0:
            # The runtime rewrites temperature 0 to 1, a given top_k to 1 and a given top_p to 1:
            # greedy with top_k, but the full distribution when only top_p is given.
            temperature = 1.0
            top_k = None if top_k is None else 1
            top_p = None if top_p is None else 1.0
        self.temperature, self.top_k = temperature, top_k or 0
        self.greedy = self.top_k == 1 or (self.top_k == 0 and top_p is None)
        self._initial_top_p = self._runtime_top_p = 1.0 if top_p is None else top_p
        # Defaults of `layers/defaultDecodingParams.h`.
        self._top_p_decay = settings.get("runtime_top_p_decay", 1.0)
        self._top_p_min = settings.get("runtime_top_p_min", 1e-6)
        self._top_p_reset_id = settings.get("runtime_top_p_reset_ids", -1)

    def shape(self, raw, ids, generated):
        """Logits as the sampling layer sees them. `ids`: prompt and answer so far."""
        logits = raw
        if self.bias is not None:
            logits = logits + self.bias
        if self.temperature != 1.0:
            logits = logits / (self.temperature + 1e-6)
        if logits is raw:
            logits = raw.copy()
        if self._penal:
            counts = np.bincount(ids, minlength=len(logits))
            seen = counts > 0
            changed = logits[seen]
            changed = np.where(changed < 0, changed * self.repetition, changed / self.repetition)
            logits[seen] = changed - self.presence - self.frequency * counts[seen]
        if generated < self.min_tokens and 0 <= self.end_id < len(logits):
            logits[self.end_id] = -np.inf
        for word in self.bad_words:
            head = len(word) - 1
            if not 0 <= word[-1] < len(logits):
                continue
            if head == 0 or (head <= len(ids) and ids[-head:] == word[:-1]):
                logits[word[-1]] = -np.inf
        return logits

    def choose(self, logits):
        """The next token id; ties go to the lowest id."""
        return int(np.argmax(logits)) if self.greedy else self._draw(logits)

    def _draw(self, logits):
        """One uniform number per token, in the head of the top_k that holds top_p of their weight
        (`samplingTopKKernels.cu`, `samplingTopPKernels.cu`: the number is scaled down, no weight is cut)."""
        order = np.argsort(-logits, kind="stable")
        if self.top_k > 0:
            order = order[: self.top_k]
        running = np.cumsum(np.exp(logits[order] - logits[order[0]]))
        index = int(np.searchsorted(running, self._random.uniform() * self._runtime_top_p * running[-1], side="right"))
        token = int(order[index]) if index < len(order) else int(order[0])
        if self.top_k == 0:
            # `computeToppDecay`; the top-k kernel, which serves requests with both, knows no decay.
            reset = token == self._top_p_reset_id
            decayed = max(self._runtime_top_p * self._top_p_decay, self._top_p_min)
            self._runtime_top_p = self._initial_top_p if reset else decayed
        return token


def log_softmax_at(logits, token):
    """Natural logarithm of the probability of `token` under shaped logits."""
    top = logits.max()
    return float(logits[token] - top - np.log(np.exp(logits - top).sum()))
