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
    starts: Any,
) -> Any:
    """Find the events in `data[at:end]`.

    Parameters
    ----------
    header_length, size_at, type_at
        Length of a header, and the places of the event's size (4 bytes) and type code (1 byte) in it.
    special
        256 truth values: type codes before which to stop.
    max_size
        An event that says it is longer is impossible.
    starts
        Room for the places of the events found.

    Returns
    -------
    (number of events found, place behind the last one, why it stopped)
    """
    count = 0
    while True:
        if at + header_length > end:
            return count, at, MORE
        place = at + size_at
        size = (
            int(data[place])
            | int(data[place + 1]) << 8
            | int(data[place + 2]) << 16
            | int(data[place + 3]) << 24
        )
        if size < header_length or size > max_size:
            return count, at, IMPOSSIBLE
        if at + size > end:
            return count, at, MORE
        if special[data[at + type_at]]:
            return count, at, SPECIAL
        if count == starts.shape[0]:
            return count, at, FULL
        starts[count] = at
        count += 1
        at += size


@kernel
def read_numbers(data: Any, places: Any, width: int, is_big_endian: bool, out: Any) -> None:
    """Numbers of `width` bytes at `places` into `out`, uint64; 0 where they are not inside `data`."""
    last = data.shape[0] - width
    for index in range(places.shape[0]):
        place = places[index]
        value = 0
        if 0 <= place <= last:
            for step in range(width):
                byte = place + (step if is_big_endian else width - 1 - step)
                value = (value << 8) | int(data[byte])
        out[index] = value


@kernel
def crc32_of(data: Any, starts: Any, ends: Any, table: Any, out: Any) -> None:
    """CRC32 (zlib's) of `data[start:end]` for each pair, sixteen bytes a step; all must lie inside `data`."""
    for index in range(starts.shape[0]):
        at = starts[index]
        end = ends[index]
        crc = 0xFFFFFFFF
        if at < 0 or end > data.shape[0]:
            end = at
        while at + 16 <= end:
            crc ^= int(data[at]) | int(data[at + 1]) << 8 | int(data[at + 2]) << 16 | int(data[at + 3]) << 24
            crc = (
                table[15, crc & 0xFF]
                ^ table[14, (crc >> 8) & 0xFF]
                ^ table[13, (crc >> 16) & 0xFF]
                ^ table[12, (crc >> 24) & 0xFF]
                ^ table[11, data[at + 4]]
                ^ table[10, data[at + 5]]
                ^ table[9, data[at + 6]]
                ^ table[8, data[at + 7]]
                ^ table[7, data[at + 8]]
                ^ table[6, data[at + 9]]
                ^ table[5, data[at + 10]]
                ^ table[4, data[at + 11]]
                ^ table[3, data[at + 12]]
                ^ table[2, data[at + 13]]
                ^ table[1, data[at + 14]]
                ^ table[0, data[at + 15]]
            )
            at += 16
        while at + 4 <= end:
            crc ^= int(data[at]) | int(data[at + 1]) << 8 | int(data[at + 2]) << 16 | int(data[at + 3]) << 24
            crc = (
                table[3, crc & 0xFF]
                ^ table[2, (crc >> 8) & 0xFF]
                ^ table[1, (crc >> 16) & 0xFF]
                ^ table[0, (crc >> 24) & 0xFF]
            )
            at += 4
        while at < end:
            crc = table[0, (crc ^ int(data[at])) & 0xFF] ^ (crc >> 8)
            at += 1
        out[index] = crc ^ 0xFFFFFFFF


def crc_table() -> Any:
    """The tables of `crc32_of`: row 0 is that of one byte, row n of one byte with n zero bytes behind it."""
    table = np.zeros((16, 256), dtype=np.int64)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
        table[0, byte] = crc
    for row in range(1, 16):
        table[row] = (table[row - 1] >> 8) ^ table[0][table[row - 1] & 0xFF]
    return table


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
                for step in range(length):
                    out[at + step] = pool[start + step]
                at += length
            else:
                out[at] = 34
                for step in range(length):
                    out[at + 1 + step] = data[start + step]
                out[at + 1 + length] = 34
                at += length + 2
        ends[line] = at
    return at
