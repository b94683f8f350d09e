"""What each statement of a log does to tables: the definitions before and after it, and what it renames."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.ddl.elements import is_column
from binlog_kaitai.ddl.lexer import Token, TokenCursor, UnreadableError, may_affect_tables, split
from binlog_kaitai.ddl.statements import (
    AlterTable,
    ChangeDatabase,
    CreateTable,
    DropTables,
    Name,
    RenameTables,
    Statement,
    TruncateTable,
    is_half_done,
    qualified,
    read_statement,
    session_of,
    text_of,
)
from binlog_kaitai.ddl.store import Session, TableKey
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.values.table_definition import TableDefinition

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody
    from binlog_kaitai.core.filters import Filters

#: What ALTER TABLE can drop besides columns.
_NOT_COLUMNS = frozenset(
    ["PRIMARY", "SYSTEM", "CONSTRAINT", "INDEX", "KEY", "FOREIGN", "CHECK", "PARTITION", "PERIOD"]
)


_NO_SESSION = Session()


class DdlKind(StrEnum):
    """What a statement does. One that cannot be parsed is ``unreadable``."""

    CREATE_TABLE = "create_table"
    ALTER_TABLE = "alter_table"
    RENAME_TABLE = "rename_table"
    DROP_TABLE = "drop_table"
    TRUNCATE_TABLE = "truncate_table"
    CREATE_DATABASE = "create_database"
    ALTER_DATABASE = "alter_database"
    DROP_DATABASE = "drop_database"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class DefinitionChange:
    """What a statement does to one permanent table, or to a database.

    `statement`, `session`: the statement, None if it cannot be parsed or has failed, and its session.
    `is_done`: whether it did so; None if the log does not show it.
    `schema_name`, `table_name`: by the name before the statement; no table name for a database.
    `new_schema_name`, `new_table_name`: the name after it, if that is another one.
    `before`, `after`: None if the table does not exist, or its definition is unknown.
    `renamed`: columns that have other names after it: the old and the new one of each.
    """

    kind: DdlKind
    schema_name: str
    table_name: str | None
    new_schema_name: str | None = None
    new_table_name: str | None = None
    before: TableDefinition | None = None
    after: TableDefinition | None = None
    renamed: tuple[tuple[str, str], ...] = ()
    statement: Statement | None = None
    session: Session = _NO_SESSION
    is_done: bool | None = True

    @property
    def key(self) -> TableKey:
        """The table before the statement; with an empty name, all tables of a database."""
        return self.schema_name, self.table_name or ""

    @property
    def new_key(self) -> TableKey:
        """The table after the statement."""
        return self.new_schema_name or self.schema_name, self.new_table_name or self.table_name or ""

    def is_taken_by(self, filters: Filters) -> bool:
        """Whether it matches the filters by a name; a table does by the old or the new one."""
        if self.table_name is None and self.new_schema_name is None:
            # A statement about a whole database, or about unknown tables, matches all of its tables.
            return filters.takes_schema(self.schema_name)
        new = self.new_schema_name or self.schema_name, self.new_table_name or self.table_name
        return filters.takes_names(self.schema_name, self.table_name) or filters.takes_names(*new)


def changes_of(body: QueryBody | BinlogError, definitions: Definitions) -> list[DefinitionChange]:
    """What the statement of an event does, by the event's body; the definitions are brought up to date."""
    if isinstance(body, BinlogError):
        definitions.observe_query(body)
        return [DefinitionChange(DdlKind.UNREADABLE, "", None)]
    schema = body.schema_name
    try:
        if not may_affect_tables(body.query) or is_half_done(body):
            return []
        session, text = session_of(body), text_of(body)
        statement = None if text is None else read_statement(text, session)
        if text is not None and statement is None:
            return []
    except (UnreadableError, RecursionError, zlib.error):
        session, statement = _NO_SESSION, None
    if statement is None:
        definitions.observe_query(body)
        return [DefinitionChange(DdlKind.UNREADABLE, schema, None)]
    definitions.of("", "")  # those of a log's part are found when they are asked for
    changes = list(_planned(statement, schema, session, definitions))
    definitions.observe_query(body)
    for number, change in enumerate(changes):
        is_gone = change.kind in (DdlKind.DROP_TABLE, DdlKind.RENAME_TABLE) or change.table_name is None
        after = change.after if is_gone else definitions.of(*change.new_key)
        done = None if body.error_code else statement
        changes[number] = replace(change, after=after, statement=done, session=session)
    return changes


def _planned(
    statement: Statement, schema: str, session: Session, definitions: Definitions
) -> Iterator[DefinitionChange]:
    """What is known before the statement has taken effect."""

    def is_temporary(name: Name) -> bool:
        return definitions.is_temporary(session, *qualified(name, schema))

    def change(kind: DdlKind, name: Name, is_done: bool | None = True) -> DefinitionChange:
        key = qualified(name, schema)
        return DefinitionChange(kind, *key, before=definitions.of(*key), is_done=is_done)

    match statement:
        case CreateTable(is_temporary=False):
            yield change(DdlKind.CREATE_TABLE, statement.name, statement.has_created(session))
        case AlterTable() if not is_temporary(statement.name):
            yield _of_alter(statement, schema, definitions.of(*qualified(statement.name, schema)))
        case RenameTables():
            pairs = [pair for pair in statement.pairs if session.is_mysql or not is_temporary(pair[0])]
            yield from _of_renames(pairs, schema, definitions)
        case DropTables():
            for name in statement.names:
                table = definitions.of(*qualified(name, schema))
                is_dropped = statement.drops_real(is_temporary(name), table)
                is_unclear = statement.may_be_others and table is None
                yield change(DdlKind.DROP_TABLE, name, None if is_unclear else is_dropped)
        case TruncateTable() if not is_temporary(statement.name):
            yield change(DdlKind.TRUNCATE_TABLE, statement.name)
        case ChangeDatabase():
            if not (statement.only_if_new and session.has_changed is False):
                yield _of_database(statement, schema)


def _of_database(statement: ChangeDatabase, schema: str) -> DefinitionChange:
    name, new = statement.name or schema, statement.new_name
    if new is not None:
        return DefinitionChange(DdlKind.ALTER_DATABASE, name, None, new)
    kind = DdlKind.DROP_DATABASE if statement.is_dropped else DdlKind.ALTER_DATABASE
    return DefinitionChange(DdlKind.CREATE_DATABASE if statement.is_created else kind, name, None)


def _of_renames(
    pairs: Sequence[tuple[Name, Name]], schema: str, definitions: Definitions
) -> Iterator[DefinitionChange]:
    """A statement may move a table twice, or swap two."""
    moved: dict[tuple[str, str], TableDefinition | None] = {}
    for old, new in pairs:
        key, target = qualified(old, schema), qualified(new, schema)
        table = moved.pop(key) if key in moved else definitions.of(*key)
        moved[target] = table
        yield DefinitionChange(DdlKind.RENAME_TABLE, *key, *target, before=table, after=table)


def _of_alter(statement: AlterTable, schema: str, before: TableDefinition | None) -> DefinitionChange:
    renamed: list[tuple[str, str]] = []
    for clause in statement.clauses:
        with suppress(UnreadableError):  # the definition after the statement is unknown then
            for verb, old, other, _ in column_clauses([clause]):
                is_known = before is None or before.find(old) is not None
                if verb in ("CHANGE", "RENAME") and old != other and is_known:
                    renamed.append((old, other))
    new = (None, None) if statement.new_name is None else qualified(statement.new_name, schema)
    key = qualified(statement.name, schema)
    return DefinitionChange(DdlKind.ALTER_TABLE, *key, new[0], new[1], before, renamed=tuple(renamed))


class ColumnClause(NamedTuple):
    """A column in a clause of ALTER TABLE.

    `verb`: ``ADD``, ``CHANGE``, ``MODIFY``, ``RENAME`` or ``DROP``.
    `old`, `new`: its names before and after; "" for one that is new or dropped.
    `rest`: what follows the names.
    """

    verb: str
    old: str
    new: str
    rest: TokenCursor


def column_clauses(clauses: Iterable[Sequence[Token]]) -> Iterator[ColumnClause]:
    """The columns in clauses of ALTER TABLE.

    Raises `UnreadableError`: there is no name, or a parenthesis is missing.
    """
    for cursor in map(TokenCursor, clauses):
        verb = cursor.skip_one("ADD", "CHANGE", "MODIFY", "RENAME", "DROP")
        if not verb or not (cursor.skip("COLUMN") or _is_about_column(verb, cursor)):
            continue
        if verb == "ADD":
            cursor.skip("IF", "NOT", "EXISTS")
            elements = [cursor] if cursor.mark() != "(" else map(TokenCursor, split(cursor.group()))
            for element in filter(is_column, elements):
                yield ColumnClause(verb, "", element.dotted_name()[-1], element)
            continue
        cursor.skip("IF", "EXISTS")
        old = new = cursor.dotted_name()[-1]
        if verb == "DROP":
            new = ""
        elif verb != "MODIFY":
            cursor.skip("TO")
            new = cursor.dotted_name()[-1]
        yield ColumnClause(verb, old, new, cursor)


def _is_about_column(verb: str, cursor: TokenCursor) -> bool:
    if verb in ("ADD", "DROP"):
        return cursor.keyword() not in _NOT_COLUMNS and (verb == "DROP" or is_column(cursor))
    return verb != "RENAME"
