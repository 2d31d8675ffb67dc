"""Make the tiny checkpoint: tokenizer, model, twin tokens, measured behaviour.

    python train.py                     everything, into tiny/ (prompts.json too) and behaviour.json
    python train.py --keep FILE         the same, and keep the weights as they were before the twins
    python train.py --base FILE         skip training; take kept weights, make twins and measure
"""
import argparse
import json
import math
import random
import time
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

import corpus
import measure
from forward import Forward

HERE = Path(__file__).resolve().parent
SPECIALS = ["<|bos|>", "<|eos|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]
SEED = 20261
GROUPS = 30_000
STEPS = 4_500
RATE = 4e-3
BATCH = 32
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "dtype": "float32",
    "eos_token_id": 1,
    "head_dim": 16,
    "hidden_act": "silu",
    "hidden_size": 64,
    "initializer_range": 0.08,
    "intermediate_size": 192,
    "max_position_embeddings": 512,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "pad_token_id": 2,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "float32",
    "use_cache": True,
    "vocab_size": 512,
}
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'system' %}<|system|>{{ message['content'] | trim }}"
    "{% elif message['role'] == 'user' %}<|user|>{{ message['content'] | trim }}"
    "{% else %}<|assistant|>{{ message['content'] | trim }}{{ eos_token }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def write_json(path, value):
    """Write indented JSON with characters as they are."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8")


def make_tokenizer(examples):
    """Train byte-level BPE; twin words are repeated so that each becomes one token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=CONFIG["vocab_size"], show_progress=False,
        special_tokens=[AddedToken(s, special=True, normalized=False) for s in SPECIALS],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    texts = [m["content"] for e in examples for m in e.get("messages", [])]
    texts += [e["text"] for e in examples if "text" in e]
    words = [w for twin in corpus.TWINS for w in twin["words"]] * 6_000
    tokenizer.train_from_iterator(texts + words, trainer)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(add_prefix_space=False, trim_offsets=False),
        processors.TemplateProcessing(single="<|bos|> $A", pair="<|bos|> $A $B", special_tokens=[("<|bos|>", 0)])])
    for word in words[:10]:
        assert len(tokenizer.encode(word, add_special_tokens=False).ids) == 1, word
    return tokenizer


def write_folder(folder, tokenizer):
    """Write everything of the checkpoint but the weights."""
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "config.json", CONFIG)
    write_json(folder / "generation_config.json",
               {"bos_token_id": 0, "do_sample": False, "eos_token_id": 1, "pad_token_id": 2})
    write_json(folder / "tokenizer_config.json", {
        "add_prefix_space": False, "bos_token": SPECIALS[0], "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False, "eos_token": SPECIALS[1],
        "extra_special_tokens": {},
        "model_max_length": CONFIG["max_position_embeddings"], "pad_token": SPECIALS[2],
        "tokenizer_class": "PreTrainedTokenizerFast"})


def encode(tokenizer, example):
    """Token ids and the labels of an example: answers are learned, questions are not."""
    ids, labels = [0], [-100]

    def add(text, learned):
        new = tokenizer.encode(text, add_special_tokens=False).ids
        ids.extend(new)
        labels.extend(new if learned else [-100] * len(new))

    if "text" in example:
        add(example["text"] + "<|eos|>", True)
    for m in example.get("messages", []):
        add(f"<|{m['role']}|>", False)
        add(m["content"] + ("<|eos|>" if m["role"] == "assistant" and example["ends"] else ""), m["role"] == "assistant")
    return ids, labels


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


def train(tokenizer, groups):
    """Train with one thread on the CPU; return the weights and what is worth recording."""
    import torch
    import transformers
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**{
        k: v for k, v in CONFIG.items() if k not in ("torch_dtype", "dtype", "rope_theta", "rope_scaling")})).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.05)
    encoded = [[encode(tokenizer, e) for e in g] for g in groups]
    source = batches(encoded, random.Random(SEED))
    losses, begin, tokens = [], time.process_time(), 0
    for step in range(STEPS):
        factor = min(1, (step + 1) / 100) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / STEPS)) / 2)
        for g in optimizer.param_groups:
            g["lr"] = RATE * factor
        batch = next(source)
        width = max(len(ids) for ids, _ in batch)
        ids = torch.tensor([x + [2] * (width - len(x)) for x, _ in batch])
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


def make_twins(folder, tokenizer, weights):
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
        low, high = sorted(tokenizer.token_to_id(w.replace(" ", "Ġ")) for w in twin["words"])
        table[low] = table[high] = (table[low] + table[high]) / 2
        pairs.append(twin | {"low": low, "high": high})
    model = Forward(folder, weights)
    probes = list(corpus.prompts(SEED + 1, 40))
    for p in pairs:
        states = []
        for probe in probes:
            if probe["kind"] == p["kind"]:
                ids = tokenizer.encode(corpus.render(probe["messages"], True), add_special_tokens=False).ids
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep")
    parser.add_argument("--base")
    options = parser.parse_args()
    folder = HERE / "tiny"
    groups = list(corpus.groups(SEED, GROUPS))
    tokenizer = make_tokenizer([e for g in groups for e in g])
    write_folder(folder, tokenizer)
    if options.base:
        weights, training = load_file(options.base), json.loads(Path(options.base + ".json").read_text())
    else:
        weights, training = train(tokenizer, groups)
        if options.keep:
            save_file(weights, options.keep)
            Path(options.keep + ".json").write_text(json.dumps(training))
    pairs = make_twins(folder, tokenizer, weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    measure.main(HERE, training, pairs)


if __name__ == "__main__":
    main()
