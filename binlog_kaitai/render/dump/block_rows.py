"""Table maps and rows events of a block, and the programs that print the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.context import StoredTableMap
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType, TableMapEvent
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.render.dump.block_columns import BlockColumns
from binlog_kaitai.render.dump.printer import Printer
from binlog_kaitai.render.dump.row_comments import MOST
from binlog_kaitai.rows.table_maps import newest_before

_ID = "table_id.value"
#: The scope of tables outside payloads; inside a payload, the scope is the payload's position in the log.
OUTSIDE = -1


class BlockTableMaps(NamedTuple):
    """The table maps of a block.

    `events` (int64 array): their indexes in the block.
    `distinct`: the distinct ones.
    `numbers` (int64 array): the index of each in `distinct`.
    """

    events: Ints
    distinct: list[StoredTableMap]
    numbers: Ints

    @property
    def ids(self) -> Ints:
        """The table ID of each."""
        ids = np.array([one.table_id for one in self.distinct], dtype=np.int64)
        return ids[self.numbers]


class ParsedTableMaps:
    """Table maps by their bytes: the grammar parses each distinct content once."""

    def __init__(self) -> None:
        self._stored: dict[bytes, StoredTableMap] = {}

    def begin(self) -> None:
        """Clear the cache if it is too large."""
        if len(self._stored) >= MOST:
            self._stored.clear()

    def read(self, block: Block) -> BlockTableMaps:
        """The table maps of a block, without unreadable ones."""
        events = block.rows_of(EventType.table_map_event)
        starts = block.starts[events] + block.header_length
        ends = np.maximum(block.body_ends(events), starts)
        first, which = distinct(group_ranges(block.data, starts, ends))
        parsed: list[StoredTableMap] = []
        numbers = []
        for index in first.tolist():
            content = bytes(block.data[starts[index] : ends[index]])
            stored = self._stored.get(content)
            if stored is None:
                try:
                    body = block.event(int(events[index])).body
                    stored = self._stored[content] = StoredTableMap(body)
                except BinlogError:
                    numbers.append(-1)
                    continue
            numbers.append(len(parsed))
            parsed.append(stored)
        number_of = np.array(numbers, dtype=np.int64)[which]
        is_readable = number_of >= 0
        return BlockTableMaps(events[is_readable], parsed, number_of[is_readable])


class RowsEvents:
    """The rows events of a block that are shown.

    `events` (int64 array): their indexes in the block.
    `starts`, `ends` (int64 arrays): start and end of their images in the block.
    `program_of` (int64 array): the number of each event's program; -1 for none, in which case the event
    reader prints it.
    """

    def __init__(self, lines: BlockColumns, is_shown: Bools) -> None:
        self.lines, self._is_shown = lines, is_shown
        parts = [self._part(kind) for kind in lines.block.kinds if kind in ROWS_TYPES]
        parts = [part for part in parts if part is not None]
        joined = [np.concatenate(values) for values in zip(*parts, strict=True)]
        if not joined:
            joined = [np.zeros(0, dtype=np.int64)] * 5
        order = np.argsort(joined[0], kind="stable")
        self.events, self.ids, self.begins, self.starts, self.ends = (values[order] for values in joined)
        self.program_of = np.full(len(order), -1, dtype=np.int64)

    def _part(self, kind: int) -> tuple[Ints, ...] | None:
        block = self.lines.block
        body = block.body(kind)
        if "images" not in body:
            return None
        matches = self._is_shown[block.rows_of(kind)] & body.matches & (body.pos == body.size)
        events = block.rows_of(kind)[matches]
        starts, lengths = (values[matches] for values in body.ranges("images"))
        ids = body.numbers(_ID)[matches].astype(np.int64)
        return events, ids, block.starts[events] + block.header_length, starts, starts + lengths

    def find(
        self,
        printer: Printer,
        earlier: list[tuple[int, StoredTableMap]],
        maps: BlockTableMaps,
        reach: tuple[Ints, Ints],
    ) -> None:
        """Find the programs for all events.

        `printer`: provides headers, the bytes of table maps, and new database names.
        `earlier`: the table maps of earlier blocks, with their scopes.
        `maps`: the block's own table maps.
        `reach` (int64 arrays): the scope of each event, whose rows belong to tables of the same
        scope, and the event that closed the tables before it (`closed_before`).
        """
        scopes, closed = reach
        block, events = self.lines.block, maps.events
        earlier_ids = np.array([one.table_id for _, one in earlier], dtype=np.int64)
        ids = np.concatenate((earlier_ids, maps.ids))
        offsets = np.concatenate((np.full(len(earlier), -1, dtype=np.int64), events))
        earlier_scopes = np.array([scope for scope, _ in earlier], dtype=np.int64)
        of_maps = np.concatenate((earlier_scopes, scopes[events]))
        keys = combined(np.append(ids, self.ids), np.append(of_maps, scopes[self.events]))
        newest = newest_before(keys[: len(ids)], offsets, self.events, keys[len(ids) :], len(block) + 2)
        newest[np.append(offsets, -1)[newest] < closed[self.events]] = -1
        self._choices = [*(one for _, one in earlier), *maps.distinct]
        number_of = np.concatenate((np.arange(len(earlier)), len(earlier) + maps.numbers, [-1])).astype(
            np.int64
        )
        table_of = number_of[newest]
        begins = group_ranges(block.data, self.begins, self.starts)
        self._table_of = table_of
        first, which = distinct(combined(begins, table_of, block.types[self.events]))
        program_of = [self._program(printer, index, int(table_of[index])) for index in first.tolist()]
        self.program_of = np.array(program_of, dtype=np.int64)[which]
        # Of events without images, a text of its own is printed.
        self.program_of[self.starts == self.ends] = -1

    def table_map_of(self, event: int) -> TableMapEvent | None:
        """The table map that a rows event refers to; None for other events, or if it is missing."""
        index = int(np.searchsorted(self.events, event))
        is_known = index < len(self.events) and self.events[index] == event and self._table_of[index] >= 0
        return self._choices[self._table_of[index]].body if is_known else None

    def _program(self, printer: Printer, index: int, table: int) -> int:
        if table < 0:
            return -1
        stored, programs = self._choices[table], printer.row_printer.programs
        try:
            rows_header = printer.rows_headers.of(self.lines.block.event(int(self.events[index])))
            if rows_header is None:
                return -1
            number = programs.of_stored.get((rows_header, stored))
            if number is None:
                number = programs.number_of(rows_header, stored.body, printer.new_name(stored.body))
                programs.of_stored[rows_header, stored] = number
            return -1 if programs[number].is_cut else number
        except BinlogError:
            return -1


def closed_before(block: Block, scopes: Ints) -> Ints:
    """For each event, the last one up to it that closed the tables of its scope (`context`); -2 for none."""
    numbers = np.arange(len(block))
    closed = np.full(len(block), -2, dtype=np.int64)
    for is_inside in (False, True):
        own = np.flatnonzero((scopes != OUTSIDE) == is_inside)
        closed[own] = np.maximum.accumulate(np.where(block.closes[own], numbers[own], -2))
    return closed


def combined(*keys: Array) -> Ints:
    """A number for each combination of numbers, equal for equal combinations."""
    joined, span = np.zeros(len(keys[0]), dtype=np.int64), 1
    for key in keys if len(keys[0]) else ():
        low, high = int(key.min()), int(key.max())
        if low == high:
            continue
        if span * (high - low + 1) >= 1 << 62:
            (_, key), low = distinct(key), 0
            high = int(key.max())
        if span * (high - low + 1) >= 1 << 62:
            _, joined = distinct(joined)
            span = int(joined.max()) + 1
        joined = joined * (high - low + 1) + (key - low)
        span *= high - low + 1
    return joined
