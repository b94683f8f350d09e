"""The loops over bytes. Every function here is a kernel (see `compile`): plain Python that Numba can compile.

Arrays are one-dimensional; `data` is uint8, places and lengths are int64. No kernel reads or writes outside
its arrays, whatever the numbers in them say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.kernel.arrays import Array, Bools, Bytes, Ints, Unsigned
from binlog_kaitai.columns.kernel.compile import kernel
from binlog_kaitai.core.grammar import POSITION_MASK

#: What is known of an event's checksum: there is none; it fits; it does not; it was not looked at.
NONE, OK, BAD, PENDING = 0, 1, 2, 3

# Numba takes a signed index for one that may count from the end, and pays for that; unsigned ones are free.
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

# Shifts that swap neighbours, and the bytes and pairs of bytes that they move up.
_EIGHT, _SIXTEEN = np.uint64(8), np.uint64(16)
_ALTERNATE_BYTES, _ALTERNATE_PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)


@kernel
def read_u4(data: Bytes, at: Any) -> Any:
    """Four bytes at `at` (uint64) as a number (int64); they must be inside."""
    # Numba makes a float of what is int64 here and uint64 there, so each number says which it is.
    return np.int64(
        np.uint32(data[at])
        | np.uint32(data[at + _ONE]) << np.uint32(8)
        | np.uint32(data[at + _TWO]) << np.uint32(16)
        | np.uint32(data[at + _THREE]) << np.uint32(24)
    )


@kernel
def read_u8(data: Bytes, at: Any) -> Any:
    """Eight bytes at `at` (uint64) as a number (uint64); they must be inside."""
    return np.uint64(read_u4(data, at)) | np.uint64(read_u4(data, at + _FOUR)) << np.uint64(32)


@kernel
def find_drifts(
    data: Bytes, starts: Ints, sizes: Ints, stated_at: int, position: int, drift: int, out: Ints
) -> Any:
    """Find the events whose header states another end than they have, by a distance not seen just before.

    Parameters
    ----------
    stated_at
        Place of the stated end (4 bytes, 0 for none) in an event.
    position, drift
        Offset of `data[0]` in the file, and the distance that the last event before was off by.
    out
        Room for their numbers.

    Returns
    -------
    (number of events found, distance of the last event)
    """
    count = 0
    for event in range(starts.shape[0]):
        at = starts[event] + stated_at
        if at < 0 or at + 4 > data.shape[0]:
            continue
        stated = read_u4(data, np.uint64(at))
        if stated != 0:
            distance = (stated - position - starts[event] - sizes[event]) & POSITION_MASK
            if distance not in (0, drift) and count < out.shape[0]:
                out[count] = event
                count += 1
            drift = distance
    return count, drift


@kernel
def crc32s_of_runs(table: Array, starts: Ints, ends: Ints, limits: Ints, crc32s: Array) -> int:
    """Divide ranges into runs, and add up (by exclusive or) a number of a table for each range of a run.

    Parameters
    ----------
    table : uint32 array
        The number of a range is `table[n]`, `n` bytes before the end of the run.
    starts, ends : int64 arrays
        Those of a run follow each other, and end so near to each other that the table has all numbers.
    limits, sums
        Get which range begins each run, and the number of ranges behind; and the sum of each run.

    Returns
    -------
    Number of runs.
    """
    count = 0
    for index in range(ends.shape[0]):
        is_next = index > 0 and starts[index] == ends[index - 1]
        if not is_next or ends[index] - ends[limits[count - 1]] >= table.shape[0]:
            limits[count] = index
            count += 1
    limits[count] = ends.shape[0]
    for run in range(count):
        end = ends[limits[run + 1] - 1]
        total = np.uint32(0)
        for index in range(limits[run], limits[run + 1]):
            distance = end - ends[index]
            if 0 <= distance < table.shape[0]:
                total ^= table[np.uint64(distance)]
        crc32s[run] = total
    return count


@kernel
def byte_swapped(value: Any) -> Any:
    """A number (uint64) with its eight bytes in the other order."""
    pairs = ((value & _ALTERNATE_BYTES) << _EIGHT) | ((value >> _EIGHT) & _ALTERNATE_BYTES)
    fours = ((pairs & _ALTERNATE_PAIRS) << _SIXTEEN) | ((pairs >> _SIXTEEN) & _ALTERNATE_PAIRS)
    return (fours << np.uint64(32)) | (fours >> np.uint64(32))


@kernel
def read_numbers(
    data: Bytes, starts: Ints, offset: int, width: int, is_big_endian: bool, out: Unsigned
) -> None:
    """Numbers of `width` bytes, `offset` behind `starts`, into `out`, uint64; 0 where not inside `data`."""
    last = data.shape[0] - width
    # Eight bytes are read wherever there are as many, and those that do not count are taken away.
    last_of_eight = data.shape[0] - 8
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * width)
    for index in range(starts.shape[0]):
        place = starts[index] + offset
        value = np.uint64(0)
        if 0 <= place <= last_of_eight:
            value = read_u8(data, np.uint64(place)) & mask
            if is_big_endian:
                value = byte_swapped(value) >> np.uint64(64 - 8 * width)
        elif 0 <= place <= last:
            for step in range(width):
                byte = data[place + (step if is_big_endian else width - 1 - step)]
                value = (value << np.uint64(8)) | np.uint64(byte)
        out[index] = value


def put_u4(data: Bytes, offsets: Ints, numbers: Array) -> None:
    """Write little-endian numbers of 32 bits at some places, all of which must be there. No kernel."""
    data[offsets[:, None] + np.arange(4)] = numbers.astype("<u4")[:, None].view(np.uint8)


@kernel
def divide_by_type(types: Bytes, counts: Ints, order: Ints, ranks: Ints) -> None:
    """Divide events by their type.

    Parameters
    ----------
    types : uint8 array
        Type of each event.
    counts, order, ranks : int64 arrays
        Get how many events there are of each type (256 numbers); the numbers of the events, type by type;
        and how many events of its own type stand before each event.
    """
    counts[:] = 0
    for event in range(types.shape[0]):
        kind = types[event]
        ranks[event] = counts[kind]
        counts[kind] += 1
    # Meanwhile `counts` has where the next event of each type goes.
    place = 0
    for kind in range(256):
        count = counts[kind]
        counts[kind] = place
        place += count
    for event in range(types.shape[0]):
        kind = types[event]
        order[counts[kind]] = event
        counts[kind] += 1
    for kind in range(255, 0, -1):
        counts[kind] -= counts[kind - 1]


@kernel
def copy_ranges(data: Bytes, starts: Ints, lengths: Ints, offsets: Ints, out: Bytes) -> None:
    """Copy `data[start : start + length]` to `out` at `place`, for each; what lies outside is left out."""
    for index in range(starts.shape[0]):
        start = starts[index]
        length = lengths[index]
        place = offsets[index]
        if start < 0 or place < 0 or start + length > data.shape[0] or place + length > out.shape[0]:
            continue
        for step in range(length):
            out[place + step] = data[start + step]


@kernel
def lengths_to_zero(data: Bytes, starts: Ints, lengths: Ints, out: Ints) -> None:
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


@kernel
def hash_ranges(data: Bytes, starts: Ints, ends: Ints, out: Unsigned) -> None:
    """A number (uint64) for the bytes of each range, the same for the same bytes; 0 for those outside."""
    for index in range(starts.shape[0]):
        start = starts[index]
        end = ends[index]
        value = np.uint64(0)
        if 0 <= start <= end <= data.shape[0]:
            value = np.uint64(end - start) ^ np.uint64(0xCBF29CE484222325)
            for at in range(start, end):
                # Of 40 bits, so that plain Python multiplies without overflow.
                value = (value ^ np.uint64(data[at])) & np.uint64(0xFFFFFFFFFF)
                value = value * np.uint64(0x9E3B5) ^ (value >> np.uint64(17))
        out[index] = value


@kernel
def same_ranges(data: Bytes, starts: Ints, others: Ints, lengths: Ints, out: Bools) -> None:
    """Whether the bytes at each start are the same as those at the other."""
    for index in range(starts.shape[0]):
        start = starts[index]
        other = others[index]
        length = lengths[index]
        is_same = min(start, other, length) >= 0 and max(start, other) + length <= data.shape[0]
        step = 0
        while is_same and step + 8 <= length:
            is_same = read_u8(data, np.uint64(start + step)) == read_u8(data, np.uint64(other + step))
            step += 8
        while is_same and step < length:
            is_same = data[start + step] == data[other + step]
            step += 1
        out[index] = is_same


@kernel
def are_same(data: Bytes, starts: Ints, length: int) -> bool:
    """Whether there are the same bytes at all places; not so if one lies outside."""
    if starts.shape[0] == 0 or length < 0:
        return False
    other = starts[0]
    for index in range(starts.shape[0]):
        start = starts[index]
        if min(start, other) < 0 or max(start, other) + length > data.shape[0]:
            return False
        step = 0
        while step + 8 <= length:
            if read_u8(data, np.uint64(start + step)) != read_u8(data, np.uint64(other + step)):
                return False
            step += 8
        while step < length:
            if data[start + step] != data[other + step]:
                return False
            step += 1
    return True
