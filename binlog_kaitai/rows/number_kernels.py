"""Kernels that read numbers from row images.

`starts` are offsets in `data` from `walk.locate`; a negative one means no value and gives the result 0.
"""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Array, Bytes, Unsigned
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    decimal_sign,
    digits_value,
    enum,
    int_2,
    int_3,
    int_4,
    int_8,
    year,
)

_ONE, _BYTE = np.uint64(1), np.uint64(8)
_LOW, _HALF, _ALL = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF)

#: Number of 32-bit limbs in a 256-bit number.
_LIMBS = 8

_POWERS = np.array([10**digits for digits in range(10)], dtype=np.uint64)

#: Decimals with fewer digits fit into 64 bits.
_SHORT = 20


@kernel
def read_bytes(data: Bytes, starts: Array, out: Bytes) -> None:
    """Read 1-byte numbers."""
    last = data.shape[0] - 1
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = data[np.uint64(start)] if 0 <= start <= last else 0


@kernel
def read_pairs(data: Bytes, starts: Array, out: Array) -> None:
    """Read 2-byte little-endian numbers."""
    last = data.shape[0] - 2
    for index in range(starts.shape[0]):
        start = starts[index]
        value = np.uint16(0)
        if 0 <= start <= last:
            value = np.uint16(int_2(data, start, True))
        out[index] = value


@kernel
def read_threes(data: Bytes, starts: Array, is_signed: int, out: Array) -> None:
    """Read 3-byte numbers, extended to 32 bits."""
    last = data.shape[0] - 3
    for index in range(starts.shape[0]):
        start = starts[index]
        value = np.int64(0)
        if 0 <= start <= last:
            value = int_3(data, start, not is_signed)
        out[index] = np.uint32(np.int32(value))


@kernel
def read_fours(data: Bytes, starts: Array, out: Array) -> None:
    """Read 4-byte little-endian numbers."""
    last = data.shape[0] - 4
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = int_4(data, start, True) if 0 <= start <= last else 0


@kernel
def read_eights(data: Bytes, starts: Array, step: int, out: Unsigned) -> None:
    """Read 8-byte little-endian numbers, writing every `step`-th output element."""
    last = data.shape[0] - 8
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index * step] = np.uint64(int_8(data, start)) if 0 <= start <= last else np.uint64(0)
        if step > 1:
            out[index * step + 1] = np.uint64(0)


@kernel
def read_years(data: Bytes, starts: Array, out: Array) -> None:
    """Read YEAR values."""
    last = data.shape[0] - 1
    for index in range(starts.shape[0]):
        start = starts[index]
        value = np.int64(0)
        if 0 <= start <= last:
            _, value = year(data, start)
        out[index] = value


@kernel
def read_big(data: Bytes, starts: Array, size: int, out: Unsigned) -> None:
    """Read big-endian numbers of 0 to 8 bytes into `out`, uint64."""
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        value = np.uint64(0)
        if 0 <= start <= last:
            at = np.uint64(start)
            for step in range(size):
                value = (value << _BYTE) | np.uint64(data[at + np.uint64(step)])
        out[index] = value


@kernel
def number_members(data: Bytes, starts: Array, size: int, numbers: Array, out: Array) -> int:
    """Elements of `numbers` for ENUM and SET values of one or two bytes; -1 for no value.

    Returns the number of values whose entry in `numbers` is -1.
    """
    last = data.shape[0] - size
    unknown = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        number = -1
        if 0 <= start <= last:
            value = enum(data, start, size)
            if value < numbers.shape[0]:
                number = numbers[np.uint64(value)]
            unknown += 1 if number < 0 else 0
        out[index] = number
    return unknown


@kernel
def read_decimals(data: Bytes, starts: Array, groups: Array, out: Unsigned) -> int:
    """Read DECIMAL values of at most 38 digits, without their point, as 128-bit two's complement.

    Parameters
    ----------
    groups : int64 array
        For each group of digits, the number of digits and the length in bytes.
    out : uint64 array
        Two numbers per value, the lower half first.

    Returns
    -------
    Number of values with invalid digits.
    """
    wrong = 0
    count = groups.shape[0] // 2
    size = 0
    for group in range(count):
        size += groups[2 * group + 1]
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        low = np.uint64(0)
        high = np.uint64(0)
        if 0 <= start <= last and size > 0:
            is_negative = decimal_sign(data, start, size)
            negative = _ALL if is_negative else np.uint64(0)
            offset = 0
            digits = 0
            is_wrong = False
            for group in range(count):
                width = groups[2 * group + 1]
                value = np.uint64(digits_value(data, start, group, offset, width, is_negative))
                offset += width
                base = _POWERS[groups[2 * group]]
                is_wrong |= value >= base
                digits += groups[2 * group]
                if digits < _SHORT:
                    low = low * base + value
                else:
                    lower = (low & _LOW) * base + value
                    upper = (low >> _HALF) * base + (lower >> _HALF)
                    low = ((upper & _LOW) << _HALF) | (lower & _LOW)
                    high = high * base + (upper >> _HALF)
            wrong += 1 if is_wrong else 0
            # 128-bit two's complement: invert all bits and add one.
            if low != 0:
                low = (low ^ negative) + (negative & _ONE)
                high ^= negative
            elif high != 0:
                high = (high ^ negative) + (negative & _ONE)
        out[2 * index] = low
        out[2 * index + 1] = high
    return wrong


@kernel
def read_long_decimals(data: Bytes, starts: Array, groups: Array, out: Array) -> int:
    """Like `read_decimals`, for more digits; `out` is uint32, 8 limbs per value, the lowest first."""
    wrong = 0
    size = 0
    count = groups.shape[0] // 2
    for group in range(count):
        size += groups[2 * group + 1]
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        is_wrong = False
        first = index * _LIMBS
        for limb in range(_LIMBS):
            out[first + limb] = 0
        if start < 0 or start > last or size == 0:
            continue
        is_negative = decimal_sign(data, start, size)
        offset = 0
        used = 1
        for group in range(count):
            width = groups[2 * group + 1]
            value = np.uint64(digits_value(data, start, group, offset, width, is_negative))
            offset += width
            base = _POWERS[groups[2 * group]]
            if value >= base:
                is_wrong = True
            for limb in range(used):
                value += np.uint64(out[first + limb]) * base
                out[first + limb] = value & _LOW
                value >>= _HALF
            if value != 0 and used < _LIMBS:
                out[first + used] = value
                used += 1
        wrong += 1 if is_wrong else 0
        if is_negative:
            carry = np.uint64(1)
            for limb in range(_LIMBS):
                carry += np.uint64(out[first + limb]) ^ _LOW
                out[first + limb] = carry & _LOW
                carry >>= _HALF
    return wrong
