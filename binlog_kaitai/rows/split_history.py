"""Table definitions in force at a point in a series of logs, for readers that start there.

Nothing is read if the log contains column names. Otherwise, the statements of all earlier logs and of this
log up to that point apply: all events of these logs are framed, but only statements are decoded. The process
caches the result and reads each log only once.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import TableMapEvent
from binlog_kaitai.ddl import DefinitionMismatch, Definitions, TableDefinition
from binlog_kaitai.ddl.definition_match import unknown_signs
from binlog_kaitai.ddl.lexer import may_matter_bytes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.split_points import Log
from binlog_kaitai.rows.row_pages import new_definitions
from binlog_kaitai.rows.tables import Tables
from binlog_kaitai.sources.source import Span
from binlog_kaitai.values.schema import OLD_TIMES, NameSource, Schema

#: Maximum number of points with cached statements, and of series of logs with cached definitions.
_MAX_KNOWN, _MAX_ENDS = 1 << 14, 16


class _Seen(NamedTuple):
    """Body of an event that affects definitions (a statement or a table map), or the decoding error."""

    body: Any

    def show(self, definitions: Any) -> None:
        """Apply the event to definitions."""
        if isinstance(self.body, TableMapEvent):
            definitions.match(self.body.schema_name, self.body.table_name, self.body)
        else:
            definitions.observe_query(self.body)


class LateDefinitions(Definitions):
    """Definitions that load earlier logs only when a table's columns are not named in its own log.

    Parameters
    ----------
    load
        Returns the definitions before the first statement observed.
    is_mariadb
        MariaDB wrote the log; MariaDB does not log some column types.
    needs_names
        False if only the lengths of values matter.
    """

    def __init__(
        self, load: Callable[[], Definitions], *, is_mariadb: bool, needs_names: bool = True
    ) -> None:
        super().__init__()
        self._needs_names = needs_names
        self._load: Callable[[], Definitions] | None = load
        self._is_mariadb = is_mariadb
        self._waiting: list[_Seen] = []

    def observe_query(self, body: Any) -> bool:
        """As in `Definitions`; until definitions are loaded, any statement may change one."""
        if self._load is None:
            return super().observe_query(body)
        self._waiting.append(_Seen(body))
        return True

    def match(
        self, schema_name: str, table_name: str, table_map: Any = None
    ) -> TableDefinition | DefinitionMismatch | None:
        """As in `Definitions`."""
        if self._load is not None:
            if isinstance(table_map, TableMapEvent) and self._is_complete(table_map):
                self._waiting.append(_Seen(table_map))
                return None
            self.take_over(self._load())
            self._load = None
            for seen in self._waiting:
                seen.show(super())
            self._waiting = []
        return super().match(schema_name, table_name, table_map)

    def _is_complete(self, table_map: TableMapEvent) -> bool:
        columns = (schema := Schema.of(table_map)).columns
        if self._is_mariadb:
            return not self._needs_names and all(one.type not in OLD_TIMES for one in columns)
        is_clear = all(one.charset is not None or one.collation_id is None for one in columns)
        is_clear = is_clear and not unknown_signs(schema, table_map)
        return not self._needs_names or (schema.names_from is NameSource.LOG and is_clear)


class _Recorder(Definitions):
    """Records what affects definitions: statements, and the spelling of names."""

    def __init__(self, seen: list[_Seen]) -> None:
        super().__init__()
        self._seen = seen
        self._is_spelled = False

    def observe_query(self, body: Any) -> bool:
        try:
            matters = isinstance(body, BinlogError) or may_matter_bytes(body.query)
        except zlib.error:
            matters = True
        if matters:
            self._seen.append(_Seen(body))
        return matters

    def match(self, schema_name: str, table_name: str, table_map: Any = None) -> None:
        # One name with capital letters shows that names are case-sensitive, see `Definitions`.
        if not self._is_spelled and table_map is not None and table_name != table_name.lower():
            self._is_spelled = True
            self._seen.append(_Seen(table_map))


class _Known(NamedTuple):
    """Events of a log that affect definitions, up to the start of a span or (None) all of them."""

    until: Span | None
    seen: list[_Seen]


_known: OrderedDict[tuple[object, int], _Known] = OrderedDict()

#: Cached definitions, by DDL file and preceding logs.
_ends: OrderedDict[tuple[str | None, tuple[object, ...]], Definitions] = OrderedDict()


def definitions_before(
    logs: Sequence[tuple[object, AbstractContextManager[Log]]],
    key: object,
    log: Log,
    span: Span,
    ddl: str | None,
) -> Definitions:
    """The definitions in force at the start of a span of a log.

    Parameters
    ----------
    logs
        The earlier logs, in order: a key that identifies each, and a function that opens it.
    key, log
        The same for the log itself.
    ddl
        Table definitions in the format of mysqldump.

    Raises
    ------
    BinlogError
        A log cannot be opened.
    """
    definitions = _definitions_after(logs, ddl)
    for seen in _seen(key, nullcontext(log), span):
        seen.show(definitions)
    return definitions


def _definitions_after(
    logs: Sequence[tuple[object, AbstractContextManager[Log]]], ddl: str | None
) -> Definitions:
    """The definitions after the given logs; continues from cached results."""
    keys = tuple(key for key, _ in logs)
    known = [one for text, one in _ends if text == ddl and keys[: len(one)] == one]
    count = max(map(len, known), default=0)
    definitions = _ends[ddl, keys[:count]].copy() if known else new_definitions(ddl)
    for key, opened in logs[count:]:
        for seen in _seen(key, opened, None):
            seen.show(definitions)
    _ends[ddl, keys] = definitions.copy()
    _ends.move_to_end((ddl, keys))
    while len(_ends) > _MAX_ENDS:
        _ends.popitem(last=False)
    return definitions


def _seen(key: object, opened: AbstractContextManager[Log], until: Span | None) -> Sequence[_Seen]:
    """Events that affect definitions in a log, up to a span or to its end; extends cached results."""
    position = -1 if until is None else until.start
    found = _known.get((key, position))
    if found is None:
        earlier = [
            at for one, at in _known if one == key and 0 <= at < (position if position >= 0 else at + 1)
        ]
        start = _known[key, max(earlier)] if earlier else _Known(Span(), [])
        with opened as log:
            found = _read_on(log, start, until)
        _known[key, position] = found
    _known.move_to_end((key, position))
    while len(_known) > _MAX_KNOWN:
        _known.popitem(last=False)
    return found.seen


def _read_on(log: Log, known: _Known, until: Span | None) -> _Known:
    seen = list(known.seen)
    recorder, nothing = _Recorder(seen), np.zeros(0, dtype=np.int64)
    tables = Tables(recorder)
    stop = None if until is None else until.start
    assert known.until is not None
    for block in log.blocks(known.until, stop):
        if isinstance(block, Gap):
            continue
        whole = block
        if stop is not None and block.positions[-1] >= stop:
            whole = block.part(0, int(np.searchsorted(block.positions, stop)))
        try:
            for part in expand(whole):
                tables.take(part, nothing, nothing)
        except BinlogError:
            continue  # reported when its rows are read
    return _Known(until, seen)
