"""The kernels that write lines of text; see `kernels` and `compile`."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import kernel

#: Kinds of pieces of a line: bytes of the pool; a number; text that is in the block or in the pool; bytes of
#: either as they are; a number of 32 bits in hexadecimal; a number with six digits.
CONSTANT, NUMBER, TEXT, BYTES, HEXADECIMAL, FRACTION = 0, 1, 2, 3, 4, 5


#: The digits of 0 to 99, two each.
_PAIRS = np.frombuffer("".join(f"{number:02}" for number in range(100)).encode(), dtype=np.uint8)


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


@kernel
def put_number(value: int, out: Any, at: int) -> int:
    """Write a number (not -2^63) in decimal at `out[at]`, which must have room for 20; gives the end."""
    if value < 0:
        value = -value
        out[at] = 45
        at += 1
    digits = 1
    rest = value
    while rest >= 10_000:
        rest //= 10_000
        digits += 4
    if rest >= 100:
        digits += 2 if rest < 1000 else 3
    elif rest >= 10:
        digits += 1
    end = at + digits
    while value >= 100:
        pair = 2 * (value % 100)
        value //= 100
        digits -= 2
        out[at + digits + 1] = _PAIRS[pair + 1]
        out[at + digits] = _PAIRS[pair]
    if value >= 10:
        out[at + 1] = _PAIRS[2 * value + 1]
        out[at] = _PAIRS[2 * value]
    else:
        out[at] = 48 + value
    return end


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
        is put in quotes, BYTES are not; with the place `-p - 1` the bytes at `p` in the pool are taken as
        they are. So is a number whose `second` is not 0, by place in the pool and length.
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
                if kind >= HEXADECIMAL:
                    if at + 20 > room:
                        return -1
                    digits = 8 if kind == HEXADECIMAL else 6
                    base = 16 if kind == HEXADECIMAL else 10
                    for step in range(digits):
                        digit = start % base
                        start //= base
                        out[at + digits - 1 - step] = digit + (48 if digit < 10 else 87)
                    at += digits
                    continue
                if kind in (TEXT, BYTES):
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
            elif kind == BYTES:
                copy(data, start, length, out, at)
                at += length
            else:
                out[at] = 34
                copy(data, start, length, out, at + 1)
                out[at + 1 + length] = 34
                at += length + 2
        ends[line] = at
    return at
