"""Triton Python model `postprocessing`: ids to text, TensorRT-LLM 1.x.

Written from the observed behaviour of NVIDIA's model: every chunk is decoded alone, so the parts of a
character that is split over chunks each become U+FFFD; OUTPUT has one element per sequence and no batch
dimension.
"""

import json
import os

import numpy as np
import triton_python_backend_utils as pb_utils
from tokenizers import Tokenizer


class TritonPythonModel:
    def initialize(self, args):
        parameters = {k: v["string_value"] for k, v in json.loads(args["model_config"])["parameters"].items()}
        folder = os.path.join(args["model_repository"], parameters["tokenizer_dir"])
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        # Missing, unfilled or unreadable means true.
        self.skip_special = parameters.get("skip_special_tokens", "").strip().lower() not in ("false", "0", "f", "n", "no")

    def execute(self, requests):
        return [self._respond(request) for request in requests]

    def _respond(self, request):
        tokens = pb_utils.get_input_tensor_by_name(request, "TOKENS_BATCH").as_numpy()
        lengths = pb_utils.get_input_tensor_by_name(request, "SEQUENCE_LENGTH").as_numpy()
        # A plain slice: a length beyond the row takes all of it, a length of -1 loses the last token.
        texts = [
            self.tokenizer.decode(ids[: lengths[row][beam]].tolist(), skip_special_tokens=self.skip_special)
            for row, beams in enumerate(tokens)
            for beam, ids in enumerate(beams)
        ]
        output = np.array([text.encode("utf-8") for text in texts], dtype=np.object_)
        return pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT", output)])
