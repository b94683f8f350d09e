"""What tables were before some place of a series of logs, for whoever begins to read there.

Where the log names columns itself, nothing of this is needed, and nothing is read. Else the statements of all
earlier logs, and of this one up to there, count; of these logs everything is framed, and only statements are
looked at. What has been found is kept by the process, so that it goes over each log once.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.columns.blocks.gaps import Gap
from binlog_kaitai.columns.blocks.payloads import expand
from binlog_kaitai.columns.rows.pages import new_definitions
from binlog_kaitai.columns.rows.tables import Tables
from binlog_kaitai.columns.splits.split_points import Log, SplitPoint
from binlog_kaitai.core.grammar import TableMapEvent
from binlog_kaitai.ddl import DefinitionMismatch, Definitions, TableDefinition
from binlog_kaitai.ddl.first_words import may_matter_bytes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.values.schema import OLD_TIMES, NameSource, Schema

#: Places up to which it is kept what logs say, and series of logs of which it is kept what they define.
_MAX_KNOWN, _MAX_ENDS = 1 << 14, 16


class _Seen(NamedTuple):
    """The body of an event that matters to definitions, a statement or a table map; or why it has none."""

    body: Any

    def show(self, definitions: Any) -> None:
        """Let definitions take it in."""
        if isinstance(self.body, TableMapEvent):
            definitions.match(self.body.schema_name, self.body.table_name, self.body)
        else:
            definitions.observe_query(self.body)


class LateDefinitions(Definitions):
    """Definitions that learn what was before only when a table is asked for that the log does not tell.

    Parameters
    ----------
    load
        Gives the definitions before the first statement that is observed.
    is_mariadb
        MariaDB wrote the log: some types of its columns are never told by the log itself.
    needs_names
        False where only the lengths of values matter.
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
        """As in `Definitions`; as long as nothing is known, any statement may change a definition."""
        if self._load is None:
            return super().observe_query(body)
        self._waiting.append(_Seen(body))
        return True

    def match(
        self, schema_name: str, table_name: str, table_map: Any = None
    ) -> TableDefinition | DefinitionMismatch | None:
        """As in `Definitions`."""
        if self._load is not None:
            if isinstance(table_map, TableMapEvent) and self._tells_all(table_map):
                self._waiting.append(_Seen(table_map))
                return None
            self.take_over(self._load())
            self._load = None
            for seen in self._waiting:
                seen.show(super())
            self._waiting = []
        return super().match(schema_name, table_name, table_map)

    def _tells_all(self, table_map: TableMapEvent) -> bool:
        columns = (schema := Schema.of(table_map)).columns
        if self._is_mariadb:
            return not self._needs_names and all(one.type not in OLD_TIMES for one in columns)
        is_clear = all(one.charset is not None or one.collation_id is None for one in columns)
        return not self._needs_names or (schema.names_from is NameSource.LOG and is_clear)


class _Recorder(Definitions):
    """Notes what definitions would be told: statements that may matter, and the spelling of names."""

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
        # One name with capital letters tells that case matters, see `Definitions`.
        if not self._is_spelled and table_map is not None and table_name != table_name.lower():
            self._is_spelled = True
            self._seen.append(_Seen(table_map))


class _Known(NamedTuple):
    """What of one log matters to definitions, up to a cut or (None) in all."""

    until: SplitPoint | None
    seen: list[_Seen]


_known: OrderedDict[tuple[object, int], _Known] = OrderedDict()

#: By the file of definitions and the logs behind it.
_ends: OrderedDict[tuple[str | None, tuple[object, ...]], Definitions] = OrderedDict()


def definitions_before(
    logs: Sequence[tuple[object, AbstractContextManager[Log]]],
    key: object,
    log: Log,
    cut: SplitPoint,
    ddl: str | None,
) -> Definitions:
    """The definitions at a cut of a log.

    Parameters
    ----------
    logs
        The earlier logs, in order: what tells one from another, and how to open it.
    key, log
        The same of the log itself.
    ddl
        Definitions of tables, as mysqldump writes them.

    Raises
    ------
    BinlogError
        A log cannot be opened.
    """
    definitions = _definitions_after(logs, ddl)
    for seen in _seen(key, nullcontext(log), cut):
        seen.show(definitions)
    return definitions


def _definitions_after(
    logs: Sequence[tuple[object, AbstractContextManager[Log]]], ddl: str | None
) -> Definitions:
    """The definitions at the end of some logs; goes on where it has been up to."""
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


def _seen(key: object, opened: AbstractContextManager[Log], until: SplitPoint | None) -> Sequence[_Seen]:
    """What matters in a log up to a cut, or in all of it; goes on where it has been up to."""
    place = -1 if until is None else until.position
    found = _known.get((key, place))
    if found is None:
        earlier = [at for one, at in _known if one == key and 0 <= at < (place if place >= 0 else at + 1)]
        start = _known[key, max(earlier)] if earlier else _Known(SplitPoint(0, ()), [])
        with opened as log:
            found = _read_on(log, start, until)
        _known[key, place] = found
    _known.move_to_end((key, place))
    while len(_known) > _MAX_KNOWN:
        _known.popitem(last=False)
    return found.seen


def _read_on(log: Log, known: _Known, until: SplitPoint | None) -> _Known:
    seen = list(known.seen)
    recorder, nothing = _Recorder(seen), np.zeros(0, dtype=np.int64)
    tables = Tables(recorder)
    stop = None if until is None else until.position
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
            continue  # a payload that cannot be opened is told where it is read
    return _Known(until, seen)
