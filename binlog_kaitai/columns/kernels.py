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
def read_u4(data: Any, at: Any) -> int:
    """Four bytes at `at` (uint64) as a number; they must be inside."""
    return (
        int(data[at]) | int(data[at + _ONE]) << 8 | int(data[at + _TWO]) << 16 | int(data[at + _THREE]) << 24
    )


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
def read_numbers(data: Any, places: Any, width: int, is_big_endian: bool, out: Any) -> None:
    """Numbers of `width` bytes at `places` into `out`, uint64; 0 where they are not inside `data`."""
    last = data.shape[0] - width
    for index in range(places.shape[0]):
        place = places[index]
        value = 0
        if 0 <= place <= last:
            at = np.uint64(place)
            if width == 4 and not is_big_endian:
                value = read_u4(data, at)
            elif width == 1:
                value = int(data[at])
            elif width == 8 and not is_big_endian:
                value = read_u4(data, at) | read_u4(data, at + _FOUR) << 32
            else:
                for step in range(width):
                    value = (value << 8) | int(data[place + (step if is_big_endian else width - 1 - step)])
        out[index] = value


@kernel
def copy(source: Any, start: int, length: int, out: Any, at: int) -> None:
    """Copy bytes to `out`, whose next sixteen bytes may be overwritten; all must be inside both arrays."""
    done = 0
    while done < length and start + done + 16 <= source.shape[0] and at + done + 16 <= out.shape[0]:
        # All loads before all stores: that makes two vector instructions of it.
        a = source[start + done : start + done + 16]
        b = out[at + done : at + done + 16]
        b0, b1, b2, b3, b4, b5, b6, b7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
        b8, b9, b10, b11, b12, b13, b14, b15 = a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = b0, b1, b2, b3, b4, b5, b6, b7
        b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15] = b8, b9, b10, b11, b12, b13, b14, b15
        done += 16
    for step in range(done, length):
        out[at + step] = source[start + step]


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


@kernel
def find_clean(data: Any, starts: Any, lengths: Any, is_clean: Any, out: Any) -> None:
    """Whether each range lies inside `data` and has only bytes that the 256 truth values `is_clean` allow."""
    for index in range(starts.shape[0]):
        start = starts[index]
        length = lengths[index]
        clean = start >= 0 and length >= 0 and start + length <= data.shape[0]
        step = 0
        while clean and step < length:
            clean = is_clean[data[start + step]]
            step += 1
        out[index] = clean


#: Kinds of pieces of a line: bytes of the pool; a number; text that is in the block or in the pool.
CONSTANT, NUMBER, TEXT = 0, 1, 2


@kernel
def put_number(value: int, out: Any, at: int) -> int:
    """Write a number (not -2^63) in decimal at `out[at]`, which must have room for 20; gives the end."""
    if value < 0:
        value = -value
        out[at] = 45
        at += 1
    digits = 1
    bound = 10
    while digits < 19 and value >= bound:
        digits += 1
        if digits < 19:
            bound *= 10
    for step in range(digits):
        out[at + digits - 1 - step] = 48 + value % 10
        value //= 10
    return at + digits


@kernel
def assemble(
    data: Any,
    pool: Any,
    events: Any,
    programs: Any,
    rows: Any,
    limits: Any,
    pieces: Any,
    first: Any,
    second: Any,
    out: Any,
    ends: Any,
) -> int:
    """Write one line for each event, piece after piece.

    Parameters
    ----------
    data, pool
        The block, and bytes made for it.
    events, programs, rows
        For each line its event's number in the block, the program that writes it, and its row in the columns
        of that program.
    limits
        Program `p` has the pieces `limits[p]` up to `limits[p + 1]`.
    pieces : int64 array of shape (n, 3)
        Kind, then for CONSTANT place in the pool and length; for the others the place of the column in
        `first` and `second`, and 1 where its row is the number of the event rather than of `rows`.
    first, second : int64 arrays
        A number stands in `first`, with 0 in `second`. Text has its place in the block and its length, and
        is put in quotes; with the place `-p - 1` the bytes at `p` in the pool are taken as they are. So is a
        number whose `second` is not 0, by place in the pool and length.
    out, ends
        Room for the lines; where each ends.

    Returns
    -------
    Length of all lines; -1 if `out` is too small, -2 if a piece lies outside `data` or `pool`.
    """
    at = 0
    room = out.shape[0]
    for line in range(programs.shape[0]):
        program = programs[line]
        for piece in range(limits[program], limits[program + 1]):
            kind = pieces[piece, 0]
            start = pieces[piece, 1]
            length = pieces[piece, 2]
            from_pool = True
            if kind != CONSTANT:
                cell = start + (events[line] if length == 1 else rows[line])
                start = first[cell]
                length = second[cell]
                if kind == NUMBER and length == 0:
                    if at + 20 > room:
                        return -1
                    at = put_number(start, out, at)
                    continue
                if kind == TEXT:
                    from_pool = start < 0
                    if from_pool:
                        start = -start - 1
            if at + length + 2 > room:
                return -1
            if start < 0 or length < 0 or start + length > (pool.shape[0] if from_pool else data.shape[0]):
                return -2
            if from_pool:
                copy(pool, start, length, out, at)
                at += length
            else:
                out[at] = 34
                copy(data, start, length, out, at + 1)
                out[at + 1 + length] = 34
                at += length + 2
        ends[line] = at
    return at
