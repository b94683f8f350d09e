"""What tables were before some place of a series of logs, for whoever begins to read there.

Where the log names columns itself, nothing of this is needed, and nothing is read. Else the statements of all
earlier logs, and of this one up to there, count; of these logs everything is framed, and only statements are
looked at. What has been found is kept by the process, so that it goes over each log once.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from binlog_kaitai.columns.cuts import Cut, Gap, Log
from binlog_kaitai.columns.payloads import expand
from binlog_kaitai.columns.rows.pages import new_definitions
from binlog_kaitai.columns.rows.tables import statement_body, statements_in
from binlog_kaitai.ddl import DefinitionMismatch, Definitions, TableDefinition
from binlog_kaitai.ddl.statements import may_matter_bytes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import TableMapEvent
from binlog_kaitai.schema import OLD_TIMES, NameSource, Schema

#: Logs whose statements are kept.
_MAX_LOGS = 1 << 14


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
        self._waiting: list[Any] = []

    def observe_query(self, body: Any) -> bool:
        """As in `Definitions`; as long as nothing is known, any statement may change a definition."""
        if self._load is None:
            return super().observe_query(body)
        self._waiting.append(body)
        return True

    def fit(
        self, schema_name: str, table_name: str, table_map: Any = None
    ) -> TableDefinition | DefinitionMismatch | None:
        """As in `Definitions`."""
        if self._load is not None:
            if isinstance(table_map, TableMapEvent) and self._tells_all(table_map):
                return None
            self.take_over(self._load())
            self._load = None
            for body in self._waiting:
                super().observe_query(body)
            self._waiting = []
        return super().fit(schema_name, table_name, table_map)

    def _tells_all(self, table_map: TableMapEvent) -> bool:
        columns = (schema := Schema.of(table_map)).columns
        if self._is_mariadb:
            return not self._needs_names and all(one.type not in OLD_TIMES for one in columns)
        is_clear = all(one.charset is not None or one.collation_id is None for one in columns)
        return not self._needs_names or (schema.names_from is NameSource.LOG and is_clear)


class _Known(NamedTuple):
    """The statements of one log, up to a cut or (None) all: where each is, and the body of its event."""

    until: Cut | None
    bodies: list[tuple[int, Any]]


_known: OrderedDict[object, _Known] = OrderedDict()


def definitions_before(
    logs: Iterable[tuple[object, AbstractContextManager[Log]]],
    key: object,
    log: Log,
    cut: Cut,
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
    definitions = new_definitions(ddl)
    for one, opened in logs:
        for _, body in _statements(one, opened, None):
            definitions.observe_query(body)
    for position, body in _statements(key, nullcontext(log), cut):
        if position < cut.position:
            definitions.observe_query(body)
    return definitions


def _statements(
    key: object, opened: AbstractContextManager[Log], until: Cut | None
) -> Sequence[tuple[int, Any]]:
    """The statements of a log that may define something, up to a cut at least, or to its end."""
    known = _known.pop(key, None) or _Known(Cut(0, ()), [])
    if known.until is not None and (until is None or known.until.position < until.position):
        with opened as log:
            known = _read_on(log, known.until, known.bodies, until)
    _known[key] = known
    while len(_known) > _MAX_LOGS:
        _known.popitem(last=False)
    return known.bodies


def _read_on(log: Log, start: Cut, bodies: list[tuple[int, Any]], until: Cut | None) -> _Known:
    found = list(bodies)
    stop = None if until is None else until.position
    for block in log.blocks(start, stop):
        if isinstance(block, Gap):
            continue
        try:
            for part in expand(block):
                places = part.positions
                for row in statements_in(part):
                    is_before = stop is None or places[row] < stop
                    if is_before and (body := _body(part, row)) is not None:
                        found.append((int(places[row]), body))
        except BinlogError:
            continue  # a payload that cannot be opened is told where it is read
    return _Known(until, found)


def _body(block: Any, row: int) -> Any:
    """The body of a statement that may define something, or why it cannot be read; None for others."""
    body = statement_body(block, row)
    try:
        return body if isinstance(body, BinlogError) or may_matter_bytes(body.query) else None
    except zlib.error:
        return None
