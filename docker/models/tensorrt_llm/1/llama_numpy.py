"""Llama forward pass in NumPy, float64, one sequence at a time.

Layout and formulas follow transformers `models/llama/modeling_llama.py`: RMSNorm, half-split rotary
embedding, grouped-query attention, SiLU-gated MLP, tied or separate output matrix.

Two choices make answers independent of everything but the prompt:

* Sequences are never mixed in one product, so nothing depends on who else is in the batch.
* The prompt is computed in chunks that begin at multiples of `chunk` tokens. A cached prefix of whole
  chunks therefore leaves products of exactly the same shape to be done as without the cache, and
  the reused answer is bit-equal to the computed one.

Logits are multiply-and-sum per row, not a matrix product: two equal rows of the output matrix (twin
tokens) then give exactly equal logits, whatever their position, so that a tie is a tie.
"""

import json
import os

import numpy as np

from safetensors_reader import read_safetensors


class LlamaConfig:
    """The fields of config.json that the forward pass needs."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            raw = json.load(file)
        self.hidden = raw["hidden_size"]
        self.layers = raw["num_hidden_layers"]
        self.heads = raw["num_attention_heads"]
        self.kv_heads = raw.get("num_key_value_heads", self.heads)
        self.head_dim = raw.get("head_dim") or self.hidden // self.heads
        self.vocab = raw["vocab_size"]
        self.eps = raw["rms_norm_eps"]
        # transformers 4 writes rope_theta, transformers 5 rope_parameters.rope_theta.
        self.theta = float(raw.get("rope_theta") or raw["rope_parameters"]["rope_theta"])
        self.tied = raw.get("tie_word_embeddings", False)


class LlamaNumpy:
    """Weights plus `prefill` and `decode` over a caller-owned key/value buffer."""

    def __init__(self, folder, max_seq_len, chunk):
        config = self.config = LlamaConfig(folder)
        self.max_seq_len = max_seq_len
        self.chunk = chunk
        weights = read_safetensors(os.path.join(folder, "model.safetensors"))
        self.embedding = weights["model.embed_tokens.weight"]
        output = self.embedding if config.tied else weights["lm_head.weight"]
        self.output = np.ascontiguousarray(output)
        self.final_norm = weights["model.norm.weight"]
        self.layers = [self._layer(weights, index) for index in range(config.layers)]
        self.q_width = config.heads * config.head_dim
        self.kv_width = config.kv_heads * config.head_dim
        self.group = config.heads // config.kv_heads
        self.cos, self.sin = self._rotary_tables()

    def _layer(self, weights, index):
        """Transposed, merged weights; the norm gains stay separate, as the reference applies them."""
        prefix = f"model.layers.{index}."
        get = lambda name: weights[f"{prefix}{name}.weight"]
        stack = lambda *names: np.ascontiguousarray(np.concatenate([get(n) for n in names]).T)
        return (
            get("input_layernorm"),
            stack("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
            stack("self_attn.o_proj"),
            get("post_attention_layernorm"),
            stack("mlp.gate_proj", "mlp.up_proj"),
            stack("mlp.down_proj"),
        )

    def _rotary_tables(self):
        """cos and sin [positions, 1, head_dim]; sin carries the sign of the rotated half."""
        half = self.config.head_dim // 2
        inverse = self.config.theta ** (-np.arange(half, dtype=np.float64) / half)
        angles = np.outer(np.arange(self.max_seq_len, dtype=np.float64), inverse)
        cos = np.concatenate([np.cos(angles), np.cos(angles)], axis=1)
        sin = np.concatenate([-np.sin(angles), np.sin(angles)], axis=1)
        return cos[:, None, :], sin[:, None, :]

    def new_cache(self):
        """Keys and values of one sequence: [layer, key or value, kv head, position, head_dim]."""
        config = self.config
        return np.zeros((config.layers, 2, config.kv_heads, self.max_seq_len, config.head_dim))

    def prefill(self, ids, start, cache, rows=None):
        """Computes positions start..len(ids)-1 (start: a multiple of the chunk); logits of the last. A list given
        as `rows` receives those of every computed position."""
        ids = np.asarray(ids, dtype=np.int64)
        hidden = None
        for begin in range(start, len(ids), self.chunk):
            hidden = self._forward(ids[begin : begin + self.chunk], begin, cache)
            if rows is not None:
                rows.extend(self._logits(row) for row in hidden)
        return self._logits(hidden[-1])

    def decode(self, token, position, cache):
        """Logits after one more token."""
        return self._logits(self._forward_one(token, position, cache))

    def _logits(self, hidden):
        return (self.output * self._norm(hidden, self.final_norm)).sum(axis=1)

    def _norm(self, x, gain):
        return x / np.sqrt(x.dot(x) / x.shape[0] + self.config.eps) * gain

    def _norm_rows(self, x, gain):
        mean = np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1]
        return x / np.sqrt(mean + self.config.eps) * gain

    def _forward(self, ids, begin, cache):
        """Hidden states of one chunk of rows."""
        config, dim = self.config, self.config.head_dim
        rows, end = len(ids), begin + len(ids)
        cos, sin = self.cos[begin:end], self.sin[begin:end]
        future = np.arange(end)[None, :] > np.arange(begin, end)[:, None]
        x = self.embedding[ids]
        for layer, (norm_in, qkv, out, norm_mlp, gate_up, down) in enumerate(self.layers):
            mixed = self._norm_rows(x, norm_in) @ qkv
            turned = mixed[:, : self.q_width + self.kv_width].reshape(rows, -1, dim)
            turned = turned * cos + np.roll(turned, dim // 2, axis=2) * sin
            keys, values = cache[layer]
            keys[:, begin:end] = turned[:, config.heads :].transpose(1, 0, 2)
            values[:, begin:end] = mixed[:, self.q_width + self.kv_width :].reshape(rows, -1, dim).transpose(1, 0, 2)
            query = turned[:, : config.heads].transpose(1, 0, 2)
            shared = query.reshape(config.kv_heads, self.group, rows, dim)
            scores = shared @ keys[:, None, :end].transpose(0, 1, 3, 2) / np.sqrt(dim)
            scores[..., future] = -np.inf
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            heads = scores @ values[:, None, :end]
            x = x + heads.reshape(config.heads, rows, dim).transpose(1, 0, 2).reshape(rows, -1) @ out
            both = self._norm_rows(x, norm_mlp) @ gate_up
            width = both.shape[1] // 2
            gate = both[:, :width]
            x = x + (gate / (1.0 + np.exp(-gate)) * both[:, width:]) @ down
        return x

    def _forward_one(self, token, position, cache):
        """The same for a single row, with as few NumPy calls as possible: their cost is the speed."""
        config, dim = self.config, self.config.head_dim
        end = position + 1
        cos, sin = self.cos[position], self.sin[position]
        scale, q_k = 1.0 / np.sqrt(dim), self.q_width + self.kv_width
        half, heads = dim // 2, config.heads
        x = self.embedding[token]
        for (norm_in, qkv, out, norm_mlp, gate_up, down), (keys, values) in zip(self.layers, cache):
            mixed = self._norm(x, norm_in).dot(qkv)
            plain = mixed[:q_k].reshape(-1, dim)
            turned = plain * cos
            turned[:, :half] += plain[:, half:] * sin[:, :half]
            turned[:, half:] += plain[:, :half] * sin[:, half:]
            keys[:, position] = turned[heads:]
            values[:, position] = mixed[q_k:].reshape(-1, dim)
            query = turned[:heads].reshape(config.kv_heads, self.group, dim)
            scores = np.matmul(query, keys[:, :end].transpose(0, 2, 1))
            scores *= scale
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            x = x + np.matmul(scores, values[:, :end]).reshape(-1).dot(out)
            both = self._norm(x, norm_mlp).dot(gate_up)
            width = both.shape[0] // 2
            gate = both[:width]
            x = x + (gate / (1.0 + np.exp(-gate)) * both[width:]).dot(down)
        return x
