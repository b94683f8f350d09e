"""Kernels that print literals and numbers in JSON documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    json_int16,
    json_int32,
    json_int64,
    json_uint16,
    json_uint32,
    json_uint64,
)
from binlog_kaitai.rows.float_texts import LEFT, NO_ROOM, NUMBER_ROOM, put_digits
from binlog_kaitai.rows.text.printed_values import put_signed, put_unsigned
from binlog_kaitai.rows.text.shortest import put_shortest

#: Whole numbers of this magnitude are printed with an exponent.
_MOST = 1e15

# With a signed index, Numba would generate code for negative indexes.
_ONE = np.uint64(1)


@kernel
def integer_at(data: Bytes, kind: Any, position: int) -> Any:
    """An INT16 (5), UINT16, INT32, UINT32, INT64 or UINT64 (10), which must be in bounds.

    A UINT64 of 2^63 or more wraps to a negative number.
    """
    if kind == 5:
        return json_int16(data, position)
    if kind == 6:
        return json_uint16(data, position)
    if kind == 7:
        return json_int32(data, position)
    if kind == 8:
        return json_uint32(data, position)
    return json_int64(data, position) if kind == 9 else json_uint64(data, position)


@kernel
def put_short(data: Bytes, kind: Any, start: int, out: Bytes, at: int) -> Any:
    """Print an INT16 (5) or UINT16 at `start`, which must be within the data; the output must have room."""
    number = json_int16(data, start) if kind == 5 else json_uint16(data, start)
    if number < 0:
        out[at] = 45
        at += 1
        number = -number
    position = np.uint64(at)
    if number < 10:
        out[position] = 48 + number
        return at + 1
    if number < 100:
        out[position] = 48 + number // 10
        out[position + _ONE] = 48 + number % 10
        return at + 2
    return put_digits(number, 1, out, at)


@kernel
def put_double(data: Bytes, start: int, out: Bytes, at: int) -> Any:
    """Print a double as servers do, see `double_text`; LEFT for NaN and infinities."""
    bits = json_int64(data, start)
    end = put_shortest(bits, -15, 16, out, at)
    if end < 0 or abs(np.uint64(bits).view(np.float64)) < _MOST:
        return end
    if out[end - 2] == 46 and out[end - 1] == 48:
        end = put_shortest(bits, -15, 15, out, at)
    # The exponent is printed without a plus.
    plus = end
    for offset in range(at, end):
        if out[offset] == 43:
            plus = offset
    for offset in range(plus, end - 1):
        out[offset] = out[offset + 1]
    return end - 1 if plus < end else end


@kernel
def put_scalar(data: Bytes, kind: int, start: int, end: int, out: Bytes, at: int) -> Any:
    """Print a value that is not a container."""
    if at + NUMBER_ROOM > out.shape[0]:
        return NO_ROOM
    if kind == 4:
        if start + 1 > end or data[start] > 2:
            return LEFT
        text = b"null" if data[start] == 0 else b"true" if data[start] == 1 else b"false"
        for step in range(len(text)):
            out[at + step] = text[step]
        return at + len(text)
    if 5 <= kind <= 10:
        size = 2 if kind < 7 else 4 if kind < 9 else 8
        if start + size > end:
            return LEFT
        number = integer_at(data, kind, start)
        return put_signed(number, out, at) if kind & 1 else put_unsigned(number, out, at)
    return put_double(data, start, out, at) if kind == 11 and start + 8 <= end else LEFT
