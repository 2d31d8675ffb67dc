"""tritonclient.grpc: unary calls, one stream with several requests in flight, cancels, system shared memory."""

import queue
import time

import tritonclient.grpc as triton
import tritonclient.utils.shared_memory as shared_memory
from grpc_messages import input_of, inputs_of, tell_response
from job import numpy_of, read_job, tell, tell_error, tensor_of
from tritonclient.utils import InferenceServerException, serialize_byte_tensor, triton_to_np_dtype


def call(client, step, method, arguments):
    """Everything but inference: metadata, config, statistics, index, settings, shared memory."""
    result = getattr(client, method)(**arguments)
    tell(step, "result", result=result)


def unary(client, step, request, arguments):
    tell(step, "sent", request=request["id"])
    result = client.infer(request["model"], inputs_of(request), request_id=request["id"], **arguments)
    tell_response(step, result)
    tell(step, "end", request=request["id"], ending="complete")


def stream(client, step, requests, in_flight, cancel_after, wait_s):
    """All requests on one stream, `in_flight` at a time; with `cancel_after` it is left after so many responses."""
    arrived = queue.Queue()
    client.start_stream(lambda result, error: arrived.put((result, error)))
    waiting = list(requests)
    running = 0
    seen = 0
    while waiting or running:
        while waiting and running < in_flight:
            request = waiting.pop(0)
            tell(step, "sent", request=request["id"])
            client.async_stream_infer(
                request["model"], inputs_of(request), request_id=request["id"], enable_empty_final_response=True
            )
            running += 1
        try:
            result, error = arrived.get(timeout=wait_s)
        except queue.Empty:
            tell(step, "end", ending="deadline")
            client.stop_stream(cancel_requests=True)
            return
        if error is not None:
            # A stream's errors come without the id of their request (tritonclient drops it).
            tell_error(step, error)
            running -= 1
            continue
        if tell_response(step, result):
            running -= 1
            tell(step, "end", request=result.get_response().id, ending="complete")
        seen += 1
        if seen == cancel_after:
            client.stop_stream(cancel_requests=True)
            tell(step, "end", ending="cancelled")
            return
    client.stop_stream()


def through_shared_memory(client, step, request, region, output, size):
    """One unary request whose first input and whose output `output` lie in system shared memory."""
    (tensor, *others) = request["inputs"]
    array = numpy_of(tensor, triton_to_np_dtype)
    content = serialize_byte_tensor(array) if tensor["datatype"] == "BYTES" else array
    taken = content.item() if tensor["datatype"] == "BYTES" else content.tobytes()
    handle = shared_memory.create_shared_memory_region(region, f"/{region}", 2 * size)
    try:
        shared_memory.set_shared_memory_region(handle, [content])
        client.register_system_shared_memory(region, f"/{region}", 2 * size)
        tell(step, "result", result=client.get_system_shared_memory_status(as_json=True))
        first = triton.InferInput(tensor["name"], tensor["shape"], tensor["datatype"])
        first.set_shared_memory(region, len(taken))
        tell(step, "sent", request=request["id"])
        wanted = triton.InferRequestedOutput(output)
        wanted.set_shared_memory(region, size, offset=size)
        result = client.infer(
            request["model"], [first, *(input_of(t) for t in others)], outputs=[wanted], request_id=request["id"]
        )
        described = result.get_output(output)
        array = shared_memory.get_contents_as_numpy(
            handle, triton_to_np_dtype(described.datatype), list(described.shape), offset=size
        )
        outputs = [tensor_of(output, described.datatype, array)]
        tell(step, "response", request=result.get_response().id, final=None, outputs=outputs)
        client.unregister_system_shared_memory(region)
        tell(step, "result", result=client.get_system_shared_memory_status(as_json=True))
        tell(step, "end", request=request["id"], ending="complete")
    finally:
        shared_memory.destroy_shared_memory_region(handle)


def wait(_client, _step, seconds):
    time.sleep(seconds)


OPERATIONS = {"wait": wait, "call": call, "infer": unary, "stream": stream, "shared-memory": through_shared_memory}

job = read_job()
with triton.InferenceServerClient(job["url"]) as client:
    for number, step in enumerate(job["steps"]):
        operation = OPERATIONS[step.pop("operation")]
        try:
            operation(client, number, **step)
        except InferenceServerException as error:
            tell_error(number, error)
