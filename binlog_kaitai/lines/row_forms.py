"""Changed rows as lines of text, written by one kernel directly from the bytes of the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import numpy as np

from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.groups import distinct, distinct_values
from binlog_kaitai.lines.row_line_kernel import (
    COPIED_AT_ONCE,
    FIRST,
    LEFT_COUNT,
    LINE,
    NEED,
    OF_EVENT,
    OFFSET,
    PIECE,
    STATE_SIZE,
    LineMemory,
    LineRows,
    put_row_lines,
)
from binlog_kaitai.lines.row_programs import (
    JSON,
    NO_LIMIT,
    SHORT_JSON,
    WHOLE_JSON,
    Line,
    TableLines,
    ValueStyle,
)
from binlog_kaitai.log.gather import take_ranges
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import AFTER, BEFORE, DELETE, INSERT, LocatedRows
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text.json_kernels import LEVEL, MAX_DEPTH
from binlog_kaitai.text.line_arrays import LineProgram, Pool, TextColumn, json_text, plain, write_lines
from binlog_kaitai.text.listed_values import NO_SCRATCH, QUOTED_SQL, SQL
from binlog_kaitai.values.schema import NameSource, Schema, is_mariadb

if TYPE_CHECKING:
    from binlog_kaitai.lines.masked_rows import MaskedRows


def left_values(
    table_lines: TableLines, located: LocatedRows, rows: Ints, left: Ints, longest: int
) -> list[bytes]:
    """The text of the values that the kernel left out."""
    texts, errors = np.empty(len(left), dtype=object), list[CellError]()
    for piece in distinct_values(left[:, 1]).tolist():
        chosen = np.flatnonzero(left[:, 1] == piece)
        number, tails, kind = table_lines.value_of(piece)
        own, columns = rows[left[chosen, 0]] + tails, table_lines.table.schema.columns
        column = columns[number] if number < len(columns) else None
        results = [located.update(number, row) for row in own.tolist()] if located.updates else ()
        for place, result in enumerate(results):
            if result is not None:
                texts[chosen[place]] = table_lines.style.result_text(result, column)
        if column is None or (all(result is not None for result in results) and results):
            continue
        cells = Cells.of(table_lines.table, column, located)
        for place in np.flatnonzero(cells.sizes(own) - cells.width.prefix > longest).tolist():
            texts[chosen[place]] = table_lines.style.long_text(cells, int(own[place]))
        is_whole = np.array([text is None for text in texts[chosen]], dtype=np.bool_)
        try:
            texts[chosen[is_whole]] = table_lines.style.left_texts(cells, own[is_whole], kind)
        except CellError as error:
            errors.append(error)
    if errors:
        raise min(errors, key=lambda error: error.row)
    return list(texts)


def with_left_texts(data: Bytes, ends: Ints, left: Ints, texts: list[bytes]) -> tuple[Bytes, Ints]:
    """Insert texts into lines where values were left out; returns the lines and their ends."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    # Alternately pieces of lines and texts.
    starts, sizes = np.empty((2, 2 * len(texts) + 1), dtype=np.int64)
    starts[::2] = np.concatenate(([0], left[:, 2]))
    sizes[::2] = np.diff(starts[::2], append=len(data))
    starts[1::2] = len(data) + np.cumsum(lengths) - lengths
    sizes[1::2] = lengths
    every = np.concatenate((data, np.frombuffer(b"".join(texts), dtype=np.uint8)))
    added = np.bincount(left[:, 0], weights=lengths, minlength=len(ends)).astype(np.int64)
    return take_ranges(every, starts, sizes)[0], ends + np.cumsum(added)


#: The change, by the kind of its first image.
CHANGES = {INSERT: "insert", BEFORE: "update", DELETE: "delete"}

#: The change, by the images of a program of `rows.row_images`.
_CHANGE_OF = {1: CHANGES[DELETE], 2: CHANGES[INSERT], 3: CHANGES[BEFORE]}

#: Initial capacity for values left out, in rows, and for the text of a document in SQL, in bytes.
_VALUES_LEFT_OUT, _SCRATCH = 1 << 10, 1 << 16


class RowLines(NamedTuple):
    """Lines of text of changed rows: the event of each row, its number within the event, text, line ends."""

    events: Ints
    numbers: Ints
    data: Bytes
    ends: Ints

    def select(self, rows: Ints) -> RowLines:
        """The given lines."""
        begins = np.concatenate(([0], self.ends[:-1]))[rows] if len(self.ends) else self.ends
        data, offsets = take_ranges(self.data, begins, self.ends[rows] - begins)
        return RowLines(self.events[rows], self.numbers[rows], data, offsets[1:])

    @classmethod
    def joined(cls, parts: list[RowLines]) -> RowLines:
        """Concatenate several."""
        sizes = np.cumsum([0] + [len(part.data) for part in parts])
        ends = [part.ends + size for part, size in zip(parts, sizes, strict=False)]
        events, numbers, data = (np.concatenate([part[index] for part in parts]) for index in range(3))
        return cls(events, numbers, data, np.concatenate(ends))


class OfEvents(NamedTuple):
    """Metadata shared by the rows of an event: numbers as arrays, GTIDs and origins as JSON text.

    The text is in `data`, or in the associated pool.
    """

    data: Bytes
    file: str
    schema: str
    table: str
    positions: Ints
    timestamps: Ints
    gtids: TextColumn
    server_ids: Ints
    origins: dict[str, TextColumn]
    is_mariadb: bool


def column_texts(data: Bytes, pool: Pool, column: TextColumn, count: int) -> list[bytes]:
    """The text of each of the first `count` rows of a column."""
    rows = np.arange(count)
    text, ends = write_lines(data, pool, [LineProgram(pool).column(column)], rows, rows * 0, rows)
    whole = bytes(text)
    return [whole[begin:end] for begin, end in pairwise([0, *ends.tolist()])]


#: The columns of an image; None for none.
Columns = Sequence[int] | None

_Key = TypeVar("_Key", bound=Hashable)


class UpdatedColumns(NamedTuple):
    """The columns of a row with partial updates, and those whose values these leave unknown."""

    columns: tuple[int, ...]
    unknown: tuple[int, ...]


class RowShape(NamedTuple):
    """What the rows of an image program have.

    `change`: the change.
    `before`, `after`: the columns of the images.
    `has_updates`: whether parts of documents are updated.
    """

    change: bytes
    before: Columns
    after: Columns
    has_updates: bool

    @classmethod
    def of(cls, program: ImageProgram) -> RowShape:
        """The shape of rows with a program."""
        change, (before, after) = _CHANGE_OF[program.which], program.columns()
        images = None if change == "insert" else before, None if change == "delete" else after
        return cls(change.encode(), *images, bool(program.updated))

    def without(self, names: Collection[str], schema: Schema) -> RowShape:
        """The shape without some columns."""
        if not names:
            return self
        before, after = (
            image if image is None else [index for index in image if schema.columns[index].name not in names]
            for image in (self.before, self.after)
        )
        return self._replace(before=before, after=after)


class Form:
    """A line format for changed rows.

    `style`: the format of values.
    `text_count`: number of texts per event that appear in the lines of its rows.
    `takes_unknown`: whether columns whose values a partial update leaves unknown are written, too.
    `masks`: columns to mask, or to leave out.
    `nameless`: the tables so far whose columns have no names in the logs.
    """

    style: ValueStyle
    text_count = 0
    takes_unknown = False
    masks: MaskedRows | None = None

    @cached_property
    def nameless(self) -> set[str]:
        """See :class:`Form`."""
        return set()

    def masked(self, masks: MaskedRows) -> Self:
        """This form, with columns masked or left out."""
        self.masks = masks
        return self

    def left_out(self, table: Table) -> set[str]:
        """The names of the columns that are left out."""
        return self.masks.left_out(table.schema) if self.masks else set()

    def of_events(self, events: OfEvents, pool: Pool) -> list[LineProgram]:
        """The texts of each event."""
        return []

    def describe(self, table_lines: TableLines, program: ImageProgram) -> list[tuple[int, ...]]:
        """The pieces of the lines, see `row_programs.Line`."""
        line = Line(table_lines, self.text_count)
        left_out = self.left_out(table_lines.table)
        self.put(line, table_lines, RowShape.of(program).without(left_out, table_lines.table.schema))
        return line.finish()

    def put(self, line: Line, table_lines: TableLines, shape: RowShape) -> None:
        """Add a change of this shape to a line."""
        raise NotImplementedError

    def writer(self, page: RowsPage, table: Table, events: Ints) -> LineWriter:
        """What writes the rows of a table in some events."""
        return LineWriter(page, table, events, self)

    def from_json(self, lines: bytes) -> Iterable[bytes]:
        """Convert lines of JSON to this format, if it is for people: they have no texts of single values."""
        raise NotImplementedError


class JsonForm(Form):
    """Lines of JSON, an object for each row."""

    text_count = 2

    def __init__(self, style: ValueStyle = JSON) -> None:
        self.style = style

    def of_events(self, events: OfEvents, pool: Pool) -> list[LineProgram]:
        """See :class:`Form`."""
        begin = LineProgram(pool).text(b'{"file": ' + json_text(events.file) + b', "position": ')
        begin.column(pool.numbers(events.positions)).text(', "row": ')
        end = LineProgram(pool).text(', "timestamp": ').column(pool.numbers(events.timestamps))
        end.text(', "gtid": ').column(events.gtids)
        end.text(', "server_id": ').column(pool.numbers(events.server_ids))
        for name, column in events.origins.items():
            end.text(f', "{name}": ').column(column)
        end.text(b', "schema": ' + json_text(events.schema) + b', "table": ' + json_text(events.table))
        return [begin, end.text(', "change": "')]

    def put(self, line: Line, table_lines: TableLines, shape: RowShape) -> None:
        """See :class:`Form`."""
        change, before, after, has_updates = shape
        line.event(0).number().event(1)
        put_image(line.text(change + b'", "before": '), table_lines, before)
        put_image(line.text(b', "after": '), table_lines, after, is_second=before is not None)
        if has_updates:
            line.text(b', "diffs": ').updates()
        line.text(self.end(table_lines))

    def end(self, table_lines: TableLines) -> bytes:
        """The text after the images."""
        return b"}\n"


class ImageForm(Form):
    """The before or after images as JSON objects; nothing for a change without that image."""

    style = WHOLE_JSON

    def __init__(self, *, is_after: bool) -> None:
        self._is_after = is_after

    def put(self, line: Line, table_lines: TableLines, shape: RowShape) -> None:
        """See :class:`Form`."""
        columns = shape.after if self._is_after else shape.before
        if columns is not None:
            put_image(line, table_lines, columns, is_second=self._is_after and shape.before is not None)


def put_image(line: Line, table_lines: TableLines, columns: Columns, *, is_second: bool = False) -> None:
    """Add an image as a JSON object, or null; `is_second` selects the after image of an update."""
    if columns is None:
        line.text(table_lines.style.null)
        return
    between = b"{"
    for index in columns:
        name = plain(json.dumps(table_lines.table.schema.columns[index].name, ensure_ascii=False)).encode()
        line.text(between + table_lines.style.of_json(name) + b": ").value(index, is_second=is_second)
        between = b", "
    line.text(b"}" if columns else b"{}")


class LineBuffer:
    """Output and memory of `put_row_lines` for some lines.

    `size`: the likely size of the lines, in bytes.
    `most_left`: number of values that a line may leave out.
    """

    def __init__(self, dialect: int, count: int, size: int, most_left: int) -> None:
        self.memory = LineMemory(
            np.empty(_SCRATCH if dialect in (SQL, QUOTED_SQL) else 0, dtype=np.uint8),
            np.empty(MAX_DEPTH * LEVEL, dtype=np.int64),
            np.zeros(STATE_SIZE, dtype=np.int64),
            np.empty((_VALUES_LEFT_OUT, 3), dtype=np.int64),
            np.empty(size + 4096, dtype=np.uint8),
            np.empty(count, dtype=np.int64),
        )
        self._most_left = most_left

    def grow(self) -> None:
        """Make room, if the kernel has not written all lines."""
        scratch, _, state, left, out, ends = self.memory
        if state[NEED] == NO_SCRATCH:
            self.memory = self.memory._replace(scratch=np.empty(2 * len(scratch), dtype=np.uint8))
            return
        offset, line = int(state[OFFSET]), int(state[LINE])
        rest = (len(ends) - line) * (offset // max(line, 1)) * 9 // 8
        wider = np.empty(offset + max(int(state[NEED]) + 4096, rest), dtype=np.uint8)
        wider[:offset] = out[:offset]
        if state[LEFT_COUNT] + self._most_left > len(left):
            left = np.concatenate((left, np.empty((len(left) + self._most_left, 3), dtype=np.int64)))
        self.memory = self.memory._replace(out=wider, left=left)

    def lines(self) -> tuple[Bytes, Ints, Ints]:
        """The lines, their ends, and the values that are left out, see `LineMemory`."""
        _, _, state, left, out, ends = self.memory
        return out[: int(state[OFFSET])], ends, left[: int(state[LEFT_COUNT])]


class LineWriter:
    """Writes the lines of rows of a table; the texts of its events are written once for a page.

    `events` (int64 array): numbers of the events in `page.images`, ascending, that may have rows.
    """

    def __init__(self, page: RowsPage, table: Table, events: Ints, form: Form) -> None:
        self._page, self._table, self._events, self._form = page, table, events, form
        table_lines: TableLines | None = table.memory.get(form)
        if table_lines is None:
            style = form.masks.style_of(form.style, table.schema) if form.masks else form.style
            table_lines = table.memory[form] = TableLines(table, style, form.describe)
        self._table_lines = table_lines
        self._numbers = np.full(len(events), -1, dtype=np.int64)

    @cached_property
    def _texts(self) -> tuple[Bytes, Ints]:
        """The texts of the events, concatenated, and the start of each."""
        return _of_events(self._page, self._table, self._events, self._form)

    def lines(self, located: LocatedRows, updated: UpdatedColumns | None = None) -> RowLines:
        """The lines of some rows; `updated`: what partial updates concern, the same for all of them.

        Raises `CellError`: a value is invalid.
        """
        if located.updates and updated is None and not self._form.takes_unknown:
            keys = [self._updated(located, row) for row in range(len(located.events))]
            for row in np.flatnonzero(located.changes == AFTER).tolist():
                keys[row - 1] = keys[row]
            return lines_in_order(located, keys, self.lines)
        of_rows, in_event = located.events, located.numbers
        rows = np.arange(len(of_rows))
        is_after = located.changes == AFTER
        if is_after.any():
            rows = np.flatnonzero(~is_after)
            of_rows, in_event = of_rows[rows], in_event[rows]
        page, table_lines, count = self._page, self._table_lines, len(rows)
        if count and self._table.schema.names_from is NameSource.NONE:
            self._form.nameless.add(self._table.schema.full_name)
        indexes = self._event_indexes(of_rows, updated)
        which = rows, indexes, page.numbered(of_rows, in_event), self._numbers
        arrays, (texts, text_limits) = table_lines.arrays(), self._texts
        pieces = for_lines(arrays.pieces, located)
        programs = arrays._replace(pieces=pieces, texts=texts, text_limits=text_limits)
        # Placeholders refer to the bytes of the block.
        longest = table_lines.style.longest if located.data is page.block.data else NO_LIMIT
        dialect, line_rows = table_lines.style.dialect, LineRows(located.data, *flat(located.starts), *which)
        buffer = LineBuffer(dialect, count, count * table_lines.line_size, len(pieces))
        while not put_row_lines.run(dialect, line_rows, programs, longest, buffer.memory):
            buffer.grow()
        data, ends, left = buffer.lines()
        table_lines.line_size = len(data) // max(count, 1) * 17 // 16 + 16
        if len(left):
            data, ends = self._with_left(located, rows, data, ends, left, longest)
        return RowLines(of_rows, in_event, data, ends)

    def _updated(self, located: LocatedRows, row: int) -> UpdatedColumns:
        updates = located.update(-1, row)
        names = updates if isinstance(updates, dict) else {}
        updated = tuple(column.index for column in self._table.schema.columns if column.name in names)
        unknown = located.unknown[:, row][located.lines[:-1]]
        return UpdatedColumns(updated, tuple(np.flatnonzero(unknown).tolist()))

    def _with_left(
        self, located: LocatedRows, rows: Ints, data: Bytes, ends: Ints, left: Ints, longest: int
    ) -> tuple[Bytes, Ints]:
        """The lines and their ends, with the values that the kernel left out."""
        if self._table_lines.style.dialect:
            texts = left_values(self._table_lines, located, rows, left, longest)
        else:
            left = left[np.flatnonzero(np.diff(left[:, 0], prepend=-1))]
            some = _some(located, rows[left[:, 0]])
            writer = LineWriter(
                self._page, self._table, distinct_values(some.events), _short(self._form.masks)
            )
            texts = list(self._form.from_json(bytes(writer.lines(some).data)))
        return with_left_texts(data, ends, left, texts)

    def _event_indexes(self, of_rows: Ints, updated: UpdatedColumns | None) -> Ints:
        """The index of each row's event in `events`; sets the number of its program."""
        starts = np.flatnonzero(np.diff(of_rows, prepend=-1))
        events = of_rows[starts]
        indexes = np.searchsorted(self._events, events)
        programs, program_of = self._page.images.programs()
        used, own = distinct(program_of[events])
        chosen = [programs[program_of[events[index]]] for index in used.tolist()]
        if updated is not None:
            chosen = [program and program.for_updates(*updated) for program in chosen]
        numbers = self._table_lines.numbers_of(chosen)
        self._numbers[indexes] = np.array(numbers, dtype=np.int64)[own]
        return np.repeat(indexes, np.diff(starts, append=len(of_rows)))


@lru_cache(16)
def _short(masks: MaskedRows | None) -> Form:
    form = JsonForm(SHORT_JSON)
    form.masks = masks
    return form


def lines_in_order(
    located: LocatedRows, keys: Sequence[_Key], write: Callable[[LocatedRows, _Key], RowLines]
) -> RowLines:
    """The lines of rows that are written group by group, by their keys."""
    groups: dict[_Key, list[int]] = {}
    for row, key in enumerate(keys):
        groups.setdefault(key, []).append(row)
    parts = []
    for key, rows in groups.items():
        try:
            parts.append(write(located if len(groups) == 1 else located.select(np.array(rows)), key))
        except CellError as error:
            raise CellError(rows[error.row], error.error) from error
    whole = RowLines.joined(parts)
    return whole if len(groups) == 1 else whole.select(np.lexsort((whole.numbers, whole.events)))


def for_lines(pieces: Ints, located: LocatedRows) -> Ints:
    """The pieces with the lines of `LocatedRows.starts` in place of the columns."""
    if not located.is_compact:
        return pieces
    lines = np.where(pieces[:, PIECE] == OF_EVENT, pieces[:, FIRST], located.lines[pieces[:, FIRST]])
    pieces = pieces.copy()
    pieces[:, FIRST] = lines
    return pieces


def flat(starts: Ints) -> tuple[Ints, int, int]:
    """Offsets of values for `put_row_lines`: an array, the index of the first in it, and that of a column."""
    item, base = starts.itemsize, starts if starts.base is None else starts.base
    if not base.flags.c_contiguous or starts.strides[1] != item:
        base = starts = np.ascontiguousarray(starts)
    first = starts.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return base.reshape(-1), first // item, starts.strides[0] // item


def _of_events(page: RowsPage, table: Table, events: Ints, form: Form) -> tuple[Bytes, Ints]:
    """The texts of each event, concatenated, and the start of each."""
    count = form.text_count
    if not count:
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    rows, block, pool = page.images.rows[events], page.block, page.pool
    header = block.header_of(rows)
    gtids = page.gtids.column(rows)
    stamps, server_ids = (header.numbers(name).astype(np.int64) for name in ("timestamp", "server_id"))
    names, positions, origins = table.key, block.positions[rows], _origins(page, rows)
    of_mariadb, place = is_mariadb(block.layout), (block.data, block.file, *names)
    metadata = OfEvents(*place, positions, stamps, gtids, server_ids, origins, of_mariadb)
    of_rows, program_of = np.repeat(np.arange(len(events)), count), np.tile(np.arange(count), len(events))
    # The bytes after the last text.
    programs = [*form.of_events(metadata, pool), LineProgram(pool).text(" " * COPIED_AT_ONCE)]
    of_rows, program_of = np.append(of_rows, 0), np.append(program_of, count)
    data, ends = write_lines(block.data, pool, programs, of_rows, program_of, of_rows)
    return data, np.concatenate(([0], ends[:-1]))


def _origins(page: RowsPage, rows: Ints) -> dict[str, TextColumn]:
    """The columns of `page.origins` for some events of the block."""
    return {
        name: column if column.constant is not None else column.select(rows)
        for name, column in page.origins.items()
    }


def _some(located: LocatedRows, rows: Ints) -> LocatedRows:
    """The given rows, with both images of updates."""
    is_update = located.changes[rows] == BEFORE
    return located.select(np.sort(np.concatenate((rows, rows[is_update] + 1))))


def unnamed(page: RowsPage, table: Table, event: int, otherwise: str = "") -> UsageError:
    """The error for an event of a table without known column names; `otherwise`: what else can be done."""
    name = table.schema.full_name
    if table.mismatch:
        reason = f"the definition of {name} does not match these rows: {table.mismatch}; "
        reason += "pass its CREATE TABLE from when they were logged with --ddl FILE"
    else:
        reason = f"the log does not have the column names of {name}; pass its CREATE TABLE with --ddl FILE"
        reason += " (mysqldump --no-data) or --ddl mysql://USER@HOST/, or read the earlier log that has it"
    position = int(page.block.positions[page.images.rows[event]])
    return UsageError(reason + otherwise, file=page.block.file, position=position)
