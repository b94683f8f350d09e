"""Which table each rows event is about: the newest table map before it with its id, and its schema.

Table maps of the same content, and with the same definition by DDL, are one :class:`Table`, which the grammar
reads once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.kernels import NONE
from binlog_kaitai.columns.rows.walk import hash_ranges, same_ranges
from binlog_kaitai.columns.rows.widths import Width, width_of
from binlog_kaitai.context import MAX_TABLE_MAPS
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.statements import may_matter_bytes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import CHECKSUM_SIZE, ColumnType, EventType, TableMapEvent
from binlog_kaitai.schema import Schema, is_mariadb

_ID = "table_id.value"

#: Distinct tables that are remembered; more are read again.
_MAX_TABLES = 1 << 12

#: Shorter statements define nothing; and as much of a longer one tells whether it may.
_SHORTEST = len("COMMIT")
_BEGINNING = 1 << 10


class Table:
    """A table at some time: what its table map says, and DDL.

    Attributes
    ----------
    table_map : TableMapEvent
        The body of the event.
    widths : list of Width, or None
        Of all columns' values; None where some column's is not known.
    json_columns : list of int
        Which columns are JSON.
    """

    def __init__(self, table_map: TableMapEvent, schema: Schema) -> None:
        self.table_map = table_map
        self.schema = schema
        widths = [width_of(column) for column in schema.columns]
        known: list[Width] = [width for width in widths if width is not None]
        is_known = schema.is_readable and len(known) == len(widths) and not schema.old_fractions
        self.widths = known if is_known else None
        self.json_columns = [column.index for column in schema.columns if column.type == ColumnType.json]

    @property
    def key(self) -> tuple[str, str]:
        """Schema and table name."""
        return self.schema.schema_name, self.schema.table_name


class Tables:
    """Follows the table maps of one file, or of one payload, block by block.

    Parameters
    ----------
    definitions
        What DDL says; the statements of the log are put into it on the way.
    """

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._known: dict[int, Table | BinlogError] = {}  # by table id, from earlier blocks
        self._tables: dict[tuple[bytes, bool], tuple[int, Table | BinlogError]] = {}
        self._changes = 0  # statements that may have changed a definition

    def take(self, block: Block, rows: Any, ids: Any) -> tuple[list[Table | BinlogError], Any]:
        """The tables of some rows events of a block; the block's table maps are remembered.

        Parameters
        ----------
        rows, ids
            The rows events' numbers in the block, rising, and the table ids that they state.

        Returns
        -------
        The distinct tables, or why one cannot be read, and for each event the number of its own, -1 for none.
        """
        if block.is_special:
            self._known.clear()
            return [], np.full(len(rows), -1, dtype=np.int64)
        maps, own_ids, made, which = self._read_maps(block)
        earlier = list(self._known)
        # An earlier block's table maps stand before this block's first event.
        all_ids = np.concatenate((np.array(earlier, dtype=np.int64), own_ids))
        places = np.concatenate((np.full(len(earlier), -1, dtype=np.int64), maps))
        found = _newest_before(all_ids, places, rows, ids, len(block) + 2)
        numbers: dict[int, int] = {}
        choices = [*self._known.values(), *made]
        distinct = [numbers.setdefault(id(table), len(numbers)) for table in choices]
        number_of = np.concatenate((np.arange(len(earlier)), len(earlier) + which)).astype(np.int64)
        table_of = np.array([*distinct, -1], dtype=np.int64)[np.append(number_of, -1)[found]]
        self._remember(own_ids, [made[number] for number in which[_last_of_each(own_ids)].tolist()])
        return list({id(table): table for table in choices}.values()), table_of

    def _remember(self, ids: Any, tables: list[Table | BinlogError]) -> None:
        for id_, table in zip(ids[_last_of_each(ids)].tolist(), tables, strict=True):
            self._known.pop(id_, None)
            self._known[id_] = table
        while len(self._known) > MAX_TABLE_MAPS:
            del self._known[next(iter(self._known))]

    def _read_maps(self, block: Block) -> tuple[Any, Any, list[Table | BinlogError], Any]:
        """The table maps of a block: numbers of the events, table ids, distinct tables, which of them."""
        rows = block.rows_of(EventType.table_map_event)
        statements = self._statements(block)
        if not len(rows):
            for row in statements:
                self._observe(block, row)
            nothing = np.zeros(0, dtype=np.int64)
            return rows, nothing, [], nothing
        body = block.body(EventType.table_map_event)
        starts = np.array(body.places("flags"))
        ends = block.starts[rows] + block.sizes[rows] - CHECKSUM_SIZE * (block.checksums[rows] != NONE)
        epochs = np.searchsorted(np.array(statements, dtype=np.int64), rows)
        contents = group_ranges(block.data, starts, ends)
        _, first, which = np.unique(epochs * len(rows) + contents, return_index=True, return_inverse=True)
        made: list[Table | BinlogError] = []
        observed = 0
        for index in first.tolist():
            for row in statements[observed : epochs[index]]:
                self._observe(block, row)
            observed = max(observed, int(epochs[index]))
            made.append(self._table(block, int(rows[index]), bytes(block.data[starts[index] : ends[index]])))
        for row in statements[observed:]:
            self._observe(block, row)
        ids = body.numbers(_ID).astype(np.int64)
        return rows, ids, made, which.reshape(-1)

    def _table(self, block: Block, row: int, content: bytes) -> Table | BinlogError:
        key = content, is_mariadb(block.layout)
        changes, table = self._tables.get(key, (-1, None))
        if changes == self._changes and table is not None:
            return table
        made: Table | BinlogError
        try:
            table_map: TableMapEvent = block.event(row).body
            names = table_map.schema_name, table_map.table_name
            definition = self.definitions.of(*names, table_map)
            made = Table(table_map, Schema.of(table_map, definition, is_mariadb=key[1]))
        except BinlogError as error:
            made = error
        if isinstance(table, Table) and isinstance(made, Table) and table.schema == made.schema:
            made = table
        if len(self._tables) >= _MAX_TABLES:
            self._tables.clear()
        self._tables[key] = self._changes, made
        return made

    def _statements(self, block: Block) -> list[int]:
        """The events whose statements may change a definition."""
        found = block.rows_of(EventType.query_compressed_event).tolist()
        rows = block.rows_of(EventType.query_event)
        if len(rows):
            starts, lengths = block.body(EventType.query_event).ranges("query")
            rows, starts, lengths = (values[lengths > _SHORTEST] for values in (rows, starts, lengths))
            for row, start, length in zip(rows.tolist(), starts.tolist(), lengths.tolist(), strict=True):
                if may_matter_bytes(bytes(block.data[start : start + min(length, _BEGINNING)])):
                    found.append(row)
        return sorted(found)

    def _observe(self, block: Block, row: int) -> None:
        try:
            body: Any = block.event(row).body
        except BinlogError:
            return  # it is told where the event itself is wanted
        self._changes += self.definitions.observe_query(body)


def _last_of_each(ids: Any) -> Any:
    """Where each distinct value stands last, rising."""
    _, from_end = np.unique(ids[::-1], return_index=True)
    return np.sort(len(ids) - 1 - from_end)


def _newest_before(ids: Any, places: Any, rows: Any, wanted: Any, span: int) -> Any:
    """For each rows event the number of the last entry with its id that lies before it; -1 for none."""
    if not len(ids):
        return np.full(len(rows), -1, dtype=np.int64)
    # Mostly it is the last one of all.
    near = np.searchsorted(places, rows) - 1
    if (near >= 0).all() and (ids[near] == wanted).all():
        return near
    known, ranks = np.unique(ids, return_inverse=True)
    keys = ranks.reshape(-1) * span + places + 1
    order = np.argsort(keys, kind="stable")
    ranked = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    at = np.searchsorted(keys[order], ranked * span + rows + 1) - 1
    is_found = (at >= 0) & (known[ranked] == wanted)
    is_found &= keys[order][at] >= ranked * span
    return np.where(is_found, order[at], -1)


def group_ranges(data: Any, starts: Any, ends: Any) -> Any:
    """For each range the number of the first one with the same bytes."""
    count = len(starts)
    hashes = np.empty(count, dtype=np.uint64)
    hash_ranges.for_work(int((ends - starts).sum()))(data, starts, ends, hashes)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    firsts = first[which.reshape(-1)]
    lengths = ends - starts
    is_same = np.empty(count, dtype=np.bool_)
    same_ranges.for_work(int(lengths.sum()))(data, starts, starts[firsts], lengths, is_same)
    is_same &= lengths == lengths[firsts]
    if not is_same.all():
        by_bytes: dict[bytes, int] = {}
        pairs = enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
        numbers = [by_bytes.setdefault(bytes(data[start:end]), index) for index, (start, end) in pairs]
        return np.array(numbers, dtype=np.int64)
    return firsts
