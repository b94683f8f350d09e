"""Tables that were altered after the changes that a script undoes.

Undo statements apply to the tables as they were at the time. Later DDL on these tables is not undone, so the
statements may fail, or affect other columns: a script warns about such DDL in the logs, and adapts its
statements to the tables' current definitions if these are given.

Rules
-----
1. A column with the same name in the current definition is the same column, unless the user says that it was
   renamed.
2. Every other column was dropped, or is new. Renames are never guessed, because values could be written to
   the wrong column. If one is possible, judging by position and type, the note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definition_changes import DdlKind, DefinitionChange, changes_of
from binlog_kaitai.ddl.statements import CreateTable
from binlog_kaitai.errors import UsageError
from binlog_kaitai.render.sql.script_lines import shortened
from binlog_kaitai.values.column_kinds import sql_type
from binlog_kaitai.values.schema import Column, Schema
from binlog_kaitai.values.table_definition import ColumnDefinition, TableDefinition


@dataclass(frozen=True)
class FittedTable:
    """The columns of a logged table in its current definition.

    `columns`: the columns that still exist, by their index in the logged table, with their current names.
    `primary_key`: indexes in the logged table of the current primary key; empty if there is none, or not in
    the log.
    `updated`: the other columns of the current definition that ON UPDATE may change.
    `notes`: the differences, one sentence each.
    """

    columns: dict[int, Column]
    primary_key: tuple[int, ...]
    updated: tuple[str, ...]
    notes: list[str]


class CurrentDefinitions:
    """The current table definitions from a file.

    `text`: CREATE TABLE statements. Those without a database apply to every database with such a table.
    `renamed`: renamed columns: ``old=new``, or ``schema.table.old=new`` for one table.
    Raises `UsageError`: there is no such statement, or a rename is ambiguous.
    """

    def __init__(self, text: str, renamed: Iterable[str] = ()) -> None:
        self._renamed = [_renaming(pair) for pair in renamed]
        self._definitions = Definitions()
        self._definitions.load(text)
        store, _, _ = self._definitions.state
        if not store.from_file:
            raise UsageError("the --for-table file has no valid CREATE TABLE statement")

    def match(self, schema: Schema) -> FittedTable | None:
        """Match a logged table with its current definition; None for a table that is not in the file.

        Raises `UsageError`: the current definition lacks the new name of a renamed column.
        """
        names = {old: new for table, old, new in self._renamed if table in ("", schema.full_name)}
        for database in (schema.schema_name, ""):
            definition = self._definitions.of(database, schema.table_name)
            if definition is not None:
                return _fitted(schema, definition, names)
        return None


def _renaming(text: str) -> tuple[str, str, str]:
    """Table ("" for any), and old and new name of a column."""
    left, sign, new = text.partition("=")
    table, _, old = left.rpartition(".")
    if not (sign and old and new):
        raise UsageError(f"--renamed {text}: use OLD=NEW or SCHEMA.TABLE.OLD=NEW")
    return table, old.casefold(), new


def _fitted(schema: Schema, today: TableDefinition, renamed: dict[str, str]) -> FittedTable:
    numbers: dict[int, int] = {}
    for column in schema.columns:
        name = renamed.get(column.name.casefold())
        number = today.find(column.name if name is None else name)
        if number is not None:
            numbers[column.index] = number
        elif name is not None:
            raise UsageError(f"the current definition of {schema.full_name} has no column {name}")
    columns = {}
    for index, number in numbers.items():
        logged, now = schema.columns[index], today.columns[number]
        columns[index] = replace(
            logged,
            name=now.name,
            charset=now.charset or logged.charset,
            is_generated=now.is_generated,
            has_on_update=_may_update_itself(now),
        )
    of_today = {number: index for index, number in numbers.items()}
    key = today.primary_key
    is_whole = all(number in of_today for number in key)
    notes = list(_notes(schema, today, numbers))
    added = (now for number, now in enumerate(today.columns) if number not in of_today)
    updated = tuple(now.name for now in added if _may_update_itself(now))
    return FittedTable(columns, tuple(of_today[number] for number in key) if is_whole else (), updated, notes)


def _may_update_itself(now: ColumnDefinition) -> bool:
    return now.base_type == "timestamp" if now.has_on_update is None else now.has_on_update


def _possible(logged: Sequence[Column], today: Sequence[ColumnDefinition]) -> Iterator[tuple[int, int]]:
    """Columns that may have been renamed: at the same position between others, with matching types."""
    old, new = [column.name.casefold() for column in logged], [column.key for column in today]
    others = _others(new, set(old))
    for around, indexes in _others(old, set(new)).items():
        numbers = others.get(around, [])
        if len(numbers) == len(indexes):
            pairs = zip(indexes, numbers, strict=True)
            yield from ((index, number) for index, number in pairs if _matches(logged[index], today[number]))


def _others(names: Sequence[str], known: set[str]) -> dict[tuple[str, str], list[int]]:
    """Indexes of unknown names, by the known ones before and after them."""
    runs: dict[tuple[str, str], list[int]] = {}
    run: list[int] = []
    before = ""
    for number, name in enumerate([*names, ""]):
        if name and name not in known:
            run.append(number)
            continue
        if run:
            runs[before, name] = run
        before, run = name, []
    return runs


def _matches(logged: Column, today: ColumnDefinition) -> bool:
    """Whether one column may be the other one renamed."""
    is_same_sign = None in (logged.is_unsigned, today.is_unsigned) or logged.is_unsigned == today.is_unsigned
    return is_same_sign and logged.type in sql_type(today.base_type).logged


def _notes(schema: Schema, today: TableDefinition, numbers: dict[int, int]) -> Iterator[str]:
    table = schema.full_name
    matched = set(numbers.values())
    possible = dict(_possible(schema.columns, today.columns))
    for column in schema.columns:
        if column.index not in numbers:
            note = f"{table}: the current definition has no column {column.name}; its values are omitted"
            number = possible.get(column.index)
            if number is not None and number not in matched:
                name = today.columns[number].name
                note += f" (if it was renamed to {name}: --renamed {column.name}={name})"
            yield note
            continue
        now = today.columns[numbers[column.index]]
        if now.key != column.name.casefold():
            yield f"{table}: column {column.name} is written as {now.name}"
    for number, now in enumerate(today.columns):
        if number not in matched and not now.is_generated:
            yield f"{table}: column {now.name} is not in the log; inserted rows get its default"


class LaterAlteration(NamedTuple):
    """A statement that alters a table.

    `key`: schema and name of the table.
    `where`, `text`: its position, and the beginning of its text.
    `lost`: what the table has no longer.
    """

    key: tuple[str, str]
    where: str
    text: str
    lost: str = "definition"

    @property
    def warning(self) -> str:
        """The warning to show before the script runs."""
        return (
            f"{self.where}: {'.'.join(self.key)} has changes in the script from before this statement, which "
            f"is not reverted; the table must have its earlier {self.lost}: {self.text}"
        )


def alterations(body: Any, where: str) -> list[LaterAlteration]:
    """The tables that the body of a QUERY_EVENT alters."""
    tables = [change for change in changes_of(body, Definitions()) if _is_altered(change)]
    text = shortened(body.query.decode("utf-8", "backslashreplace")) if tables else ""
    return [
        LaterAlteration(ddl.key, where, text, "rows" if ddl.kind is DdlKind.TRUNCATE_TABLE else "definition")
        for ddl in tables
    ]


def _is_altered(change: DefinitionChange) -> bool:
    """Whether a table is another one after a statement, as far as the log shows it."""
    if change.kind is DdlKind.CREATE_TABLE:
        return isinstance(change.statement, CreateTable) and change.statement.replaces
    return bool(change.table_name) and change.is_done is not False
