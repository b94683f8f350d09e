"""The loops over bytes. Every function here is a kernel (see `compile`): plain Python that Numba can compile.

Arrays are one-dimensional; `data` is uint8, places and lengths are int64. No kernel reads or writes outside
its arrays, whatever the numbers in them say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import kernel

#: Why `frame` stopped: the next event is not whole yet; its header is impossible; it is of a type to stop at;
#: there is no more room for results.
MORE, IMPOSSIBLE, SPECIAL, FULL = 0, 1, 2, 3

#: What is known of an event's checksum: there is none; it fits; it does not; it was not looked at.
NONE, OK, BAD, PENDING = 0, 1, 2, 3

# Numba takes a signed index for one that may count from the end, and pays for that; unsigned ones are free.
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
_SIXTEEN = np.uint64(16)


@kernel
def read_u4(data: Any, at: Any) -> Any:
    """Four bytes at `at` (uint64) as a number (int64); they must be inside."""
    # Numba makes a float of what is int64 here and uint64 there, so each number says which it is.
    return np.int64(
        np.uint32(data[at])
        | np.uint32(data[at + _ONE]) << np.uint32(8)
        | np.uint32(data[at + _TWO]) << np.uint32(16)
        | np.uint32(data[at + _THREE]) << np.uint32(24)
    )


@kernel
def read_u8(data: Any, at: Any) -> Any:
    """Eight bytes at `at` (uint64) as a number (uint64); they must be inside."""
    return np.uint64(read_u4(data, at)) | np.uint64(read_u4(data, at + _FOUR)) << np.uint64(32)


@kernel
def crc32(data: Any, start: int, end: int, table: Any) -> Any:
    """CRC32 (zlib's) of `data[start:end]`, which must be inside; `table` is that of `crc_table`."""
    at = np.uint64(start)
    last = np.uint64(end)
    crc = np.uint32(0xFFFFFFFF)
    while at + _SIXTEEN <= last:
        crc ^= np.uint32(read_u4(data, at))
        crc = (
            table[15, crc & 0xFF]
            ^ table[14, (crc >> 8) & 0xFF]
            ^ table[13, (crc >> 16) & 0xFF]
            ^ table[12, crc >> 24]
            ^ table[11, data[at + _FOUR]]
            ^ table[10, data[at + np.uint64(5)]]
            ^ table[9, data[at + np.uint64(6)]]
            ^ table[8, data[at + np.uint64(7)]]
            ^ table[7, data[at + np.uint64(8)]]
            ^ table[6, data[at + np.uint64(9)]]
            ^ table[5, data[at + np.uint64(10)]]
            ^ table[4, data[at + np.uint64(11)]]
            ^ table[3, data[at + np.uint64(12)]]
            ^ table[2, data[at + np.uint64(13)]]
            ^ table[1, data[at + np.uint64(14)]]
            ^ table[0, data[at + np.uint64(15)]]
        )
        at += _SIXTEEN
    while at + _FOUR <= last:
        crc ^= np.uint32(read_u4(data, at))
        crc = (
            table[3, crc & 0xFF]
            ^ table[2, (crc >> 8) & 0xFF]
            ^ table[1, (crc >> 16) & 0xFF]
            ^ table[0, crc >> 24]
        )
        at += _FOUR
    while at < last:
        crc = table[0, (crc ^ data[at]) & 0xFF] ^ (crc >> np.uint32(8))
        at += _ONE
    return crc ^ np.uint32(0xFFFFFFFF)


def crc_table() -> Any:
    """The tables of `crc32`: row 0 is that of one byte, row n of one byte with n zero bytes behind it."""
    table = np.zeros((16, 256), dtype=np.uint32)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
        table[0, byte] = crc
    for row in range(1, 16):
        table[row] = (table[row - 1] >> 8) ^ table[0][table[row - 1] & 0xFF]
    return table


@kernel
def frame(
    data: Any,
    at: int,
    end: int,
    header_length: int,
    size_at: int,
    type_at: int,
    special: Any,
    max_size: int,
    table: Any,
    checksum_size: int,
    check_below: int,
    starts: Any,
    sizes: Any,
    codes: Any,
    checksums: Any,
) -> Any:
    """Find the events in `data[at:end]`, and check the checksums of small ones on the way.

    Parameters
    ----------
    header_length, size_at, type_at
        Length of a header, and the places of the event's size (4 bytes) and type code (1 byte) in it.
    special
        256 truth values: type codes before which to stop.
    max_size
        An event that says it is longer is impossible.
    table, checksum_size, check_below
        `crc_table`; length of an event's checksum, 0 where there is none, else 4; the size of event from
        which on a checksum is left PENDING.
    starts, sizes, codes, checksums
        Room for place, length, type code and state of the checksum of the events found.

    Returns
    -------
    (number of events found, place behind the last one, why it stopped)
    """
    count = 0
    while True:
        if at < 0 or end > data.shape[0] or at + header_length > end:
            return count, at, MORE
        size = read_u4(data, np.uint64(at + size_at))
        if size < header_length or size > max_size:
            return count, at, IMPOSSIBLE
        if at + size > end:
            return count, at, MORE
        code = data[np.uint64(at + type_at)]
        if special[code]:
            return count, at, SPECIAL
        if count == starts.shape[0]:
            return count, at, FULL
        starts[count] = at
        sizes[count] = size
        codes[count] = code
        at += size
        if checksum_size == 0:
            checksums[count] = NONE
        elif size >= check_below:
            checksums[count] = PENDING
        else:
            behind = at - checksum_size
            fits = crc32(data, at - size, behind, table) == read_u4(data, np.uint64(behind))
            checksums[count] = OK if fits else BAD
        count += 1


@kernel
def check_pending(
    data: Any, starts: Any, sizes: Any, table: Any, checksum_size: int, check_below: int, checksums: Any
) -> None:
    """Check the checksums that `frame` has left PENDING, of events of less than `check_below` bytes."""
    for event in range(starts.shape[0]):
        if checksums[event] == PENDING and sizes[event] < check_below:
            start = starts[event]
            behind = start + sizes[event] - checksum_size
            if 0 <= start < behind and behind + checksum_size <= data.shape[0]:
                fits = crc32(data, start, behind, table) == read_u4(data, np.uint64(behind))
                checksums[event] = OK if fits else BAD


@kernel
def find_drifts(
    data: Any, starts: Any, sizes: Any, stated_at: int, position: int, drift: int, out: Any
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
            distance = (stated - position - starts[event] - sizes[event]) & 0xFFFFFFFF
            if distance not in (0, drift) and count < out.shape[0]:
                out[count] = event
                count += 1
            drift = distance
    return count, drift


@kernel
def read_key(data: Any, at: int, width: int) -> Any:
    """A number of 4 or 8 bytes as uint64; it must be inside."""
    return np.uint64(read_u4(data, np.uint64(at))) if width == 4 else read_u8(data, np.uint64(at))


@kernel
def follow_numbers(
    data: Any, starts: Any, sizes: Any, codes: Any, code: int, places: Any, widths: Any, out: Any
) -> int:
    """Runs of GTID events of one source whose numbers follow each other.

    Parameters
    ----------
    code
        The type of event to look at.
    places, widths
        Where in an event the two parts of its source and its number lie; their lengths, 4 or 8.
    out : uint64 array of shape (n, 4)
        Room for the runs: two parts of the source, first and last number.

    Returns
    -------
    Number of runs.
    """
    count = 0
    need = 0  # in MariaDB the source stands behind the number
    for part in range(3):
        need = max(need, places[part] + widths[part])
    for event in range(starts.shape[0]):
        start = starts[event]
        is_inside = start >= 0 and start + sizes[event] <= data.shape[0] and need <= sizes[event]
        if codes[event] != code or not is_inside:
            continue
        high = read_key(data, start + places[0], widths[0])
        low = read_key(data, start + places[1], widths[1])
        number = read_key(data, start + places[2], widths[2])
        last = count - 1
        if count > 0 and out[last, 0] == high and out[last, 1] == low and out[last, 3] + _ONE == number:
            out[last, 3] = number
        elif count < out.shape[0]:
            out[count, 0] = high
            out[count, 1] = low
            out[count, 2] = number
            out[count, 3] = number
            count += 1
    return count


@kernel
def read_numbers(data: Any, places: Any, width: int, is_big_endian: bool, out: Any) -> None:
    """Numbers of `width` bytes at `places` into `out`, uint64; 0 where they are not inside `data`."""
    last = data.shape[0] - width
    for index in range(places.shape[0]):
        place = places[index]
        value = np.uint64(0)
        if 0 <= place <= last:
            at = np.uint64(place)
            if width == 4 and not is_big_endian:
                value = np.uint64(read_u4(data, at))
            elif width == 8 and not is_big_endian:
                value = read_u8(data, at)
            elif width == 1:
                value = np.uint64(data[at])
            else:
                for step in range(width):
                    byte = data[place + (step if is_big_endian else width - 1 - step)]
                    value = (value << np.uint64(8)) | np.uint64(byte)
        out[index] = value


@kernel
def copy_ranges(data: Any, starts: Any, lengths: Any, places: Any, out: Any) -> None:
    """Copy `data[start : start + length]` to `out` at `place`, for each; what lies outside is left out."""
    for index in range(starts.shape[0]):
        start = starts[index]
        length = lengths[index]
        place = places[index]
        if start < 0 or place < 0 or start + length > data.shape[0] or place + length > out.shape[0]:
            continue
        for step in range(length):
            out[place + step] = data[start + step]


@kernel
def lengths_to_zero(data: Any, starts: Any, lengths: Any, out: Any) -> None:
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
