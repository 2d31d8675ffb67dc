"""Triton Python model `tensorrt_llm_bls`: preprocessing, tensorrt_llm and postprocessing called from one loop.

Written from the observed behaviour of NVIDIA's model of TensorRT-LLM 1.x, faults included; it shares no code with it.
One request at a time: `execute` returns when the engine has ended. Nobody asks whether the client has gone.
"""

import json
import traceback
import uuid

import numpy as np
import triton_python_backend_utils as pb_utils

from lib.decode import validate
from lib.stop_words import StopWords
from lib.tensors import HANDED_ON, PREPROCESSED_TO_ENGINE, TO_PREPROCESSING, as_sent, engine_tensors, renamed, stop_tensors

_FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        parameters = {key: entry["string_value"] for key, entry in config["parameters"].items()}
        given = lambda name, default: default if parameters.get(name, "${").startswith("${") else parameters[name]
        self.decoupled = pb_utils.using_decoupled_model_transaction_policy(config)
        asked = given("accumulate_tokens", "").lower() in ("true", "yes", "1", "t")
        self.accumulate = asked and self.decoupled
        self.engine = given("tensorrt_llm_model_name", "tensorrt_llm")

    def execute(self, requests):
        if not self.decoupled:
            return [self._one(request) for request in requests]
        for request in requests:
            self._stream(request)
        return None

    def _stream(self, request):
        sender = request.get_response_sender()
        try:
            for response in self._responses(request):
                sender.send(response)
        except Exception:
            sender.send(_failure())
        sender.send(flags=_FINAL)

    def _one(self, request):
        try:
            return next(self._responses(request))
        except Exception:
            return _failure()

    def _responses(self, request):
        tensors = {tensor.name(): as_sent(tensor.as_numpy()) for tensor in request.inputs()}
        validate(tensors)
        request_id = str(uuid.uuid4())
        query = renamed(tensors, TO_PREPROCESSING)
        preprocessed = _arrays(self._exec("preprocessing", query, list(PREPROCESSED_TO_ENGINE), request_id))
        stop_words = StopWords(tensors.get("stop_words"))
        accumulated, stopped = {}, set()
        batch = tensors["text_input"].shape[0]
        flag = lambda name, row: name in tensors and bool(tensors[name].reshape(-1)[row])
        for generated in self._generate(engine_tensors(tensors, preprocessed), request_id, batch):
            row = int(generated["batch_index"].reshape(-1)[0]) if "batch_index" in generated else 0
            texts = self._decode(generated, accumulated, row)
            # The engine is read to its end, whether anybody wants it or not.
            if row in stopped:
                continue
            text = texts[0].decode("utf-8")
            if flag("stream", row):
                ended = stop_words.ends_stream(row, text)
            else:
                prompt = tensors["text_input"].reshape(-1)[row].decode("utf-8")
                cut = stop_words.cut_whole(row, text, 0 if flag("exclude_input_in_output", row) else len(prompt))
                ended = cut is not None
                texts[0] = cut.encode("utf-8") if ended else texts[0]
            if ended:
                stopped.add(row)
                if len(stopped) == batch:
                    self._stop(request_id)
            yield _response(texts, generated)

    def _generate(self, tensors, request_id, batch):
        """{name: array} per response of the engine."""
        if not self.decoupled and batch == 1:
            yield _arrays(self._exec(self.engine, tensors, [], request_id))
            return
        inner = pb_utils.InferenceRequest(
            model_name=self.engine, inputs=_tensors(tensors), requested_output_names=[], request_id=request_id
        )
        for response in inner.exec(decoupled=True):
            arrays = _arrays(_checked(response))
            # A flag that comes alone.
            if arrays:
                yield arrays

    def _decode(self, generated, accumulated, row):
        ids, lengths = generated["output_ids"], generated["sequence_length"]
        if self.accumulate:
            if ids.shape[1] != 1:
                raise Exception("Accumulation of tokens is only implemented for beam width = 1")
            ids = np.concatenate((accumulated[row], ids), axis=2) if row in accumulated else ids
            accumulated[row] = ids
            lengths = np.array([[ids.shape[2]]], dtype=np.int32)
        decoded = self._exec("postprocessing", {"TOKENS_BATCH": ids, "SEQUENCE_LENGTH": lengths}, ["OUTPUT"], "")
        return _arrays(decoded)["OUTPUT"].reshape(-1).tolist()

    def _stop(self, request_id):
        inner = pb_utils.InferenceRequest(
            model_name=self.engine, inputs=_tensors(stop_tensors()), requested_output_names=[], request_id=request_id
        )
        for response in inner.exec(decoupled=True) if self.decoupled else [inner.exec()]:
            _checked(response)

    def _exec(self, model, tensors, outputs, request_id):
        inner = pb_utils.InferenceRequest(
            model_name=model, inputs=_tensors(tensors), requested_output_names=outputs, request_id=request_id
        )
        return _checked(inner.exec())


def _checked(response):
    if response.has_error():
        raise pb_utils.TritonModelException(response.error().message())
    return response


def _failure():
    return pb_utils.InferenceResponse(output_tensors=[], error=pb_utils.TritonError(traceback.format_exc()))


def _arrays(response):
    return {tensor.name(): tensor.as_numpy() for tensor in response.output_tensors()}


def _tensors(arrays):
    return [pb_utils.Tensor(name, np.ascontiguousarray(array)) for name, array in arrays.items()]


def _response(texts, generated):
    outputs = [pb_utils.Tensor("text_output", np.array(texts, dtype=np.object_))]
    outputs += [pb_utils.Tensor(name, generated[name]) for name in HANDED_ON if name in generated]
    return pb_utils.InferenceResponse(outputs)
