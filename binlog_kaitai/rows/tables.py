"""Finds the table of each rows event: the latest preceding table map with its id, and its schema.

Table maps with the same content and the same DDL definition form one :class:`Table`, which the grammar parses
once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from binlog_kaitai.core.context import MAX_TABLE_MAPS
from binlog_kaitai.core.grammar import ColumnType, EventType, TableMapEvent, YearBits
from binlog_kaitai.ddl import DefinitionMismatch, Definitions, TableDefinition
from binlog_kaitai.ddl.definition_match import IMPLICIT_KEY, unknown_signs
from binlog_kaitai.ddl.lexer import may_matter_bytes
from binlog_kaitai.errors import BinlogError, DefinitionWarning
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.rows.cell_widths import Width, widths_of
from binlog_kaitai.rows.closings import Closings, closings_in
from binlog_kaitai.values.schema import NameSource, Schema, is_mariadb

#: Maximum number of distinct tables cached.
_MAX_TABLES = 1 << 12

#: Offsets within a table map: of the table id, and after it.
_MAP_FIELDS = ("table_id.low", "flags")

#: Number of leading bytes of a statement that show whether it may define a table.
_BEGINNING = 1 << 10

#: Number of table maps before a rows event to compare directly; usually the last one matches.
_NEAR = 4

#: Warning about a table with a column that its definition lacks.
_ONE_MORE = (
    f"the log has one BIGINT more than the definition; named {IMPLICIT_KEY}, the hidden key that Aliyun "
    "RDS and PolarDB add to tables without a primary key (on other servers: was the table altered since?)"
)

#: Results: no table map, and none among those compared.
_NONE, _FAR = -1, -2


class Table:
    """A table at some point in the log, from its table map and DDL.

    Attributes
    ----------
    table_map : TableMapEvent
        The body of the event.
    widths : list of Width, or None
        Widths of the values of all columns; None if that of a column is unknown.
    json_columns : list of int
        Numbers of the JSON columns.
    memory : dict
        Cache for values derived from the table.
    mismatch : str
        Why a known definition does not provide column names; empty if there is none.
    """

    def __init__(self, table_map: TableMapEvent, schema: Schema, mismatch: str = "") -> None:
        self.mismatch = mismatch
        self.table_map = table_map
        self.schema = schema
        widths = widths_of(table_map, schema.columns)
        known: list[Width] = [width for width in widths if width is not None]
        is_known = schema.is_readable and len(known) == len(widths) and not schema.old_fractions
        self.widths = known if is_known else None
        self.memory: dict[Any, Any] = {}
        self.json_columns = [column.index for column in schema.columns if column.type == ColumnType.json]

    @property
    def key(self) -> tuple[str, str]:
        """Schema and table name."""
        return self.schema.schema_name, self.schema.table_name


class Tables:
    """Tracks the table maps of a file, or of a payload, block by block.

    Parameters
    ----------
    definitions
        Definitions by DDL; updated by the statements of the log.
    """

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._known: dict[int, Table | BinlogError] = {}  # by table id, from earlier blocks
        self._closings = Closings()
        self._tables: dict[tuple[bytes, bool, YearBits], tuple[int, Table | BinlogError]] = {}
        self.failures: list[tuple[int, BinlogError]] = []  # table maps of the last block with errors
        self.validator = BodyValidator()  # of the parts of rows events before the rows
        self._changes = 0  # number of statements that may have changed a definition

    def take(self, block: Block, rows: Any, ids: Any) -> tuple[list[Table | BinlogError], Any]:
        """The tables of the given rows events of a block; also records the table maps of the block.

        Parameters
        ----------
        rows, ids
            Numbers of the rows events in the block, ascending, and their table ids.

        Returns
        -------
        The distinct tables or errors, and for each event the number of its table, -1 for none.
        """
        self.failures = []
        frames, closed = self._closings.count(block)
        if block.is_special:
            self._known.clear()
            return [], np.full(len(rows), -1, dtype=np.int64)
        maps, own_ids, made, which = self._read_maps(block, frames)
        earlier = list(self._known)
        # Table maps of earlier blocks sort before the first event of this block.
        all_ids = np.concatenate((np.array(earlier, dtype=np.int64), own_ids))
        offsets = np.concatenate((np.full(len(earlier), -1, dtype=np.int64), maps))
        found = newest_before(all_ids, offsets, rows, ids, len(block) + 2)
        found = in_force(found, offsets, rows, closed)
        numbers: dict[int, int] = {}
        choices = [*self._known.values(), *made]
        distinct = [numbers.setdefault(id(table), len(numbers)) for table in choices]
        number_of = np.concatenate((np.arange(len(earlier)), len(earlier) + which)).astype(np.int64)
        table_of = np.array([*distinct, -1], dtype=np.int64)[np.append(number_of, -1)[found]]
        if len(closed) and closed[-1]:
            self._known.clear()
            is_kept = closed[maps] == closed[-1]
            own_ids, which = own_ids[is_kept], which[is_kept]
        self._remember(own_ids, [made[number] for number in which[last_of_each(own_ids)].tolist()])
        return list({id(table): table for table in choices}.values()), table_of

    def _remember(self, ids: Any, tables: list[Table | BinlogError]) -> None:
        for id_, table in zip(ids[last_of_each(ids)].tolist(), tables, strict=True):
            self._known.pop(id_, None)
            self._known[id_] = table
        while len(self._known) > MAX_TABLE_MAPS:
            del self._known[next(iter(self._known))]

    def _read_maps(self, block: Block, frames: Any) -> tuple[Any, Any, list[Table | BinlogError], Any]:
        """Table maps of a block: event numbers, table ids, distinct tables, and the table index of each."""
        rows = block.rows_of(EventType.table_map_event)
        statements = statements_in(block, frames=frames)
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
        made: list[Table | BinlogError] = []
        observed = 0
        for index in first.tolist():
            for row in statements[observed : epochs[index]]:
                self._observe(block, row)
            observed = max(observed, int(epochs[index]))
            made.append(self._table(block, int(rows[index]), bytes(block.data[starts[index] : ends[index]])))
            # A table map that cannot be decoded has its own position; errors in columns are reported for a
            # row.
            if isinstance(made[-1], BinlogError) and made[-1].position is not None:
                self.failures.append((int(rows[index]), made[-1]))
        for row in statements[observed:]:
            self._observe(block, row)
        return rows, ids.view(np.int64), made, which

    def _table(self, block: Block, row: int, content: bytes) -> Table | BinlogError:
        key = content, is_mariadb(block.layout), block.layout.year_bits
        changes, table = self._tables.get(key, (-1, None))
        if changes == self._changes and table is not None:
            return table
        made: Table | BinlogError
        try:
            table_map: TableMapEvent = block.event(row).body
            names = table_map.schema_name, table_map.table_name
            found = self.definitions.match(*names, table_map)
            definition = found if isinstance(found, TableDefinition) else None
            mismatch = found.reason if isinstance(found, DefinitionMismatch) else ""
            made = Table(table_map, Schema.of(table_map, definition, is_mariadb=key[1]), mismatch)
            if isinstance(found, DefinitionMismatch) and made.schema.names_from is NameSource.NONE:
                warning = replace(found, file=block.file, position=int(block.positions[row]))
                warnings.warn(str(warning), DefinitionWarning, stacklevel=2)
            if unknown := unknown_signs(made.schema, table_map):
                place = f"{block.file}, position {int(block.positions[row])}: table {made.schema.full_name}"
                warnings.warn(f"{place}: {unknown}", DefinitionWarning, stacklevel=2)
            if definition is not None and definition.columns[-1].name == IMPLICIT_KEY:
                warnings.warn(f"table {made.schema.full_name}: {_ONE_MORE}", DefinitionWarning, stacklevel=2)
        except BinlogError as error:
            made = error
        if isinstance(table, Table) and isinstance(made, Table) and table.schema == made.schema:
            table.mismatch, made = made.mismatch, table
        if len(self._tables) >= _MAX_TABLES:
            self._tables.clear()
        self._tables[key] = self._changes, made
        return made

    def _observe(self, block: Block, row: int) -> None:
        self._changes += self.definitions.observe_query(statement_body(block, row))


def located_error(error: BinlogError, event: Event) -> BinlogError:
    """The error for a table that cannot be decoded, at one of its rows events unless it has a position."""
    if error.position is not None:
        return error
    return event.locate(type(error)(error.reason, field=error.field))


def in_force(found: Any, offsets: Any, rows: Any, closed: Any) -> Any:
    """The table maps of rows events; -1 where tables were closed in between."""
    at = offsets[found] if len(offsets) else found
    since = np.where(at >= 0, closed[at], 0)
    return np.where(closed[rows] == since, found, -1)


def statements_in(
    block: Block, may_matter: Callable[[bytes], bool] = may_matter_bytes, *, frames: Any = None
) -> list[int]:
    """Events whose statements may change a definition, according to their first bytes.

    `frames` flags the events that are just BEGIN or COMMIT, if that is known.
    """
    found = block.rows_of(EventType.query_compressed_event).tolist()
    rows = block.rows_of(EventType.query_event)
    rows = rows[~(closings_in(block)[0] if frames is None else frames)[rows]]
    if len(rows):
        body = block.gather(EventType.query_event, rows)
        starts, lengths = body.ranges("query")
        # The grammar decodes events that do not match the layout, and may report damage.
        found += rows[~body.matches].tolist()
        offsets = rows[body.matches], starts[body.matches], lengths[body.matches]
        for row, start, length in zip(*(values.tolist() for values in offsets), strict=True):
            if may_matter(bytes(block.data[start : start + min(length, _BEGINNING)])):
                found.append(row)
    return sorted(found)


def statement_body(block: Block, row: int) -> Any:
    """Body of a statement's event, or its error; `Definitions` accept either."""
    try:
        return block.event(row).body
    except BinlogError as error:
        return error


def last_of_each(ids: Any) -> Any:
    """Index of the last occurrence of each distinct value, ascending."""
    if len(ids) and (ids == ids[0]).all():
        return np.array([len(ids) - 1])
    _, from_end = np.unique(ids[::-1], return_index=True)
    return np.sort(len(ids) - 1 - from_end)


@kernel
def match_near(rows: Ints, ids: Ints, maps: Ints, map_ids: Ints, out: Ints) -> bool:
    """For each rows event the number of its table map.

    Parameters
    ----------
    rows, maps : int64 arrays
        Event numbers in the block, ascending for table maps; -1 for a table map of an earlier block.
    ids, map_ids : int64 arrays
        Table ids.
    out : int64 array
        Output: _NONE if there is no such table map, _FAR if it is not among those compared.

    Returns
    -------
    Whether no entry is _FAR.
    """
    after, is_done = 0, True
    for index in range(rows.shape[0]):
        while after < maps.shape[0] and maps[after] < rows[index]:
            after += 1
        while after > 0 and maps[after - 1] >= rows[index]:
            after -= 1
        found = _NONE if after <= _NEAR else _FAR
        for number in range(max(after - _NEAR, 0), after):
            if map_ids[number] == ids[index]:
                found = number
        out[index] = found
        is_done = is_done and found != _FAR
    return is_done


def newest_before(ids: Any, offsets: Any, rows: Any, wanted: Any, span: int) -> Any:
    """For each rows event, the number of the latest preceding entry with its id; -1 for none."""
    if not len(ids):
        return np.full(len(rows), -1, dtype=np.int64)
    found = np.empty(len(rows), dtype=np.int64)
    if match_near.run(rows, wanted, offsets, ids, found):
        return found
    known, ranks = np.unique(ids, return_inverse=True)
    keys = ranks.reshape(-1) * span + offsets + 1
    order = np.argsort(keys, kind="stable")
    ranked = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    at = np.searchsorted(keys[order], ranked * span + rows + 1) - 1
    is_found = (at >= 0) & (known[ranked] == wanted)
    is_found &= keys[order][at] >= ranked * span
    return np.where(is_found, order[at], -1)
