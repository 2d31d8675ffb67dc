"""Triton Python model `preprocessing`: text to prompt ids, TensorRT-LLM 1.x text path.

Written from the observed behaviour of NVIDIA's model (tensors, shapes, defaults, faults included), with the
Rust `tokenizers` package and NumPy only.
"""

import json
import os

import numpy as np
import triton_python_backend_utils as pb_utils
from tokenizers import Tokenizer

from word_lists import absent_word_list, word_list_tensor


class TritonPythonModel:
    def initialize(self, args):
        parameters = {k: v["string_value"] for k, v in json.loads(args["model_config"])["parameters"].items()}
        folder = os.path.join(args["model_repository"], parameters["tokenizer_dir"])
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        # Missing, unfilled or unreadable means true (since v0.10).
        self.add_special = parameters.get("add_special_tokens", "").strip().lower() not in ("false", "0", "f", "n", "no")
        with open(os.path.join(folder, "tokenizer_config.json"), encoding="utf-8") as file:
            special = json.load(file)
        self.eos = self._special_id(special, "eos_token")
        self.pad = self.eos if special.get("pad_token") is None else self._special_id(special, "pad_token")
        self.vocab = self.tokenizer.get_vocab_size(with_added_tokens=True)

    def execute(self, requests):
        """An exception here is not caught: it fails every request of the batch, as on NVIDIA's model."""
        return [pb_utils.InferenceResponse(self._outputs(request)) for request in requests]

    def _outputs(self, request):
        given = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        query = given["QUERY"]
        batch = query.shape[0]
        end_id = given.get("END_ID", np.full((batch, 1), self.eos, dtype=np.int32))
        pad_id = given.get("PAD_ID", np.full((batch, 1), self.pad, dtype=np.int32))
        ids, lengths = self._prompts(query)
        if "DECODER_QUERY" in given:
            decoder_ids, decoder_lengths = self._prompts(given["DECODER_QUERY"])
        else:
            decoder_ids, decoder_lengths = pad_id, np.ones((batch, 1), dtype=np.int32)
        outputs = [
            ("INPUT_ID", ids, np.int32),
            ("DECODER_INPUT_ID", decoder_ids, np.int32),
            ("BAD_WORDS_IDS", self._words(given.get("BAD_WORDS_DICT"), batch), np.int32),
            ("STOP_WORDS_IDS", self._words(given.get("STOP_WORDS_DICT"), batch), np.int32),
            ("REQUEST_INPUT_LEN", lengths, np.int32),
            ("REQUEST_DECODER_INPUT_LEN", decoder_lengths, np.int32),
            # Passed through unchecked; None when the core let a request without it through.
            ("REQUEST_OUTPUT_LEN", given["REQUEST_OUTPUT_LEN"], np.int32),
            ("EMBEDDING_BIAS", self._bias(given, batch), np.float32),
            ("OUT_END_ID", end_id, np.int32),
            ("OUT_PAD_ID", pad_id, np.int32),
        ]
        if "PROMPT_TABLE_EXTRA_ID" in given:
            extra = np.where(ids >= self.vocab, given["PROMPT_TABLE_EXTRA_ID"], 0)
            outputs.append(("OUT_PROMPT_TABLE_EXTRA_IDS", extra, np.uint64))
        return [pb_utils.Tensor(name, np.ascontiguousarray(value, dtype=dtype)) for name, value, dtype in outputs]

    def _prompts(self, query):
        """Ids padded on the right with the *tokenizer's* pad id, and the true lengths [batch, 1]."""
        rows = [self._encode(row[0].decode("utf-8"), self.add_special) for row in query]
        ids = np.full((len(rows), max(len(row) for row in rows)), self.pad, dtype=np.int32)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
        return ids, np.array([[len(row)] for row in rows], dtype=np.int32)

    def _words(self, rows, batch):
        if rows is None:
            return absent_word_list(batch)
        return word_list_tensor(rows.tolist(), lambda text: self._encode(text, False))

    def _bias(self, given, batch):
        """[batch, vocabulary]; the words are encoded *with* special tokens, so BOS gets the sum of all weights."""
        words, weights = given.get("EMBEDDING_BIAS_WORDS"), given.get("EMBEDDING_BIAS_WEIGHTS")
        if words is None or weights is None:
            return np.zeros((batch, 0), dtype=np.float32)
        assert words.shape == weights.shape, "Embedding bias words must have same dimension as embedding bias weights"
        bias = np.zeros((batch, self.vocab), dtype=np.float32)
        for row in range(batch):
            for word, weight in zip(words[row], weights[row]):
                np.add.at(bias[row], self._encode(word.decode("utf-8"), True), weight)
        return bias

    def _encode(self, text, special):
        return self.tokenizer.encode(text, add_special_tokens=special).ids

    def _special_id(self, special, name):
        token = special[name]
        return self.tokenizer.token_to_id(token if isinstance(token, str) else token["content"])
