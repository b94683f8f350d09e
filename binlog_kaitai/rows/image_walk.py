"""The walk over the images of rows events, which finds the offset of each value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    has_partial_bits,
    is_null,
    len_null_bits,
    length_prefix,
    value_options,
)
from binlog_kaitai.log.groups import distinct, distinct_values
from binlog_kaitai.rows.row_images import ImageProgram, Images

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
    offset = state[1]
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
            offset = begins[event]
            number = 0
            has_bytes = (middle - first if which & 1 else 0) + (last - middle if which & 2 else 0) > 0
            has_bytes = has_bytes or partial >= 0
            if offset < 0 or offset > end or end > data.shape[0] or (offset < end) != has_bytes:
                state[0] = event
                state[3] = MISMATCH
                return rows
        while offset < end or (number == 0 and begins[event] == end):
            if rows + 2 > room:
                state[0] = event
                state[1] = offset
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
                    is_wrong = offset >= end
                    if not is_wrong:
                        is_valid, is_none, after = value_options(data, offset)
                        is_wrong = is_none or not is_valid or after > end
                    if not is_wrong:
                        is_set = has_partial_bits(data, offset)
                        offset = after
                        if is_set:
                            options[row] = offset
                            offset += partial
                null_at = offset
                offset += len_null_bits(stop - begin)
                if offset > end:
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
                    starts[slot, row] = offset
                    prefix = prefixes[here]
                    if prefix == 0:
                        offset += sizes[here]
                    elif offset + prefix > end:
                        offset = end + 1
                    else:
                        offset += prefix + length_prefix(data, offset, prefix)
                    if offset > end:
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
        for offset in range(max(limits[index], 0), min(limits[index + 1], out.shape[0])):
            out[np.uint64(offset)] = value


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


#: Maximum number of rows and of values per batch.
_MAX_ROWS, _MAX_VALUES = 1 << 17, 1 << 20

#: Unused elements between columns of offsets, so that a row's are not a power of two apart, for the cache.
_APART = 8

#: Size of rows per batch, in bytes, for very large events.
_MAX_BYTES = 32 << 20


class LocatedRows(NamedTuple):
    """Rows found by the walk; see `locate` for the arrays."""

    data: Bytes
    starts: Ints
    events: Ints  # event numbers in `Images`
    numbers: Ints
    changes: Bytes
    options: Ints

    def part(self, begin: int, end: int) -> LocatedRows:
        """A range of the rows."""
        arrays: Any = (values[begin:end] for values in self[2:])
        return LocatedRows(self.data, self.starts[:, begin:end], *arrays)

    def select(self, rows: Ints) -> LocatedRows:
        """The given rows (row numbers)."""
        arrays: Any = (values[rows] for values in self[2:])
        return LocatedRows(self.data, np.ascontiguousarray(self.starts[:, rows]), *arrays)

    def absent(self, names: Sequence[str]) -> pa.Array:
        """Of all column names, those absent from each image; null if none is absent."""
        patterns, which = np.unique(self.starts == ABSENT, axis=1, return_inverse=True)
        lists = [list(compress(names, pattern)) or None for pattern in patterns.T]
        return pa.array(lists, pa.list_(pa.string())).take(pa.array(which.reshape(-1)))

    def before(self, row: int) -> LocatedRows:
        """The rows of all events before the event of the given row."""
        return self.part(0, int(np.searchsorted(self.events, self.events[row])))


def _pieces(rows: LocatedRows) -> Iterator[LocatedRows]:
    """Split the rows of very large events into batches; the images of an update stay together."""
    offsets = np.maximum.accumulate(rows.starts.max(axis=0, initial=0))
    steps = np.arange(offsets[0], offsets[-1], _MAX_BYTES)[1:]
    boundaries = np.searchsorted(offsets, steps)
    is_second = rows.changes[np.minimum(boundaries, len(offsets) - 1)] == AFTER
    boundaries = distinct_values(boundaries + is_second)
    limits = [0, *boundaries[(boundaries > 0) & (boundaries < len(offsets))].tolist(), len(offsets)]
    for begin, end in pairwise(limits):
        yield rows.part(begin, end)


class MismatchError(Exception):
    """An event (its number in `Images`) contradicts its table map; all preceding rows have been found."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def walk(images: Images, chosen: Ints, width: int, max_rows: int = _MAX_ROWS) -> Iterator[LocatedRows]:
    """The rows of some events of the same table, in order.

    Parameters
    ----------
    chosen : int64 array
        Numbers of events in `images`.
    width
        Number of columns of the table.
    max_rows
        Maximum number of rows per step, at least two.

    Raises
    ------
    MismatchError
    """
    programs, program_of = images.programs()
    is_none = np.array([program is None for program in programs], dtype=np.bool_)
    wrong = np.flatnonzero(is_none[program_of[chosen]])
    good = chosen[: wrong[0]] if len(wrong) else chosen
    for events, data, begins, ends in images.portions(good):
        joined = JoinedPrograms.of(programs, program_of[events])
        yield from _walk(data, begins, ends, events, joined, width, max_rows)
    if len(wrong):
        raise MismatchError(int(chosen[wrong[0]]))


class JoinedPrograms(NamedTuple):
    """Several programs in one set of arrays, and the program number of each event."""

    numbers: Ints
    which: Ints
    partials: Ints
    limits: Ints
    steps: Ints

    @classmethod
    def of(cls, programs: list[ImageProgram | None], program_of: Ints) -> JoinedPrograms:
        first, numbers = distinct(program_of)
        used = program_of[first].tolist()
        chosen = [program for number in used if (program := programs[number]) is not None]
        counts = [count for program in chosen for count in program.counts]
        return cls(
            numbers,
            np.array([program.which for program in chosen], dtype=np.int64),
            np.array([program.partial for program in chosen], dtype=np.int64),
            np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64),
            np.concatenate([program.steps for program in chosen] or [np.zeros((0, 3), dtype=np.int64)]),
        )


def _walk(
    data: Bytes, begins: Ints, ends: Ints, events: Ints, joined: JoinedPrograms, width: int, max_rows: int
) -> Iterator[LocatedRows]:
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    work = int((ends - begins).sum())
    columns, sizes, prefixes = (np.ascontiguousarray(joined.steps[:, column]) for column in range(3))
    # A row has at least one byte.
    room = max(min(max_rows, _MAX_VALUES // max(width, 1), work + len(events)), 2)
    while True:
        starts = np.empty((width, room + _APART), dtype=np.int64)
        of_rows, in_event, options = np.empty((3, room), dtype=np.int64)
        changes = np.empty(room, dtype=np.uint8)
        programs = joined.numbers, joined.which, joined.partials, joined.limits, columns, sizes, prefixes
        rows = LocatedRows(data, starts, of_rows, in_event, changes, options)
        count = locate.run(data, begins, ends, events, *programs, state, *rows[1:])
        reason = int(state[3])
        if reason == MISMATCH:
            # Rows of the event that does not match are discarded.
            count = int(np.searchsorted(of_rows[:count], events[state[0]]))
        if count:
            rows = rows.part(0, count)
            yield from _pieces(rows) if work > _MAX_BYTES else (rows,)
        if reason == MISMATCH:
            raise MismatchError(int(events[int(state[0])]))
        if reason != FULL:
            return
        state[3] = 1
