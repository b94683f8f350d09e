"""Table maps and rows events of a block, and the programs that print the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.context import StoredTableMap
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType, TableMapEvent
from binlog_kaitai.dump.block_columns import BlockColumns
from binlog_kaitai.dump.printer import Printer
from binlog_kaitai.dump.row_comments import MOST_HEADERS
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Ints
from binlog_kaitai.kernels.groups import distinct, group_ranges
from binlog_kaitai.log.block import Block
from binlog_kaitai.rows.table_links import Links, MapsInForce


class BlockTableMaps(NamedTuple):
    """The table maps of a block.

    `events` (int64 array): their indexes in the block, without unreadable ones.
    `links`: links rows events to them.
    `stored`: the distinct ones, in the order of `Links.firsts`, None for an unreadable one; then those of
    earlier blocks.
    """

    events: Ints
    links: Links
    stored: list[StoredTableMap | None]

    @property
    def numbers(self) -> Ints:
        """The index of each of `events` in `stored`."""
        return self.links.of_events[self.events]


class ParsedTableMaps:
    """Table maps by their bytes: the grammar parses each distinct content once."""

    def __init__(self) -> None:
        self._stored: dict[bytes, StoredTableMap] = {}

    def begin(self) -> None:
        """Clear the cache if it is too large."""
        if len(self._stored) >= MOST_HEADERS:
            self._stored.clear()

    def read(self, block: Block, earlier: MapsInForce[StoredTableMap]) -> BlockTableMaps:
        """The table maps of a block; `earlier`: those before it."""
        links = earlier.link(block)
        stored = [self._stored_at(block, row) for row in links.firsts.tolist()]
        events = block.rows_of(EventType.table_map_event)
        if None in stored:
            is_readable = np.array([table_map is not None for table_map in stored], dtype=np.bool_)
            events = events[is_readable[links.of_events[events]]]
        return BlockTableMaps(events, links, [*stored, *earlier.known.values()])

    def _stored_at(self, block: Block, row: int) -> StoredTableMap | None:
        start = int(block.starts[row]) + block.header_length
        content = bytes(block.data[start : int(block.body_ends(np.array([row]))[0])])
        if content not in self._stored:
            try:
                self._stored[content] = StoredTableMap(block.event(row).body)
            except BinlogError:
                return None
        return self._stored[content]


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
            joined = [np.zeros(0, dtype=np.int64)] * 4
        order = np.argsort(joined[0], kind="stable")
        self.events, self.begins, self.starts, self.ends = (values[order] for values in joined)
        self.program_of = np.full(len(order), -1, dtype=np.int64)

    def _part(self, kind: int) -> tuple[Ints, ...] | None:
        block = self.lines.block
        body = block.body(kind)
        if "images" not in body:
            return None
        matches = self._is_shown[block.rows_of(kind)] & body.matches & (body.pos == body.size)
        events = block.rows_of(kind)[matches]
        starts, lengths = (values[matches] for values in body.ranges("images"))
        return events, block.starts[events] + block.header_length, starts, starts + lengths

    def find(self, printer: Printer, maps: BlockTableMaps) -> None:
        """Find the programs for all events.

        `printer`: provides headers, the bytes of table maps, and new database names.
        """
        block = self.lines.block
        self._stored, self._table_of = [*maps.stored, None], maps.links.of_events[self.events]
        begins = group_ranges(block.data, self.begins, self.starts)
        first, which = distinct(combined(begins, self._table_of, block.types[self.events]))
        program_of = [self._program(printer, index) for index in first.tolist()]
        self.program_of = np.array(program_of, dtype=np.int64)[which]
        # Of events without images, a text of its own is printed.
        self.program_of[self.starts == self.ends] = -1

    def table_map_of(self, event: int) -> TableMapEvent | None:
        """The table map that a rows event refers to; None for other events, or if it is missing."""
        index = int(np.searchsorted(self.events, event))
        is_known = index < len(self.events) and self.events[index] == event
        stored = self._stored[self._table_of[index]] if is_known else None
        return None if stored is None else stored.body

    def _program(self, printer: Printer, index: int) -> int:
        stored, programs = self._stored[self._table_of[index]], printer.row_printer.programs
        if stored is None:
            return -1
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
