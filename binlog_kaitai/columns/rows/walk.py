"""The walk over row images. All functions are kernels, see `compile`."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.columns.kernel.arrays import Bools, Bytes, Ints
from binlog_kaitai.columns.kernel.compile import kernel
from binlog_kaitai.columns.kernel.decoders import (
    has_partial_bits,
    is_null,
    len_null_bits,
    length_prefix,
    value_options,
)

#: Why `locate` stopped: all events are done, there is no more room, an event does not fit its table map.
DONE, FULL, MISMATCH = 0, 1, 2

#: In place of where a value begins: it is NULL, or not in the image.
NULL, ABSENT = -1, -2

#: What a row is.
INSERT, BEFORE, AFTER, DELETE = 0, 1, 2, 3

#: Numbers in the state of `locate`.
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
    """Find where each value of each row begins.

    Parameters
    ----------
    begins, ends, ids, programs
        For each event the range of its images, the number that its rows get, and that of the program that
        describes them.
    images, partials
        For each program which images a row has, 1 before and 2 after, added; and the length of the bits for
        JSON columns that may stand in the image after, or -1 where it has no options.
    limits, columns, sizes, prefixes
        Program `p` has in its image before the steps `limits[2p]` to `limits[2p + 1]`, in the one after
        from there to `limits[2p + 2]`. A step is the column's number, the length of its value, and the size
        of a length in front of it, of which one is 0.
    state : int64 array
        Number of the event, place, number of the row in it, and 1 if the event has been begun; all 0 at
        first. The next call goes on there.
    starts : int64 array, columns by rows
        Gets the place of each value, with the length in front of it, or NULL or ABSENT.
    events, numbers, changes, options
        Get for each row the number of its event, its number in the event, what it is, and the place of the
        bits for JSON columns or -1. An update gives two rows.

    Returns
    -------
    Number of rows found. `state[3]` is then 0 (all done), 1 (no more room) or 2 (the event that
    `state[0]` says does not fit).
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
        if not is_begun:
            is_begun = True
            at = begins[event]
            number = 0
            has_bytes = (middle - first if which & 1 else 0) + (last - middle if which & 2 else 0) > 0
            has_bytes = has_bytes or partials[program] >= 0
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
            row = rows
            for side in range(2):
                if not (which >> side) & 1:
                    continue
                step = middle if side else first
                stop = last if side else middle
                events[row] = ids[event]
                numbers[row] = number
                changes[row] = (INSERT if side else DELETE) if which != 3 else (AFTER if side else BEFORE)
                options[row] = -1
                is_wrong = False
                if side and partials[program] >= 0:
                    is_wrong = at >= end
                    if not is_wrong:
                        is_valid, is_none, after = value_options(data, at)
                        is_wrong = is_none or not is_valid or after > end
                    if not is_wrong:
                        is_set = has_partial_bits(data, at)
                        at = after
                        if is_set:
                            options[row] = at
                            at += partials[program]
                null_at = at
                at += len_null_bits(stop - step)
                if at > end:
                    is_wrong = True
                if stop - step < width:
                    for column in range(width):
                        starts[column, row] = ABSENT
                begin = step
                while step < stop and not is_wrong:
                    bit = step - begin
                    # An unsigned index cannot count from the end, which Numba would look for.
                    here = np.uint64(step)
                    slot = np.uint64(columns[here])
                    if is_null(data, null_at, bit):
                        starts[slot, np.uint64(row)] = NULL
                    else:
                        starts[slot, np.uint64(row)] = at
                        prefix = prefixes[here]
                        if prefix == 0:
                            at += sizes[here]
                        elif at + prefix > end:
                            at = end + 1
                        else:
                            at += prefix + length_prefix(data, at, prefix)
                        is_wrong = at > end
                    step += 1
                if is_wrong:
                    state[0] = event
                    state[3] = MISMATCH
                    return rows
                row += 1
            rows = row
            number += 1
        event += 1
        is_begun = False
    state[0] = event
    state[3] = DONE
    return rows


@kernel
def spread(values: Ints, limits: Ints, out: Ints) -> None:
    """Each value at all places from its limit up to the next; there is one limit more than values."""
    for index in range(values.shape[0]):
        value = values[index]
        for at in range(max(limits[index], 0), min(limits[index + 1], out.shape[0])):
            out[np.uint64(at)] = value


@kernel
def find_runs(numbers: Ints, limits: Ints) -> int:
    """Where each run of the same number begins, and their end; gives how many runs there are.

    `limits` has one more than `numbers`.
    """
    count = 0
    for index in range(numbers.shape[0]):
        if index == 0 or numbers[index] != numbers[index - 1]:
            limits[count] = index
            count += 1
    limits[count] = numbers.shape[0]
    return count


@kernel
def ends_with(data: Bytes, ends: Ints, words: Bytes, out: Bools) -> None:
    """Mark the places behind just these bytes; other marks stay."""
    length = words.shape[0]
    for index in range(ends.shape[0]):
        begin = ends[index] - length
        step = length if begin < 0 or ends[index] > data.shape[0] else 0
        while step < length and data[begin + step] == words[step]:
            step += 1
            if step == length:
                out[index] = True
