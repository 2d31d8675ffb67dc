"""tritonclient.grpc.aio: a stream per request, several at once, some left early; the calls about the server awaited."""

import asyncio

import tritonclient.grpc.aio as triton
from grpc_messages import inputs_of, tell_response
from job import read_job, tell, tell_error
from tritonclient.utils import InferenceServerException


async def once(request):
    yield {
        "model_name": request["model"],
        "inputs": inputs_of(request),
        "request_id": request["id"],
        "enable_empty_final_response": True,
    }


async def stream(client, step, request, cancel_after):
    """Left by cancelling the client's iterator, which is its own way to end a call early."""
    tell(step, "sent", request=request["id"])
    responses = client.stream_infer(once(request))
    seen = 0
    async for result, error in responses:
        if error is not None:
            tell_error(step, error, request=request["id"])
            return
        tell_response(step, result)
        seen += 1
        if seen == cancel_after:
            responses.cancel()
            tell(step, "end", request=request["id"], ending="cancelled")
            return
    tell(step, "end", request=request["id"], ending="complete")


async def run_step(client, number, step, lanes):
    async with lanes:
        try:
            if step["operation"] == "call":
                tell(number, "result", result=await getattr(client, step["method"])(**step["arguments"]))
            else:
                await asyncio.wait_for(stream(client, number, step["request"], step["cancel_after"]), step["wait_s"])
        except InferenceServerException as error:
            tell_error(number, error)
        except asyncio.TimeoutError:
            tell(number, "end", ending="deadline")


async def main():
    job = read_job()
    lanes = asyncio.Semaphore(job["lanes"])
    async with triton.InferenceServerClient(job["url"]) as client:
        await asyncio.gather(*(run_step(client, number, step, lanes) for number, step in enumerate(job["steps"])))


asyncio.run(main())
