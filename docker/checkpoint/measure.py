"""Measure what the checkpoint does; write behaviour.json and prompts.json.

Everything is counted on greedy answers of the float64 forward pass in forward.py, over the
same number of prompts of every kind. Tags in prompts.json are results, not intentions.
"""
import collections
import hashlib
import importlib.metadata
import json
import platform

import numpy as np
from tokenizers import Tokenizer

import corpus
from forward import Forward

LIMIT = 64
PER_KIND = 60
TAG_GOALS = {"eosAtOnce": 16, "split": 30, "long": 14}
TWIN_GOAL = 22
KIND_GOAL = collections.defaultdict(lambda: 7, story=16)


def lines(items):
    """A JSON array with one item per line."""
    return "[\n" + ",\n".join(json.dumps(i, ensure_ascii=False) for i in items) + "\n]"


def split_tokens(kind, tokens):
    """How many of the tokens hold only a part of some character's bytes."""
    owner, data = [], bytearray()
    for index, token in enumerate(tokens):
        for byte in kind.token_bytes(token):
            owner.append(index)
            data.append(byte)
    parts, start = set(), 0
    for end in range(1, len(data) + 1):
        if end == len(data) or data[end] & 0xC0 != 0x80:
            holders = set(owner[start:end])
            whole = data[start:end].decode("utf-8", "ignore") != ""
            parts |= holders if len(holders) > 1 or not whole else set()
            start = end
    return len(parts)


def prompt_ids(kind, tokenizer, item):
    """Ids of a prompt: chat text carries its own BOS, raw text gets one."""
    if "text" in item:
        return tokenizer.encode(item["text"]).ids
    return tokenizer.encode(kind.render(item["messages"], True), add_special_tokens=False).ids


def observe(kind, model, tokenizer, item, pairs):
    """Answer one prompt and note everything that is counted or tagged."""
    steps = model.greedy(prompt_ids(kind, tokenizer, item), LIMIT + 1)
    ended = steps[-1]["id"] == model.eos
    ids = [s["id"] for s in steps if s["id"] != model.eos][:LIMIT]
    hits = []
    for step in steps[:LIMIT]:
        for p in pairs:
            if {step["id"], step["runnerUp"]} == {p["low"], p["high"]}:
                hits.append((p["epsilon"], step["id"], step["margin"]))
    return {"item": item, "ids": ids, "ended": ended, "hits": hits,
            "split": split_tokens(kind, [tokenizer.id_to_token(i) for i in ids if i >= len(kind.specials)]),
            "plain": [s["margin"] for s in steps[:LIMIT]
                      if not any({s["id"], s["runnerUp"]} == {p["low"], p["high"]} for p in pairs)]}


def tags(seen):
    """Measured tags of one answer."""
    out = {}
    if seen["hits"]:
        out["twin"] = seen["hits"][0][0]
    if seen["ended"] and not seen["ids"]:
        out["eosAtOnce"] = True
    if seen["split"]:
        out["split"] = True
    if not seen["ended"]:
        out["long"] = True
    return out


def choose(seen):
    """A plan of named prompts: some of every kind, then more until every tag is common enough."""
    wanted = [(lambda s, k=k: s["item"]["kind"] == k, KIND_GOAL[k]) for k in corpus.KINDS]
    wanted += [(lambda s, e=t["epsilon"]: tags(s).get("twin") == e, TWIN_GOAL) for t in corpus.TWINS]
    wanted += [(lambda s, t=t: t in tags(s), n) for t, n in TAG_GOALS.items()]
    taken = []
    for fits, goal in wanted:
        have = sum(map(fits, taken))
        more = [s for s in seen if fits(s) and not any(s is t for t in taken)]
        taken += more[:max(0, goal - have)]
    taken.sort(key=lambda s: corpus.KINDS.index(s["item"]["kind"]))
    count, out = collections.Counter(), []
    for s in taken:
        kind = s["item"]["kind"]
        count[kind] += 1
        out.append((s, {"name": f"{kind}-{count[kind]:02}", **s["item"], **tags(s)}))
    return out


def share(part, whole):
    return round(part / whole, 4)


def main(kind, training, pairs):
    folder = kind.folder
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = Forward(folder)
    seen = [observe(kind, model, tokenizer, item, pairs) for item in corpus.prompts(training["seed"] + 2, PER_KIND)]
    plan = choose(seen)
    (folder / "prompts.json").write_text(lines(p for _, p in plan) + "\n", "utf-8")

    single = Forward(folder, dtype=np.float32)
    flips = collections.Counter()
    for s, _ in plan:
        other = [t["id"] for t in single.greedy(prompt_ids(kind, tokenizer, s["item"]), LIMIT) if t["id"] != model.eos]
        if other != s["ids"]:
            at = next(i for i, (a, b) in enumerate(zip(other + [model.eos], s["ids"] + [model.eos], strict=False)) if a != b)
            pair = next((p for p in pairs if {other[at], s["ids"][at]} == {p["low"], p["high"]}), None)
            flips[str(pair["epsilon"]) if pair else "other"] += 1

    twins = []
    for p in pairs:
        of = [[h for h in s["hits"] if h[0] == p["epsilon"]] for s in seen]
        margins = sorted(h[2] for hits in of for h in hits)
        twins.append({
            "epsilon": p["epsilon"], "words": [tokenizer.decode([p["low"]]), tokenizer.decode([p["high"]])],
            "ids": [p["low"], p["high"]], "kind": p["kind"], "element": p["element"], "delta": p["delta"],
            "positions": len(margins), "prompts": sum(bool(h) for h in of),
            "wonByLow": sum(h[1] == p["low"] for hits in of for h in hits),
            "wonByHigh": sum(h[1] == p["high"] for hits in of for h in hits),
            "margin": {"min": margins[0], "median": margins[len(margins) // 2], "max": margins[-1]},
            "float32FlipsInPrompts": flips.get(str(p["epsilon"]), 0)})
    plain = np.array([m for s in seen for m in s["plain"]])
    lengths = collections.Counter("64" if len(s["ids"]) == LIMIT else
                                  f"{len(s['ids']) // 8 * 8}-{len(s['ids']) // 8 * 8 + 7}" for s in seen)
    total = sum(len(s["ids"]) for s in seen)
    digest = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in ("model.safetensors", "tokenizer.json")}
    behaviour = {
        "training": training,
        "versions": {"python": platform.python_version(),
                     **{n: importlib.metadata.version(n) for n in ("numpy", "tokenizers", "safetensors")}},
        "parameters": int(sum(v.size for v in model.w.values())),
        "sha256": digest,
        "measured": {
            "prompts": len(seen), "limit": LIMIT, "tokens": total,
            "endedByEos": share(sum(s["ended"] for s in seen), len(seen)),
            "endedAtOnce": share(sum(s["ended"] and not s["ids"] for s in seen), len(seen)),
            "splitTokens": share(sum(s["split"] for s in seen), total),
            "promptsWithSplit": share(sum(s["split"] > 0 for s in seen), len(seen)),
            "lengths": dict(sorted(lengths.items(), key=lambda kv: int(kv[0].split("-")[0]))),
        },
        "twins": twins,
        "otherMargins": {"positions": len(plain), "median": float(np.median(plain)), "min": float(plain.min()),
                         **{f"below{b:g}": int((plain < b).sum()) for b in (1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.5, 1)}},
        "plan": {"prompts": len(plan), "float32Flips": dict(flips),
                 "tags": dict(collections.Counter(f"twin {p['twin']:g}" if t == "twin" else t
                                                  for _, p in plan for t in ("twin", *TAG_GOALS) if t in p))},
    }
    (folder / "behaviour.json").write_text(json.dumps(behaviour, ensure_ascii=False, indent=2) + "\n", "utf-8")
    print(json.dumps(behaviour["measured"] | behaviour["plan"], indent=1))
