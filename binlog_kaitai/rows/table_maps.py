"""The table of each rows event: the latest preceding table map with its id, and its schema.

Table maps with the same content and the same DDL definition form one :class:`Table`, which the grammar parses
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.core.context import StoredTableMap
from binlog_kaitai.core.grammar import EventType, TableMapEvent, YearBits, plain_decoders
from binlog_kaitai.ddl import DefinitionMismatch, Definitions, TableDefinition
from binlog_kaitai.ddl.definition_changes import DefinitionChange, changes_of
from binlog_kaitai.ddl.definition_match import IMPLICIT_KEY, unknown_signs
from binlog_kaitai.errors import BinlogError, DefinitionWarning, GrammarError, UsageError, warn
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.log.statements import statement_body, statements_in
from binlog_kaitai.rows.table_links import Links, MapsInForce
from binlog_kaitai.text.line_arrays import Pool, TextColumn
from binlog_kaitai.text.text_kernels import TEXT
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


#: Maximum number of distinct tables cached, and of their columns in all, which take up to 0.5 KB each.
_MAX_TABLES, _MAX_COLUMNS = 1 << 12, 1 << 18

#: Warning about a table with a column that its definition lacks.
_ONE_MORE = (
    f"the log has one BIGINT more than the definition; named {IMPLICIT_KEY}, the hidden key that Aliyun "
    "RDS and PolarDB add to tables without a primary key (on other servers: was the table altered since?)"
)


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


class Tables:
    """Tracks the table maps of a file, or of a payload, block by block.

    `definitions`: definitions by DDL; updated by the statements of the log.
    `check`: called with what each statement does to definitions; raises `UsageError`. It is not called for
    statements that change nothing.
    """

    def __init__(
        self, definitions: Definitions, check: Callable[[DefinitionChange], object] | None = None
    ) -> None:
        self.definitions, self._check = definitions, check
        self._maps = MapsInForce[Table | BinlogError]()
        self._tables: dict[tuple[bytes, bool, YearBits], tuple[int, Table | BinlogError]] = {}
        self._columns = 0  # of these tables, with those that were replaced
        self.failures: list[tuple[int, BinlogError]] = []  # events of the last block with errors
        self.validator = BodyValidator()  # of the parts of rows events before the rows
        self._changes = 0  # number of statements that may have changed a definition

    def take(self, block: Block, rows: Ints) -> tuple[list[Table | BinlogError], Ints]:
        """The tables of the given rows events of a block; also records the table maps of the block.

        `rows`: numbers of the rows events in the block.
        Returns the distinct tables or errors, and for each event the number of its table, -1 for none.
        """
        self.failures = []
        if block.is_special:
            self._maps = MapsInForce()
            return [], np.full(len(rows), -1, dtype=np.int64)
        links, tables = self._read_maps(block)
        known = list(self._maps.known.values())
        distinct = {id(table): table for table in [*known, *tables]}
        number_of = {key: number for number, key in enumerate(distinct)}
        numbers = [number_of[id(table)] for table in [*tables, *known]]
        self._maps.end(tables.__getitem__)
        return list(distinct.values()), np.array([*numbers, -1], dtype=np.int64)[links.of_events[rows]]

    def table_maps(self, block: Block) -> Iterator[tuple[int, bytes, Table | BinlogError]]:
        """The table maps of a block, in place of `take`: number of the event, content, and table.

        Those that repeat an earlier one of the block may be left out while no statement can have changed its
        table.
        """
        if not block.is_special:
            links, tables = self._read_maps(block)
            for row, table in zip(links.firsts.tolist(), tables, strict=True):
                yield row, self._content(block, row), table

    def _read_maps(self, block: Block) -> tuple[Links, list[Table | BinlogError]]:
        """The links of a block, and the tables of its table maps."""
        statements = statements_in(block)
        links = self._maps.link(block, statements)
        tables: list[Table | BinlogError] = []
        observed = 0
        for row in links.firsts.tolist():
            while observed < len(statements) and statements[observed] < row:
                self._observe(block, statements[observed])
                observed += 1
            tables.append(self._table(block, row))
            # A table map that cannot be decoded has its own position; errors in columns are reported for a
            # row.
            if isinstance(tables[-1], BinlogError) and tables[-1].position is not None:
                self.failures.append((row, tables[-1]))
        for row in statements[observed:]:
            self._observe(block, row)
        return links, tables

    @staticmethod
    def _content(block: Block, row: int) -> bytes:
        """The bytes of a table map after the table id."""
        start = int(block.starts[row]) + (block.offset(EventType.table_map_event, "flags") or 0)
        return bytes(block.data[start : int(block.body_ends(np.array([row]))[0])])

    def _table(self, block: Block, row: int) -> Table | BinlogError:
        key = self._content(block, row), is_mariadb(block.layout), block.layout.year_bits
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
        body = statement_body(block, row)
        if self._check is None:
            self._changes += self.definitions.observe_query(body)
        else:
            changes = changes_of(body, self.definitions)
            self._changes += len(changes)
            try:
                for change in changes:
                    self._check(change)
            except UsageError as error:
                self.failures.append((row, block.locate(row, error)))
        self._changes += self.definitions.reach(block.file, int(block.positions[row]))


def located_error(error: BinlogError, event: ParsedEvent) -> BinlogError:
    """The error for a table that cannot be decoded, at one of its rows events unless it has a position."""
    if error.position is not None:
        return error
    return event.locate(type(error)(error.reason, field=error.field))


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
        self._block, self._pool = block, pool
        self._links = self._maps.link(block)
        own = block.ranks[self._links.firsts]
        body = block.body(EventType.table_map_event)
        self._is_usable = body.matches[own]
        #: The names in the first ones of equal table maps, then in those of earlier blocks, then null.
        self._columns = [self._names(body, own, number) for number in range(len(_NAMES))]

    def _names(self, body: Gathered, own: Ints, number: int) -> TextColumn:
        assert self._block is not None
        pool, known = self._pool, self._maps.known.values()
        others = [*(pool.add(table_map.names[number]) for table_map in known), pool.null]
        starts, lengths = np.array(others, dtype=np.int64).T
        first, second = -starts - 1, lengths
        if len(own):
            starts, lengths = (values[own] for values in body.ranges(_NAMES[number]))
            column = pool.strings(self._block.data, starts, lengths, decode, self._is_usable)
            first, second = np.concatenate((column.first, first)), np.concatenate((column.second, second))
        return TextColumn(TEXT, first, second)

    def own_names(self, name: str) -> TextColumn | None:
        """A name of each table map of the block; None if one of them cannot be decoded."""
        return self.column(EventType.table_map_event, name) if self._is_usable.all() else None

    def column(self, kind: int, name: str) -> TextColumn:
        """The schema or table name of each rows event or table map; null if its table map is missing."""
        assert self._block is not None
        column = self._columns[_NAMES.index(name)]
        links = self._links.of_events.take(self._block.rows_of(kind))
        return self._pool.placed(column.first[links], column.second[links])

    def table_map(self, row: int) -> TableMapEvent | None:
        """The body of the table map of a rows event, parsed by the grammar."""
        assert self._block is not None
        number = int(self._links.of_events[row])
        if number == -1:
            return None
        earlier = list(self._maps.known.values())
        is_own = number >= 0
        event = self._block.event(int(self._links.firsts[number])) if is_own else earlier[number + 1].event
        content: TableMapEvent = event.body
        return content

    def end(self) -> None:
        """Keep what later blocks may need; call this before the block's array is reused."""
        block, pool = self._block, self._pool
        assert block is not None
        if block.is_special:
            self._maps = MapsInForce()
            return

        def value(own: int) -> _EarlierMap:
            names = tuple(_json_of(block, pool, column, own) for column in self._columns)
            return _EarlierMap(block.event(int(self._links.firsts[own])), names)

        self._maps.end(value)


def _json_of(block: Block, pool: Pool, column: TextColumn, number: int) -> bytes:
    start, length = int(column.first[number]), int(column.second[number])
    if start < 0:
        return pool.read(-start - 1, length)
    return b'"' + bytes(block.data[start : start + length]) + b'"'


def decode(raw: bytes) -> str:
    """Decode text of the log like the grammar."""
    return raw.decode("utf-8", "surrogateescape")
