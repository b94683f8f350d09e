"""Arrow arrays of JSON documents as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.columns.lines import plain
from binlog_kaitai.columns.rows.cells import Cells
from binlog_kaitai.columns.rows.json_kernels import LEVEL, MAX_DEPTH, put_documents
from binlog_kaitai.columns.rows.string_kernels import measure
from binlog_kaitai.columns.rows.strings import is_text

#: Size of the output per byte of input, and minimum size.
_RATIO, _LEAST = 2, 1 << 12


def documents(cells: Cells, kind: pa.DataType) -> Any:
    """JSON in the format of the server."""
    found, is_left = documents_and_rest(cells, kind)
    rows = np.flatnonzero(is_left)
    if not len(rows):
        return found
    texts = cells.by_reader(rows, lambda value: plain(str(value)))
    return pc.replace_with_mask(found, pa.array(is_left), pa.array(texts, kind))


def documents_and_rest(cells: Cells, kind: pa.DataType) -> tuple[Any, Any]:
    """JSON decoded by the kernel, and a bool array of the documents left to the event reader."""
    count, prefix = len(cells), cells.width.prefix
    offsets = np.zeros(count + 1, dtype=np.int64)
    size = int(cells.run(measure, prefix, 0, 0, offsets[1:]))
    out = np.empty(_RATIO * size + _LEAST, dtype=np.uint8)
    is_left = np.zeros(count, dtype=np.bool_)
    stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)
    offsets[0] = 0
    put = put_documents.run
    reached, at = 0, 0
    while True:
        reached, at = put(cells.data, cells.starts, prefix, reached, at, stack, out, offsets, is_left)
        if reached == count:
            break
        out = np.concatenate((out, np.empty_like(out)))
    valid = cells.valid
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [bits, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out[:at])]
    found = pa.Array.from_buffers(kind, count, buffers)
    if not is_text(found):
        is_left = valid  # invalid UTF-8
    return found, is_left
