"""Kernels that write the output of a dump in order: prepared text, base64 of events, and rows."""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Bytes, Halves, Ints, IntTable, OutBytes, OutInts
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.text.base64_kernel import LINE, put_base64
from binlog_kaitai.text.text_kernels import copy, put_number

#: Kinds of jobs: a text; base64 of bytes; rows of images; count rows without output; a text and the number of
#: rows since the previous such job, if there were any; text that the caller has.
COPY, BASE64, ROWS, COUNT, ROWS_NUMBER, WAITING = 0, 1, 2, 3, 4, 5

#: Columns of the array of jobs: kind; range of the text or bytes; program of the rows; and 1 if the output so
#: far may be flushed.
JOB_SIZE = 5


@kernel
def put_jobs(
    data: Bytes, ready: Bytes, rows: Bytes, jobs: IntTable, numbers: Ints, letters: Halves, out: OutBytes
) -> int:
    """Write jobs one after another; returns the length, or -1 if `out` is too small or a range invalid.

    `data`, `ready`, `rows`: bytes of events, prepared text, and the text of rows.
    `jobs` (int64 array of shape (n, JOB_SIZE)): the jobs, without WAITING ones; ROWS have ranges of `rows`.
    `numbers` (int64 array): the number of rows for each ROWS_NUMBER job.
    `letters`: alphabet for base64.
    `out`: output, with room for 24 bytes more than each text, 77 per LINE bytes of base64 or part of these,
    and 16.
    """
    offset = 0
    for job in range(jobs.shape[0]):
        kind, start, end = jobs[job, 0], jobs[job, 1], jobs[job, 2]
        if kind == COUNT or (kind == ROWS_NUMBER and numbers[job] == 0):
            continue
        source = data if kind == BASE64 else rows if kind == ROWS else ready
        needed = (end - start) // LINE * 77 + 77 if kind == BASE64 else end - start + 24
        if start < 0 or start > end or end > source.shape[0] or offset + needed + 16 > out.shape[0]:
            return -1
        if kind == BASE64:
            offset = put_base64(data, start, end, letters, out, offset)
            continue
        offset = copy(source, start, end - start, out, offset)
        if kind == ROWS_NUMBER:
            offset = put_number(numbers[job], out, offset)
            out[offset] = 10
            offset += 1
    return offset


@kernel
def follow_steps(
    shapes: Ints, offset: int, end: int, state: int, table: IntTable, states: Ints, out: OutInts
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
