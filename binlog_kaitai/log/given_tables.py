"""Surveys the statements of logs, which show from where to where the definitions of a file hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definition_changes import DdlKind, changes_of
from binlog_kaitai.ddl.definitions import Timelines
from binlog_kaitai.ddl.given import Eras, LogPlace, timeline
from binlog_kaitai.ddl.statements import AlterTable, ChangeDatabase, CreateTable, DropTables
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.errors import BinlogError, DefinitionWarning, warn
from binlog_kaitai.log.statements import statements_of
from binlog_kaitai.sources.source import Source, log_number

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody


_ONCE = (
    "can be read only once, so the given definitions are taken to be from before it; if they may be newer,"
    " give the log as a file"
)


def timelines_of(
    given: Definitions, sources: Sequence[Source], are_apart: Callable[[Source, Source], bool]
) -> Timelines:
    """From where to where the definitions of a file hold in the logs of one series.

    Reads the statements of all logs.

    `are_apart`: whether something is missing between two logs.
    """
    survey, result = _Survey(given), Timelines()
    for number, source in enumerate(sources):
        if number and are_apart(sources[number - 1], source):
            survey.lose(survey.eras.of, LogPlace(number, 0))
        if source.is_stream:
            warn(f"{source.name}: {_ONCE}", DefinitionWarning)
            continue
        with suppress(BinlogError):  # raised again when the rows are read
            for position, body in statements_of(replace(source, span=None)):
                survey.take(LogPlace(number, position), body)
    for key, table in given.from_file.items():
        for place, change in timeline(table, survey.eras.of[_folded(key)]) or ():
            result.setdefault((sources[place.log].name, place.position), []).append((key, change))
    return dict(sorted(result.items(), key=lambda item: (log_number(item[0][0]), item[0][1])))


def _folded(key: TableKey) -> TableKey:
    return key[0].lower(), key[1].lower()


class _Survey:
    """Collects what statements do to the tables of a file, whose names are compared without their case."""

    def __init__(self, given: Definitions) -> None:
        self._given = given
        self._log = Definitions()  # by the statements alone
        self.eras = Eras(list(map(_folded, given.from_file)))

    def lose(self, keys: Iterable[TableKey], place: LogPlace) -> None:
        """It is unknown what happened to tables."""
        for key in keys:
            self.eras.begin(key, place)

    def take(self, place: LogPlace, body: QueryBody | BinlogError) -> None:
        """Take the next statement."""
        gone, new = list[TableKey](), list[TableKey]()
        for change in changes_of(body, self._log):
            match change.kind, change.statement:
                case _, None:
                    lost = self._given.copy()
                    lost.observe_query(body)
                    self.lose(lost.state[1].lost, place)
                case DdlKind.CREATE_TABLE, CreateTable() as statement if change.is_done is not False:
                    was_there = statement.replaces or not change.is_done
                    if change.after is not None or change.is_done:
                        key = _folded(change.key)
                        self.eras.create(key, place, change.after, was_there=was_there)
                case DdlKind.ALTER_TABLE, AlterTable() as statement if change.key == change.new_key:
                    self.eras.alter(_folded(change.key), place, statement, change.session.sql_mode)
                case ((DdlKind.ALTER_TABLE | DdlKind.RENAME_TABLE), _):
                    gone.append(_folded(change.key))
                    new.append(_folded(change.new_key))
                case DdlKind.DROP_TABLE, DropTables() as statement:
                    known = change.before or self._given.of(*change.key)
                    if change.is_done or (change.is_done is None and statement.drops_real(False, known)):
                        gone.append(_folded(change.key))
                case _, ChangeDatabase(is_dropped=True):
                    gone = [key for key in self.eras.of if key[0] == change.schema_name.lower()]
                    new = [((change.new_schema_name or "").lower(), table) for _, table in gone]
        for key in gone:
            if key not in new:
                self.eras.begin(key, place, is_gone=True)
        for key in new:
            self.eras.create(key, place, self._log.of(*key), was_there=key in gone)
