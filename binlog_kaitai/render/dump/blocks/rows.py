"""Table maps and rows events of a block: which program prints the rows of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.rows.groups import distinct, group_ranges
from binlog_kaitai.columns.rows.tables import newest_before
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import ROWS_TYPES, EventType
from binlog_kaitai.render.dump.blocks.columns import Lines
from binlog_kaitai.render.dump.row_programs import MOST, Head, Heads, Programs

_ID, _END = "table_id.value", "is_statement_end"


class TableMaps:
    """The bodies of table maps by their bytes: the grammar reads each content once."""

    def __init__(self) -> None:
        self._bodies: dict[bytes, Any] = {}

    def begin(self) -> None:
        """Forget them if there are too many."""
        if len(self._bodies) >= MOST:
            self._bodies.clear()

    def read(self, block: Block) -> tuple[Any, list[tuple[Any, bytes]], Any]:
        """The table maps of a block: their events, distinct ones with their bytes, and which each is.

        Those that cannot be read are left out.
        """
        events = block.rows_of(EventType.table_map_event)
        starts = block.starts[events] + block.header_length
        ends = np.maximum(block.body_ends(events), starts)
        first, which = distinct(group_ranges(block.data, starts, ends))
        made: list[tuple[Any, bytes]] = []
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
            numbers.append(len(made))
            made.append((body, content))
        found = np.array(numbers, dtype=np.int64)[which]
        return events[found >= 0], made, found[found >= 0]


class RowsEvents:
    """The rows events of a block.

    Attributes
    ----------
    events : int64 array
        Their numbers in the block.
    is_end : bool array
        Which end a statement.
    starts, ends : int64 arrays
        Where their images lie in the block.
    heads : list of Head
        Distinct beginnings.
    head_of, program_of : int64 arrays
        The number of each event's beginning, and of its program; -1 for none: the reader prints it.
    is_left_out : bool array
        Which rows are left out for the sake of their tables.
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        parts = [self._part(kind) for kind in lines.block.kinds if kind in ROWS_TYPES]
        parts = [part for part in parts if part is not None]
        joined = [np.concatenate(values) for values in zip(*parts, strict=True)]
        if not joined:
            joined = [np.zeros(0, dtype=kind) for kind in (np.int64, np.int64, np.bool_, *[np.int64] * 3)]
        order = np.argsort(joined[0], kind="stable")
        self.events, self.ids, self.is_end, self.begins, self.starts, self.ends = (
            values[order] for values in joined
        )
        self.heads: list[Head] = []
        self.head_of = self.program_of = np.full(len(order), -1, dtype=np.int64)
        self.is_left_out = np.zeros(len(order), dtype=np.bool_)

    def _part(self, kind: int) -> tuple[Any, ...] | None:
        block = self.lines.block
        fits, body = self.lines.fits(kind)
        if "images" not in body:
            return None
        events = block.rows_of(kind)[fits]
        starts, lengths = (values[fits] for values in body.ranges("images"))
        ids = body.numbers(_ID)[fits].astype(np.int64)
        ends = np.broadcast_to(np.asarray(body[_END]), len(fits))[fits].astype(np.bool_)
        return events, ids, ends, block.starts[events] + block.header_length, starts, starts + lengths

    def find(
        self,
        programs: Programs,
        heads: Heads,
        printer: Any,
        earlier: list[tuple[int, Any]],
        maps: tuple[Any, Any, Any],
        scopes: Any = None,
    ) -> None:
        """Find the programs of all events.

        Parameters
        ----------
        programs, heads
            Those that were seen.
        printer
            Knows the bytes of the table maps, and other names of databases.
        earlier
            The table maps of earlier blocks with their scopes.
        maps
            The block's own table maps, see `TableMaps.read`.
        scopes : int64 array or None
            The scope of each event: its rows are of the tables of the same scope. None for one scope.
        """
        block, (events, made, which) = self.lines.block, maps
        map_ids = np.array([body.table_id.value for body, _ in made], dtype=np.int64)[which]
        earlier_ids = np.array([body.table_id.value for _, body in earlier], dtype=np.int64)
        ids = np.concatenate((earlier_ids, map_ids))
        places = np.concatenate((np.full(len(earlier), -1, dtype=np.int64), events))
        newest = newest_before(ids, places, self.events, self.ids, len(block) + 2)
        # What is left out goes by the id alone.
        self._map_of = np.append(places, -1)[newest]
        if scopes is not None:
            earlier_scopes = np.array([scope for scope, _ in earlier], dtype=np.int64)
            of_maps = np.concatenate((earlier_scopes, scopes[events]))
            keys = _pairs(np.append(ids, self.ids), np.append(of_maps, scopes[self.events]))
            wanted = keys[len(ids) :]
            newest = newest_before(keys[: len(ids)], places, self.events, wanted, len(block) + 2)
        choices = [printer.quick.content_of(body) for _, body in earlier] + made
        number_of = np.concatenate((np.arange(len(earlier)), len(earlier) + which, [-1])).astype(np.int64)
        table_of = number_of[newest]
        begins = group_ranges(block.data, self.begins, self.starts)
        key = (begins * (len(choices) + 1) + table_of + 1) * 256 + block.types[self.events]
        first, which = distinct(key)
        known: dict[int, int] = {}
        head_of, program_of = [], []
        for index in first.tolist():
            head, program = self._program(programs, heads, index, choices, int(table_of[index]), printer)
            head_of.append(-1 if head is None else known.setdefault(id(head), len(known)))
            program_of.append(program)
            if head is not None and len(known) > len(self.heads):
                self.heads.append(head)
        self.head_of = np.array(head_of, dtype=np.int64)[which]
        self.program_of = np.array(program_of, dtype=np.int64)[which]

    def leave_out(self, maps: Any, ignored: set[int]) -> None:
        """Leave out the rows of tables, up to the end of their statements.

        Parameters
        ----------
        maps : int64 array
            The block's table maps whose rows are left out.
        ignored
            Ids of the tables of the statement that the block goes on with whose rows are left out.
        """
        places = self._map_of
        ends = np.append(self.events[self.is_end], -1)
        end_before = ends[np.searchsorted(ends[:-1], self.events) - 1]
        self.is_left_out = np.isin(places, maps) & (end_before < places)
        self.is_left_out |= (places < 0) & (end_before < 0) & np.isin(self.ids, list(ignored))

    def _program(
        self, programs: Programs, heads: Heads, index: int, choices: list[Any], table: int, printer: Any
    ) -> tuple[Head | None, int]:
        body, content = choices[table] if table >= 0 else (None, None)
        if body is None or content is None:
            return None, -1
        try:
            head = heads.of(self.lines.block.event(int(self.events[index]), body))
        except BinlogError:
            return None, -1
        if head is None:
            return None, -1
        program = programs.number_of(head, body, content, printer.new_name(body))
        return (head, program) if program >= 0 else (None, -1)


def _pairs(ones: Any, others: Any) -> Any:
    """A number for each pair of values, the same for the same pair."""
    (_, one), (found, other) = (np.unique(values, return_inverse=True) for values in (ones, others))
    return one.reshape(-1) * np.int64(len(found)) + other.reshape(-1)
