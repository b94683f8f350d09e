"""When the definitions of a file hold: it describes one moment, which may be before, in, or after the logs.

Most files are newer than the logs (`mysqldump --no-data` of today). The statements that change a table divide
the logs into intervals. Each interval in which the file may have been made is a hypothesis. The statement at
the start of an interval excludes it if the definition does not show the result; a later one does if it does
not apply to the definition. What follows from all other hypotheses holds; elsewhere, the table is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from binlog_kaitai.ddl.alter import Alteration, ContradictionError
from binlog_kaitai.ddl.column_charsets import CharsetChange
from binlog_kaitai.ddl.definition_changes import column_clauses
from binlog_kaitai.ddl.lexer import UnreadableError
from binlog_kaitai.ddl.statements import AlterTable
from binlog_kaitai.ddl.store import WITHHELD, TableKey
from binlog_kaitai.values.column_kinds import sql_type
from binlog_kaitai.values.table_definition import UNKNOWN_CHARSET, ColumnDefinition, Columns, TableDefinition

_NEWER = f"{WITHHELD} is newer: a later statement changes the table; give its definition from before that"
_UNCLEAR = (
    f"{WITHHELD} may be from before or after a statement that changes the table; give its definition from"
    " before the first log, or read the rows after that statement alone"
)

_NO_TABLE = TableDefinition("", "", Columns())
_INTEGERS = frozenset(("tinyint", "smallint", "mediumint", "int", "bigint"))
_SIZED = frozenset(("char", "varchar", "binary", "varbinary", "decimal", "bit"))


class LogPlace(NamedTuple):
    """A statement, or with position 0 the start of a log: its number among the logs, and its position."""

    log: int
    position: int


#: What holds from a place on: a definition, or the reason why none does; None if the log itself decides.
Change = tuple[LogPlace, TableDefinition | str | None]


@dataclass
class Era:
    """The time between two statements that replace a table by another one, or may do so.

    `known`: the new table, if the log defines it; `is_gone`: there is none.
    `alters`: the ALTER TABLE statements that may change its definition.
    """

    start: LogPlace
    known: TableDefinition | None = None
    is_gone: bool = False
    alters: list[tuple[LogPlace, AlterTable, int]] = field(default_factory=list)


def timeline(table: TableDefinition, eras: Sequence[Era]) -> list[Change] | None:
    """When the definition of a file holds; None if everywhere, since no statement concerns the table.

    `eras`: in order, the first one from the start of the logs.
    """
    if len(eras) == 1 and not eras[0].alters:
        return None
    moments = [list(_hypotheses(table, era)) for era in eras]
    possible = [number for number, starts in enumerate(moments) if starts]
    times = [(number, start) for number, starts in enumerate(moments) for start, _ in starts]
    is_older = times == [(0, 0)]
    changes: list[Change] = []
    for number, era in enumerate(eras):
        if era.known is not None or era.is_gone or (is_older and number):
            changes.append((era.start, None))
            continue
        for interval, place in enumerate([era.start, *(place for place, _, _ in era.alters)]):
            is_newer = all(when > (number, interval) for when in times)
            value: TableDefinition | str = _NEWER if is_newer else _UNCLEAR
            if possible == [number]:
                values = [states[interval] for _, states in moments[number]]
                if all(state is not None and _are_same(state, values[-1]) for state in values):
                    value = values[-1] or value
            changes.append((place, value))
    return changes


def _hypotheses(table: TableDefinition, era: Era) -> Iterator[tuple[int, list[TableDefinition | None]]]:
    """In which intervals between the statements of an era a definition may have been in force.

    Returns the number of each such interval, and what the definition was in every interval then.
    """
    if era.is_gone:
        return
    for start in range(len(era.alters) + 1):
        with suppress(ContradictionError):
            before: list[TableDefinition | None] = [table]
            for _, statement, sql_mode in reversed(era.alters[:start]):
                before.append(None if before[-1] is None else _undone(before[-1], statement, sql_mode))
            if era.known is not None and before[-1] is not None and not _are_same(before[-1], era.known):
                continue
            states = before[::-1]
            for _, statement, sql_mode in era.alters[start:]:
                states.append(None if states[-1] is None else _done(states[-1], statement, sql_mode))
            yield start, states


def is_neutral(statement: AlterTable, sql_mode: int) -> bool:
    """Whether an ALTER TABLE changes no definition, whatever the table is."""
    try:
        change = _alteration(_NO_TABLE, statement, sql_mode)
        return change.changes_only_columns and not list(column_clauses(statement.clauses))
    except UnreadableError:
        return False


def _alteration(table: TableDefinition, statement: AlterTable, sql_mode: int) -> Alteration:
    charsets = CharsetChange(table.default_charset, UNKNOWN_CHARSET, UNKNOWN_CHARSET)
    return Alteration(table, statement.clauses, sql_mode, charsets)


def _done(table: TableDefinition, statement: AlterTable, sql_mode: int) -> TableDefinition | None:
    """The table after a statement; None if unknown. Raises `ContradictionError`: it does not apply."""
    try:
        return _alteration(table, statement, sql_mode).result()
    except UnreadableError:
        return None


def _undone(table: TableDefinition, statement: AlterTable, sql_mode: int) -> TableDefinition | None:
    """The table before a statement that may have had this result; None if unknown.

    Raises `ContradictionError`: this is not its result.
    """
    try:
        clauses = list(column_clauses(statement.clauses))
        change = _alteration(_NO_TABLE, statement, sql_mode)
    except UnreadableError:
        return None
    if any(token.keyword == "IF" for clause in statement.clauses for token in clause[:3]):
        return None
    former = {clause.new.casefold(): clause.old for clause in clauses if clause.new}
    if any(table.find(name) is None for name in former):
        raise ContradictionError("a column is missing")
    if any(table.find(old) is not None and old.casefold() not in former for _, old, _, _ in clauses if old):
        raise ContradictionError("a column is still there")
    columns = [
        replace(column, name=former.get(column.key, column.name))
        for column in table.columns
        if former.get(column.key) != ""
    ]
    dropped = [ColumnDefinition(clause.old, "int", "int") for clause in clauses if clause.verb == "DROP"]
    before = replace(table, columns=Columns((*columns, *dropped)), hidden_columns=())
    after = _done(before, statement, sql_mode)
    if after is not None and not table.hidden_columns and not _are_same(after, table):
        raise ContradictionError("other columns")
    is_exact = all(clause.verb in ("ADD", "RENAME") for clause in clauses) and change.changes_only_columns
    return before if is_exact and not table.hidden_columns else None


def _are_same(own: TableDefinition, other: TableDefinition | None) -> bool:
    """Whether two definitions may be of one table: files and statements spell the same types differently."""
    return (
        other is not None
        and len(own.columns) == len(other.columns)
        and all(map(_may_be_same, own.columns, other.columns))
    )


def _may_be_same(own: ColumnDefinition, other: ColumnDefinition) -> bool:
    types = {own.base_type, other.base_type}
    known = [sql_type(base).logged for base in types]
    if own.key != other.key or (all(known) and not set(known[0]).intersection(*known)):
        return False
    if len(types) > 1 and types <= _INTEGERS:
        return False
    pairs = [(own.is_unsigned, other.is_unsigned), (own.members, other.members), (own.charset, other.charset)]
    if len(types) == 1 and types <= _SIZED:
        pairs.append((own.arguments or None, other.arguments or None))
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


class Eras:
    """Collects the eras of the tables of a file, statement by statement.

    `tables`: by name in lower case.
    """

    def __init__(self, tables: Sequence[TableKey]) -> None:
        self.of = {key: [Era(LogPlace(0, 0))] for key in tables}

    def alter(self, key: TableKey, place: LogPlace, statement: AlterTable, sql_mode: int) -> None:
        """A statement has altered a table."""
        if key in self.of and not is_neutral(statement, sql_mode):
            self.of[key][-1].alters.append((place, statement, sql_mode))

    def begin(
        self, key: TableKey, place: LogPlace, known: TableDefinition | None = None, *, is_gone: bool = False
    ) -> None:
        """A table was dropped or renamed to another name, or it is unknown what happened to it."""
        if key in self.of:
            self.of[key].append(Era(place, known, is_gone))

    def create(
        self, key: TableKey, place: LogPlace, known: TableDefinition | None, *, was_there: bool
    ) -> None:
        """A table was created, or renamed to this name; `was_there`: another one may have had the name."""
        if key in self.of:
            self.of[key][-1].is_gone |= not was_there
            self.begin(key, place, known)
