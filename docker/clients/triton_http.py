"""tritonclient.http for inference with binary and with JSON tensors; requests for generate, which the client has not."""

import json

import requests
import tritonclient.http as triton
from job import numpy_of, read_job, tell, tell_error, tensor_of
from tritonclient.utils import InferenceServerException, triton_to_np_dtype


def call(client, _url, step, method, arguments):
    tell(step, "result", result=getattr(client, method)(**arguments))


def infer(client, _url, step, request, binary, outputs):
    inputs = []
    for tensor in request["inputs"]:
        given = triton.InferInput(tensor["name"], tensor["shape"], tensor["datatype"])
        given.set_data_from_numpy(numpy_of(tensor, triton_to_np_dtype), binary_data=binary)
        inputs.append(given)
    wanted = [triton.InferRequestedOutput(name, binary_data=binary) for name in outputs]
    tell(step, "sent")
    result = client.infer(request["model"], inputs, request_id=request["id"], outputs=wanted)
    response = result.get_response()
    given = [tensor_of(o["name"], o["datatype"], result.as_numpy(o["name"])) for o in response["outputs"]]
    tell(step, "response", request=response.get("id", ""), final=None, outputs=given)
    tell(step, "end", request=request["id"], ending="complete")


def generate(_client, url, step, model, body):
    tell(step, "sent")
    answer = requests.post(f"http://{url}/v2/models/{model}/generate", json=body, timeout=30)
    if answer.status_code != 200:
        return tell(step, "error", exception="HTTPError", code=str(answer.status_code), message=answer.text)
    tell(step, "response", payload=answer.json())
    tell(step, "end", ending="complete")


def generate_stream(_client, url, step, model, body, cancel_after):
    seen = 0
    tell(step, "sent")
    with requests.post(f"http://{url}/v2/models/{model}/generate_stream", json=body, stream=True, timeout=30) as answer:
        if answer.status_code != 200:
            return tell(step, "error", exception="HTTPError", code=str(answer.status_code), message=answer.text)
        # chunk_size=None: events as they come.
        for line in answer.iter_lines(chunk_size=None, delimiter=b"\n\n"):
            if not line:
                continue
            tell(step, "response", payload=json.loads(line.removeprefix(b"data: ")))
            seen += 1
            if seen == cancel_after:
                return tell(step, "end", ending="cancelled")
    tell(step, "end", ending="complete")


OPERATIONS = {"call": call, "infer": infer, "generate": generate, "generate-stream": generate_stream}

job = read_job()
with triton.InferenceServerClient(job["url"]) as client:
    for number, step in enumerate(job["steps"]):
        operation = OPERATIONS[step.pop("operation")]
        try:
            operation(client, job["url"], number, **step)
        except (InferenceServerException, requests.RequestException) as error:
            tell_error(number, error)
