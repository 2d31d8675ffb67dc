import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [answer(request) for request in requests]


def answer(request):
    seen = []
    for name in ("A", "B", "C"):
        tensor = pb_utils.get_input_tensor_by_name(request, name)
        seen.append(f"{name}: {'absent' if tensor is None else tensor.as_numpy().tolist()}")
    return pb_utils.InferenceResponse([pb_utils.Tensor("SEEN", np.array([", ".join(seen)], dtype=object))])
