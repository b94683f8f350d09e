"""The table of each rows event: the latest preceding table map with its id, and its schema.

Table maps with the same content and the same DDL definition form one :class:`Table`, which the grammar parses
once. Some events close all tables: after them, earlier table maps no longer apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from binlog_kaitai.core.context import MAX_TABLE_MAPS, StoredTableMap
from binlog_kaitai.core.grammar import EventType, TableMapEvent, YearBits, plain_decoders
from binlog_kaitai.ddl import DefinitionMismatch, Definitions, TableDefinition
from binlog_kaitai.ddl.definition_match import IMPLICIT_KEY, unknown_signs
from binlog_kaitai.errors import BinlogError, DefinitionWarning, GrammarError, warn
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.log.line_arrays import Pool, TextColumn
from binlog_kaitai.log.statements import statement_body, statements_in
from binlog_kaitai.values.column_kinds import Kind
from binlog_kaitai.values.representations import representation_of
from binlog_kaitai.values.schema import Column as TableColumn
from binlog_kaitai.values.schema import NameSource, Schema, is_mariadb, set_old_fractions


class Width(NamedTuple):
    """Length of a value in bytes; with a `prefix`, a number of that many bytes holds the length."""

    fixed: int
    prefix: int = 0


def widths_of(table_map: TableMapEvent, columns: Sequence[TableColumn]) -> list[Width | None]:
    """Widths of the values of a table's columns; None for an invalid or unknown type.

    `columns`: the columns of the table map's schema.
    """
    if table_map.columns is None:
        return [None] * len(columns)
    known: dict[tuple[object, ...], Width | None] = {}
    widths = list[Width | None]()
    for stored, column in zip(table_map.columns, columns, strict=True):
        values = column.length, column.length_size, column.precision, column.scale, column.fractional_digits
        key = column.type, *values
        if key not in known:
            known[key] = _width(stored, column)
        widths.append(known[key])
    return widths


def _width(stored: TableMapEvent.Column, column: TableColumn) -> Width | None:
    try:
        representation_of(column)
    except GrammarError:
        return None
    widths = plain_decoders.WIDTHS
    return Width(*widths.get(int(column.type), widths[None])(stored))


class Closings:
    """Finds where tables are closed, in one block of a file after another."""

    def __init__(self) -> None:
        self._is_after_payload = False

    def of(self, block: Block) -> Bools:
        """`Block.closes` of the next block, with the ends of payloads."""
        closes = block.closes
        if self._is_after_payload or EventType.transaction_payload_event in block.counts:
            closes = closes.copy()
            self._close_after_payloads(block, closes)
        return closes

    def _close_after_payloads(self, block: Block, closes: Bools) -> None:
        """Close the tables of each payload at the event that follows the payload in the log itself."""
        is_of_log = np.ones(len(block), dtype=np.bool_) if block.holders is None else block.holders < 0
        opens = block.types[is_of_log] == EventType.transaction_payload_event
        closes[is_of_log] |= np.append(self._is_after_payload, opens[:-1])[: len(opens)]
        self._is_after_payload = bool(opens[-1]) if len(opens) else self._is_after_payload


#: Maximum number of distinct tables cached, and of their columns in all, which take up to 0.5 KB each.
_MAX_TABLES, _MAX_COLUMNS = 1 << 12, 1 << 18

#: Offsets within a table map: of the table id, and after it.
_MAP_FIELDS = ("table_id.low", "flags")

#: Number of table maps before a rows event to compare directly; usually the last one matches.
_NEAR = 4

#: Warning about a table with a column that its definition lacks.
_ONE_MORE = (
    f"the log has one BIGINT more than the definition; named {IMPLICIT_KEY}, the hidden key that Aliyun "
    "RDS and PolarDB add to tables without a primary key (on other servers: was the table altered since?)"
)

#: Results: no table map, and none among those compared.
_NONE, _FAR = -1, -2

_NO_FLAGS = np.zeros(0, dtype=np.bool_)


class Table:
    """A table at some point in the log, from its table map and DDL.

    `stored`: the event.
    `widths`: widths of the values of all columns; None if that of a column is unknown.
    `json_columns`: numbers of the JSON columns.
    `memory`: cache for values derived from the table.
    `mismatch`: why a known definition does not provide column names; empty if there is none.
    """

    def __init__(self, stored: StoredTableMap, schema: Schema, mismatch: str = "") -> None:
        self.mismatch = mismatch
        self._stored = stored
        self.schema = schema
        self._fractions = schema.old_fractions
        table_map = self.table_map
        self.has_triggers, self.has_referencing_keys = table_map.has_triggers, table_map.has_referencing_keys
        widths = widths_of(table_map, schema.columns)
        known: list[Width] = [width for width in widths if width is not None]
        is_known = schema.is_readable and len(known) == len(widths)
        self.widths = known if is_known else None
        self.memory: dict[Any, Any] = {}
        self.json_columns = [column.index for column in schema.columns if column.kind == Kind.JSON]

    @property
    def table_map(self) -> TableMapEvent:
        """The body of the event."""
        table_map = self._stored.body
        if self._fractions:
            set_old_fractions(table_map, self._fractions)
        return table_map

    @property
    def key(self) -> tuple[str, str]:
        """Schema and table name."""
        return self.schema.schema_name, self.schema.table_name


_Map = TypeVar("_Map")


class MapsInForce(Generic[_Map]):
    """What the table ids of a log stand for, block by block; `known`: by id, from earlier blocks."""

    def __init__(self) -> None:
        self.known: dict[int, _Map] = {}
        self._closings = Closings()

    def begin(self, block: Block) -> None:
        """Begin a block."""
        self._closes = self._closings.of(block)

    def newest(self, rows: Ints, ids: Ints, maps: Ints, map_ids: Ints) -> Ints:
        """For each rows event, the number of its table map; -1 if there is none, or tables were closed since.

        `maps`, `map_ids`: the table maps of the block, and their ids. The known ones are numbered first.
        """
        earlier, count = np.array(list(self.known), dtype=np.int64), len(self.known)
        # Table maps of earlier blocks sort before the first event of this block.
        events = np.concatenate((np.full(count, -1, dtype=np.int64), maps))
        ids_before = np.concatenate((earlier, map_ids))
        return newest_before(ids_before, events, rows, ids, len(self._closes) + 2, self._closes)

    def end(self, maps: Ints, map_ids: Ints, value: Callable[[int], _Map]) -> None:
        """End the block; `value`: what to keep of one of its table maps."""
        kept = np.arange(len(maps))
        if self._closes.any():
            self.known.clear()
            kept = np.flatnonzero(maps >= len(self._closes) - 1 - np.argmax(self._closes[::-1]))
        for number in kept[last_of_each(map_ids[kept])].tolist():
            self.known.pop(int(map_ids[number]), None)
            self.known[int(map_ids[number])] = value(number)
        while len(self.known) > MAX_TABLE_MAPS:
            del self.known[next(iter(self.known))]


class Tables:
    """Tracks the table maps of a file, or of a payload, block by block.

    `definitions`: definitions by DDL; updated by the statements of the log.
    """

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._maps = MapsInForce[Table | BinlogError]()
        self._tables: dict[tuple[bytes, bool, YearBits], tuple[int, Table | BinlogError]] = {}
        self._columns = 0  # of these tables, with those that were replaced
        self.failures: list[tuple[int, BinlogError]] = []  # table maps of the last block with errors
        self.validator = BodyValidator()  # of the parts of rows events before the rows
        self._changes = 0  # number of statements that may have changed a definition

    def take(self, block: Block, rows: Ints, ids: Ints) -> tuple[list[Table | BinlogError], Ints]:
        """The tables of the given rows events of a block; also records the table maps of the block.

        `rows`, `ids`: numbers of the rows events in the block, ascending, and their table ids.
        Returns the distinct tables or errors, and for each event the number of its table, -1 for none.
        """
        self.failures = []
        self._maps.begin(block)
        known = self._maps.known
        if block.is_special:
            known.clear()
            return [], np.full(len(rows), -1, dtype=np.int64)
        maps, map_ids, tables, which = self._read_maps(block)
        newest = self._maps.newest(rows, ids, maps, map_ids)
        choices = [*known.values(), *tables]
        numbers: dict[int, int] = {}
        distinct = [numbers.setdefault(id(table), len(numbers)) for table in choices]
        number_of = np.concatenate((np.arange(len(known)), len(known) + which)).astype(np.int64)
        table_of = np.array([*distinct, -1], dtype=np.int64)[np.append(number_of, -1)[newest]]
        self._maps.end(maps, map_ids, lambda number: tables[which[number]])
        return list({id(table): table for table in choices}.values()), table_of

    def table_maps(self, block: Block) -> Iterator[tuple[int, bytes, Table | BinlogError]]:
        """The table maps of a block, in place of `take`: number of the event, content, and table."""
        if block.is_special:
            return
        rows, _, tables, which = self._read_maps(block)
        if len(rows):
            starts = block.starts.take(rows) + (block.offset(EventType.table_map_event, _MAP_FIELDS[1]) or 0)
            values = rows, starts, block.body_ends(rows), which
            for row, start, end, number in zip(*(array.tolist() for array in values), strict=True):
                yield row, bytes(block.data[start:end]), tables[number]

    def _read_maps(self, block: Block) -> tuple[Ints, Ints, list[Table | BinlogError], Ints]:
        """Table maps of a block: event numbers, table ids, distinct tables, and the table index of each."""
        rows = block.rows_of(EventType.table_map_event)
        statements = statements_in(block)
        if not len(rows):
            for row in statements:
                self._observe(block, row)
            nothing = np.zeros(0, dtype=np.int64)
            return rows, nothing, [], nothing
        # The content begins after the table id.
        id_at, content_at = (block.offset(EventType.table_map_event, path) or 0 for path in _MAP_FIELDS)
        starts = block.starts.take(rows) + content_at
        ids = block.numbers_at(rows, id_at, content_at - id_at)
        # The grammar reports an event that is too short.
        ends = np.maximum(block.all_body_ends(EventType.table_map_event), starts)
        epochs = np.searchsorted(np.array(statements, dtype=np.int64), rows)
        contents = group_ranges(block.data, starts, ends)
        first, which = distinct(epochs * len(rows) + contents)
        tables: list[Table | BinlogError] = []
        observed = 0
        for index in first.tolist():
            for row in statements[observed : epochs[index]]:
                self._observe(block, row)
            observed = max(observed, int(epochs[index]))
            tables.append(
                self._table(block, int(rows[index]), bytes(block.data[starts[index] : ends[index]]))
            )
            # A table map that cannot be decoded has its own position; errors in columns are reported for a
            # row.
            if isinstance(tables[-1], BinlogError) and tables[-1].position is not None:
                self.failures.append((int(rows[index]), tables[-1]))
        for row in statements[observed:]:
            self._observe(block, row)
        return rows, ids.view(np.int64), tables, which

    def _table(self, block: Block, row: int, content: bytes) -> Table | BinlogError:
        key = content, is_mariadb(block.layout), block.layout.year_bits
        changes, earlier = self._tables.get(key, (-1, None))
        if changes == self._changes and earlier is not None:
            return earlier
        table: Table | BinlogError
        try:
            table_map: TableMapEvent = block.event(row).body
            names = table_map.schema_name, table_map.table_name
            match = self.definitions.match(*names, table_map)
            definition = match if isinstance(match, TableDefinition) else None
            mismatch = match.reason if isinstance(match, DefinitionMismatch) else ""
            stored = StoredTableMap(table_map)
            table = Table(stored, Schema.of(table_map, definition, is_mariadb=key[1]), mismatch)
            if isinstance(match, DefinitionMismatch) and table.schema.names_from is NameSource.NONE:
                warning = match._replace(file=block.file, position=int(block.positions[row]))
                warn(str(warning), DefinitionWarning)
            if unknown := unknown_signs(table.schema, table_map):
                place = f"{block.file}, position {int(block.positions[row])}: table {table.schema.full_name}"
                warn(f"{place}: {unknown}", DefinitionWarning)
            if definition is not None and definition.columns[-1].name == IMPLICIT_KEY:
                warn(f"table {table.schema.full_name}: {_ONE_MORE}", DefinitionWarning)
        except BinlogError as error:
            table = error
        if isinstance(earlier, Table) and isinstance(table, Table) and earlier.schema == table.schema:
            earlier.mismatch, table = table.mismatch, earlier
        if len(self._tables) >= _MAX_TABLES or self._columns >= _MAX_COLUMNS:
            self._tables.clear()
            self._columns = 0
        self._tables[key] = self._changes, table
        self._columns += len(table.schema.columns) if isinstance(table, Table) else 0
        return table

    def _observe(self, block: Block, row: int) -> None:
        self._changes += self.definitions.observe_query(statement_body(block, row))
        self._changes += self.definitions.reach(block.file, int(block.positions[row]))


def located_error(error: BinlogError, event: ParsedEvent) -> BinlogError:
    """The error for a table that cannot be decoded, at one of its rows events unless it has a position."""
    if error.position is not None:
        return error
    return event.locate(type(error)(error.reason, field=error.field))


def last_of_each(ids: Ints) -> Ints:
    """Index of the last occurrence of each distinct value, ascending."""
    if len(ids) and (ids == ids[0]).all():
        return np.array([len(ids) - 1])
    _, from_end = np.unique(ids[::-1], return_index=True)
    return np.sort(len(ids) - 1 - from_end)


@kernel
def match_near(
    rows: Ints, ids: Ints, maps: Ints, map_ids: Ints, closes: Bools, out: Ints, closed: Ints
) -> bool:
    """For each rows event the number of its table map.

    `rows`, `maps`: int64 arrays, event numbers in the block, ascending for table maps; -1 for a table map of
    an earlier block.
    `ids`, `map_ids`: int64 arrays, table ids.
    `closes`: which events of the block close tables.
    `out`: int64 array, output: _NONE if there is no such table map, or tables were closed after it; _FAR if
    it is not among those compared.
    `closed`: int64 array, output: the latest event up to each rows event that closed tables, or -1.
    Returns whether no entry is _FAR.
    """
    after, is_done = 0, True
    event, last = 0, -1
    for index in range(rows.shape[0]):
        row = rows[index]
        if row < event - 1:
            event, last = 0, -1
        while event <= row and event < closes.shape[0]:
            if closes[np.uint64(event)]:
                last = event
            event += 1
        while after < maps.shape[0] and maps[after] < row:
            after += 1
        while after > 0 and maps[after - 1] >= row:
            after -= 1
        match = _NONE if after <= _NEAR else _FAR
        for number in range(max(after - _NEAR, 0), after):
            if map_ids[number] == ids[index]:
                match = number if last <= maps[number] else _NONE
        out[index], closed[index] = match, last
        is_done = is_done and match != _FAR
    return is_done


def newest_before(
    ids: Ints, offsets: Ints, rows: Ints, wanted: Ints, span: int, closes: Bools = _NO_FLAGS
) -> Ints:
    """For each rows event, the number of the latest preceding entry with its id; -1 for none.

    `closes`: events that end the validity of the entries before them.
    """
    newest, closed = np.full((2, len(rows)), -1, dtype=np.int64)
    if not len(ids) or match_near.run(rows, wanted, offsets, ids, closes, newest, closed):
        return newest
    known, ranks = np.unique(ids, return_inverse=True)
    keys = ranks.reshape(-1) * span + offsets + 1
    order = np.argsort(keys, kind="stable")
    ranked = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    index = np.searchsorted(keys[order], ranked * span + rows + 1) - 1
    is_found = (index >= 0) & (known[ranked] == wanted)
    is_found &= keys[order][index] >= ranked * span
    newest = np.where(is_found, order[index], -1)
    return np.where(closed <= offsets[newest], newest, -1)


_ID = "table_id.value"
_NAMES = ("schema_name", "table_name")


class _EarlierMap(NamedTuple):
    """A table map of an earlier block: its event, and its names as JSON text."""

    event: ParsedEvent
    names: tuple[bytes, ...]


class TableMaps:
    """Tracks the table maps of a file, block by block."""

    def __init__(self) -> None:
        self._maps = MapsInForce[_EarlierMap]()
        self._block: Block | None = None

    def begin(self, block: Block, pool: Pool) -> None:
        """Process the table maps of a block."""
        self._block = block
        self._pool = pool
        self._rows = block.rows_of(EventType.table_map_event)
        body = block.body(EventType.table_map_event)
        usable = np.flatnonzero(body.matches)
        self._rows = self._rows[usable]
        nothing = np.zeros(0, dtype=np.int64)
        self._ids = body.numbers(_ID)[usable].astype(np.int64) if len(usable) else nothing
        self._matches: dict[int, Ints] = {}
        self._maps.begin(block)
        #: The names in the table maps of this block that can be decoded.
        self._own: list[TextColumn] = []
        self._columns = [self._names(body, usable, number) for number in range(len(_NAMES))]

    def _names(self, body: Gathered, usable: Ints, number: int) -> TextColumn:
        known = [self._pool.add(table_map.names[number]) for table_map in self._maps.known.values()]
        offsets = np.array(known, dtype=np.int64).reshape(-1, 2)
        first, second = -offsets[:, 0] - 1, offsets[:, 1]
        if len(usable):
            starts, lengths = body.ranges(_NAMES[number])
            assert self._block is not None
            if len(usable) < len(starts):
                starts, lengths = starts[usable], lengths[usable]
            own = self._pool.strings(self._block.data, starts, lengths, decode)
            self._own.append(own)
            if not known:
                return own
            first, second = np.concatenate((first, own.first)), np.concatenate((second, own.second))
        return self._pool.placed(first, second)

    def own_names(self, name: str) -> TextColumn | None:
        """A name of each table map of the block; None if one of them cannot be decoded."""
        assert self._block is not None
        is_all = len(self._rows) == self._block.counts.get(EventType.table_map_event)
        return self._own[_NAMES.index(name)] if is_all and self._own else None

    def _match(self, rows: Ints, ids: Ints) -> Ints:
        """For each rows event, the number of its table map, earlier ones first; -1 if there is none."""
        return self._maps.newest(rows, ids, self._rows, self._ids)

    def column(self, kind: int, name: str) -> TextColumn:
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
        earlier = list(self._maps.known.values())
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
            self._maps.known.clear()
            return
        earlier = len(self._maps.known)

        def value(own: int) -> _EarlierMap:
            names = tuple(_json_of(block, pool, column, earlier + own) for column in self._columns)
            return _EarlierMap(block.event(int(self._rows[own])), names)

        self._maps.end(self._rows, self._ids, value)


def _json_of(block: Block, pool: Pool, column: TextColumn, number: int) -> bytes:
    start, length = int(column.first[number]), int(column.second[number])
    if start < 0:
        return pool.read(-start - 1, length)
    return b'"' + bytes(block.data[start : start + length]) + b'"'


def decode(raw: bytes) -> str:
    """Decode text of the log like the grammar."""
    return raw.decode("utf-8", "surrogateescape")
