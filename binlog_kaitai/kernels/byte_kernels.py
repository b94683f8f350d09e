"""Kernels over bytes, shared by many modules.

Arrays are one-dimensional; `data` is uint8, offsets and lengths are int64. No kernel reads or writes outside
its arrays, whatever numbers they contain.
"""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import (
    Array,
    Bytes,
    Crc32s,
    Ints,
    OutBools,
    OutBytes,
    OutCrc32s,
    OutInts,
    OutUnsigned,
)
from binlog_kaitai.kernels.compile import inlined, kernel

#: Checksum states of an event: none, correct, wrong, not checked.
NONE, OK, BAD, PENDING = 0, 1, 2, 3

# Numba generates code for negative indexes unless an index is unsigned.
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

# Shifts that swap adjacent bytes or pairs of bytes, and masks of those that move up.
_EIGHT, _SIXTEEN = np.uint64(8), np.uint64(16)
_ALTERNATE_BYTES, _ALTERNATE_PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)


@kernel
def read_u4(data: Bytes, offset: np.uint64) -> int:
    """Four bytes at `offset` (uint64) as a number (int64), within bounds."""
    # Numba converts mixed int64 and uint64 operands to float, so each operand is cast explicitly.
    return np.int64(  # type: ignore[return-value]  # which mixes with numbers of Python
        np.uint32(data[offset])
        | np.uint32(data[offset + _ONE]) << np.uint32(8)
        | np.uint32(data[offset + _TWO]) << np.uint32(16)
        | np.uint32(data[offset + _THREE]) << np.uint32(24)
    )


def read_u8(data: Bytes, offset: np.uint64) -> np.uint64:
    """Eight bytes at `offset` (uint64) as a number (uint64), within bounds."""
    return np.uint64(read_u4(data, offset)) | np.uint64(read_u4(data, offset + _FOUR)) << np.uint64(32)


@kernel
def crc32s_of_runs(table: Crc32s, starts: Ints, sizes: Ints, limits: OutInts, crc32s: OutCrc32s) -> int:
    """Divide ranges into runs, and add up (by exclusive or) a number of a table for each range of a run.

    `table`: the entry of a range that ends `n` bytes before the end of the run is `table[n]`.
    `starts`, `sizes`: the ranges. Those of a run are consecutive and end within the length of the table.
    `limits`, `crc32s`: output: first range of each run and the total number of ranges; XOR of the entries of
    each run.
    Returns number of runs.
    """
    count = 0
    first = before = np.int64(0)
    for index in range(starts.shape[0]):
        here = np.uint64(index)
        end = starts[here] + sizes[here]
        if index == 0 or starts[here] != before or end - first >= table.shape[0]:
            limits[count] = index
            count += 1
            first = end
        before = end
    limits[count] = starts.shape[0]
    for run in range(count):
        last = np.uint64(limits[run + 1] - 1)
        end = starts[last] + sizes[last]
        total = np.uint32(0)
        for index in range(limits[run], limits[run + 1]):
            here = np.uint64(index)
            distance = end - starts[here] - sizes[here]
            if 0 <= distance < table.shape[0]:
                total ^= table[np.uint64(distance)]
        crc32s[run] = total
    return count


def byte_swapped(value: np.uint64) -> np.uint64:
    """A number (uint64) with the bytes in reverse order."""
    pairs = ((value & _ALTERNATE_BYTES) << _EIGHT) | ((value >> _EIGHT) & _ALTERNATE_BYTES)
    fours = ((pairs & _ALTERNATE_PAIRS) << _SIXTEEN) | ((pairs >> _SIXTEEN) & _ALTERNATE_PAIRS)
    return (fours << np.uint64(32)) | (fours >> np.uint64(32))


@kernel
def read_numbers(
    data: Bytes, starts: Ints, offset: int, width: int, is_big_endian: bool, out: OutUnsigned
) -> None:
    """Read numbers of `width` bytes at `starts + offset` into `out`, uint64; 0 where outside `data`."""
    last = data.shape[0] - width
    # Eight bytes are loaded where possible, and the excess is masked.
    last_of_eight = data.shape[0] - 8
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * width)
    for index in range(starts.shape[0]):
        start = starts[index] + offset
        value = np.uint64(0)
        if 0 <= start <= last_of_eight:
            value = read_u8(data, np.uint64(start)) & mask
            if is_big_endian:
                value = byte_swapped(value) >> np.uint64(64 - 8 * width)
        elif 0 <= start <= last:
            for step in range(width):
                byte = data[start + (step if is_big_endian else width - 1 - step)]
                value = (value << np.uint64(8)) | np.uint64(byte)
        out[index] = value


def put_u4(data: Bytes, offsets: Ints, numbers: Array) -> None:
    """Write little-endian 32-bit numbers at the given offsets, within bounds. Not a kernel."""
    data[offsets[:, None] + np.arange(4)] = numbers.astype("<u4")[:, None].view(np.uint8)


@kernel
def copy_ranges(data: Bytes, starts: Ints, lengths: Ints, offsets: Ints, out: OutBytes) -> None:
    """Copy `data[start : start + length]` to `offsets` in `out`; ranges outside either array are skipped."""
    for index in range(starts.shape[0]):
        start = starts[index]
        length = lengths[index]
        offset = offsets[index]
        if start < 0 or offset < 0 or start + length > data.shape[0] or offset + length > out.shape[0]:
            continue
        for step in range(length):
            out[offset + step] = data[start + step]


@kernel
def lengths_to_zero(data: Bytes, starts: Ints, lengths: Ints, out: OutInts) -> None:
    """Length of each range up to its first zero byte."""
    for index in range(starts.shape[0]):
        start = starts[index]
        length = lengths[index]
        if start < 0 or start + length > data.shape[0]:
            length = 0
        count = 0
        while count < length and data[start + count] != 0:
            count += 1
        out[index] = count


@inlined
def hash_of(data: Bytes, start: int, end: int) -> np.uint64:
    """A hash of the bytes of a range; 0 for a range outside `data`."""
    if not 0 <= start <= end <= data.shape[0]:
        return np.uint64(0)
    value = np.uint64(end - start) ^ np.uint64(0xCBF29CE484222325)
    for offset in range(start, end):
        # 40 bits, so that plain Python multiplies without overflow.
        value = (value ^ np.uint64(data[np.uint64(offset)])) & np.uint64(0xFFFFFFFFFF)
        value = value * np.uint64(0x9E3B5) ^ (value >> np.uint64(17))
    return value


@kernel
def hash_ranges(data: Bytes, starts: Ints, ends: Ints, out: OutUnsigned) -> None:
    """A hash (uint64) of the bytes of each range; 0 for ranges outside `data`."""
    for index in range(starts.shape[0]):
        out[index] = hash_of(data, starts[index], ends[index])


@kernel
def digest_ranges(data: Bytes, starts: Ints, ends: Ints, digests: OutUnsigned) -> None:
    """Continue a digest (64 bits) by the bytes of each range; one outside `data` is a value of its own."""
    # Halves of 32 bits, so that plain Python multiplies without overflow.
    half, shift, step = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(15)
    first, second = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)
    for index in range(starts.shape[0]):
        start = starts[index]
        length = ends[index] - start
        if start < 0 or length < 0 or start + length > data.shape[0]:
            length = np.int64(-1)
        low, high = digests[index] & half, digests[index] >> shift
        for offset in range(-1, max(length, 0)):
            byte = np.uint64(length + 2) if offset < 0 else np.uint64(data[start + offset])
            low = ((low ^ byte) & half) * first & half
            high = (high ^ low) * second & half
            low ^= high >> step
        digests[index] = high << shift | low


@inlined
def are_equal(data: Bytes, start: int, others: Bytes, other: int, length: int) -> bool:
    """Whether `data` and `others` contain the same bytes from `start` and `other` on; false if one ends."""
    if min(start, other, length) < 0 or start + length > data.shape[0] or other + length > others.shape[0]:
        return False
    step = 0
    while step + 8 <= length and (
        read_u8(data, np.uint64(start + step)) == read_u8(others, np.uint64(other + step))
    ):
        step += 8
    while step < length and data[np.uint64(start + step)] == others[np.uint64(other + step)]:
        step += 1
    return step == length


@kernel
def same_ranges(data: Bytes, starts: Ints, others: Ints, lengths: Ints, out: OutBools) -> None:
    """Whether two ranges contain the same bytes, for each pair."""
    for index in range(starts.shape[0]):
        out[index] = are_equal(data, starts[index], data, others[index], lengths[index])
