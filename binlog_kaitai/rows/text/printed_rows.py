"""Kernels that write rows as commented statements, directly from row images.

The generated decoders decode the parts of values.
"""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import enum, is_null, len_null_bits, length_prefix, year
from binlog_kaitai.log.line_arrays import unquote
from binlog_kaitai.log.text_kernels import copy, put_number
from binlog_kaitai.rows.json_kernels import put_document
from binlog_kaitai.rows.text.printed_values import (
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

#: Kinds of column values; the caller writes the text of values of kind OTHER.
OTHER, INTEGER, STRING, DOUBLE, FLOAT, DECIMAL, DATE = 0, 1, 2, 3, 4, 5, 6
DATETIME, TIME, TIMESTAMP, YEAR, ENUM, BITS, JSON = 7, 8, 9, 10, 11, 12, 13

#: Why `put_rows` stopped: done; output full; a value for the caller; bytes that do not match.
DONE, FULL, STOPPED, MISMATCH = 0, 1, 2, 3

#: Maximum text length of values of all kinds except STRING, BITS and JSON, without the surrounding text.
WIDEST = 96

#: Maximum buffer size for a single value, in bytes.
LONGEST = 8 << 20

#: Indexes into the state of `put_rows`: offset in the data, image of the row, step or -1, offset of the null
#: bitmap, why it stopped, number of rows.
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
        Bytes, and the end of the images in them.
    program
        Index of the event's program in the following arrays.
    images
        For each program, the images of a row: 1 for before plus 2 for after.
    limits : int64 array of shape (n, 3)
        Steps of the before image are those from the first to the second number, of the after image from there
        to the third.
    kinds, sizes, prefixes, details
        For each step, the kind of the column, the length of its values, the size of their length prefix (0
        for none), and a detail by kind: fractional digits, number of bits, or scale plus 256 times precision.
    pool, texts, clauses
        Texts, and their ranges: for each step, before a value, after it, and instead of NULL; for each
        program, before either image.
    escapes : uint8 array of 256
        For each byte of a string: PLAIN, AS_NUMBER, or the letter that represents it after a backslash.
    scratch
        Scratch memory of `put_general`.
    stack
        Stack of `put_document`.
    state : int64 array of STATE_SIZE
        Where to continue; initially the offset of the images, 0, -1, 0, 0, 0.
    out, at
        Output, and the offset to continue at.

    Returns
    -------
    End of the text in `out`. `state[4]` gives the reason. For a value left to the caller, the caller also
    writes the text around it, and advances offset and step past it.
    """
    offset = state[0]
    side = state[1]
    step = state[2]
    null_at = state[3]
    room = out.shape[0]
    which = images[program]
    while True:
        if step < 0:
            if side == 0 and offset >= end:
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
            if offset + len_null_bits(count) > end:
                state[4] = MISMATCH
                break
            if side == 0 or which == 2:
                state[5] += 1
            copy(pool, clauses[program, side], length, out, at)
            at += length
            null_at = offset
            offset += len_null_bits(count)
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
            if offset + prefix + length > end:
                status = MISMATCH
                break
            value = offset
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
                # For longer values, the caller enlarges the buffer.
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
                start = at + 1
                at, _ = put_document(data, value, value + length, out, start, stack, out[:0], 0)
                # A document that is a string, a date, or bytes is printed without its quotes.
                if at >= 0 and out[start] == 34:
                    at = unquote(out, start, at)
                if at >= 0:
                    at = spread_escaped(escapes, out, start, at, room - (after - suffix) - 32)
                if at >= 0:
                    out[start - 1] = 39
                    out[at] = 39
                    at += 1
            else:
                at = put_bits(data, value, length, detail, out, at)
            if at < 0:
                # An invalid value; the caller reports it.
                at = begin
                status = STOPPED
                break
            copy(pool, suffix, null - suffix, out, at)
            at += null - suffix
            offset = value + length
            step += 1
        if status != DONE:
            state[4] = status
            break
        step = -1
        side = 1 - side
    state[0] = offset
    state[1] = side
    state[2] = step
    state[3] = null_at
    return at
