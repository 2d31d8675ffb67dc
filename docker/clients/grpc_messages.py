"""From the job's requests to tritonclient's own objects and back; the same for tritonclient.grpc and its aio half."""

import tritonclient.grpc as triton
from job import numpy_of, tell, tensor_of
from tritonclient.utils import triton_to_np_dtype


def input_of(tensor):
    given = triton.InferInput(tensor["name"], tensor["shape"], tensor["datatype"])
    given.set_data_from_numpy(numpy_of(tensor, triton_to_np_dtype))
    return given


def inputs_of(request):
    return [input_of(tensor) for tensor in request["inputs"]]


def tell_response(step, result):
    """Gives triton_final_response, or None where the response does not say."""
    response = result.get_response()
    told = response.parameters
    final = told["triton_final_response"].bool_param if "triton_final_response" in told else None
    outputs = [tensor_of(o.name, o.datatype, result.as_numpy(o.name)) for o in response.outputs]
    tell(step, "response", request=response.id, final=final, outputs=outputs)
    return final
