"""Table definitions from logs, before any of their rows is read.

`tables_of` finds every definition of one table. `definitions_before` gives the definitions in force at a
point in a series of logs, for readers that start there: nothing is read if the log contains column names.
Otherwise, the statements of all earlier logs and of this log up to that point apply: all events of these logs
are framed, but only statements are decoded. The process caches the result and reads each log only once.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import TableMapEvent
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl import DefinitionMismatch, Definitions, TableDefinition
from binlog_kaitai.ddl.definition_match import unknown_signs
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.ddl.lexer import may_matter_bytes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block_reader import BlockOptions, BlockReader
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.series import SeriesDefinitions, carried
from binlog_kaitai.log.split_points import Log
from binlog_kaitai.rows.table_maps import Table, Tables
from binlog_kaitai.sources.source import Source
from binlog_kaitai.values.column_kinds import OLD_TIMES
from binlog_kaitai.values.schema import NameSource, Schema

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody


def tables_of(sources: Sequence[Source], name: str, ddl: str | None) -> Iterator[Table]:
    """Every definition of a table, ``schema.table``, in log order, possibly with duplicates.

    Damage ends the search in a log; it is reported when the rows are read.
    """
    definitions = SeriesDefinitions(sources, ddl)
    for source in sources:
        seen: set[int] = set()
        try:
            for _, _, table in table_maps_of(source, definitions):
                if isinstance(table, Table) and table.schema.full_name == name:
                    if id(table) not in seen:
                        yield table
                    seen.add(id(table))
        except (BinlogError, OSError):
            continue


def table_maps_of(
    source: Source, definitions: SeriesDefinitions
) -> Iterator[tuple[int, bytes, Table | BinlogError]]:
    """The table maps of a log: position, content after the table id, and the table or why there is none.

    Those that repeat an earlier one's content may be left out while no statement can have changed its table.
    Events inside a payload have its position. Raises `BinlogError`: the log is damaged from here on.
    """
    tables: Tables | None = None
    with source.open() as stream:
        # Checksums are verified when the rows are read.
        search = BlockOptions(leaves_checks=True, only_definitions=True)
        for block in BlockReader.of_file(stream, source.name, **search):
            if tables is None:
                tables = Tables(definitions.of(source.name, block.fixed_header(0).server_id))
            for part in expand(block):
                for row, content, table in tables.table_maps(part):
                    yield int(part.positions[row]), content, table


#: Maximum number of points with cached statements, and of series of logs with cached definitions.
_MAX_KNOWN, _MAX_ENDS = 1 << 14, 16


class _Seen(NamedTuple):
    """Body of an event that affects definitions (a statement or a table map), or the decoding error.

    Or a place that is reached, see `Definitions.reach`.
    """

    body: QueryBody | TableMapEvent | BinlogError | tuple[str, int]

    def show(self, definitions: Definitions) -> None:
        """Apply the event to definitions."""
        if isinstance(self.body, TableMapEvent):
            definitions.match(self.body.schema_name, self.body.table_name, self.body)
        elif isinstance(self.body, tuple):
            definitions.reach(*self.body)
        else:
            definitions.observe_query(self.body)


def _matters(body: QueryBody | BinlogError) -> bool:
    """Whether a statement may change a definition; compressed ones are often long."""
    try:
        return isinstance(body, BinlogError) or may_matter_bytes(body.query)
    except zlib.error:
        return True


class LateDefinitions(Definitions):
    """Definitions that load earlier logs only when a table's columns are not named in its own log.

    `load`: returns the definitions before the first statement observed.
    `is_mariadb`: MariaDB wrote the log; MariaDB does not log some column types.
    `needs_names`: false if only the lengths of values matter.
    """

    def __init__(
        self, load: Callable[[], Definitions], *, is_mariadb: bool, needs_names: bool = True
    ) -> None:
        super().__init__()
        self._needs_names = needs_names
        self._load: Callable[[], Definitions] | None = load
        self._is_mariadb = is_mariadb
        self._waiting: list[_Seen] = []

    def observe_query(self, body: QueryBody | BinlogError) -> bool:
        """As in `Definitions`; until definitions are loaded, any statement may change one."""
        if self._load is None:
            return super().observe_query(body)
        if matters := _matters(body):
            self._waiting.append(_Seen(body))
        return matters

    def reach(self, file: str, position: int) -> bool:
        """As in `Definitions`."""
        if self._load is None:
            return super().reach(file, position)
        self._waiting.append(_Seen((file, position)))
        return False

    def match(
        self, schema_name: str, table_name: str, table_map: TableMapEvent | None = None
    ) -> TableDefinition | DefinitionMismatch | None:
        """As in `Definitions`."""
        if self._load is not None:
            if isinstance(table_map, TableMapEvent) and self._is_complete(table_map):
                self._waiting.append(_Seen(table_map))
                return None
            self.take_over(self._load())
            self._load = None
            for seen in self._waiting:
                seen.show(super())  # type: ignore[arg-type]  # the methods of the base class
            self._waiting = []
        return super().match(schema_name, table_name, table_map)

    def _is_complete(self, table_map: TableMapEvent) -> bool:
        columns = (schema := Schema.of(table_map)).columns
        if self._is_mariadb:
            return not self._needs_names and all(column.kind not in OLD_TIMES for column in columns)
        is_clear = all(column.charset is not None or column.collation_id is None for column in columns)
        is_clear = is_clear and not unknown_signs(schema, table_map)
        return not self._needs_names or (schema.names_from is NameSource.LOG and is_clear)


class _Recorder(Definitions):
    """Records what affects definitions: statements, and the spelling of names."""

    def __init__(self, seen: list[_Seen]) -> None:
        super().__init__()
        self._seen = seen
        self._is_spelled = False

    def observe_query(self, body: QueryBody | BinlogError) -> bool:
        if matters := _matters(body):
            self._seen.append(_Seen(body))
        return matters

    def reach(self, file: str, position: int) -> bool:
        self._seen.append(_Seen((file, position)))
        return False

    def match(self, schema_name: str, table_name: str, table_map: TableMapEvent | None = None) -> None:
        # One name with capital letters shows that names are case-sensitive, see `Definitions`.
        if not self._is_spelled and table_map is not None and table_name != table_name.lower():
            self._is_spelled = True
            self._seen.append(_Seen(table_map))


class _KnownUpTo(NamedTuple):
    """Events of a log that affect definitions, up to the start of a span or (None) all of them."""

    until: Span | None
    seen: list[_Seen]


_known: OrderedDict[tuple[object, int], _KnownUpTo] = OrderedDict()

#: Cached definitions, by DDL file and preceding logs.
_ends: OrderedDict[tuple[str | None, tuple[object, ...]], Definitions] = OrderedDict()


class EarlierLog(NamedTuple):
    """A log whose statements apply: a key that identifies it, how it is opened, and its source."""

    key: object
    opened: AbstractContextManager[Log]
    source: Source


def definitions_before(
    logs: Sequence[EarlierLog], source: Source, key: object, log: Log, span: Span, ddl: str | None
) -> Definitions:
    """The definitions in force at the start of a span of a log.

    `logs`: the earlier logs, in order.
    `source`, `key`, `log`: the log itself, as in `EarlierLog`.
    `ddl`: table definitions in the format of mysqldump.
    Raises `BinlogError`: a log cannot be opened.
    """
    definitions = _definitions_after(logs, ddl)
    if logs:
        definitions = carried(definitions, logs[-1].source, source)
    definitions.reach(source.name, 0)
    for seen in _seen(key, nullcontext(log), span):
        seen.show(definitions)
    return definitions


def _definitions_after(logs: Sequence[EarlierLog], ddl: str | None) -> Definitions:
    """The definitions after the given logs; continues from cached results."""
    keys = tuple(log.key for log in logs)
    known = [cached for text, cached in _ends if text == ddl and keys[: len(cached)] == cached]
    count = max(map(len, known), default=0)
    definitions = _ends[ddl, keys[:count]].copy() if known else restore("", ddl)
    for number in range(count, len(logs)):
        if number:
            definitions = carried(definitions, logs[number - 1].source, logs[number].source)
        definitions.reach(logs[number].source.name, 0)
        for seen in _seen(logs[number].key, logs[number].opened, None):
            seen.show(definitions)
    _ends[ddl, keys] = definitions.copy()
    _ends.move_to_end((ddl, keys))
    while len(_ends) > _MAX_ENDS:
        _ends.popitem(last=False)
    return definitions


def _seen(key: object, opened: AbstractContextManager[Log], until: Span | None) -> Sequence[_Seen]:
    """Events that affect definitions in a log, up to a span or to its end; extends cached results."""
    position = -1 if until is None else until.start
    known = _known.get((key, position))
    if known is None:
        earlier = [
            earlier_position
            for log_key, earlier_position in _known
            if log_key == key
            and 0 <= earlier_position < (position if position >= 0 else earlier_position + 1)
        ]
        start = _known[key, max(earlier)] if earlier else _KnownUpTo(Span(), [])
        with opened as log:
            known = _read_on(log, start, until)
        _known[key, position] = known
    _known.move_to_end((key, position))
    while len(_known) > _MAX_KNOWN:
        _known.popitem(last=False)
    return known.seen


def _read_on(log: Log, known: _KnownUpTo, until: Span | None) -> _KnownUpTo:
    seen = list(known.seen)
    recorder, nothing = _Recorder(seen), np.zeros(0, dtype=np.int64)
    tables = Tables(recorder)
    stop = None if until is None else until.start
    assert known.until is not None
    for block in log.blocks(known.until, stop):
        if isinstance(block, Gap):
            if not block.is_last:  # what is cut off at the end was not committed
                seen.append(_Seen(block.error))
            continue
        whole = block
        if stop is not None and block.positions[-1] >= stop:
            whole = block.part(0, int(np.searchsorted(block.positions, stop)))
        try:
            for part in expand(whole):
                tables.take(part, nothing)
        except BinlogError:
            continue  # reported when its rows are read
    return _KnownUpTo(until, seen)
