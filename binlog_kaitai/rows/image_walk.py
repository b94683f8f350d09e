"""The walk over the images of rows events, which finds the offset of each value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints, IntTable, OutBytes, OutInts, OutIntTable
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.kernels.groups import distinct, distinct_values
from binlog_kaitai.rows.row_images import ImageProgram, Images
from binlog_kaitai.values.decoders import (
    has_partial_bits,
    is_null,
    len_null_bits,
    length_prefix,
    value_options,
)
from binlog_kaitai.values.json_documents import JsonDiff

#: Why `walk_images` stopped: all events are done, the output is full, or an event contradicts its table map.
DONE, FULL, MISMATCH = 0, 1, 2

#: Values in place of an offset: the value is NULL, or absent from the image.
NULL, ABSENT = -1, -2

#: Row kinds.
INSERT, BEFORE, AFTER, DELETE = 0, 1, 2, 3

#: Indexes into the state of `walk_images`: event, offset, row number within the event, and why it stopped.
EVENT, OFFSET, NUMBER, REASON, STATE_SIZE = range(5)

#: Columns of the array of programs: the images of a row (1 before plus 2 after); the length of the bitmap of
#: partial JSON columns in the after image, -1 if the event has no value options; the first step of either
#: image and the end, and the first hop of either image and the end.
WHICH, PARTIAL, STEPS, HOPS, PROGRAM_SIZE = 0, 1, 2, 5, 8


@kernel
def walk_images(walked: WalkInput, state: OutInts, output: FoundRows, counts: OutInts) -> int:
    """Find the offset of each value of each row, or only count the rows.

    `state`: int64 array, initially all 0; the next call continues from there if `state[REASON]` is set to 1.
    `counts`: int64 array, if not empty, the only output: the number of rows of each event, where an update
    counts once; of one that contradicts its table map -1, and one less for each row that was begun.
    Returns the number of rows found. `state[REASON]` is then DONE, FULL, or MISMATCH: event `state[EVENT]`
    contradicts its table map.
    """
    data, begins, ends, ids, program_of, programs, steps, _ = walked
    starts, events, numbers, changes, options = output
    rows = 0
    room = events.shape[0]
    width = starts.shape[0]
    counts_only = counts.shape[0] > 0
    event = state[EVENT]
    offset = state[OFFSET]
    number = state[NUMBER]
    is_begun = state[REASON] != 0
    while event < begins.shape[0]:
        program = program_of[event]
        end = ends[event]
        # Repeated for each row, these would be loaded each time, because outputs may overlap them.
        which, partial, name = programs[program, WHICH], programs[program, PARTIAL], ids[event]
        first, middle = programs[program, STEPS], programs[program, STEPS + 1]
        last = programs[program, STEPS + 2]
        of_before, of_after = (BEFORE, AFTER) if which == 3 else (DELETE, INSERT)
        is_wrong = False
        if not is_begun:
            is_begun = True
            offset = begins[event]
            number = 0
            has_bytes = (middle - first if which & 1 else 0) + (last - middle if which & 2 else 0) > 0
            has_bytes = has_bytes or partial >= 0
            is_wrong = offset < 0 or offset > end or end > data.shape[0] or (offset < end) != has_bytes
        while not is_wrong and (offset < end or (number == 0 and begins[event] == end)):
            if not counts_only and rows + 2 > room:
                state[EVENT] = event
                state[OFFSET] = offset
                state[NUMBER] = number
                state[REASON] = FULL
                return rows
            done = rows
            for side in range(2):
                if is_wrong or not (which >> side) & 1:
                    continue
                row = np.uint64(done)
                begin = middle if side else first
                stop = last if side else middle
                bits = partial if side else -1
                null_at, offset, option = open_image(data, offset, end, stop - begin, bits)
                is_wrong = offset > end
                if counts_only:
                    if not is_wrong:
                        offset = after_image(walked, program, side, null_at, offset, end)
                        is_wrong = offset > end
                    continue
                events[row] = name
                numbers[row] = number
                changes[row] = of_after if side else of_before
                options[row] = option
                if stop - begin < width:
                    for column in range(width):
                        starts[np.uint64(column), row] = ABSENT
                for step in range(begin, begin if is_wrong else stop):
                    # With a signed index, Numba would generate code for negative indexes.
                    here = np.uint64(step)
                    slot = np.uint64(steps[here, 0])
                    if is_null(data, null_at, step - begin):
                        starts[slot, row] = NULL
                        continue
                    starts[slot, row] = offset
                    offset = after_value(data, offset, end, steps[here, 1], steps[here, 2])
                    if offset > end:
                        is_wrong = True
                        break
                done += 1
            rows = rows if is_wrong else done
            number += 1
        if counts_only:
            counts[event] = ~number if is_wrong else number
        elif is_wrong:
            state[EVENT] = event
            state[REASON] = MISMATCH
            return rows
        event += 1
        is_begun = False
    state[EVENT] = event
    state[REASON] = DONE
    return rows


@inlined
def open_image(data: Bytes, offset: int, end: int, count: int, partial: int) -> Any:
    """The offsets of an image's null bits, its values, and its bitmap of partial JSON columns, -1 for none.

    `count`: number of its values.
    `partial`: the length of this bitmap, -1 if the image has no value options.
    The second offset exceeds `end` if the options are invalid, or if they or the null bits do.
    """
    option = np.int64(-1)
    if partial >= 0:
        if offset >= end:
            return offset, end + 1, option
        is_valid, is_none, after = value_options(data, offset)
        if is_none or not is_valid or after > end:
            return offset, end + 1, option
        if has_partial_bits(data, offset):
            option = after
            after += partial
        offset = after
    return offset, offset + len_null_bits(count), option


@inlined
def after_value(data: Bytes, offset: int, end: int, size: int, prefix: int) -> Any:
    """The offset after a value of `size` bytes, or with a length prefix; exceeds `end` if the value does."""
    if prefix == 0:
        return offset + size
    if offset + prefix > end:
        return end + 1
    return offset + prefix + length_prefix(data, offset, prefix)


@inlined
def after_image(walked: WalkInput, program: int, side: int, null_at: int, offset: int, end: int) -> Any:
    """The offset after the values of an image, whose null bits are valid; exceeds `end` if they do."""
    data, steps, hops = walked.data, walked.steps, walked.hops
    begin, stop = walked.programs[program, STEPS + side], walked.programs[program, STEPS + side + 1]
    hop, last_hop = walked.programs[program, HOPS + side], walked.programs[program, HOPS + side + 1]
    nulls = 0
    for bit in range((stop - begin) >> 3):
        nulls |= data[np.uint64(null_at + bit)]
    if (stop - begin) & 7:
        # Bits after the last column may be set.
        nulls |= data[np.uint64(offset - 1)] & ((1 << ((stop - begin) & 7)) - 1)
    if nulls == 0:
        while hop < last_hop and offset <= end:
            offset = after_value(data, offset + hops[hop, 0], end, 0, hops[hop, 1])
            hop += 1
        return offset
    for step in range(begin, stop):
        if offset <= end and not is_null(data, null_at, step - begin):
            offset = after_value(data, offset, end, steps[step, 1], steps[step, 2])
    return offset


#: Maximum number of rows and of values per batch.
MAX_ROWS, _MAX_VALUES = 1 << 18, 1 << 20

#: In tables of more columns than the first, those that no image has share a line of offsets if the images
#: have less than one column in so many. If that holds for some events only, wider tables are walked in parts.
_WIDE, _SPARSE, _VERY_WIDE = 64, 4, 1024

#: Unused elements between columns of offsets, so that a row's are not a power of two apart, for the cache.
_APART = 8

#: Size of rows per batch, in bytes, for very large events.
_MAX_BYTES = 32 << 20


#: The arrays of `LocatedRows` with an element for each row.
_OF_ROWS = ("events", "numbers", "changes", "options")


class LocatedRows(NamedTuple):
    """Rows found by the walk; see `FoundRows` for the arrays.

    `lines`: int64 array, the line of `starts` for each column, and for the updates of a row; if `is_compact`,
    0 for columns that no image has.
    `updates`: results of partial updates, for which offsets beyond `data` stand (see `partial_updates`): a
    document as text, or the update itself if the document before is not in the log.
    """

    data: Bytes
    starts: Ints
    events: Ints  # event numbers in `Images`
    numbers: Ints
    changes: Bytes
    options: Ints
    lines: Ints
    updates: Sequence[object] = ()

    @property
    def is_compact(self) -> bool:
        """Whether columns that no image has share the first line of `starts`."""
        return bool(self.lines[-1] < len(self.lines) - 1)

    def starts_of(self, column: int) -> Ints:
        """The offset of each value of a column."""
        starts: Ints = self.starts[self.lines[column]]
        return starts

    def has(self, column: int) -> bool:
        """Whether an image may contain a column."""
        return not self.is_compact or bool(self.lines[column])

    def part(self, begin: int, end: int) -> LocatedRows:
        """A range of the rows."""
        arrays: Any = {name: getattr(self, name)[begin:end] for name in _OF_ROWS}
        return self._replace(starts=self.starts[:, begin:end], **arrays)

    def select(self, rows: Ints) -> LocatedRows:
        """The given rows (row numbers)."""
        arrays: Any = {name: getattr(self, name)[rows] for name in _OF_ROWS}
        return self._replace(starts=np.ascontiguousarray(self.starts[:, rows]), **arrays)

    def update(self, column: int, row: int) -> object | None:
        """The result of a partial update, None for another value; for column -1, all updates of the row."""
        number = int(self.starts_of(column)[row]) - len(self.data) - 1 if self.updates else -1
        return self.updates[number] if number >= 0 else None

    @property
    def unknown(self) -> Bools:
        """Like `starts`: the values that are unknown, since the log lacks the document that they update."""
        is_unknown = np.array([*(isinstance(update, JsonDiff) for update in self.updates), False])
        return is_unknown[np.maximum(self.starts - len(self.data) - 1, -1)]

    def absent(self, names: Sequence[str], known: Sequence[int] = ()) -> pa.Array:
        """Of all column names, those absent from each image; null if none is absent.

        `known`: numbers of columns that are not listed for an INSERT.
        """
        images = np.vstack((self.starts == ABSENT, self.changes == INSERT))
        patterns, which = np.unique(images, axis=1, return_inverse=True)
        lists = []
        for pattern in patterns.T:
            is_absent = pattern[self.lines[: len(names)]]
            is_absent[list(known) if pattern[-1] else []] = False
            lists.append(list(compress(names, is_absent)) or None)
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
    """An event (its number in `Images`) contradicts its table map; all preceding rows have been found.

    `reason`: what is wrong with a value, if that is it.
    """

    def __init__(self, index: int, reason: BinlogError | None = None) -> None:
        super().__init__(index)
        self.index, self.reason = index, reason


def walk(images: Images, chosen: Ints, width: int, max_rows: int = MAX_ROWS) -> Iterator[LocatedRows]:
    """The rows of some events of the same table, in order.

    `chosen`: int64 array, numbers of events in `images`.
    `width`: number of columns of the table.
    `max_rows`: maximum number of rows per step, at least two.
    Raises `MismatchError`.
    """
    programs, program_of = images.programs()
    wrong = np.flatnonzero(~images.has_program[chosen])
    good = chosen[: wrong[0]] if len(wrong) else chosen
    for portion in images.portions(good):
        yield from located(WalkInput.of(portion, programs, program_of), width, max_rows)
    if len(wrong):
        raise MismatchError(int(chosen[wrong[0]]))


class WalkInput(NamedTuple):
    """Some events of a table: of each, the range of its images, the event number to report for its rows, and
    the number of its program.

    `programs`: int64 array of shape (p, PROGRAM_SIZE).
    `steps`: int64 array of shape (n, 3); a step is one value of an image: column number, length, and size of
    the length prefix; one of the last two is 0.
    `hops`: int64 array of shape (m, 2), merged steps for images without NULL: a number of bytes, then a
    length prefix of this size, if any.
    """

    data: Bytes
    begins: Ints
    ends: Ints
    ids: Ints
    program_of: Ints
    programs: IntTable
    steps: IntTable
    hops: IntTable

    @classmethod
    def of(
        cls, portion: tuple[Ints, Bytes, Ints, Ints], programs: list[ImageProgram | None], program_of: Ints
    ) -> WalkInput:
        """The input for a portion of `Images`, given its programs and the program of each of its events."""
        events, data, begins, ends = portion
        first, numbers = distinct(program_of[events])
        used = [programs[number] for number in program_of[events][first].tolist()]
        return cls(data, begins, ends, events, numbers, *joined([code for code in used if code is not None]))


class FoundRows(NamedTuple):
    """Output of `walk_images`: the event number, row number within the event, and row kind of each row.

    `starts`: int64 array, columns by rows: offset of each value with its length prefix, or NULL or ABSENT.
    `options`: offset of the bitmap of partial JSON columns or -1.
    An update yields two rows.
    """

    starts: OutIntTable
    events: OutInts
    numbers: OutInts
    changes: OutBytes
    options: OutInts


def joined(programs: Sequence[ImageProgram]) -> tuple[Ints, Ints, Ints]:
    """Programs, steps and hops as arrays for `walk_images`."""
    rows, step, hop = np.empty((len(programs), PROGRAM_SIZE), dtype=np.int64), 0, 0
    for row, program in zip(rows, programs, strict=True):
        row[:STEPS] = program.which, program.partial
        row[STEPS:HOPS] = step + np.cumsum([0, *program.counts])
        row[HOPS:] = hop + np.cumsum([0, *program.hop_counts])
        step, hop = row[HOPS - 1], row[-1]
    return rows, _stacked([code.steps for code in programs], 3), _stacked([code.hops for code in programs], 2)


def _stacked(arrays: list[Ints], width: int) -> Ints:
    return np.concatenate([np.zeros((0, width), dtype=np.int64), *arrays])


def count_images(walked: WalkInput) -> Ints:
    """The number of rows of each event, int64; below 0 for those that contradict their table map."""
    counts = np.empty(len(walked.ids), dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    none = FoundRows(nothing.reshape(0, 0), nothing, nothing, np.zeros(0, dtype=np.uint8), nothing)
    walk_images.run(walked, np.zeros(STATE_SIZE, dtype=np.int64), none, counts)
    return counts


def located(walked: WalkInput, width: int, max_rows: int) -> Iterator[LocatedRows]:
    """The rows of some events, as `walk` gives them."""
    for part, lines in _with_lines(walked, width):
        yield from _located(part, lines, max_rows)


def _with_lines(walked: WalkInput, width: int) -> Iterator[tuple[WalkInput, Ints]]:
    """The events in one or several parts, and the line of each column: see `LocatedRows`."""
    if width <= _WIDE:
        yield walked, _own_lines(width)
        return
    is_used = np.zeros(width, dtype=np.bool_)
    used = walked.programs[distinct_values(walked.program_of)]
    for first, last in used[:, (STEPS, HOPS - 1)].tolist():
        is_used[walked.steps[first:last, 0]] = True
    count = np.count_nonzero(is_used)
    if count * _SPARSE < width:
        lines = np.append(np.where(is_used, np.cumsum(is_used), 0), count + 1)
        columns, lengths = walked.steps[:, :1], walked.steps[:, 1:]
        yield walked._replace(steps=np.hstack((lines[columns], lengths))), lines
    elif width > _VERY_WIDE and ((used[:, HOPS - 1] - used[:, STEPS]) * _SPARSE < width).any():
        middle = len(walked.ids) // 2
        for part in (slice(0, middle), slice(middle, None)):
            begins, ends, ids, numbers = (values[part] for values in walked[1:5])
            own = walked._replace(begins=begins, ends=ends, ids=ids, program_of=numbers)
            yield from _with_lines(own, width)
    else:
        yield walked, _own_lines(width)


@lru_cache(maxsize=64)
def _own_lines(width: int) -> Ints:
    return np.arange(width + 1)


def _located(walked: WalkInput, lines: Ints, max_rows: int) -> Iterator[LocatedRows]:
    width = int(lines[-1])
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    events = walked.ids
    work = int((walked.ends - walked.begins).sum())
    # A row has at least one byte.
    room = max(min(max_rows, _MAX_VALUES // max(width, 1), work + len(events)), 2)
    while True:
        starts = np.empty((width, room + _APART), dtype=np.int64)
        of_rows, in_event, options = np.empty((3, room), dtype=np.int64)
        changes = np.empty(room, dtype=np.uint8)
        output = FoundRows(starts, of_rows, in_event, changes, options)
        count = walk_images.run(walked, state, output, np.zeros(0, dtype=np.int64))
        reason = int(state[REASON])
        if reason == MISMATCH:
            # Rows of the event that does not match are discarded.
            count = int(np.searchsorted(of_rows[:count], events[state[EVENT]]))
        if count:
            rows = LocatedRows(walked.data, *output, lines).part(0, count)
            yield from _pieces(rows) if work > _MAX_BYTES else (rows,)
        if reason == MISMATCH:
            raise MismatchError(int(events[int(state[EVENT])]))
        if reason != FULL:
            return
