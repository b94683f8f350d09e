"""The walk over the images of rows events: where each row has its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.log.groups import distinct, distinct_values
from binlog_kaitai.rows.image_walk import ABSENT, AFTER, FULL, MISMATCH, STATE_SIZE, locate
from binlog_kaitai.rows.row_images import Images, Program

#: Maximum number of rows and of values per batch.
_MAX_ROWS, _MAX_VALUES = 1 << 17, 1 << 20

#: Unused elements between columns of offsets, so that a row's are not a power of two apart, for the cache.
_APART = 8

#: Size of rows per batch, in bytes, for very large events.
_MAX_BYTES = 32 << 20


class Found(NamedTuple):
    """Rows found by the walk; see `walk.locate` for the arrays."""

    data: Any
    starts: Any
    events: Any  # event numbers in `Images`
    numbers: Any
    changes: Any
    options: Any

    def part(self, begin: int, end: int) -> Found:
        """A range of the rows."""
        return Found(self.data, self.starts[:, begin:end], *(values[begin:end] for values in self[2:]))

    def taken(self, rows: Any) -> Found:
        """The given rows (row numbers)."""
        arrays = (values[rows] for values in self[2:])
        return Found(self.data, np.ascontiguousarray(self.starts[:, rows]), *arrays)

    def absent(self, names: Sequence[str]) -> Any:
        """Of all column names, those absent from each image; null if none is absent."""
        patterns, which = np.unique(self.starts == ABSENT, axis=1, return_inverse=True)
        lists = [list(compress(names, pattern)) or None for pattern in patterns.T]
        return pa.array(lists, pa.list_(pa.string())).take(pa.array(which.reshape(-1)))

    def before(self, row: int) -> Found:
        """The rows of all events before the event of the given row."""
        return self.part(0, int(np.searchsorted(self.events, self.events[row])))


def _pieces(found: Found) -> Iterator[Found]:
    """Split the rows of very large events into batches; the images of an update stay together."""
    offsets = np.maximum.accumulate(found.starts.max(axis=0, initial=0))
    steps = np.arange(offsets[0], offsets[-1], _MAX_BYTES)[1:]
    boundaries = np.searchsorted(offsets, steps)
    is_second = found.changes[np.minimum(boundaries, len(offsets) - 1)] == AFTER
    boundaries = distinct_values(boundaries + is_second)
    limits = [0, *boundaries[(boundaries > 0) & (boundaries < len(offsets))].tolist(), len(offsets)]
    for begin, end in pairwise(limits):
        yield found.part(begin, end)


class MismatchError(Exception):
    """An event (its number in `Images`) contradicts its table map; all preceding rows have been found."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def walk(images: Images, chosen: Ints, width: int, max_rows: int = _MAX_ROWS) -> Iterator[Found]:
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
        joined = Joined.of(programs, program_of[events])
        yield from _walk(data, begins, ends, events, joined, width, max_rows)
    if len(wrong):
        raise MismatchError(int(chosen[wrong[0]]))


class Joined(NamedTuple):
    """Several programs in one set of arrays, and the program number of each event."""

    numbers: Any
    which: Any
    partials: Any
    limits: Any
    steps: Any

    @classmethod
    def of(cls, programs: list[Program | None], program_of: Ints) -> Joined:
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
    data: Bytes, begins: Ints, ends: Ints, events: Ints, joined: Joined, width: int, max_rows: int
) -> Iterator[Found]:
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    work = int((ends - begins).sum())
    find = locate.run
    columns, sizes, prefixes = (np.ascontiguousarray(joined.steps[:, at]) for at in range(3))
    # A row has at least one byte.
    room = max(min(max_rows, _MAX_VALUES // max(width, 1), work + len(events)), 2)
    while True:
        starts = np.empty((width, room + _APART), dtype=np.int64)
        found = [np.empty(room, dtype=kind) for kind in (np.int64, np.int64, np.uint8, np.int64)]
        programs = joined.numbers, joined.which, joined.partials, joined.limits, columns, sizes, prefixes
        count = find(data, begins, ends, events, *programs, state, starts, *found)
        of_rows, in_event, changes, options = (values[:count] for values in found)
        reason = int(state[3])
        if reason == MISMATCH:
            # Rows of the event that does not match are discarded.
            count = int(np.searchsorted(of_rows, events[state[0]]))
            of_rows, in_event, changes, options = (values[:count] for values in found)
        if count:
            whole = Found(data, starts[:, :count], of_rows, in_event, changes, options)
            yield from _pieces(whole) if work > _MAX_BYTES else (whole,)
        if reason == MISMATCH:
            raise MismatchError(int(events[int(state[0])]))
        if reason != FULL:
            return
        state[3] = 1
