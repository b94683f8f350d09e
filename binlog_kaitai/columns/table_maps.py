"""Which table map each rows event belongs to: the newest one before it with the same table id."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.compile import kernel
from binlog_kaitai.columns.lines import Column, Pool
from binlog_kaitai.context import MAX_TABLE_MAPS
from binlog_kaitai.grammar import EventType, TableMapEvent
from binlog_kaitai.reader import Event

_ID = "table_id.value"
_NAMES = ("schema_name", "table_name")

#: So many table maps before a rows event are looked at one by one; nearly always it is the last of them.
_NEAR = 4

#: No table map, and none of those near.
_NONE, _FAR = -1, -2


@kernel
def match_near(rows: Any, ids: Any, maps: Any, map_ids: Any, out: Any) -> bool:
    """For each rows event the number of its table map.

    Parameters
    ----------
    rows, maps : int64 arrays
        The events' numbers in the block, in order; -1 for a table map of an earlier block.
    ids, map_ids : int64 arrays
        Their table ids.
    out : int64 array
        Gets _NONE where there is no such table map, _FAR if it is none of those near.

    Returns
    -------
    Whether there are none of these.
    """
    behind, is_done = 0, True
    for index in range(rows.shape[0]):
        while behind < maps.shape[0] and maps[behind] < rows[index]:
            behind += 1
        found = _NONE if behind <= _NEAR else _FAR
        for number in range(max(behind - _NEAR, 0), behind):
            if map_ids[number] == ids[index]:
                found = number
        out[index] = found
        is_done = is_done and found != _FAR
    return is_done


class _Known(NamedTuple):
    """A table map of an earlier block: its event, and its names as JSON text."""

    event: Event
    names: tuple[bytes, ...]


class TableMaps:
    """Follows the table maps of one file, block by block."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._block: Block | None = None

    def begin(self, block: Block, pool: Pool) -> None:
        """Take in the table maps of a block."""
        self._block = block
        self._pool = pool
        self._rows = block.rows_of(EventType.table_map_event)
        body = block.body(EventType.table_map_event)
        usable = np.flatnonzero(body.fits)
        self._rows = self._rows[usable]
        own_ids = body.numbers(_ID)[usable].astype(np.int64) if len(usable) else np.zeros(0, dtype=np.int64)
        earlier = list(self._known)
        ids = np.concatenate((np.array(earlier, dtype=np.int64), own_ids))
        # An earlier block's table maps stand before this block's first event.
        places = np.concatenate((np.full(len(earlier), -1, dtype=np.int64), self._rows))
        self._ids, ranks = np.unique(ids, return_inverse=True)
        self._span = len(block) + 2
        keys = ranks.reshape(-1) * self._span + places + 1
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._matches: dict[int, Any] = {}
        self._near = places, ids
        #: The names of the table maps of this block that can be read.
        self._own: list[Column] = []
        self._columns = [self._names(body, usable, number, earlier) for number in range(len(_NAMES))]

    def _names(self, body: Any, usable: Any, number: int, earlier: list[int]) -> Column:
        known = [self._pool.place(self._known[id_].names[number]) for id_ in earlier]
        places = np.array(known, dtype=np.int64).reshape(-1, 2)
        first, second = -places[:, 0] - 1, places[:, 1]
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
        """A name of each table map of the block; None if some of them cannot be read."""
        assert self._block is not None
        is_all = len(self._rows) == self._block.counts.get(EventType.table_map_event)
        return self._own[_NAMES.index(name)] if is_all and self._own else None

    def _match(self, rows: Any, ids: Any) -> Any:
        """For each rows event the number of its table map, earlier ones first; -1 where there is none."""
        matches = np.empty(len(rows), dtype=np.int64)
        if not match_near.for_work(len(rows))(rows, ids, *self._near, matches):
            far = np.flatnonzero(matches == _FAR)
            matches[far] = self._match_far(rows[far], ids[far])
        return matches

    def _match_far(self, rows: Any, ids: Any) -> Any:
        """The same, wherever the table maps stand."""
        ranks = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        places = np.searchsorted(self._keys, ranks * self._span + rows + 1) - 1
        found = (places >= 0) & (self._ids[ranks] == ids)
        found &= self._keys[places] >= ranks * self._span
        return np.where(found, self._order[places], -1)

    def column(self, kind: int, name: str) -> Column:
        """A name of the table of each rows event of a type; null where there is no table map."""
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
        """The body of the table map of one rows event, by the grammar."""
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
        """Keep what later blocks may need; call it before the block's array is used again."""
        block, pool = self._block, self._pool
        assert block is not None
        if block.is_special:
            self._known.clear()
            return
        earlier = len(self._known)
        is_last: Any = np.append(np.diff(self._keys // self._span) != 0, True) if len(self._keys) else []
        for number in np.sort(self._order[is_last]).tolist() if len(self._keys) else []:
            if number >= earlier:
                id_ = int(self._ids_of(number - earlier))
                names = tuple(_json_of(block, pool, column, number) for column in self._columns)
                self._known.pop(id_, None)
                self._known[id_] = _Known(block.event(int(self._rows[number - earlier])), names)
        while len(self._known) > MAX_TABLE_MAPS:
            del self._known[next(iter(self._known))]

    def _ids_of(self, number: int) -> int:
        assert self._block is not None
        body = self._block.body(EventType.table_map_event)
        return int(body.numbers(_ID)[np.flatnonzero(body.fits)[number]])


def _json_of(block: Block, pool: Pool, column: Column, number: int) -> bytes:
    start, length = int(column.first[number]), int(column.second[number])
    if start < 0:
        return pool.read(-start - 1, length)
    return b'"' + bytes(block.data[start : start + length]) + b'"'


def decode(raw: bytes) -> str:
    """Text of the log as the grammar reads it."""
    return raw.decode("utf-8", "surrogateescape")
