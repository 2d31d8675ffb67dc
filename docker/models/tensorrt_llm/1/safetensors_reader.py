"""Reads a .safetensors file by hand.

The format (huggingface/safetensors README, "Format"): 8 bytes little-endian header length, a JSON
header {name: {dtype, shape, data_offsets}}, then the raw tensors. Reading it here, without the
library, keeps this engine independent of every other reader of the same file.
"""

import json

import numpy as np

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def read_safetensors(path):
    """Returns {name: float64 array}. BF16 is widened exactly (upper half of a float32)."""
    with open(path, "rb") as file:
        data = file.read()
    header_length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + header_length])
    body = memoryview(data)[8 + header_length :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = body[begin:end]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(raw, dtype="<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(raw, dtype=_DTYPES[entry["dtype"]])
        tensors[name] = values.astype(np.float64).reshape(entry["shape"])
    return tensors
