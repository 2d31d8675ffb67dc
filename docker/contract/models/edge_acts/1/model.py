import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.family = pb_utils.MetricFamily(name="edge_gauge", description="set by a model", kind=pb_utils.MetricFamily.GAUGE)
        self.metric = self.family.Metric(labels={"model": "edge_acts", "version": "1"})
        self.metric.set(3)

    def execute(self, requests):
        return [act(request) for request in requests]

    def finalize(self):
        # A stub that still has a family at its end dies of it (docs/observed.md#crashes).
        self.metric = None
        self.family = None


def act(request):
    what = pb_utils.get_input_tensor_by_name(request, "ACT").as_numpy().reshape(-1)[0].decode()
    if what == "raise":
        raise ValueError("raised in execute")
    if what == "refuse":
        code = getattr(pb_utils.TritonError, "INVALID_ARG", None)
        error = pb_utils.TritonError("refused by the model") if code is None else pb_utils.TritonError("refused by the model", code)
        return pb_utils.InferenceResponse([], error)
    return pb_utils.InferenceResponse([pb_utils.Tensor("SEEN", np.array([see(what, request)], dtype=object))])


def see(what, request):
    if what == "timeout":
        return str(request.timeout()) if hasattr(request, "timeout") else "no timeout()"
    if what == "parameters":
        return request.parameters() if hasattr(request, "parameters") else "no parameters()"
    names = ["is_cancelled", "trace", "set_release_flags", "timeout", "parameters", "preferred_memory", "flags"]
    of_request = [name for name in names if hasattr(request, name)]
    kinds = [kind for kind in ("COUNTER", "GAUGE", "HISTOGRAM") if hasattr(pb_utils.MetricFamily, kind)]
    codes = [code for code in ("UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED", "ALREADY_EXISTS", "CANCELLED") if hasattr(pb_utils.TritonError, code)]
    calls = [name for name in ("load_model", "unload_model", "is_model_ready") if hasattr(pb_utils, name)]
    return f"request: {' '.join(of_request)}; metrics: {' '.join(kinds)}; errors: {' '.join(codes)}; calls: {' '.join(calls)}"
