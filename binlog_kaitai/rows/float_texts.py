"""FLOAT and DOUBLE as decimal text, for numbers with few digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel

#: Results instead of an end offset: the output is full; the value is left to other code.
NO_ROOM, LEFT = -1, -2

#: Maximum length of a number in bytes.
NUMBER_ROOM = 40


@kernel
def put_digits(value: Any, least: int, out: Bytes, at: int) -> Any:
    """Write a non-negative number with at least `least` digits; the output must have room."""
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

    With `is_single`, the digits only need to identify the number among 4-byte floats; with `is_bare`, whole
    numbers get no decimal point. The output must have room.
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
        # Both operands are exact in a double, so the quotient is the double nearest to the text.
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
    """Write numbers in decimal, see `put_decimal`; `out` needs 40 bytes per number.

    `offsets` has one more element than `values`. Numbers left out are flagged and have empty text.
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
    """FLOAT or DOUBLE (by the type of `values`) in decimal, and a bool array of the numbers left out.

    Left out are numbers with exponents, with too many digits to be unambiguous, and NaN. Returns an array of
    `pa.binary()`; entries left out or not `valid` are empty. With `is_bare`, whole numbers get no decimal
    point.
    """
    is_single, count = values.dtype == np.float32, len(values)
    out, offsets = np.empty(NUMBER_ROOM * count, dtype=np.uint8), np.empty(count + 1, dtype=np.int64)
    is_left = np.empty(count, dtype=np.bool_)
    # Python and JSON use exponents below this. Six digits identify a FLOAT, fifteen a DOUBLE.
    limits = 1e-4, 1e6 if is_single else 1e15, is_single, is_bare
    put_floats.run(values.astype(np.float64), valid, *limits, out, offsets, is_left)
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.binary(), count, buffers), is_left
