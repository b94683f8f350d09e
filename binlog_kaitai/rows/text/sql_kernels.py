"""Kernels that write literals every client and server reads the same; see `values.sql_text`."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.log.text_kernels import copy

_QUOTE = 39

_DIGITS = np.frombuffer(b"0123456789ABCDEF", dtype=np.uint8)


@inlined
def is_other(byte: int) -> bool:
    """Whether a byte is a backslash or not printable ASCII, and therefore not allowed in a quoted string."""
    return (byte < 32) | (byte > 126) | (byte == 92)


@kernel
def put_digits(data: Bytes, start: int, stop: int, out: Bytes, end: int) -> int:
    """Write bytes as a hexadecimal literal; `out` must have room."""
    out[end] = 48
    out[end + 1] = 120
    end += 2
    for offset in range(start, stop):
        byte = data[offset]
        out[end] = _DIGITS[byte >> 4]
        out[end + 1] = _DIGITS[byte & 15]
        end += 2
    return end


@kernel
def put_quoted(data: Bytes, start: int, stop: int, out: Bytes, end: int) -> int:
    """Write bytes as a quoted string; `out` must have room for twice their number, and 18 more."""
    quotes = 0
    for offset in range(start, stop):
        quotes += data[offset] == _QUOTE
    out[end] = _QUOTE
    end += 1
    if quotes == 0:
        copy(data, start, stop - start, out, end)
        end += stop - start
    else:
        for offset in range(start, stop):
            byte = data[offset]
            out[end] = byte
            end += 1
            if byte == _QUOTE:
                out[end] = byte
                end += 1
    out[end] = _QUOTE
    return end + 1


@kernel
def put_literal(data: Bytes, start: int, stop: int, introducer: Bytes, out: Bytes, end: int) -> int:
    """Write bytes as a literal; `out` must have room for twice their number, the introducer, and 18 more."""
    has_other = False
    for offset in range(start, stop):
        has_other |= is_other(data[offset])
    if not has_other:
        return put_quoted(data, start, stop, out, end)
    for step in range(introducer.shape[0]):
        out[end + step] = introducer[step]
    return put_digits(data, start, stop, out, end + introducer.shape[0])


@kernel
def put_literals(data: Bytes, starts: Ints, ends: Ints, introducer: Bytes, out: Bytes, offsets: Ints) -> int:
    """Write ranges of bytes as literals: in quotes where all are plain, else in hexadecimal.

    Parameters
    ----------
    starts, ends : int64 arrays
        The ranges in `data`; one with an end before its start produces no text at all.
    introducer : uint8 array
        Text before a hexadecimal literal.
    out, offsets
        Output: the texts, and the start of each; one more element than there are ranges.

    Returns
    -------
    Length of all texts; -1 if `out` is too small, -2 if a range is outside `data`.
    """
    offset = 0
    extra = introducer.shape[0] + 18
    offsets[0] = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        stop = ends[index]
        if stop < start:
            offsets[index + 1] = offset
            continue
        if start < 0 or stop > data.shape[0]:
            return -2
        if offset + 2 * (stop - start) + extra > out.shape[0]:
            return -1
        offset = put_literal(data, start, stop, introducer, out, offset)
        offsets[index + 1] = offset
    return offset


@kernel
def put_pieces(data: Bytes, starts: Ints, ends: Ints, out: Bytes, offsets: Ints) -> int:
    """Write ranges of bytes as arguments of CONCAT: runs of plain bytes in quotes, others in hexadecimal.

    Parameters and result are those of `put_literals`. A run takes twice its bytes and 4 more.
    """
    offset = 0
    offsets[0] = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        stop = ends[index]
        if start < 0 or stop > data.shape[0]:
            return -2
        while start < stop:
            end = start + 1
            is_in_hex = is_other(data[start])
            while end < stop and is_other(data[end]) == is_in_hex:
                end += 1
            if offset + 2 * (end - start) + 20 > out.shape[0]:
                return -1
            if offset > offsets[index]:
                out[offset] = 44
                out[offset + 1] = 32
                offset += 2
            if is_in_hex:
                offset = put_digits(data, start, end, out, offset)
            else:
                offset = put_quoted(data, start, end, out, offset)
            start = end
        offsets[index + 1] = offset
    return offset
