"""Table maps and rows events of a block, and the programs that print the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import ROWS_TYPES, EventType, TableMapEvent
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.render.dump.block_columns import BlockColumns
from binlog_kaitai.render.dump.printer import Printer
from binlog_kaitai.render.dump.row_comments import MOST, RowPrograms, RowsHeader
from binlog_kaitai.render.dump.row_printer import content_of
from binlog_kaitai.rows.table_maps import newest_before

_ID = "table_id.value"
#: The scope of tables outside payloads; inside a payload, the scope is the payload's position in the log.
OUTSIDE = -1


class BlockTableMaps(NamedTuple):
    """The table maps of a block.

    `events` (int64 array): their indexes in the block.
    `distinct`: the distinct ones, each with its bytes.
    `numbers` (int64 array): the index of each in `distinct`.
    """

    events: Ints
    distinct: list[tuple[TableMapEvent, bytes]]
    numbers: Ints

    @property
    def ids(self) -> Ints:
        """The table ID of each."""
        ids = np.array([body.table_id.value for body, _ in self.distinct], dtype=np.int64)
        return ids[self.numbers]


class ParsedTableMaps:
    """The bodies of table maps by their bytes: the grammar parses each distinct content once."""

    def __init__(self) -> None:
        self._bodies: dict[bytes, TableMapEvent] = {}

    def begin(self) -> None:
        """Clear the cache if it is too large."""
        if len(self._bodies) >= MOST:
            self._bodies.clear()

    def read(self, block: Block) -> BlockTableMaps:
        """The table maps of a block, without unreadable ones."""
        events = block.rows_of(EventType.table_map_event)
        starts = block.starts[events] + block.header_length
        ends = np.maximum(block.body_ends(events), starts)
        first, which = distinct(group_ranges(block.data, starts, ends))
        parsed: list[tuple[TableMapEvent, bytes]] = []
        numbers = []
        for index in first.tolist():
            content = bytes(block.data[starts[index] : ends[index]])
            body = self._bodies.get(content)
            if body is None:
                try:
                    body = self._bodies[content] = block.event(int(events[index])).body
                except BinlogError:
                    numbers.append(-1)
                    continue
            numbers.append(len(parsed))
            parsed.append((body, content))
        number_of = np.array(numbers, dtype=np.int64)[which]
        is_readable = number_of >= 0
        return BlockTableMaps(events[is_readable], parsed, number_of[is_readable])


class RowsEvents:
    """The rows events of a block that are shown.

    `events` (int64 array): their indexes in the block.
    `starts`, `ends` (int64 arrays): start and end of their images in the block.
    `rows_headers`: distinct rows event headers.
    `rows_header_of`, `program_of` (int64 arrays): index of each event's header, and of its program; -1 for
    none, in which case the event reader prints it.
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
        self.rows_headers: list[RowsHeader] = []
        self.rows_header_of = self.program_of = np.full(len(order), -1, dtype=np.int64)

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
        programs: RowPrograms,
        printer: Printer,
        earlier: list[tuple[int, TableMapEvent]],
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
        earlier_ids = np.array([body.table_id.value for _, body in earlier], dtype=np.int64)
        ids = np.concatenate((earlier_ids, maps.ids))
        offsets = np.concatenate((np.full(len(earlier), -1, dtype=np.int64), events))
        earlier_scopes = np.array([scope for scope, _ in earlier], dtype=np.int64)
        of_maps = np.concatenate((earlier_scopes, scopes[events]))
        keys = _pairs(np.append(ids, self.ids), np.append(of_maps, scopes[self.events]))
        newest = newest_before(keys[: len(ids)], offsets, self.events, keys[len(ids) :], len(block) + 2)
        newest[np.append(offsets, -1)[newest] < closed[self.events]] = -1
        self._choices = choices = [(body, content_of(body)) for _, body in earlier]
        choices += maps.distinct
        number_of = np.concatenate((np.arange(len(earlier)), len(earlier) + maps.numbers, [-1])).astype(
            np.int64
        )
        table_of = number_of[newest]
        begins = group_ranges(block.data, self.begins, self.starts)
        self._table_of = table_of
        key = (begins * (len(choices) + 1) + table_of + 1) * 256 + block.types[self.events]
        first, which = distinct(key)
        known: dict[int, int] = {}
        rows_header_of, program_of = [], []
        for index in first.tolist():
            rows_header, program = self._program(programs, index, choices, int(table_of[index]), printer)
            rows_header_of.append(
                -1 if rows_header is None else known.setdefault(id(rows_header), len(known))
            )
            program_of.append(program)
            if rows_header is not None and len(known) > len(self.rows_headers):
                self.rows_headers.append(rows_header)
        self.rows_header_of = np.array(rows_header_of, dtype=np.int64)[which]
        self.program_of = np.array(program_of, dtype=np.int64)[which]
        self.program_of[
            self.starts == self.ends
        ] = -1  # of events without images, a text of its own is printed

    def table_map_of(self, event: int) -> TableMapEvent | None:
        """The table map that a rows event refers to; None for other events, or if it is missing."""
        index = int(np.searchsorted(self.events, event))
        is_known = index < len(self.events) and self.events[index] == event and self._table_of[index] >= 0
        return self._choices[self._table_of[index]][0] if is_known else None

    def _program(
        self,
        programs: RowPrograms,
        index: int,
        choices: Sequence[tuple[TableMapEvent, bytes]],
        table: int,
        printer: Printer,
    ) -> tuple[RowsHeader | None, int]:
        if table < 0:
            return None, -1
        body, content = choices[table]
        try:
            rows_header = printer.rows_headers.of(self.lines.block.event(int(self.events[index]), body))
            if rows_header is None:
                return None, -1
            return rows_header, programs.number_of(rows_header, body, content, printer.new_name(body))
        except BinlogError:
            return None, -1


def closed_before(block: Block, scopes: Ints) -> Ints:
    """For each event, the last one up to it that closed the tables of its scope (`context`); -2 for none."""
    numbers = np.arange(len(block))
    closed = np.full(len(block), -2, dtype=np.int64)
    for is_inside in (False, True):
        own = np.flatnonzero((scopes != OUTSIDE) == is_inside)
        closed[own] = np.maximum.accumulate(np.where(block.closes[own], numbers[own], -2))
    return closed


def _pairs(ones: Ints, others: Ints) -> Ints:
    """A number for each pair of values, equal for equal pairs."""
    (_, one), (distinct_others, other) = (np.unique(values, return_inverse=True) for values in (ones, others))
    return one.reshape(-1) * np.int64(len(distinct_others)) + other.reshape(-1)
