"""Make a checkpoint: tokenizer, model, twin tokens, measured behaviour.

    python train.py tiny                everything, into tiny/ (prompts.json and behaviour.json too)
    python train.py tiny-spm            the same into tiny-spm/
    … --keep FILE                       keep the weights as they were before the twins
    … --base FILE                       skip training; take kept weights, make twins and measure
"""
import argparse
import json
import math
import random
import time
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import corpus
import measure
from forward import Forward, load_weights
from kinds import KINDS

SEED = 20261
GROUPS = 30_000
STEPS = 4_500
RATE = 4e-3
BATCH = 32


def write_json(path, value):
    """Write indented JSON with characters as they are."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8")


def make_tokenizer(kind, examples):
    """Train the tokenizer; twin words are repeated so that each becomes one token."""
    texts = [kind.learnable(m) for e in examples for m in e.get("messages", [])]
    texts += [e["text"] for e in examples if "text" in e]
    words = [w for twin in corpus.TWINS for w in twin["words"]]
    tokenizer = kind.make_tokenizer(texts, words * 6_000)
    for word in words:
        assert tokenizer.token_to_id(kind.word_token(word)) is not None, word
    return tokenizer


def write_folder(kind, tokenizer):
    """Write everything of the checkpoint but the weights."""
    folder, config = kind.folder, kind.full_config
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "config.json", config)
    ids = {k: config[k] for k in ("bos_token_id", "eos_token_id", "pad_token_id") if config[k] is not None}
    write_json(folder / "generation_config.json", dict(sorted({**ids, "do_sample": False}.items())))
    write_json(folder / "tokenizer_config.json", dict(sorted({
        **kind.tokenizer_config, "bos_token": kind.bos, "chat_template": kind.template,
        "clean_up_tokenization_spaces": False, "eos_token": kind.eos,
        "model_max_length": config["max_position_embeddings"]}.items())))


def encode(kind, tokenizer, example):
    """Token ids and the labels of an example: answers are learned, questions are not."""
    if "text" in example:
        parts = [(example["text"] + kind.eos, True)]
    else:
        parts = list(kind.parts(example["messages"]))
        if not example["ends"]:
            parts = [(text.removesuffix(kind.eos), spoken) for text, spoken in parts]
    learned = [spoken for text, spoken in parts for _ in text]
    encoding = tokenizer.encode("".join(text for text, _ in parts), add_special_tokens="text" in example)
    labels = [i if learned[start] else -100 for i, (start, _) in zip(encoding.ids, encoding.offsets, strict=True)]
    return encoding.ids, [-100] + labels[1:]


def batches(encoded, r):
    """Endless batches of groups of like length; a group is never torn apart."""
    while True:
        order = r.sample(range(len(encoded)), len(encoded))
        out = []
        for start in range(0, len(order), 1_500):
            window = sorted(order[start:start + 1_500], key=lambda i: max(len(x) for x, _ in encoded[i]))
            batch = []
            for i in window:
                batch += encoded[i]
                if len(batch) >= BATCH:
                    out.append(batch)
                    batch = []
        r.shuffle(out)
        yield from out


def train(kind, tokenizer, groups):
    """Train with one thread on the CPU; return the weights and what is worth recording."""
    import torch
    import transformers
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    # transformers asks at every step; where CUDA's libraries are stand-ins, asking them crashes.
    if not torch.cuda.is_available():
        torch.cuda.is_current_stream_capturing = lambda: False
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**{
        k: v for k, v in kind.full_config.items() if k not in ("torch_dtype", "dtype", "rope_theta", "rope_scaling")})).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.05)
    encoded = [[encode(kind, tokenizer, e) for e in g] for g in groups]
    source = batches(encoded, random.Random(SEED))
    losses, begin, tokens = [], time.process_time(), 0
    for step in range(STEPS):
        factor = min(1, (step + 1) / 100) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / STEPS)) / 2)
        for g in optimizer.param_groups:
            g["lr"] = RATE * factor
        batch = next(source)
        width = max(len(ids) for ids, _ in batch)
        ids = torch.tensor([x + [kind.pad_id] * (width - len(x)) for x, _ in batch])
        labels = torch.tensor([y + [-100] * (width - len(y)) for _, y in batch])
        loss = torch.nn.functional.cross_entropy(
            model(input_ids=ids, use_cache=False).logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        tokens += ids.numel()
        if step % 200 == 199:
            print(step + 1, round(float(np.mean(losses[-200:])), 3), round(time.process_time() - begin), "s", flush=True)
    weights = {k: v.detach().numpy().copy() for k, v in model.named_parameters()}
    return weights, {
        "seed": SEED, "groups": GROUPS, "steps": STEPS, "batch": BATCH, "learningRate": RATE,
        "lossLast200": round(float(np.mean(losses[-200:])), 4), "cpuSeconds": round(time.process_time() - begin),
        "tokens": tokens, "torch": torch.__version__, "transformers": transformers.__version__}


def make_twins(kind, tokenizer, weights):
    """Give the second word of each pair the row of the first, apart from one element.

    All pairs start as exact copies. The final states at positions where a pair wins are
    collected, and the coordinate is taken whose value there varies least (relative to its
    mean m) among those where the row is so small that setting it to zero moves the logit by
    less than 0.5. There the row of the lower id becomes 0 and that of the higher id
    epsilon / m: the higher id wins by about epsilon. Zero is the base because float32 can
    hold 1e-7 next to 0 and not next to 0.5.
    """
    table = weights["model.embed_tokens.weight"]
    pairs = []
    for twin in corpus.TWINS:
        low, high = sorted(tokenizer.token_to_id(kind.word_token(w)) for w in twin["words"])
        table[low] = table[high] = (table[low] + table[high]) / 2
        pairs.append(twin | {"low": low, "high": high})
    model = Forward(kind.folder, weights)
    probes = list(corpus.prompts(SEED + 1, 40))
    for p in pairs:
        states = []
        for probe in probes:
            if probe["kind"] == p["kind"]:
                ids = tokenizer.encode(kind.render(probe["messages"], True), add_special_tokens=False).ids
                states += [s["hidden"] for s in model.greedy(ids, 24) if s["id"] in (p["low"], p["high"])]
        states = np.array(states)
        print(p["words"], "states", len(states))
        mean, spread = states.mean(0), states.std(0)
        steady = np.abs(mean) / spread
        steady[np.abs(table[p["low"]] * mean) > 0.5] = 0
        j = int(np.argmax(steady))
        table[p["low"], j] = 0
        table[p["high"], j] = p["epsilon"] / mean[j] + 0.0  # never -0.0: the rows of epsilon 0 are equal bit by bit
        p["element"] = j
        p["delta"] = float(table[p["high"], j])
    return pairs


def save(kind, weights):
    """Write model.safetensors; numpy has no bfloat16, so torch writes that."""
    path, metadata = kind.folder / "model.safetensors", {"format": "pt"}
    if kind.bf16:
        import safetensors.torch
        import torch
        tensors = {k: torch.from_numpy(v).to(torch.bfloat16) for k, v in weights.items()}
        safetensors.torch.save_file(tensors, path, metadata)
    else:
        save_file(weights, path, metadata)
    path.chmod(0o644)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint", choices=KINDS)
    parser.add_argument("--keep")
    parser.add_argument("--base")
    options = parser.parse_args()
    kind = KINDS[options.checkpoint]
    groups = list(corpus.groups(SEED, GROUPS))
    tokenizer = make_tokenizer(kind, [e for g in groups for e in g])
    write_folder(kind, tokenizer)
    if options.base:
        weights, training = load_weights(Path(options.base)), json.loads(Path(options.base + ".json").read_text())
        weights = {k: v.copy() for k, v in weights.items()}
    else:
        weights, training = train(kind, tokenizer, groups)
        if options.keep:
            save_file(weights, options.keep)
            Path(options.keep + ".json").write_text(json.dumps(training))
    pairs = make_twins(kind, tokenizer, weights)
    save(kind, weights)
    measure.main(kind, training, pairs)


if __name__ == "__main__":
    main()
