"""FLOAT and DOUBLE as text, where few digits do: kernels, and how a column goes through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.columns.kernel.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.columns.kernel.compile import kernel

#: In place of an end: the number is made otherwise.
LEFT = -2

#: No number takes more bytes.
NUMBER_ROOM = 40


@kernel
def put_digits(value: Any, least: int, out: Bytes, at: int) -> Any:
    """A number, not negative, in decimal with at least so many digits; there must be room."""
    count = 1
    rest = value // 10
    while rest > 0:
        count += 1
        rest //= 10
    count = max(count, least)
    for step in range(count):
        out[at + count - 1 - step] = 48 + value % 10
        value //= 10
    return at + count


@kernel
def put_decimal(
    value: Any, least: Any, most: Any, is_single: bool, is_bare: bool, out: Bytes, at: int
) -> Any:
    """A number in decimal, if all its digits make less than `most` and it is not below `least`; else LEFT.

    With `is_single` the digits must name it among those of four bytes only; with `is_bare` a whole number has
    no point. There must be room.
    """
    size = abs(value)
    if size == 0.0:
        if np.copysign(1.0, value) < 0.0:
            return LEFT
    elif not least <= size < most:
        return LEFT
    scale = 1.0
    for digits in range(16):
        scaled = np.rint(size * scale)
        if scaled >= most:
            return LEFT
        # Both are whole numbers that a double holds, so the division gives the double nearest to the text.
        near = scaled / scale
        if near == size or (is_single and np.float32(near) == np.float32(size)):
            if value < 0:
                out[at] = 45
                at += 1
            whole = np.int64(scaled)
            power = np.int64(scale)
            at = put_digits(whole // power, 1, out, at)
            if is_bare and digits == 0:
                return at
            out[at] = 46
            return put_digits(whole % power, max(digits, 1), out, at + 1)
        scale *= 10.0
    return LEFT


@kernel
def put_floats(
    values: Array,
    valid: Bools,
    least: Any,
    most: Any,
    is_single: bool,
    is_bare: bool,
    out: Bytes,
    offsets: Ints,
    is_left: Bools,
) -> None:
    """Numbers in decimal, see `put_decimal`; `out` has room for 40 bytes for each.

    `offsets` has one more than `values`. Numbers that are left are marked and have no text.
    """
    at = np.int64(0)
    offsets[0] = 0
    for index in range(values.shape[0]):
        is_left[index] = False
        if valid[index] and at + NUMBER_ROOM <= out.shape[0]:
            end = put_decimal(values[index], least, most, is_single, is_bare, out, at)
            is_left[index] = end < 0
            at = end if end >= 0 else at
        offsets[index + 1] = at


def float_texts(values: Any, valid: Any, *, is_bare: bool) -> tuple[Any, Any]:
    """FLOAT or DOUBLE (by the type of `values`) in decimal, and which are left, as a bool array.

    These have exponents, more digits than surely name a number, or are none. An array of `pa.binary()`; what
    is left, or not `valid`, has no text. With `is_bare` a whole number has no point.
    """
    is_single, count = values.dtype == np.float32, len(values)
    out, offsets = np.empty(NUMBER_ROOM * count, dtype=np.uint8), np.empty(count + 1, dtype=np.int64)
    is_left = np.empty(count, dtype=np.bool_)
    # Python, as JSON does, has exponents below this; and six digits name a FLOAT, fifteen a DOUBLE.
    limits = 1e-4, 1e6 if is_single else 1e15, is_single, is_bare
    put_floats.run(values.astype(np.float64), valid, *limits, out, offsets, is_left)
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.binary(), count, buffers), is_left
