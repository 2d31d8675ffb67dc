"""Write oracle/NAME/: literals for the project's tests, made by implementations the project does not contain.

    python oracle.py tiny
    python oracle.py tiny-spm

greedy.json comes from Hugging Face transformers in float64 throughout and is compared with
forward.py; chat.json from apply_chat_template; tokenizer.json from the Python tokenizers.
"""
import argparse
import json
import random
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream
from transformers import AutoTokenizer, LlamaForCausalLM
from transformers.models.llama import modeling_llama

import corpus
from forward import Forward, pick
from kinds import KINDS
from measure import lines

HERE = Path(__file__).resolve().parent
SEED = 7
RAW = ["", "Hello", "été 🐱 猫", "The red, blue", "To be, or not to be: that is the question."]


def norm64(self, x):
    """RMS norm without the cast to float32."""
    return self.weight * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.variance_epsilon))


def rotary64(self, x, position_ids):
    """Rotary tables computed in float64."""
    size = self.config.head_dim
    theta = self.config.rope_parameters["rope_theta"]
    freq = theta ** -(torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = position_ids[..., None].double() * freq
    angle = torch.cat([angle, angle], -1)
    return angle.cos(), angle.sin()


def attention64(module, query, key, value, attention_mask, scaling, dropout=0.0, **_):
    """Attention whose softmax stays in float64."""
    key, value = (modeling_llama.repeat_kv(t, module.num_key_value_groups) for t in (key, value))
    score = query @ key.transpose(2, 3) * scaling
    steps = query.shape[2]
    hidden = torch.ones(steps, steps, dtype=torch.bool).triu(1)
    weight = torch.softmax(score.masked_fill(hidden, -torch.inf), -1)
    return (weight @ value).transpose(1, 2).contiguous(), weight


def load64(folder):
    """The transformers model with the three float32 islands of Llama replaced."""
    modeling_llama.LlamaRMSNorm.forward = norm64
    modeling_llama.LlamaRotaryEmbedding.forward = rotary64
    modeling_llama.eager_attention_forward = attention64
    return LlamaForCausalLM.from_pretrained(folder, attn_implementation="eager").double().eval()


@torch.inference_mode()
def greedy64(model, ids, limit, eos):
    """Greedy decoding without a cache: every step runs over the whole sequence again."""
    ids, steps = list(ids), []
    while len(steps) < limit:
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
        steps.append(pick(logits.numpy()))
        assert steps[-1]["id"] == int(logits.argmax())
        if steps[-1]["id"] == eos:
            break
        ids.append(steps[-1]["id"])
    return steps


def raw_texts(kind):
    """Texts outside the grammar, two of them with special tokens written out."""
    return [*RAW, f"x{kind.eos}y", kind.marks["user"][0] + "Hush."]


def selection(kind, plan):
    """Sixty (prompt, special tokens?) pairs of all kinds; kinds with twins are taken more often."""
    twin_kinds = {t["kind"] for t in corpus.TWINS}
    for name in corpus.KINDS:
        goal = 9 if name == "story" else 4 if name in twin_kinds else 2
        of = [p for p in plan if p["kind"] == name]
        of.sort(key=lambda p: -("twin" in p) - ("split" in p))
        for p in of[:goal]:
            yield name, (p["text"], True) if name == "story" else (kind.render(p["messages"], True), False)
    for text in raw_texts(kind):
        yield "raw", (text, True)


def greedy_cases(kind, tokenizer, plan):
    """All cases, and the largest difference of a log-probability or margin between the two implementations."""
    first, second = load64(kind.folder), Forward(kind.folder)
    cases, worst = [], 0.0
    for index, (name, (prompt, specials)) in enumerate(selection(kind, plan)):
        ids = tokenizer.encode(prompt, add_special_tokens=specials).ids
        limit = 100 if name == "sing" else (1, 2, 3, 5, 8)[index // 6 % 5] if index % 6 == 5 else 64
        steps, check = greedy64(first, ids, limit, second.eos), second.greedy(ids, limit)
        assert [s["id"] for s in steps] == [s["id"] for s in check], prompt
        assert [s["runnerUp"] for s in steps] == [s["runnerUp"] for s in check], prompt
        worst = max([worst] + [abs(a[k] - b[k]) for a, b in zip(steps, check, strict=True)
                              for k in ("logProb", "margin")])
        out = [s["id"] for s in steps if s["id"] != second.eos]
        cases.append({
            "kind": name, "prompt": prompt, "addSpecialTokens": specials, "promptIds": ids, "maxTokens": limit,
            "outputIds": out, "endedByEos": steps[-1]["id"] == second.eos,
            "text": tokenizer.decode(out, skip_special_tokens=True),
            "logProbs": [s["logProb"] for s in steps], "margins": [s["margin"] for s in steps],
            "runnerUps": [s["runnerUp"] for s in steps]})
    return cases, worst


def chat_cases(kind, auto, tokenizer):
    """Eight conversations through the chat template."""
    def m(*turns):
        return [{"role": role, "content": text} for role, text in turns]
    talks = [
        m(("user", "Flip a coin.")),
        m(("system", "Be brief."), ("user", "Name three colours.")),
        m(("user", "Emoji for cat?"), ("assistant", "🐱"), ("user", "Write cat in Japanese.")),
        m(("system", "You help Göran."), ("user", "What is 4 plus 15?"), ("assistant", "4 plus 15 is 19."),
          ("user", "Translate summer to French.")),
        m(("user", "  Say été two times.\n")),
        m(("user", "Hush."), ("assistant", ""), ("user", "Which way to Łódź?")),
        m(("user", "Göran went to São Paulo on Friday. Where is Göran?"), ("assistant", "Göran is in São Paulo.")),
        m(("system", "\tBe kind. "), ("user", f"a{kind.eos}b {kind.marks['user'][0]} 👩‍👩‍👧 e\u0301\u00a0")),
    ]
    cases = []
    for messages in talks:
        case = {"messages": messages}
        for name, generation in (("plain", False), ("generation", True)):
            text = auto.apply_chat_template(messages, tokenize=False, add_generation_prompt=generation)
            ids = auto.apply_chat_template(messages, tokenize=True, add_generation_prompt=generation, return_dict=False)
            assert text == kind.render(messages, generation)
            assert ids == tokenizer.encode(text, add_special_tokens=False).ids
            case[name] = {"text": text, "ids": ids}
        cases.append(case)
    return cases


def random_text(kind, r):
    """A short string from a mixture of scripts, controls and special tokens."""
    ranges = [(32, 126), (32, 126), (0xA0, 0x17F), (0x300, 0x36F), (0x370, 0x5FF), (0x900, 0x97F), (0x3040, 0x30FF),
              (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF), (0xFE00, 0xFE0F), (0x2000, 0x206F), (0, 31),
              (0x10000, 0x1FFFF), (0xE0000, 0xE007F), (0xE000, 0xFFFD)]
    words = [kind.eos, kind.bos, kind.marks["user"][0], " red", "Heads", "\r\n", "  ", "don't",
             "🐱", "👨‍👩‍👧", "\ufffd", "猫", "«", "12345"]
    return "".join(r.choice(words) + r.choice(["", " "]) if r.random() < 0.3 else
                   "".join(chr(r.randint(*span)) for _ in range(r.randint(1, 5)))
                   for span in (r.choice(ranges) for _ in range(r.randint(0, 8))))


def streamed(tokenizer, ids):
    """What DecodeStream gives for each id; None once it raises."""
    stream, pieces = DecodeStream(skip_special_tokens=True), []
    for i in ids:
        try:
            pieces.append(stream.step(tokenizer, i) or "")
        except Exception:
            pieces.append(None)
    return pieces


def tokenizer_cases(kind, tokenizer):
    """Two hundred random strings, encoded and decoded both ways, and a slice of each that may cut characters."""
    r, cut = random.Random(SEED), random.Random(SEED + 1)
    for _ in range(200):
        text = random_text(kind, r)
        special = tokenizer.encode(text).ids
        begin, end = sorted(cut.choices(range(len(special) + 1), k=2))
        drawn = cut.choices(range(tokenizer.get_vocab_size()), k=cut.randint(1, 12))
        yield {"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids, "idsWithSpecials": special,
               "decoded": tokenizer.decode(special, skip_special_tokens=False),
               "decodedSkippingSpecials": tokenizer.decode(special, skip_special_tokens=True),
               "slice": [begin, end], "decodedSlice": tokenizer.decode(special[begin:end], skip_special_tokens=True),
               "streamedSlice": streamed(tokenizer, special[begin:end]),
               "drawn": drawn, "decodedDrawn": tokenizer.decode(drawn, skip_special_tokens=True),
               "streamedDrawn": streamed(tokenizer, drawn)}


def save(kind, name, header, cases):
    """Write a header line by line and one case per line."""
    head = json.dumps(header, ensure_ascii=False, indent=2)[:-2]
    (HERE / "oracle" / kind.name / name).write_text(f'{head},\n  "cases": {lines(cases)}\n}}\n', "utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint", choices=KINDS)
    kind = KINDS[parser.parse_args().checkpoint]
    torch.set_num_threads(1)
    # transformers asks at every step; where CUDA's libraries are stand-ins, asking them crashes.
    if not torch.cuda.is_available():
        torch.cuda.is_current_stream_capturing = lambda: False
    (HERE / "oracle" / kind.name).mkdir(exist_ok=True, parents=True)
    tokenizer = Tokenizer.from_file(str(kind.folder / "tokenizer.json"))
    auto = AutoTokenizer.from_pretrained(kind.folder)
    for text in raw_texts(kind):
        assert auto(text)["input_ids"] == tokenizer.encode(text).ids, text
    versions = {n: version(n) for n in ("torch", "transformers", "tokenizers", "numpy")}
    behaviour = json.loads((kind.folder / "behaviour.json").read_text("utf-8"))
    plan = json.loads((kind.folder / "prompts.json").read_text("utf-8"))
    cases, worst = greedy_cases(kind, tokenizer, plan)
    save(kind, "greedy.json", {
        "about": "transformers, float64 throughout, no cache; outputIds leave out EOS, the other lists include its step; "
                 "maxTokens counts EOS",
        "versions": versions, "sha256": behaviour["sha256"], "maxAbsDifferenceToNumpy": worst}, cases)
    save(kind, "chat.json", {"about": "apply_chat_template without (plain) and with generation prompt",
                             "versions": versions, "sha256": behaviour["sha256"]}, chat_cases(kind, auto, tokenizer))
    save(kind, "tokenizer.json", {"about": "Python tokenizers on random strings; decoded from idsWithSpecials",
                                  "versions": versions, "seed": SEED, "sha256": behaviour["sha256"]},
         tokenizer_cases(kind, tokenizer))
    margins = np.concatenate([c["margins"] for c in cases])
    print(len(cases), "cases", len(margins), "steps", "worst", worst, "exact ties", int((margins == 0).sum()))


if __name__ == "__main__":
    main()
