"""Rows as commented statements, written straight from the bytes of row images.

All functions are kernels, see `columns.kernel.compile`. The parts of values come from the generated decoders.
"""

from __future__ import annotations

from binlog_kaitai.columns.kernel.arrays import Bytes, Ints
from binlog_kaitai.columns.kernel.compile import kernel
from binlog_kaitai.columns.kernel.decoders import enum, is_null, len_null_bits, length_prefix, year
from binlog_kaitai.columns.kernel.text_kernels import copy, put_number
from binlog_kaitai.columns.rows.json_kernels import put_document
from binlog_kaitai.columns.text.printed_values import (
    put_bits,
    put_datetime,
    put_day,
    put_decimal,
    put_escaped,
    put_floating,
    put_integer,
    put_time,
    put_timestamp,
    spread_escaped,
)

#: What a column's values are; of OTHER the caller writes the text.
OTHER, INTEGER, STRING, DOUBLE, FLOAT, DECIMAL, DATE = 0, 1, 2, 3, 4, 5, 6
DATETIME, TIME, TIMESTAMP, YEAR, ENUM, BITS, JSON = 7, 8, 9, 10, 11, 12, 13

#: Why `put_rows` stopped: nothing is left; no more room; the caller's value; bytes that do not fit.
DONE, FULL, STOPPED, MISMATCH = 0, 1, 2, 3

#: Most bytes that the text of a value of any kind but STRING, BITS and JSON takes, without what is around it.
WIDEST = 96

#: How a JSON document begins that is a string alone.
JSON_STRING = 12

#: More room than this, in bytes, is not made for one value.
LONGEST = 8 << 20

#: Numbers in the state of `put_rows`: place in the data, side of the row, step or -1, place of the null bits,
#: why it stopped, number of rows.
STATE_SIZE = 6


@kernel
def put_rows(
    data: Bytes,
    end: int,
    program: int,
    images: Ints,
    limits: Ints,
    kinds: Ints,
    sizes: Ints,
    prefixes: Ints,
    details: Ints,
    pool: Bytes,
    texts: Ints,
    clauses: Ints,
    escapes: Bytes,
    scratch: Ints,
    stack: Ints,
    state: Ints,
    out: Bytes,
    at: int,
) -> int:
    """Write the rows of one event.

    Parameters
    ----------
    data, end
        Bytes, and where the images end in them.
    program
        Which of the programs, whose numbers the next seven have, is the event's.
    images
        For each program which images a row has: 1 before and 2 after, added.
    limits : int64 array of shape (n, 3)
        Steps of the image before are those from the first to the second, of the one after from there to the
        third.
    kinds, sizes, prefixes, details
        For each step the kind of the column, the length of its values, the size of the length in front of
        them (0 for none), and what else the kind takes: digits of the fraction, number of bits, or scale plus
        256 times precision.
    pool, texts, clauses
        Texts, and the limits of those of each step: in front of a value, behind it, and in place of NULL; and
        for each program of those in front of either image.
    escapes : uint8 array of 256
        For each byte of a string PLAIN, AS_NUMBER, or the letter behind a backslash that stands for it.
    scratch
        Room of `put_general`.
    stack
        Room of `put_document`.
    state : int64 array of STATE_SIZE
        Where to go on; at first the place of the images, 0, -1, 0, 0, 0.
    out, at
        Room for the text, and where in it to go on.

    Returns
    -------
    Where the text ends in `out`. `state[4]` says why it ends; of a value that the caller writes all around it
    is written by the caller, too, who sets place and step behind it.
    """
    place = state[0]
    side = state[1]
    step = state[2]
    null_at = state[3]
    room = out.shape[0]
    which = images[program]
    while True:
        if step < 0:
            if side == 0 and place >= end:
                state[4] = DONE
                break
            if not (which >> side) & 1:
                side = 1 - side
                continue
            first = limits[program, side]
            count = limits[program, side + 1] - first
            length = clauses[program, side + 1] - clauses[program, side]
            if at + length + 16 > room:
                state[4] = FULL
                break
            if place + len_null_bits(count) > end:
                state[4] = MISMATCH
                break
            if side == 0 or which == 2:
                state[5] += 1
            copy(pool, clauses[program, side], length, out, at)
            at += length
            null_at = place
            place += len_null_bits(count)
            step = first
        first = limits[program, side]
        stop = limits[program, side + 1]
        status = DONE
        while step < stop:
            front = texts[step, 0]
            suffix = texts[step, 1]
            null = texts[step, 2]
            after = texts[step, 3]
            if is_null(data, null_at, step - first):
                if at + after - front + 32 > room:
                    status = FULL
                    break
                copy(pool, front, suffix - front, out, at)
                at += suffix - front
                copy(pool, null, after - null, out, at)
                at += after - null
                step += 1
                continue
            kind = kinds[step]
            prefix = prefixes[step]
            length = sizes[step]
            if place + prefix + length > end:
                status = MISMATCH
                break
            value = place
            if prefix:
                length = length_prefix(data, value, prefix)
                value += prefix
                if value + length > end:
                    status = MISMATCH
                    break
            if kind == OTHER:
                status = STOPPED
                break
            widest = WIDEST
            if kind == STRING:
                widest = 4 * length + 32
            elif kind == BITS:
                widest = 8 * length + 32
            elif kind == JSON:
                widest = 3 * length + 4096
            if at + (after - front) + widest > room:
                # For a value as long as that its own caller finds room.
                status = STOPPED if widest > LONGEST else FULL
                break
            begin = at
            copy(pool, front, suffix - front, out, at)
            at += suffix - front
            detail = details[step]
            if kind == INTEGER:
                at = put_integer(data, value, length, out, at)
            elif kind == STRING:
                out[at] = 39
                at = put_escaped(data, value, length, escapes, out, at + 1)
                out[at] = 39
                at += 1
            elif kind in (DOUBLE, FLOAT):
                at = put_floating(data, value, kind == DOUBLE, scratch, out, at)
            elif kind == DECIMAL:
                at = put_decimal(data, value, detail >> 8, detail & 255, out, at)
            elif kind == DATE:
                at = put_day(data, value, out, at)
            elif kind == DATETIME:
                at = put_datetime(data, value, detail, out, at)
            elif kind == TIME:
                at = put_time(data, value, detail, out, at)
            elif kind == TIMESTAMP:
                at = put_timestamp(data, value, detail, out, at)
            elif kind == YEAR:
                # The clients print the year 0 as 1900.
                years, _ = year(data, value)
                at = put_number(1900 + years, out, at)
            elif kind == ENUM:
                at = put_number(enum(data, value, length), out, at)
            elif kind == JSON:
                # A document that is a string alone is printed as that string: the caller's.
                is_whole = length > 0 and data[value] != JSON_STRING
                start = at + 1
                at = put_document(data, value, value + length, out, start, stack) if is_whole else -1
                if at >= 0:
                    at = spread_escaped(escapes, out, start, at, room - (after - suffix) - 32)
                if at >= 0:
                    out[start - 1] = 39
                    out[at] = 39
                    at += 1
            else:
                at = put_bits(data, value, length, detail, out, at)
            if at < 0:
                # It is none: what there is to say of it, the caller says.
                at = begin
                status = STOPPED
                break
            copy(pool, suffix, null - suffix, out, at)
            at += null - suffix
            place = value + length
            step += 1
        if status != DONE:
            state[4] = status
            break
        step = -1
        side = 1 - side
    state[0] = place
    state[1] = side
    state[2] = step
    state[3] = null_at
    return at
