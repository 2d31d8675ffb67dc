import json

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            script = json.loads(pb_utils.get_input_tensor_by_name(request, "SCRIPT").as_numpy().reshape(-1)[0])
            play(script, request.get_response_sender())
        return None


def play(script, sender):
    for step in script:
        flags = FINAL if step.get("final") else 0
        text, error = step.get("text"), step.get("error")
        try:
            if text is None and error is None:
                sender.send(flags=flags)
                continue
            tensors = [] if text is None else [pb_utils.Tensor("TEXT", np.array([text], dtype=object))]
            sender.send(pb_utils.InferenceResponse(tensors, None if error is None else pb_utils.TritonError(error)), flags=flags)
        except pb_utils.TritonModelException:
            pass  # what comes behind FINAL is refused here and nowhere else
