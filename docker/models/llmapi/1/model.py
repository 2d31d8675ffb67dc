"""Triton Python model `llmapi`: the tensors of TensorRT-LLM's LLM API model over the NumPy engine of `tensorrt_llm`.

Written from the contract (upstream `triton_backend/all_models/llmapi/tensorrt_llm`: names, dtypes, error texts); it
shares no code with NVIDIA's model.py or with Lockstep's embedded model.

The engine's files are those of the folder beside this one. It hands its news to a module called `responses`, and this
folder's own comes first on the path.
"""

import gc
import itertools
import json
import os
import sys

# Before NumPy: tiny products gain nothing from threads, and one thread has one order of summation.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tensorrt_llm", "1"))

import triton_python_backend_utils as pb_utils
from tokenizers import Tokenizer

import responses
from engine import Engine
from llama_numpy import LlamaNumpy
from llm_request import read_request
from sequences import Job, sequences_of


class Limits:
    """The engine's numbers, from config.pbtxt parameters."""

    def __init__(self, raw):
        self.max_num_sequences = int(raw.get("max_num_sequences", "4"))
        self.max_seq_len = int(raw.get("max_seq_len", "512"))
        self.max_input_len = self.max_seq_len - 1
        self.tokens_per_block = int(raw.get("tokens_per_block", "16"))
        self.kv_cache_blocks = int(raw.get("kv_cache_blocks", "256"))
        self.reuse = raw.get("enable_kv_cache_reuse", "true").lower() in ("true", "1")
        self.exclude_input = False
        self.cancel_period_s = int(raw.get("cancellation_check_period_ms", "100")) / 1000
        self.stats_period_s = 1.0
        self.vocab = 0


class TritonPythonModel:
    """Hands requests to the engine thread; every answer goes through a response sender."""

    def initialize(self, args):
        config = json.loads(args["model_config"])
        raw = {key: entry["string_value"] for key, entry in config["parameters"].items()}
        folder = lambda name: os.path.join(args["model_repository"], raw[name])
        self.limits = Limits(raw)
        model = LlamaNumpy(folder("checkpoint_dir"), self.limits.max_seq_len, self.limits.tokens_per_block)
        self.limits.vocab = model.config.vocab
        self.tokenizer = Tokenizer.from_file(os.path.join(folder("tokenizer_dir"), "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        with open(os.path.join(folder("tokenizer_dir"), "tokenizer_config.json"), encoding="utf-8") as file:
            token = json.load(file)["eos_token"]
        self.eos = self.tokenizer.token_to_id(token if isinstance(token, str) else token["content"])
        self.decoupled = pb_utils.using_decoupled_model_transaction_policy(config)
        # Upstream's model registers no metric families.
        self.engine = Engine(model, self.limits, lambda engine: None, pb_utils.Logger.log_error)
        self.numbers = itertools.count(1)
        self.newest = {}

    def execute(self, requests):
        for request in requests:
            self._accept(request)
        return None

    def _accept(self, request):
        job = Job(next(self.numbers), request.request_id(), request.get_response_sender())
        job.stopped = False
        try:
            stop = pb_utils.get_input_tensor_by_name(request, "stop")
            if stop is not None and stop.as_numpy().item():
                self._stop(job)
                return
            settings = read_request(request, self.tokenizer, self.eos, self.limits)
            if settings["streaming"] and not self.decoupled:
                raise ValueError("Streaming is only supported in decoupled mode.")
            (sequence,) = sequences_of(job, 0, settings, self.limits)
            sequence.output = responses.Output(self.tokenizer, sequence, settings)
            job.add(sequence)
        except Exception as error:
            responses.fail(job, str(error))
            return
        if job.request_id:
            self.newest[job.request_id] = job
            job.forget = lambda: self.newest.pop(job.request_id, None)
        self.engine.submit(job)

    def _stop(self, job):
        """`stop` tensor: the order is answered CANCELLED, whether it meets a request or not."""
        if not job.request_id:
            responses.refuse(job, "A request id must be provided for request cancellation")
            return
        target = self.newest.get(job.request_id)
        if target is not None:
            target.stopped = True
            self.engine.stop(job.request_id)
        responses.close(job)

    def finalize(self):
        """As in `tensorrt_llm`: nothing of the back end may be left to be destroyed behind this call."""
        self.engine.shut_down()
        self.newest.clear()
        gc.collect()
