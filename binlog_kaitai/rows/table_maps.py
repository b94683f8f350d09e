"""Finds the table map of each rows event: the latest preceding one with the same table id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.core.context import MAX_TABLE_MAPS
from binlog_kaitai.core.grammar import EventType, TableMapEvent
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.log.line_arrays import Column, Pool
from binlog_kaitai.rows.closings import Closings
from binlog_kaitai.rows.tables import in_force, last_of_each, newest_before

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Ints
    from binlog_kaitai.log.gather import Gathered


_ID = "table_id.value"
_NAMES = ("schema_name", "table_name")


class _Known(NamedTuple):
    """A table map of an earlier block: its event, and its names as JSON text."""

    event: Event
    names: tuple[bytes, ...]


class TableMaps:
    """Tracks the table maps of a file, block by block."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._closings = Closings()
        self._block: Block | None = None

    def begin(self, block: Block, pool: Pool) -> None:
        """Process the table maps of a block."""
        self._block = block
        self._pool = pool
        self._rows = block.rows_of(EventType.table_map_event)
        body = block.body(EventType.table_map_event)
        usable = np.flatnonzero(body.matches)
        self._rows = self._rows[usable]
        own_ids = body.numbers(_ID)[usable].astype(np.int64) if len(usable) else np.zeros(0, dtype=np.int64)
        earlier = list(self._known)
        ids = np.concatenate((np.array(earlier, dtype=np.int64), own_ids))
        # Table maps of earlier blocks sort before the first event of this block.
        offsets = np.concatenate((np.full(len(earlier), -1, dtype=np.int64), self._rows))
        self._matches: dict[int, Any] = {}
        self._all_ids, self._offsets, self._own_ids = ids, offsets, own_ids
        _, self._closed = self._closings.count(block)
        #: The names in the table maps of this block that can be decoded.
        self._own: list[Column] = []
        self._columns = [self._names(body, usable, number, earlier) for number in range(len(_NAMES))]

    def _names(self, body: Gathered, usable: Ints, number: int, earlier: list[int]) -> Column:
        known = [self._pool.add(self._known[id_].names[number]) for id_ in earlier]
        offsets = np.array(known, dtype=np.int64).reshape(-1, 2)
        first, second = -offsets[:, 0] - 1, offsets[:, 1]
        if len(usable):
            starts, lengths = body.ranges(_NAMES[number])
            assert self._block is not None
            if len(usable) < len(starts):
                starts, lengths = starts[usable], lengths[usable]
            own = self._pool.strings(self._block.data, starts, lengths, decode)
            self._own.append(own)
            if not earlier:
                return own
            first, second = np.concatenate((first, own.first)), np.concatenate((second, own.second))
        return self._pool.placed(first, second)

    def own_names(self, name: str) -> Column | None:
        """A name of each table map of the block; None if one of them cannot be decoded."""
        assert self._block is not None
        is_all = len(self._rows) == self._block.counts.get(EventType.table_map_event)
        return self._own[_NAMES.index(name)] if is_all and self._own else None

    def _match(self, rows: Ints, ids: Ints) -> Any:
        """For each rows event, the number of its table map, earlier ones first; -1 if there is none."""
        assert self._block is not None
        found = newest_before(self._all_ids, self._offsets, rows, ids, len(self._block) + 2)
        return in_force(found, self._offsets, rows, self._closed)

    def column(self, kind: int, name: str) -> Column:
        """The schema or table name of each rows event of one type; null if its table map is missing."""
        assert self._block is not None
        column = self._columns[_NAMES.index(name)]
        if kind not in self._matches:
            ids = self._block.body(kind).numbers(_ID).astype(np.int64)
            self._matches[kind] = self._match(self._block.rows_of(kind), ids)
        matches = self._matches[kind]
        if column.constant is not None and (matches >= 0).all():
            return self._pool.same(column.constant, len(matches))
        if not len(column.first):
            return self._pool.same(b"null", len(matches))
        first = np.where(matches >= 0, column.first[matches], -self._pool.null[0] - 1)
        second = np.where(matches >= 0, column.second[matches], self._pool.null[1])
        return self._pool.placed(first, second)

    def table_map(self, row: int, table_id: int) -> TableMapEvent | None:
        """The body of the table map of a rows event, parsed by the grammar."""
        assert self._block is not None
        match = int(self._match(np.array([row]), np.array([table_id], dtype=np.int64))[0])
        if match < 0:
            return None
        earlier = list(self._known.values())
        event = (
            earlier[match].event
            if match < len(earlier)
            else self._block.event(int(self._rows[match - len(earlier)]))
        )
        content: TableMapEvent = event.body
        return content

    def end(self) -> None:
        """Keep what later blocks may need; call this before the block's array is reused."""
        block, pool = self._block, self._pool
        assert block is not None
        if block.is_special:
            self._known.clear()
            return
        earlier = len(self._known)
        in_force_yet = np.arange(len(self._own_ids))
        if len(self._closed) and self._closed[-1]:
            self._known.clear()
            in_force_yet = np.flatnonzero(self._closed[self._rows] == self._closed[-1])
        for own in in_force_yet[last_of_each(self._own_ids[in_force_yet])].tolist():
            id_ = int(self._own_ids[own])
            names = tuple(_json_of(block, pool, column, earlier + own) for column in self._columns)
            self._known.pop(id_, None)
            self._known[id_] = _Known(block.event(int(self._rows[own])), names)
        while len(self._known) > MAX_TABLE_MAPS:
            del self._known[next(iter(self._known))]


def _json_of(block: Block, pool: Pool, column: Column, number: int) -> bytes:
    start, length = int(column.first[number]), int(column.second[number])
    if start < 0:
        return pool.read(-start - 1, length)
    return b'"' + bytes(block.data[start : start + length]) + b'"'


def decode(raw: bytes) -> str:
    """Decode text of the log like the grammar."""
    return raw.decode("utf-8", "surrogateescape")
