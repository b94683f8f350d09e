"""Kernels that write the output of a dump in order: prepared text, base64 of events, and rows."""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import is_null, len_null_bits, length_prefix
from binlog_kaitai.log.text_kernels import copy, put_number
from binlog_kaitai.rows.text.base64_kernel import LINE, put_base64
from binlog_kaitai.rows.text.printed_rows import DONE, FULL, MISMATCH, STATE_SIZE, put_rows

#: Kinds of jobs: a text; base64 of bytes; rows of images; count rows without output; a text and the number of
#: rows since the previous such job, if there were any.
COPY, BASE64, ROWS, COUNT, ROWS_NUMBER = 0, 1, 2, 3, 4

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
    at: int,
) -> int:
    """Process jobs in order.

    Parameters
    ----------
    data, ready
        Bytes of events, and prepared text.
    jobs : int64 array of shape (n, JOB_SIZE)
        The jobs.
    letters
        Alphabet for base64.
    images, limits, kinds, sizes, prefixes, details, pool, texts, clauses, escapes, scratch, stack
        See `put_rows`.
    state : int64 array of JOBS_STATE_SIZE
        Where to continue; initially all 0.
    out, at
        Output, and the offset to continue at.

    Returns
    -------
    End of the text in `out`. `state[4]` gives the reason, as for `put_rows`, for jobs of all kinds.
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
            if at + length + 16 > out.shape[0]:
                state[4] = FULL
            else:
                copy(ready, start, length, out, at)
                at += length
        elif kind == BASE64:
            if at + (length // LINE + 1) * 77 + 16 > out.shape[0]:
                state[4] = FULL
            else:
                at = put_base64(data, start, end, letters, out, at)
        elif kind == ROWS_NUMBER:
            if at + length + 32 > out.shape[0]:
                state[4] = FULL
            elif state[NUMBER]:
                copy(ready, start, length, out, at)
                at = put_number(state[NUMBER], out, at + length)
                out[at] = 10
                at += 1
                state[NUMBER] = 0
        else:
            if not state[IS_BEGUN]:
                state[0] = start
                state[1] = 0
                state[2] = -1
                state[3] = 0
                state[5] = 0
                state[IS_BEGUN] = 1
            program = jobs[job, 3]
            if length == 0 or program < 0 or program >= images.shape[0]:
                state[4] = MISMATCH
            elif kind == COUNT:
                state[5] = count_images(data, start, end, program, images, limits, sizes, prefixes)
                state[4] = DONE if state[5] >= 0 else MISMATCH
            else:
                at = put_rows(
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
                    at,
                )
            if state[4] == DONE:
                state[NUMBER] += state[5]
                state[IS_BEGUN] = 0
        if state[4] != DONE:
            return at
        state[JOB] = job + 1
        if jobs[job, 4]:
            state[SAFE_JOB] = job + 1
            state[SAFE_END] = at
    return at


@kernel
def count_images(
    data: Bytes, offset: int, end: int, program: int, images: Ints, limits: Ints, sizes: Ints, prefixes: Ints
) -> int:
    """Number of rows that `put_rows` would write; -1 if the images do not match."""
    number = 0
    which = images[program]
    while offset < end:
        number += 1
        for side in range(2):
            if not (which >> side) & 1:
                continue
            first = limits[program, side]
            stop = limits[program, side + 1]
            null_at = offset
            offset += len_null_bits(stop - first)
            if offset > end:
                return -1
            for step in range(first, stop):
                if is_null(data, null_at, step - first):
                    continue
                prefix = prefixes[step]
                length = sizes[step]
                if offset + prefix + length > end:
                    return -1
                if prefix:
                    length = length_prefix(data, offset, prefix)
                offset += prefix + length
                if offset > end:
                    return -1
    return number
