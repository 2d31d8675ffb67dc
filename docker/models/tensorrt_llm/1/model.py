"""Triton Python model `tensorrt_llm`: the TensorRT-LLM 1.x tensor contract over a NumPy Llama.

A stand-in for NVIDIA's engine on machines without a GPU, written from the contract; it shares no code with
NVIDIA's model.py or with Lockstep's embedded engine.
"""

import gc
import itertools
import json
import os

# Before NumPy: tiny products gain nothing from threads, and one thread has one order of summation.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import triton_python_backend_utils as pb_utils

import responses
from engine import Engine, executor_error
from engine_metrics import EngineMetrics
from llama_numpy import LlamaNumpy
from refusals import ExecutorError, RequestError
from request_tensors import read_settings, read_tensors, wants_stop
from sequences import Job, sequences_of


class Limits:
    """The engine's numbers, from config.pbtxt parameters; an unfilled ${…} counts as unset."""

    def __init__(self, config):
        raw = {key: entry["string_value"] for key, entry in config["parameters"].items()}
        text = lambda name, default: default if raw.get(name, "${").startswith("${") else raw[name]
        flag = lambda name, default: text(name, default).lower() in ("true", "1")
        self.checkpoint_dir = text("checkpoint_dir", "../../checkpoint/tiny")
        self.max_num_sequences = int(text("max_num_sequences", "4"))
        self.max_seq_len = int(text("max_seq_len", "512"))
        self.max_input_len = self.max_seq_len - 1
        self.max_beam_width = int(text("max_beam_width", "1"))
        self.tokens_per_block = int(text("tokens_per_block", "16"))
        self.kv_cache_blocks = int(text("kv_cache_blocks", "256"))
        self.reuse = flag("enable_kv_cache_reuse", "true")
        self.exclude_input = flag("exclude_input_in_output", "false")
        self.cancel_period_s = int(text("cancellation_check_period_ms", "100")) / 1000
        self.stats_period_s = int(text("stats_check_period_ms", "100")) / 1000
        self.vocab = 0
        if self.kv_cache_blocks * self.tokens_per_block < self.max_seq_len:
            raise ValueError("kv_cache_blocks * tokens_per_block must hold one sequence of max_seq_len")


class TritonPythonModel:
    """Hands requests to the engine thread; every answer goes through a response sender."""

    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.limits = Limits(config)
        folder = os.path.join(args["model_repository"], self.limits.checkpoint_dir)
        model = LlamaNumpy(folder, self.limits.max_seq_len, self.limits.tokens_per_block)
        self.limits.vocab = model.config.vocab
        self.decoupled = pb_utils.using_decoupled_model_transaction_policy(config)
        self.metrics = EngineMetrics(args["model_name"], args["model_version"])
        self.engine = Engine(model, self.limits, self.metrics.publish, pb_utils.Logger.log_error)
        self.numbers = itertools.count(1)

    def execute(self, requests):
        for request in requests:
            self._accept(request)
        return None

    def _accept(self, request):
        job = Job(next(self.numbers), request.request_id(), request.get_response_sender())
        job.vocab = self.limits.vocab
        try:
            tensors = read_tensors(request)
            if wants_stop(tensors):
                self._stop(job)
                return
            self._require_outputs(request)
            rows = read_settings(tensors, self.limits, self.decoupled)
            job.rows = len(rows)
            for row, settings in enumerate(rows):
                for sequence in sequences_of(job, row, settings, self.limits):
                    job.add(sequence)
        except ExecutorError as error:
            responses.fail(job, executor_error(job, str(error)))
        except RequestError as error:
            responses.fail(job, str(error))
        except Exception as error:
            responses.fail(job, "An error occurred when processing the input values for request id "
                f"{job.request_id}, the error was '{error}'")
        else:
            self.engine.submit(job)

    def _stop(self, job):
        """`stop` tensor: the order itself is answered by FINAL without data, or without the decoupled policy, where
        every request must have a response, by one that has no outputs."""
        if not job.request_id:
            raise RequestError("A request id must be provided for request cancellation")
        self.engine.stop(job.request_id)
        responses.close(job, None if self.decoupled else pb_utils.InferenceResponse(output_tensors=[]))

    def _require_outputs(self, request):
        asked = request.requested_output_names()
        for name in ("output_ids", "sequence_length"):
            if asked and name not in asked:
                raise RequestError(f"{name} must be among the requested outputs")

    def finalize(self):
        """Behind this call the process gives up its shared memory first and its objects second. Whatever holds some of
        it (senders, requests, tensors, metrics) and is destroyed only then is a segmentation fault (observed on 2.51;
        docs/observed.md, Lifecycle and crashes), so all of it goes now, what hangs in a cycle too."""
        self.engine.shut_down()
        self.metrics.close()
        gc.collect()
