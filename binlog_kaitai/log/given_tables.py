"""Surveys the statements of logs, which show from where to where the definitions of a file hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import Timelines
from binlog_kaitai.ddl.given import Eras, LogPlace, timeline
from binlog_kaitai.ddl.lexer import UnreadableError
from binlog_kaitai.ddl.statements import (
    AlterTable,
    ChangeDatabase,
    CreateTable,
    DropTables,
    Name,
    RenameTables,
    qualified,
    session_of,
    statement_of,
)
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.statements import statements_of
from binlog_kaitai.sources.source import Source, log_number

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody


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
            continue  # it cannot be read ahead
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
        if isinstance(body, BinlogError):
            self.lose(self.eras.of, place)
            return
        try:
            statement = statement_of(body)
        except (UnreadableError, RecursionError):
            lost = self._given.copy()
            lost.observe_query(body)
            self.lose(lost.state[1].lost, place)
            self._log.observe_query(body)
            return
        session, schema = session_of(body), body.schema_name

        def is_real(name: Name) -> bool:
            return not self._log.is_temporary(session, *qualified(name, schema))

        gone, new = list[TableKey](), list[TableKey]()
        match statement:
            case CreateTable() if not statement.is_temporary and statement.has_created(session) is not False:
                new = [qualified(statement.name, schema)]
            case AlterTable() if is_real(statement.name):
                if statement.new_name is None:
                    key = _folded(qualified(statement.name, schema))
                    self.eras.alter(key, place, statement, session.sql_mode)
                else:
                    gone, new = [qualified(statement.name, schema)], [qualified(statement.new_name, schema)]
            case RenameTables():
                gone = [qualified(old, schema) for old, _ in statement.pairs]
                new = [qualified(name, schema) for _, name in statement.pairs]
            case DropTables():
                for name in statement.names:
                    key = qualified(name, schema)
                    if statement.drops_real(not is_real(name), self._log.of(*key) or self._given.of(*key)):
                        gone.append(key)
            case ChangeDatabase() if statement.is_dropped:
                database = (statement.name or schema).lower()
                gone = [key for key in self.eras.of if key[0] == database]
                moved = (statement.new_name or "").lower()
                new = [(moved, key[1]) for key in gone]
        self._log.observe_query(body)
        left, entered = list(map(_folded, gone)), list(map(_folded, new))
        for key in left:
            if key not in entered:
                self.eras.begin(key, place, is_gone=True)
        for key in entered:
            known, was_there = self._log.of(*key), key in left
            if isinstance(statement, CreateTable):
                was_there = statement.replaces or not statement.has_created(session)
                if was_there and statement.only_if_new and known is None:
                    continue
            self.eras.create(key, place, known, was_there=was_there)
