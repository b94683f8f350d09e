"""Kernels that write JSON documents among the values of a row; see `text.cells` for `quotes`."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import json_container
from binlog_kaitai.log.line_arrays import width_at
from binlog_kaitai.rows.float_texts import LEFT, NO_ROOM
from binlog_kaitai.rows.json_kernels import put_document
from binlog_kaitai.values.json_documents import MARKER

_MARKER = np.frombuffer(MARKER.encode(), dtype=np.uint8)
_NULL = np.frombuffer(b"null", dtype=np.uint8)

#: First byte of a document that is an object with offsets of four bytes.
_LARGE_OBJECT = 1


@kernel
def is_utf8(data: Bytes, start: int, end: int) -> bool:
    """Whether bytes are valid UTF-8."""
    source = data[start:end]
    high = np.uint8(0)
    for index in range(source.shape[0]):
        high = np.uint8(high | source[index])
    if high < 128:
        return True
    while start < end:
        width = width_at(data, start, end)
        if width == 0:
            return False
        start += width
    return True


@kernel
def is_ambiguous(data: Bytes, start: int, out: Bytes, begin: int, end: int) -> Any:
    """Whether the document at `data[start]`, printed at `out[begin:end]`, needs the marker, see `marked`."""
    size = end - begin
    is_null = size == _NULL.shape[0]
    for step in range(_NULL.shape[0] if is_null else 0):
        is_null = is_null and out[begin + step] == _NULL[step]
    if is_null or size <= _MARKER.shape[0]:
        return is_null
    for step in range(_MARKER.shape[0]):
        if out[begin + step] != _MARKER[step]:
            return False
    count, _, _ = json_container(data, start + 1, data[start] == _LARGE_OBJECT, True)
    return bool(count == 1)


@kernel
def put_json(data: Bytes, start: int, length: int, quotes: int, stack: Ints, out: Bytes, at: int) -> Any:
    """Write a JSON document; gives LEFT or NO_ROOM as `put_document`.

    Without quotes, LEFT also for a document that is a string, which could be mistaken for another one.
    """
    begin = at
    at, _ = put_document(data, start, start + length, out, at, stack, out[:0], 0)
    if at < 0:
        return at
    if not is_utf8(out, begin, at):
        return LEFT
    if quotes == 0:
        return LEFT if out[begin] == 34 else at
    if is_ambiguous(data, start, out, begin, at):
        size = _MARKER.shape[0]
        if at + size + 1 > out.shape[0]:
            return NO_ROOM
        for step in range(at - begin):
            out[at - 1 - step + size] = out[at - 1 - step]
        for step in range(size):
            out[begin + step] = _MARKER[step]
        out[at + size] = 125
        at += size + 1
    if quotes < 2:
        return at
    marks = np.int64(0)
    text = out[begin:at]
    for index in range(text.shape[0]):
        marks += text[index] == 34
    if at + marks > out.shape[0]:
        return NO_ROOM
    end = at + marks
    offset = end
    while marks > 0:
        at -= 1
        offset -= 1
        byte = out[at]
        out[offset] = byte
        if byte == 34:
            offset -= 1
            out[offset] = 34
            marks -= 1
    return end
