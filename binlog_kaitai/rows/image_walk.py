"""Kernels that walk row images."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    has_partial_bits,
    is_null,
    len_null_bits,
    length_prefix,
    value_options,
)

#: Why `locate` stopped: all events are done, the output is full, or an event contradicts its table map.
DONE, FULL, MISMATCH = 0, 1, 2

#: Values in place of an offset: the value is NULL, or absent from the image.
NULL, ABSENT = -1, -2

#: Row kinds.
INSERT, BEFORE, AFTER, DELETE = 0, 1, 2, 3

#: Indexes into the state of `locate`.
STATE_SIZE = 4


@kernel
def locate(
    data: Bytes,
    begins: Ints,
    ends: Ints,
    ids: Ints,
    programs: Ints,
    images: Ints,
    partials: Ints,
    limits: Ints,
    columns: Ints,
    sizes: Ints,
    prefixes: Ints,
    state: Ints,
    starts: Ints,
    events: Ints,
    numbers: Ints,
    changes: Bytes,
    options: Ints,
) -> int:
    """Find the offset of each value of each row.

    Parameters
    ----------
    begins, ends, ids, programs
        For each event, the range of its images, the event number to report for its rows, and the number of
        its program.
    images, partials
        For each program, the images of a row (1 before plus 2 after), and the length of the bitmap of partial
        JSON columns in the after image; -1 if the event has no value options.
    limits, columns, sizes, prefixes
        Program `p` has the steps `limits[2p]` to `limits[2p + 1]` for the before image, and from there to
        `limits[2p + 2]` for the after image. A step has a column number, the length of the value, and the
        size of its length prefix; one of the last two is 0.
    state : int64 array
        Event index, offset, row number within the event, and 1 if the event has been started; initially all
        0. The next call continues from there.
    starts : int64 array, columns by rows
        Output: offset of each value, including its length prefix, or NULL or ABSENT.
    events, numbers, changes, options
        Output, for each row: event number, row number within the event, row kind, and offset of the bitmap of
        partial JSON columns or -1. An update yields two rows.

    Returns
    -------
    Number of rows found. `state[3]` is then 0 (done), 1 (output full) or 2 (event `state[0]` contradicts
    its table map).
    """
    rows = 0
    room = events.shape[0]
    width = starts.shape[0]
    event = state[0]
    at = state[1]
    number = state[2]
    is_begun = state[3] != 0
    while event < begins.shape[0]:
        program = programs[event]
        which = images[program]
        end = ends[event]
        first = limits[2 * program]
        middle = limits[2 * program + 1]
        last = limits[2 * program + 2]
        # Repeated for each row, these would be loaded each time, because outputs may overlap them.
        name, partial = ids[event], partials[program]
        of_before, of_after = (BEFORE, AFTER) if which == 3 else (DELETE, INSERT)
        if not is_begun:
            is_begun = True
            at = begins[event]
            number = 0
            has_bytes = (middle - first if which & 1 else 0) + (last - middle if which & 2 else 0) > 0
            has_bytes = has_bytes or partial >= 0
            if at < 0 or at > end or end > data.shape[0] or (at < end) != has_bytes:
                state[0] = event
                state[3] = MISMATCH
                return rows
        while at < end or (number == 0 and begins[event] == end):
            if rows + 2 > room:
                state[0] = event
                state[1] = at
                state[2] = number
                state[3] = FULL
                return rows
            done = rows
            for side in range(2):
                if not (which >> side) & 1:
                    continue
                row = np.uint64(done)
                begin = middle if side else first
                stop = last if side else middle
                events[row] = name
                numbers[row] = number
                changes[row] = of_after if side else of_before
                options[row] = -1
                is_wrong = False
                if side and partial >= 0:
                    is_wrong = at >= end
                    if not is_wrong:
                        is_valid, is_none, after = value_options(data, at)
                        is_wrong = is_none or not is_valid or after > end
                    if not is_wrong:
                        is_set = has_partial_bits(data, at)
                        at = after
                        if is_set:
                            options[row] = at
                            at += partial
                null_at = at
                at += len_null_bits(stop - begin)
                if at > end:
                    is_wrong = True
                if stop - begin < width:
                    for column in range(width):
                        starts[np.uint64(column), row] = ABSENT
                for step in range(begin, begin if is_wrong else stop):
                    # With a signed index, Numba would generate code for negative indexes.
                    here = np.uint64(step)
                    slot = np.uint64(columns[here])
                    if is_null(data, null_at, step - begin):
                        starts[slot, row] = NULL
                        continue
                    starts[slot, row] = at
                    prefix = prefixes[here]
                    if prefix == 0:
                        at += sizes[here]
                    elif at + prefix > end:
                        at = end + 1
                    else:
                        at += prefix + length_prefix(data, at, prefix)
                    if at > end:
                        is_wrong = True
                        break
                if is_wrong:
                    state[0] = event
                    state[3] = MISMATCH
                    return rows
                done += 1
            rows = done
            number += 1
        event += 1
        is_begun = False
    state[0] = event
    state[3] = DONE
    return rows


@kernel
def spread(values: Ints, limits: Ints, out: Ints) -> None:
    """Repeat each value from its limit to the next one; there is one more limit than values."""
    for index in range(values.shape[0]):
        value = values[index]
        for at in range(max(limits[index], 0), min(limits[index + 1], out.shape[0])):
            out[np.uint64(at)] = value


@kernel
def find_runs(numbers: Ints, limits: Ints) -> int:
    """Compute the start of each run of equal numbers, and the end; returns the number of runs.

    `limits` has one more element than `numbers`.
    """
    count = 0
    for index in range(numbers.shape[0]):
        if index == 0 or numbers[index] != numbers[index - 1]:
            limits[count] = index
            count += 1
    limits[count] = numbers.shape[0]
    return count
