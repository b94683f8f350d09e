"""Kernels that write single values in the clients' formats.

Each writes at the given offset of `out`, which must have room, and returns the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, OutBytes, OutInts
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.text.float_texts import LEFT, put_general
from binlog_kaitai.text.moment_texts import UNITS, put_hours, put_two
from binlog_kaitai.text.text_kernels import copy, put_hex, put_number, put_padded
from binlog_kaitai.values.decoders import (
    decimal_groups,
    decimal_sign,
    digit_group,
    digits_value,
    int_1,
    int_2,
    int_3,
    int_4,
    int_8,
)

#: Entries of `escapes`: the byte is copied unchanged; it is written as a number.
PLAIN, AS_NUMBER = 0, 255

_NOT_FINITE = np.frombuffer(b"infnan", dtype=np.uint8)

#: The smallest number, which has no positive counterpart.
_LOWEST = np.int64(-(1 << 63))


def integers(data: Bytes, start: int, size: int) -> Any:
    """An integer as signed and as unsigned; an 8-byte integer is signed in both."""
    if size == 1:
        return int_1(data, start, False), int_1(data, start, True)
    if size == 2:
        return int_2(data, start, False), int_2(data, start, True)
    if size == 3:
        return int_3(data, start, False), int_3(data, start, True)
    if size == 4:
        return int_4(data, start, False), int_4(data, start, True)
    return int_8(data, start), int_8(data, start)


def put_signed(number: Any, out: Bytes, offset: int) -> Any:
    """Write a signed integer."""
    if number != _LOWEST:
        return put_number(number, out, offset)
    out[offset] = 45
    offset = put_number(np.int64(9223372036854775807), out, offset + 1)
    out[offset - 1] += 1
    return offset


def put_unsigned(number: Any, out: Bytes, offset: int) -> Any:
    """Write an unsigned integer, given as signed."""
    if number >= 0:
        return put_number(number, out, offset)
    # The last digit separately, so that the rest fits into a signed number.
    bits = np.uint64(number)
    tenth = bits // np.uint64(10)
    offset = put_number(np.int64(tenth), out, offset)
    out[offset] = 48 + np.int64(bits - tenth * np.uint64(10))
    return offset + 1


@kernel
def put_integer(data: Bytes, start: int, size: int, out: OutBytes, offset: int) -> int:
    """Write an integer as signed and, if it is negative, also the same bits as unsigned."""
    number, unsigned = integers(data, start, size)
    offset = put_signed(number, out, offset)
    if number >= 0:
        return offset
    out[offset] = 32
    out[offset + 1] = 40
    offset = put_unsigned(unsigned, out, offset + 2)
    out[offset] = 41
    return offset + 1


@kernel
def put_escaped(data: Bytes, start: int, length: int, escapes: Bytes, out: OutBytes, offset: int) -> int:
    """Write the bytes of a string with escapes."""
    end = start + length
    while start < end:
        # Sixteen at a time, as long as all are copied unchanged.
        while start + 16 <= end:
            a = data[start : start + 16]
            quotes = 0
            for step in range(16):
                quotes |= escapes[a[step]]
            if quotes:
                break
            copy(data, start, 16, out, offset)
            offset += 16
            start += 16
        stop = min(end, start + 16)
        while start < stop:
            byte = data[start]
            escape = escapes[byte]
            if escape == PLAIN:
                out[offset] = byte
                offset += 1
            elif escape == AS_NUMBER:
                out[offset], out[offset + 1] = 92, 120
                offset = put_hex(byte, out, offset + 2)
            else:
                out[offset] = 92
                out[offset + 1] = escape
                offset += 2
            start += 1
    return offset


@kernel
def spread_escaped(escapes: Bytes, out: OutBytes, start: int, end: int, room: int) -> int:
    """Escape a string at `out[start:end]` in place; returns its end, or -1 if that exceeds `room`."""
    more = 0
    text = out[start:end]
    for index in range(text.shape[0]):
        escape = escapes[text[index]]
        more += 0 if escape == PLAIN else 3 if escape == AS_NUMBER else 1
    if end + more > room:
        return -1
    source = end
    offset = end + more
    while offset > source:
        source -= 1
        byte = out[source]
        escape = escapes[byte]
        if escape == PLAIN:
            offset -= 1
            out[offset] = byte
        elif escape == AS_NUMBER:
            offset -= 4
            out[offset], out[offset + 1] = 92, 120
            put_hex(byte, out, offset + 2)
        else:
            offset -= 2
            out[offset] = 92
            out[offset + 1] = escape
    return end + more


@kernel
def put_floating(
    data: Bytes, start: int, is_double: bool, scratch: OutInts, out: OutBytes, offset: int
) -> int:
    """Write a DOUBLE with 20 digits, or a FLOAT with 6, padded with spaces."""
    bits: Any = int_8(data, start) if is_double else int_4(data, start, False)
    digits, limit, bias = (52, 0x7FF, 1075) if is_double else (23, 0xFF, 150)
    exponent = (bits >> digits) & limit
    mantissa = bits & ((np.int64(1) << digits) - 1)
    is_negative = bits < 0
    is_finite = exponent != limit
    if exponent:
        mantissa |= np.int64(1) << digits
    else:
        exponent = 1
    exponent -= bias
    begin = offset
    is_number = is_finite or mantissa & (mantissa - 1) == 0  # only the bit that numbers do not store
    if is_negative and is_number:
        out[offset] = 45
        offset += 1
    if not is_finite:
        for step in range(3):
            out[offset + step] = _NOT_FINITE[step if is_number else step + 3]
        offset += 3
    elif mantissa == 0:
        out[offset] = 48
        offset += 1
    else:
        offset = put_general(mantissa, exponent, 20 if is_double else 6, scratch, out, offset)
    if not is_double:
        while offset < begin + 20:
            out[offset] = 32
            offset += 1
    return offset


def put_point(has_digits: bool, out: Bytes, offset: int) -> int:
    """Write the decimal point, preceded by a zero if the DECIMAL has no digits before it."""
    if not has_digits:
        out[offset] = 48
        offset += 1
    out[offset] = 46
    return offset + 1


def put_decimal(data: Bytes, start: int, precision: int, scale: int, out: Bytes, end: int) -> int:
    """Write a DECIMAL; LEFT if it is invalid."""
    if precision == 0 or scale > precision:
        return LEFT
    is_negative = decimal_sign(data, start, 1)
    if is_negative:
        out[end] = 45
        end += 1
    groups, before = decimal_groups(precision, scale)
    has_digits = False
    for group in range(groups):
        if group == before:
            end = put_point(has_digits, out, end)
            has_digits = True
        count, size, offset = digit_group(group, precision, scale)
        number = digits_value(data, start, group, offset, size, is_negative)
        if number >= UNITS[count]:
            return LEFT
        if has_digits:
            end = put_padded(number, count, out, end)
        elif number > 0:
            end = put_number(number, out, end)
            has_digits = True
    if not has_digits:
        out[end] = 48
        end += 1
    return end


def put_calendar(year: int, month: int, day: int, between: int, out: Bytes, offset: int) -> int:
    """Write a date with a separator; years of more than four digits are only in damaged values."""
    offset = put_two(year // 100, out, offset) if year < 10_000 else put_number(year // 100, out, offset)
    offset = put_two(year % 100, out, offset)
    out[offset] = between
    offset = put_two(month, out, offset + 1)
    out[offset] = between
    return put_two(day, out, offset + 1)


def put_clock(hour: int, minute: int, second: int, out: Bytes, offset: int) -> int:
    """Write hours, minutes and seconds; -1 for hours of four digits."""
    return put_hours(hour, minute, second, out, offset) if hour < 1000 else -1


def put_bits(data: Bytes, start: int, length: int, bits: int, out: Bytes, offset: int) -> int:
    """Write the last `bits` bits of a byte range."""
    out[offset] = 98
    out[offset + 1] = 39
    offset += 2
    for bit in range(8 * length - bits, 8 * length):
        out[offset] = 48 + ((data[start + (bit >> 3)] >> (7 - (bit & 7))) & 1)
        offset += 1
    out[offset] = 39
    return offset + 1
