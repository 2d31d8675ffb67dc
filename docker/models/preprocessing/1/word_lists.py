"""Layout of stop and bad words for TensorRT-LLM.

As observed on NVIDIA's preprocessing model and read from `to_word_list_format` in its source:
[batch, 2, L]; row 0 the ids of all words in one line, padded with 0; row 1 the end of each word in that line,
padded with -1; L at least 1. A list of nothing but empty strings is therefore [[0], [-1]], which is not the [batch, 2, 0]
of an absent list.
"""

import numpy as np


def word_list_tensor(rows, encode):
    """`rows`: one list of byte strings per batch row; `encode`: text to ids, without special tokens."""
    lines = []
    for words in rows:
        flat, ends = [], []
        for word in words:
            ids = encode(word.decode("utf-8"))
            if ids:
                flat.extend(ids)
                ends.append(len(flat))
        lines.append((flat, ends))
    length = max(1, max(len(flat) for flat, _ in lines))
    table = np.zeros((len(rows), 2, length), dtype=np.int32)
    table[:, 1] = -1
    for row, (flat, ends) in enumerate(lines):
        table[row, 0, : len(flat)] = flat
        table[row, 1, : len(ends)] = ends
    return table


def absent_word_list(batch):
    return np.zeros((batch, 2, 0), dtype=np.int32)
