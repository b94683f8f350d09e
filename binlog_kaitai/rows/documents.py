"""Arrow arrays of JSON documents as text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.json_kernels import LEVEL, MAX_DEPTH, put_documents
from binlog_kaitai.rows.string_columns import is_text
from binlog_kaitai.rows.string_kernels import measure

#: Size of the output per byte of input, and minimum size.
_RATIO, _LEAST = 2, 1 << 12


class Documents(NamedTuple):
    """JSON documents printed by the kernel.

    Attributes
    ----------
    texts
        Arrow array in the format of the server; a document left out is empty.
    is_left : bool array
        The documents left to the event reader.
    casts
        Arrow array of bytes: paths and SQL expressions of the values that the texts do not express, see
        `put_document`; empty unless requested.
    """

    texts: Any
    is_left: Any
    casts: Any


def documents(cells: Cells, kind: pa.DataType) -> Any:
    """JSON in the format of the server."""
    printed = printed_documents(cells, kind)
    rows = np.flatnonzero(printed.is_left)
    if not len(rows):
        return printed.texts
    texts = cells.by_reader(rows, lambda value: plain(str(value)))
    return pc.replace_with_mask(printed.texts, pa.array(printed.is_left), pa.array(texts, kind))


def printed_documents(cells: Cells, kind: pa.DataType, *, has_casts: bool = False) -> Documents:
    """JSON printed by the kernel."""
    count, prefix = len(cells), cells.width.prefix
    offsets, cast_offsets = np.zeros((2, count + 1), dtype=np.int64)
    size = int(cells.run(measure, prefix, 0, 0, offsets[1:]))
    out = np.empty(_RATIO * size + _LEAST, dtype=np.uint8)
    casts = np.empty(len(out) if has_casts else 0, dtype=np.uint8)
    is_left = np.zeros(count, dtype=np.bool_)
    stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)
    offsets[0] = 0
    put = put_documents.run
    reached, at = 0, 0
    while True:
        texts = out, offsets, casts, cast_offsets
        reached, at = put(cells.data, cells.starts, prefix, reached, at, stack, *texts, is_left)
        if reached == count:
            break
        out, casts = _doubled(out, at), _doubled(casts, int(cast_offsets[reached]))
    valid = cells.valid
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [bits, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out[:at])]
    found = pa.Array.from_buffers(kind, count, buffers)
    if not is_text(found):
        is_left = valid  # invalid UTF-8
    cast_buffers = [
        None,
        pa.py_buffer(cast_offsets.astype(np.int32)),
        pa.py_buffer(casts[: cast_offsets[-1]]),
    ]
    return Documents(found, is_left, pa.Array.from_buffers(pa.binary(), count, cast_buffers))


def _doubled(buffer: Bytes, used: int) -> Bytes:
    """A buffer of twice the size with the same start; memory that is not used is not touched."""
    doubled = np.empty(2 * len(buffer), dtype=np.uint8)
    doubled[:used] = buffer[:used]
    return doubled
