"""What the drivers share: a job comes as JSON on standard input, what the client gave goes out as JSON lines.

A job is {"url": ..., "steps": [...]}; every line says with "step" which of them it belongs to, and with "kind" what it is:
"sent", "response", "error" (the client's own exception), "end" (why nothing more comes) or "result" (of a call that is no inference).
"""

import base64
import json
import sys
import threading
import time

import numpy

_lock = threading.Lock()
_start = time.monotonic()


def read_job():
    return json.load(sys.stdin)


def tell(step, kind, **fields):
    """Callbacks of a client come on threads of its own: one line is written at a time."""
    line = json.dumps({"step": step, "kind": kind, "atMs": 1000 * (time.monotonic() - _start), **fields})
    with _lock:
        print(line, flush=True)


def tell_error(step, error, **fields):
    status = getattr(error, "status", None)
    code = getattr(error, "status_code", None)
    known = status() if callable(status) else code
    tell(step, "error", exception=type(error).__name__, code=None if known is None else str(known), message=str(error), **fields)


def numpy_of(tensor, to_numpy):
    """The array that a user of the client would give, from a tensor of the job."""
    data = base64.b64decode(tensor["data"])
    if tensor["datatype"] != "BYTES":
        return numpy.frombuffer(data, dtype=to_numpy(tensor["datatype"])).reshape(tensor["shape"])
    elements, at = [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        elements.append(data[at + 4 : end])
        at = end
    return numpy.array(elements, dtype=numpy.object_).reshape(tensor["shape"])


def tensor_of(name, datatype, array):
    """The tensor of a line, from the array that the client decoded."""
    if datatype == "BYTES":
        data = b"".join(len(e).to_bytes(4, "little") + e for e in (as_bytes(e) for e in array.reshape(-1)))
    else:
        data = numpy.ascontiguousarray(array).tobytes()
    return {"name": name, "datatype": datatype, "shape": list(array.shape), "data": base64.b64encode(data).decode()}


def as_bytes(element):
    return element if isinstance(element, bytes) else str(element).encode()
