"""Key/value memory counted in blocks, with reuse of prompt prefixes.

Follows TensorRT-LLM's `kvCacheManager` in what can be seen from outside: memory is handed out in blocks
of `tokens_per_block`; whole blocks of a prompt stay behind after the request and serve later
prompts with the same beginning; such idle blocks count as free and are evicted, least recently used
first, when memory is needed. The policy is guaranteed_no_evict: a request is admitted only when its
longest possible length fits.

Only blocks that lie wholly inside a *prompt* are kept. Generated tokens are computed one by one,
whose products differ in the last bit from a chunk's, and a reused answer must be bit-equal.
"""

import numpy as np


class CachedBlock:
    """Keys and values of one whole prompt block: [layer, key or value, kv head, token, head_dim]."""

    __slots__ = ("key", "data", "users", "depth", "last_use")

    def __init__(self, key, data, depth):
        self.key, self.data, self.depth = key, data, depth
        self.users, self.last_use = 0, 0


class Lease:
    """The blocks one sequence holds: `shared` cached blocks and a number of `private` ones."""

    __slots__ = ("shared", "private", "reserved", "reused", "prompt_blocks")

    def __init__(self, reserved, prompt_blocks):
        self.shared, self.private, self.reserved, self.reused = [], 0, reserved, 0
        self.prompt_blocks = prompt_blocks

    @property
    def blocks(self):
        return len(self.shared) + self.private


class BlockPool:
    """All blocks of the engine. Not thread safe: the engine thread is its only user."""

    def __init__(self, total, tokens_per_block, reuse):
        self.total, self.tokens_per_block, self.reuse = total, tokens_per_block, reuse
        self.used = 0
        self.reused_ever = 0
        self._reserved = 0
        self._cached = {}
        self._clock = 0

    def blocks_for(self, tokens):
        return -(-tokens // self.tokens_per_block)

    def need(self, prompt_length, longest, beams):
        """Blocks of so many answers to one prompt: they have those that the prompt fills in common."""
        total = self.blocks_for(longest)
        return total + (beams - 1) * (total - prompt_length // self.tokens_per_block)

    def fits(self, prompt_length, longest, beams):
        return self._reserved + self.need(prompt_length, longest, beams) <= self.total

    def open(self, prompt, longest, cache, beams=1, reuse=True):
        """Leases memory for a prompt; copies the longest cached prefix into `cache`, unless every position is to
        be computed for its logits.

        Returns (lease, first position to compute). At least one prompt token is always left to
        compute, because its logits are needed.
        """
        lease = Lease(self.need(len(prompt), longest, beams), len(prompt) // self.tokens_per_block)
        self._reserved += lease.reserved
        size, start = self.tokens_per_block, 0
        while self.reuse and reuse and start + size < len(prompt):
            block = self._cached.get(_key(prompt, start + size))
            if block is None:
                break
            cache[:, :, :, start : start + size] = block.data
            self._take(block)
            lease.shared.append(block)
            start += size
        lease.reused = len(lease.shared)
        self.reused_ever += lease.reused
        self.grow(lease, len(prompt))
        return lease, start

    def grow(self, lease, tokens, beams=1):
        """Makes room for `tokens` positions in all, in every one of the beams."""
        total = self.blocks_for(tokens)
        missing = total + (beams - 1) * (total - lease.prompt_blocks) - lease.blocks
        if missing > 0:
            lease.private += missing
            self.used += missing
            self._evict()

    def keep(self, lease, prompt, cache):
        """Offers the whole blocks of a computed prompt for reuse."""
        size = self.tokens_per_block
        for index in range(len(lease.shared), len(prompt) // size if self.reuse else 0):
            key = _key(prompt, (index + 1) * size)
            if key in self._cached:
                return  # a neighbour computed the same prompt meanwhile; ours stays private
            block = CachedBlock(key, cache[:, :, :, index * size : (index + 1) * size].copy(), index)
            self._cached[key] = block
            lease.private -= 1
            self.used -= 1
            self._take(block)
            lease.shared.append(block)

    def close(self, lease):
        """Gives everything back; shared blocks without users stay behind as free, reusable memory."""
        self._reserved -= lease.reserved
        self.used -= lease.private
        for block in lease.shared:
            block.users -= 1
            self.used -= block.users == 0
        lease.shared, lease.private = [], 0

    def _take(self, block):
        self._clock += 1
        block.last_use = self._clock
        self.used += block.users == 0
        block.users += 1

    def _evict(self):
        idle = sum(block.users == 0 for block in self._cached.values())
        for _ in range(self.used + idle - self.total):
            # Deepest first among equals: a block without its predecessors can never be found again.
            victim = min(
                (block for block in self._cached.values() if block.users == 0),
                key=lambda block: (block.last_use, -block.depth),
            )
            del self._cached[victim.key]


def _key(prompt, tokens):
    """A block is known by everything before its end: equal key, equal keys and values."""
    return np.asarray(prompt[:tokens], dtype=np.int32).tobytes()
