"""Kernels that write the output of a dump in order: prepared text, base64 of events, and rows.

Rows are written as commented statements, directly from row images; the generated decoders decode the parts of
values.
"""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    enum,
    is_null,
    is_partial,
    old_timestamp,
    year,
)
from binlog_kaitai.log.line_arrays import unquote
from binlog_kaitai.log.text_kernels import copy, put_number
from binlog_kaitai.rows.image_walk import after_value, open_image
from binlog_kaitai.rows.text.base64_kernel import LINE, put_base64
from binlog_kaitai.rows.text.json_kernels import put_document
from binlog_kaitai.rows.text.printed_values import (
    put_bits,
    put_datetime,
    put_day,
    put_decimal,
    put_escaped,
    put_floating,
    put_integer,
    put_old_datetime,
    put_old_time,
    put_time,
    put_timestamp,
    spread_escaped,
)

#: Kinds of column values; the caller writes the text of values of kind OTHER. At a value of kind UNKNOWN,
#: which the client does not support, it prints no more of the event.
OTHER, INTEGER, STRING, DOUBLE, FLOAT, DECIMAL, DATE = 0, 1, 2, 3, 4, 5, 6
DATETIME, TIME, TIMESTAMP, YEAR, ENUM, BITS, JSON = 7, 8, 9, 10, 11, 12, 13
OLD_DATETIME, OLD_TIME, OLD_TIMESTAMP, UNKNOWN = 14, 15, 16, 17

#: Why `put_rows` stopped: done; output full; a value for the caller; bytes that do not match.
DONE, FULL, STOPPED, MISMATCH = 0, 1, 2, 3

#: Maximum text length of values of all kinds except STRING, BITS and JSON, without the surrounding text.
WIDEST = 96

#: Maximum buffer size for a single value, in bytes.
LONGEST = 8 << 20

#: Indexes into the state of `put_rows`: offset in the data, image of the row, step or -1, offset of the null
#: bitmap, why it stopped, number of rows, offset of the bitmap of partial values or -1.
STATE_SIZE = 7


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
    position: int,
    writes: bool,
) -> int:
    """Write the rows of one event, or only count them as the client does that does not print them.

    `data`, `end`: bytes, and the end of the images in them.
    `program`: index of the event's program in the following arrays.
    `images` (int64 array of shape (n, 2)): for each program, the images of a row, 1 for before plus 2 for
    after; and the length of the bitmap of partial JSON columns in the after image, -1 if the event has no
    value options.
    `limits` (int64 array of shape (n, 3)): steps of the before image are those from the first to the second
    number, of the after image from there to the third.
    `kinds`, `sizes`, `prefixes`, `details`: for each step, the kind of the column, the length of its values,
    the size of their length prefix (0 for none), and a detail by kind: fractional digits, number of bits,
    scale plus 256 times precision, the number among the table's JSON columns, or 1 for a STRING at which the
    client stops counting.
    `pool`, `texts`, `clauses`: texts, and their ranges: for each step, before a value, after it, and instead
    of NULL or an UNKNOWN value; for each program, before either image.
    `escapes` (uint8 array of 256): for each byte of a string: PLAIN, AS_NUMBER, or the letter that represents
    it after a backslash.
    `scratch`: scratch memory of `put_general`.
    `stack`: stack of `put_document`.
    `state` (int64 array of STATE_SIZE): where to continue; initially the offset of the images, 0, -1, 0, 0,
    0, -1.
    `out`, `position`: output, and the offset to continue at.
    `writes`: false to count only, up to a value that the client cannot measure, which is a MISMATCH.
    Returns the end of the text in `out`; `state[4]` gives the reason. For a value left to the caller, the
    caller also writes the text around it, and advances offset and step past it.
    """
    offset = state[0]
    side = state[1]
    step = state[2]
    null_at = state[3]
    partial_at = state[6]
    room = out.shape[0]
    which = images[program, 0]
    while True:
        if step < 0:
            if side == 0 and offset >= end:
                state[4] = DONE
                break
            if not (which >> side) & 1:
                side = 1 - side
                continue
            if limits[program, 0] == limits[program, 2]:
                state[4] = MISMATCH  # rows without columns have no bytes
                break
            first = limits[program, side]
            count = limits[program, side + 1] - first
            length = clauses[program, side + 1] - clauses[program, side] if writes else 0
            if position + length + 16 > room:
                state[4] = FULL
                break
            if side == 0 or which == 2:
                state[5] += 1
            bits = images[program, 1] if side else -1
            null_at, offset, partial_at = open_image(data, offset, end, count, bits)
            if offset > end:
                state[4] = MISMATCH
                break
            copy(pool, clauses[program, side], length, out, position)
            position += length
            step = first
        first = limits[program, side]
        stop = limits[program, side + 1]
        status = DONE
        while step < stop:
            front = texts[step, 0]
            suffix = texts[step, 1]
            null = texts[step, 2]
            after = texts[step, 3]
            kind = kinds[step]
            if is_null(data, null_at, step - first) or (kind == UNKNOWN and writes):
                if writes:
                    if position + after - front + 32 > room:
                        status = FULL
                        break
                    copy(pool, front, suffix - front, out, position)
                    position += suffix - front
                    copy(pool, null, after - null, out, position)
                    position += after - null
                    if kind == UNKNOWN:
                        state[4] = DONE
                        return position
                step += 1
                continue
            value = offset + prefixes[step]
            value_end = after_value(data, offset, end, sizes[step], prefixes[step])
            if value_end > end:
                status = MISMATCH
                break
            if not writes:
                if kind == STRING and details[step]:
                    status = MISMATCH
                    break
                offset = value_end
                step += 1
                continue
            length = value_end - value
            if kind == OTHER or (
                kind == JSON and partial_at >= 0 and is_partial(data, partial_at, details[step])
            ):
                status = STOPPED
                break
            widest = WIDEST
            if kind == STRING:
                widest = 4 * length + 32
            elif kind == BITS:
                widest = 8 * length + 32
            elif kind == JSON:
                widest = 3 * length + 4096
            if position + (after - front) + widest > room:
                # For longer values, the caller enlarges the buffer.
                status = STOPPED if widest > LONGEST else FULL
                break
            begin = position
            copy(pool, front, suffix - front, out, position)
            position += suffix - front
            detail = details[step]
            if kind == INTEGER:
                position = put_integer(data, value, length, out, position)
            elif kind == STRING:
                out[position] = 39
                position = put_escaped(data, value, length, escapes, out, position + 1)
                out[position] = 39
                position += 1
            elif kind in (DOUBLE, FLOAT):
                position = put_floating(data, value, kind == DOUBLE, scratch, out, position)
            elif kind == DECIMAL:
                position = put_decimal(data, value, detail >> 8, detail & 255, out, position)
            elif kind == DATE:
                position = put_day(data, value, out, position)
            elif kind == DATETIME:
                position = put_datetime(data, value, detail, out, position)
            elif kind == TIME:
                position = put_time(data, value, detail, out, position)
            elif kind == TIMESTAMP:
                position = put_timestamp(data, value, detail, out, position)
            elif kind == OLD_DATETIME:
                position = put_old_datetime(data, value, out, position)
            elif kind == OLD_TIME:
                position = put_old_time(data, value, out, position)
            elif kind == OLD_TIMESTAMP:
                position = put_number(old_timestamp(data, value), out, position)
            elif kind == YEAR:
                # The clients print the year 0 as 1900.
                years, _ = year(data, value)
                position = put_number(1900 + years, out, position)
            elif kind == ENUM:
                position = put_number(enum(data, value, length), out, position)
            elif kind == JSON:
                start = position + 1
                position, _ = put_document(data, value, value + length, out, start, stack, out[:0], 0)
                # A document that is a string, a date, or bytes is printed without its quotes.
                if position >= 0 and out[start] == 34:
                    position = unquote(out, start, position)
                if position >= 0:
                    position = spread_escaped(escapes, out, start, position, room - (after - suffix) - 32)
                if position >= 0:
                    out[start - 1] = 39
                    out[position] = 39
                    position += 1
            else:
                position = put_bits(data, value, length, detail, out, position)
            if position < 0:
                # An invalid value; the caller reports it.
                position = begin
                status = STOPPED
                break
            copy(pool, suffix, null - suffix, out, position)
            position += null - suffix
            offset = value_end
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
    state[6] = partial_at
    return position


#: Kinds of jobs: a text; base64 of bytes; rows of images; count rows without output; a text and the number of
#: rows since the previous such job, if there were any; text that the caller has.
COPY, BASE64, ROWS, COUNT, ROWS_NUMBER, WAITING = 0, 1, 2, 3, 4, 5

#: Columns of the array of jobs: kind; range of the text or bytes; program of the rows; and 1 if the output so
#: far may be flushed.
JOB_SIZE = 5

#: Indexes into the state of `put_jobs`: those of `put_rows`, the job, whether it has been started, number of
#: rows, and the job and output offset up to which the output may be flushed.
JOB, IS_BEGUN, NUMBER, SAFE_JOB, SAFE_END = range(STATE_SIZE, STATE_SIZE + 5)
JOBS_STATE_SIZE = STATE_SIZE + 5


@kernel
def put_jobs(
    data: Bytes,
    ready: Bytes,
    jobs: Ints,
    letters: Array,
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
    offset: int,
) -> int:
    """Process jobs in order.

    `data`, `ready`: bytes of events, and prepared text.
    `jobs` (int64 array of shape (n, JOB_SIZE)): the jobs.
    `letters`: alphabet for base64.
    `images`, `limits`, `kinds`, `sizes`, `prefixes`, `details`, `pool`, `texts`, `clauses`, `escapes`,
    `scratch`, `stack`: see `put_rows`.
    `state` (int64 array of JOBS_STATE_SIZE): where to continue; initially all 0.
    `out`, `offset`: output, and the offset to continue at.
    Returns the end of the text in `out`; `state[4]` gives the reason, as for `put_rows`, for all jobs.
    """
    while state[JOB] < jobs.shape[0]:
        job = state[JOB]
        kind = jobs[job, 0]
        start = jobs[job, 1]
        end = jobs[job, 2]
        length = end - start
        source = ready.shape[0] if kind in (COPY, ROWS_NUMBER) else data.shape[0]
        state[4] = DONE
        if start < 0 or length < 0 or end > source:
            state[4] = MISMATCH
        elif kind == COPY:
            if offset + length + 16 > out.shape[0]:
                state[4] = FULL
            else:
                copy(ready, start, length, out, offset)
                offset += length
        elif kind == BASE64:
            if offset + (length // LINE + 1) * 77 + 16 > out.shape[0]:
                state[4] = FULL
            else:
                offset = put_base64(data, start, end, letters, out, offset)
        elif kind == ROWS_NUMBER:
            if offset + length + 32 > out.shape[0]:
                state[4] = FULL
            elif state[NUMBER]:
                copy(ready, start, length, out, offset)
                offset = put_number(state[NUMBER], out, offset + length)
                out[offset] = 10
                offset += 1
                state[NUMBER] = 0
        elif kind == WAITING:
            state[4] = STOPPED
        else:
            if not state[IS_BEGUN]:
                state[0] = start
                state[1] = 0
                state[2] = -1
                state[3] = 0
                state[5] = 0
                state[6] = -1
                state[IS_BEGUN] = 1
            program = jobs[job, 3]
            if length == 0 or program < 0 or program >= images.shape[0]:
                state[4] = MISMATCH
            else:
                offset = put_rows(
                    data,
                    end,
                    program,
                    images,
                    limits,
                    kinds,
                    sizes,
                    prefixes,
                    details,
                    pool,
                    texts,
                    clauses,
                    escapes,
                    scratch,
                    stack,
                    state,
                    out,
                    offset,
                    kind == ROWS,
                )
                if kind == COUNT and state[4] == MISMATCH:
                    state[4] = DONE  # the client stops there
            if state[4] == DONE:
                state[NUMBER] += state[5]
                state[IS_BEGUN] = 0
        if state[4] != DONE:
            return offset
        state[JOB] = job + 1
        if jobs[job, 4]:
            state[SAFE_JOB] = job + 1
            state[SAFE_END] = offset
    return offset


@kernel
def follow_steps(
    shapes: Ints, offset: int, end: int, state: int, table: Ints, states: Ints, out: Ints
) -> int:
    """Note the step of each event from `offset` on; gives where there is none.

    `table` has the step for each state and shape, `states` the state after each step. A negative step means
    that there is none yet.
    """
    while offset < end:
        shape = shapes[offset]
        if state < 0 or state >= table.shape[0] or shape < 0 or shape >= table.shape[1]:
            break
        step = table[state, shape]
        if step < 0 or step >= states.shape[0]:
            break
        out[offset] = step
        state = states[step]
        offset += 1
    return offset
