"""The two checkpoints, and all that differs between them: tokenizer, prompt form, shape, type of the weights."""
import json
import re
import string
from dataclasses import dataclass, field
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

HERE = Path(__file__).resolve().parent
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
SPACE = "▁"
# The characters that have a piece of their own in SentencePiece; the others are spelt in bytes.
LETTERS = [SPACE, *string.ascii_letters, *string.digits, *".,:?!'/[]éöø"]


@dataclass(frozen=True)
class Kind:
    """One checkpoint: the folder is called like it."""

    name: str
    # Special tokens in the order of their ids.
    specials: list
    bos: str
    eos: str
    # What stands before and after the content of each role's message; `eos` ends the assistant's.
    marks: dict
    # What a prompt ends with, when an answer is to follow.
    generation: str
    template: str
    # What is written into tokenizer_config.json besides the template and the special tokens.
    tokenizer_config: dict
    config: dict = field(default_factory=dict)
    # Written as bfloat16 instead of float32.
    bf16: bool = False

    @property
    def folder(self):
        return HERE / self.name

    @property
    def full_config(self):
        return CONFIG | self.config

    @property
    def pad_id(self):
        """What fills a batch in training; its labels are masked, so any id would do."""
        pad = self.full_config["pad_token_id"]
        return self.full_config["eos_token_id"] if pad is None else pad

    def parts(self, messages):
        """The prompt form, written out by hand: (text, does the assistant say it). It must equal the chat template."""
        yield self.bos, False
        for m in messages:
            before, after = self.marks[m["role"]]
            content = m["content"].strip()
            if m["role"] == "assistant":
                spoken = before + content if content else ""
                yield self.generation, False
                yield spoken + self.eos, True
            else:
                yield before + content + after, False

    def render(self, messages, generation=False):
        return "".join(text for text, _ in self.parts(messages)) + (self.generation if generation else "")


class ByteLevel(Kind):
    """Byte-level BPE in the manner of Llama 3."""

    def make_tokenizer(self, texts, words):
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=self.full_config["vocab_size"], show_progress=False,
            special_tokens=[AddedToken(s, special=True, normalized=False) for s in self.specials],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
        tokenizer.train_from_iterator(texts + words, trainer)
        tokenizer.post_processor = processors.Sequence([
            processors.ByteLevel(add_prefix_space=False, trim_offsets=False),
            processors.TemplateProcessing(single="<|bos|> $A", pair="<|bos|> $A $B", special_tokens=[("<|bos|>", 0)])])
        return tokenizer

    def learnable(self, message):
        return message["content"]

    def word_token(self, word):
        return word.replace(" ", "Ġ")

    def token_bytes(self, token):
        return bytes(BYTE_OF[symbol] for symbol in token)


class SentencePiece(Kind):
    """BPE in the manner of Llama 2: a space becomes ▁, a character without a piece the tokens of its bytes."""

    def make_tokenizer(self, texts, words):
        split = Tokenizer(models.BPE(unk_token="<unk>"))
        others = Regex(f"[^ {re.escape(''.join(LETTERS))}]")
        split.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(others, "removed"),
            pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="first", split=True)])
        byte_tokens = [f"<0x{b:02X}>" for b in range(256)]
        trainer = trainers.BpeTrainer(
            vocab_size=self.full_config["vocab_size"], show_progress=False, special_tokens=self.specials + byte_tokens,
            initial_alphabet=LETTERS)
        split.train_from_iterator(texts + words, trainer)
        model = json.loads(split.to_str())["model"]
        # A piece never holds ▁ but in front, so the whole text can be one word, as in Llama 2.
        tokenizer = Tokenizer(models.BPE(
            vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]], unk_token="<unk>", fuse_unk=True,
            byte_fallback=True))
        tokenizer.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in self.specials])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="first", split=False)
        tokenizer.decoder = decoders.Sequence([
            decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
        return tokenizer

    def learnable(self, message):
        before, after = self.marks[message["role"]]
        return before + message["content"] + after

    def word_token(self, word):
        return SPACE + word.strip()

    def token_bytes(self, token):
        if len(token) == 6 and token.startswith("<0x"):
            return bytes([int(token[3:5], 16)])
        return token.replace(SPACE, " ").encode()


def byte_map():
    """The byte of every symbol of the byte-level alphabet."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    table = {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(rest)}
    assert set(table) == set(pre_tokenizers.ByteLevel.alphabet())
    return table


BYTE_OF = byte_map()

TINY = ByteLevel(
    name="tiny",
    specials=["<|bos|>", "<|eos|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"],
    bos="<|bos|>", eos="<|eos|>",
    marks={"system": ("<|system|>", ""), "user": ("<|user|>", ""), "assistant": ("", "")},
    generation="<|assistant|>",
    template=(
        "{{ bos_token }}{% for message in messages %}"
        "{% if message['role'] == 'system' %}<|system|>{{ message['content'] | trim }}"
        "{% elif message['role'] == 'user' %}<|user|>{{ message['content'] | trim }}"
        "{% else %}<|assistant|>{{ message['content'] | trim }}{{ eos_token }}{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    ),
    tokenizer_config={"add_prefix_space": False, "extra_special_tokens": {}, "pad_token": "<|pad|>",
                      "tokenizer_class": "PreTrainedTokenizerFast"},
)

TINY_SPM = SentencePiece(
    name="tiny-spm",
    specials=["<unk>", "<s>", "</s>"],
    bos="<s>", eos="</s>",
    marks={"system": ("[SYS] ", " [/SYS] "), "user": ("[INST] ", " [/INST]"), "assistant": (" ", "")},
    generation="",
    template=(
        "{{ bos_token }}{% for message in messages %}"
        "{% if message['role'] == 'system' %}[SYS] {{ message['content'] | trim }} [/SYS] "
        "{% elif message['role'] == 'user' %}[INST] {{ message['content'] | trim }} [/INST]"
        "{% else %}{% if message['content'] | trim %} {{ message['content'] | trim }}{% endif %}{{ eos_token }}{% endif %}"
        "{% endfor %}"
    ),
    tokenizer_config={"add_bos_token": True, "add_eos_token": False, "legacy": False,
                      "tokenizer_class": "LlamaTokenizer", "unk_token": "<unk>"},
    config={"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None, "num_hidden_layers": 2, "num_key_value_heads": 4,
            "dtype": "bfloat16", "torch_dtype": "bfloat16"},
    bf16=True,
)

KINDS = {kind.name: kind for kind in (TINY, TINY_SPM)}
