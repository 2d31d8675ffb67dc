"""A plain numpy forward pass of the checkpoint, float64 unless told otherwise, with a key-value cache."""
import json
from pathlib import Path

import numpy as np


def load_weights(path):
    """The tensors of a .safetensors file; bfloat16, which numpy does not have, as float32."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    weights = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            raw = data[start + begin:start + end]
            if entry["dtype"] == "BF16":
                values = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
            else:
                assert entry["dtype"] == "F32", name
                values = np.frombuffer(raw, "<f4")
            weights[name] = values.reshape(entry["shape"])
    return weights


class Forward:
    """Holds the weights and computes logits; small on purpose, so that it can be read as a definition."""

    def __init__(self, folder, weights=None, dtype=np.float64):
        folder = Path(folder)
        self.config = json.loads((folder / "config.json").read_text("utf-8"))
        loaded = weights if weights is not None else load_weights(folder / "model.safetensors")
        self.w = {k: v.astype(dtype) for k, v in loaded.items()}
        c = self.config
        self.eos = c["eos_token_id"]
        self.heads, self.kv = c["num_attention_heads"], c["num_key_value_heads"]
        self.size = c["head_dim"]
        self.eps = dtype(c["rms_norm_eps"])
        freq = c["rope_theta"] ** -(np.arange(0, self.size, 2) / self.size)
        angle = np.outer(np.arange(c["max_position_embeddings"]), np.concatenate([freq, freq]))
        self.cos, self.sin = np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)

    def norm(self, x, name):
        return self.w[name] * (x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps))

    def rotate(self, x, start):
        """Apply the rotary embedding to [position, head, size]; halves are paired."""
        half = self.size // 2
        turned = np.concatenate([-x[..., half:], x[..., :half]], -1)
        cos, sin = (t[start:start + len(x), None] for t in (self.cos, self.sin))
        return x * cos + turned * sin

    def hidden(self, ids, cache):
        """Feed ids after what the cache holds; return the final normed states of the new positions."""
        x = self.w["model.embed_tokens.weight"][ids]
        start = len(cache[0][0]) if cache else 0
        total = start + len(ids)
        mask = np.where(np.arange(total)[None] > np.arange(start, total)[:, None], -np.inf, 0.0).astype(x.dtype)
        for layer in range(self.config["num_hidden_layers"]):
            p = f"model.layers.{layer}."
            y = self.norm(x, p + "input_layernorm.weight")
            q, k, v = (y @ self.w[f"{p}self_attn.{n}_proj.weight"].T for n in "qkv")
            q = self.rotate(q.reshape(len(ids), self.heads, self.size), start)
            k = self.rotate(k.reshape(len(ids), self.kv, self.size), start)
            v = v.reshape(len(ids), self.kv, self.size)
            if start:
                k, v = (np.concatenate([old, new]) for old, new in zip(cache[layer], (k, v), strict=True))
                cache[layer] = (k, v)
            else:
                cache.append((k, v))
            k, v = (np.repeat(t, self.heads // self.kv, 1) for t in (k, v))
            score_scale = x.dtype.type(np.sqrt(self.size))
            score = np.einsum("qhd,khd->hqk", q, k) / score_scale + mask
            score = np.exp(score - score.max(-1, keepdims=True))
            score /= score.sum(-1, keepdims=True)
            x = x + np.einsum("hqk,khd->qhd", score, v).reshape(len(ids), -1) @ self.w[p + "self_attn.o_proj.weight"].T
            y = self.norm(x, p + "post_attention_layernorm.weight")
            gate = y @ self.w[p + "mlp.gate_proj.weight"].T
            gate = gate / (1 + np.exp(-gate)) * (y @ self.w[p + "mlp.up_proj.weight"].T)
            x = x + gate @ self.w[p + "mlp.down_proj.weight"].T
        return self.norm(x, "model.norm.weight")

    def greedy(self, ids, limit):
        """Generate at most `limit` tokens; return one dictionary per step, the end-of-sequence step included."""
        cache, steps, new = [], [], list(ids)
        while len(steps) < limit:
            state = self.hidden(new, cache)[-1]
            steps.append(pick(self.w["model.embed_tokens.weight"] @ state) | {"hidden": state})
            if steps[-1]["id"] == self.eos:
                break
            new = [steps[-1]["id"]]
        return steps


def pick(logits):
    """The greedy choice (lowest id on a tie), its log-probability, the runner-up and the margin between the two."""
    best = int(np.argmax(logits))
    rest = logits.copy()
    rest[best] = -np.inf
    second = int(np.argmax(rest))
    log_sum = logits.max() + np.log(np.exp(logits - logits.max()).sum())
    return {"id": best, "logProb": float(logits[best] - log_sum), "runnerUp": second,
            "margin": float(logits[best] - logits[second])}
