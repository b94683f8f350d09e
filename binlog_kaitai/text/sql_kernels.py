"""Kernels that write literals every client and server reads the same; see `values.sql_text`.

`quotes` is the number of single quotes in place of each one: 2 for a literal inside a quoted string.
"""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, OutBytes
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.text.text_kernels import copy

_QUOTE = 39

_DIGITS = np.frombuffer(b"0123456789ABCDEF", dtype=np.uint8)


@inlined
def is_other(byte: int) -> bool:
    """Whether a byte is a backslash or not printable ASCII, and therefore not allowed in a quoted string."""
    return (byte < 32) | (byte > 126) | (byte == 92)


def put_marks(quotes: int, out: Bytes, end: int) -> int:
    """Write the quotes at the start or end of a string."""
    for _ in range(quotes):
        out[end] = _QUOTE
        end += 1
    return end


def put_doubled(data: Bytes, start: int, stop: int, quotes: int, out: Bytes, end: int) -> int:
    """Copy bytes, with that number of quotes in place of each one."""
    for offset in range(start, stop):
        byte = data[offset]
        if byte == _QUOTE:
            end = put_marks(quotes, out, end)
        else:
            out[end] = byte
            end += 1
    return end


def put_digits(data: Bytes, start: int, stop: int, size: int, quotes: int, out: Bytes, end: int) -> int:
    """Write bytes as a hexadecimal literal, padded with zeros to a minimum size; `out` must have room."""
    if stop == start and size == 0:
        return put_marks(2 * quotes, out, end)
    out[end] = 48
    out[end + 1] = 120
    end += 2
    for offset in range(start, stop):
        byte = data[offset]
        out[end] = _DIGITS[byte >> 4]
        out[end + 1] = _DIGITS[byte & 15]
        end += 2
    for _ in range(2 * (size - (stop - start))):
        out[end] = 48
        end += 1
    return end


@kernel
def put_literal(
    data: Bytes, start: int, stop: int, introducer: Bytes, quotes: int, out: OutBytes, end: int
) -> int:
    """Write bytes as a literal: in quotes if all are plain, else in hexadecimal after an introducer.

    `out` must have room for twice their number times `quotes`, the introducer, and 18 more.
    """
    begin = put_marks(quotes, out, end)
    # Usually nothing is escaped. Numba compiles slices, whose indexes cannot be negative, to vector
    # instructions.
    source = data[start:stop]
    target = out[begin : begin + source.shape[0]]
    other, marks = np.uint8(0), np.uint8(0)
    for index in range(source.shape[0]):
        byte = source[index]
        other = np.uint8(other | np.uint8(is_other(byte)))
        marks = np.uint8(marks | np.uint8(byte == _QUOTE))
        target[index] = byte
    if other:
        end = copy(introducer, 0, introducer.shape[0], out, end)
        return put_digits(data, start, stop, 0, quotes, out, end)
    if marks:
        return put_marks(quotes, out, put_doubled(data, start, stop, 2 * quotes, out, begin))
    return put_marks(quotes, out, begin + source.shape[0])
