"""Numbers out of row images. All functions are kernels, see `compile`.

`starts` are places in `data` as `walk.locate` gives them; a negative one is no value, and the result there
is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import kernel

_BYTE = np.uint64(8)


@kernel
def read_little(data: Any, starts: Any, size: int, out: Any) -> None:
    """Little-endian numbers of `size` bytes, 1 to 8, into `out`, uint64."""
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        value = np.uint64(0)
        if 0 <= start <= last:
            at = np.uint64(start)
            if size == 1:
                value = np.uint64(data[at])
            elif size == 2:
                value = np.uint64(data[at]) | np.uint64(data[at + np.uint64(1)]) << _BYTE
            elif size == 4:
                value = (
                    np.uint64(data[at])
                    | np.uint64(data[at + np.uint64(1)]) << _BYTE
                    | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
                    | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
                )
            elif size == 8:
                value = (
                    np.uint64(data[at])
                    | np.uint64(data[at + np.uint64(1)]) << _BYTE
                    | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
                    | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
                    | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
                    | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
                    | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
                    | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
                )
            else:
                for step in range(size):
                    value = (value << _BYTE) | np.uint64(data[start + size - 1 - step])
        out[index] = value


@kernel
def read_big(data: Any, starts: Any, size: int, out: Any) -> None:
    """Big-endian numbers of `size` bytes, 0 to 8, into `out`, uint64."""
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
def read_decimals(data: Any, starts: Any, counts: Any, sizes: Any, out: Any, is_wrong: Any) -> int:
    """DECIMAL values, without their point, as two's complement.

    Parameters
    ----------
    counts, sizes
        The groups of digits: how many digits, and their length in bytes.
    out : uint32 array of values by limbs
        4 or 8 limbs of 32 bits a value, the lowest first; enough for all digits.
    is_wrong : bool array
        Which values are no digits.

    Returns
    -------
    Number of wrong values.
    """
    wrong = 0
    size = 0
    for group in range(counts.shape[0]):
        size += sizes[group]
    last = data.shape[0] - size
    limbs = out.shape[1]
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    for index in range(starts.shape[0]):
        start = starts[index]
        is_wrong[index] = False
        for limb in range(limbs):
            out[index, limb] = 0
        if start < 0 or start > last or size == 0:
            continue
        at = np.uint64(start)
        flip = np.uint64(0) if data[at] & 0x80 else np.uint64(0xFF)
        top = np.uint64(0x80)
        used = 1
        for group in range(counts.shape[0]):
            value = np.uint64(0)
            for _ in range(sizes[group]):
                value = (value << _BYTE) | (np.uint64(data[at]) ^ flip ^ top)
                top = np.uint64(0)
                at += np.uint64(1)
            base = np.uint64(1)
            for _ in range(counts[group]):
                base *= np.uint64(10)
            if value >= base:
                is_wrong[index] = True
            for limb in range(used):
                value += np.uint64(out[index, limb]) * base
                out[index, limb] = value & mask
                value >>= half
            if value != 0 and used < limbs:
                out[index, used] = value
                used += 1
        if is_wrong[index]:
            wrong += 1
        if flip != 0:
            carry = np.uint64(1)
            for limb in range(limbs):
                carry += np.uint64(out[index, limb]) ^ mask
                out[index, limb] = carry & mask
                carry >>= half
    return wrong


@kernel
def read_short_decimals(data: Any, starts: Any, counts: Any, sizes: Any, out: Any, is_wrong: Any) -> int:
    """As `read_decimals`, for at most 18 digits; `out` is int64, two numbers a value, the lower first."""
    wrong = 0
    size = 0
    bases = np.ones(counts.shape[0], dtype=np.int64)
    for group in range(counts.shape[0]):
        size += sizes[group]
        for _ in range(counts[group]):
            bases[group] *= 10
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        is_wrong[index] = False
        total = np.int64(0)
        if 0 <= start <= last and size > 0:
            at = np.uint64(start)
            is_negative = data[at] & 0x80 == 0
            flip = np.int64(0xFF) if is_negative else np.int64(0)
            top = np.int64(0x80)
            for group in range(counts.shape[0]):
                value = np.int64(0)
                for _ in range(sizes[group]):
                    value = (value << 8) | (np.int64(data[at]) ^ flip ^ top)
                    top = np.int64(0)
                    at += np.uint64(1)
                if value >= bases[group]:
                    is_wrong[index] = True
                    value = np.int64(0)
                total = total * bases[group] + value
            if is_negative:
                total = -total
            if is_wrong[index]:
                wrong += 1
        out[index, 0] = total
        out[index, 1] = -1 if total < 0 else 0
    return wrong
