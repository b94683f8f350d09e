"""Parses statements that define or truncate tables into records.

The parser is written by hand on top of tokens: the syntax around a column varies with the versions of two
servers, and only some of it matters. A statement that is not fully understood is an error, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from binlog_kaitai.ddl.column_charsets import charset_of_number, read_charset
from binlog_kaitai.ddl.column_grammar import Key, read_column
from binlog_kaitai.ddl.elements import hidden_columns_of, is_column, read_key, read_new_name
from binlog_kaitai.ddl.lexer import Token, TokenCursor, TokenKind, UnreadableError, split, tokens_of
from binlog_kaitai.ddl.partitions import read_partitioning
from binlog_kaitai.ddl.store import Session
from binlog_kaitai.values.charsets import decoder_of, max_bytes_of
from binlog_kaitai.values.table_definition import (
    Charset,
    ColumnDefinition,
    ForeignKey,
    HiddenColumn,
    TableDefinition,
)

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody
    from binlog_kaitai.core.tree import Node

Name = tuple[str, ...]  # (table,) or (schema, table)

_SEMICOLON = Token(TokenKind.MARK, ";")


def qualified(name: Name, schema: str) -> tuple[str, str]:
    """Schema and table of a name; `schema` is the default database."""
    return (name[-2] if len(name) > 1 else schema, name[-1])


#: The columns of a MariaDB sequence, a table with one row: those of the sequence's type, and the others.
_VALUES = ("next_not_cached_value", "minimum_value", "maximum_value", "start_value")
_COUNTS = (
    "increment bigint not null, cache_size bigint unsigned not null, "
    "cycle_option tinyint(1) unsigned not null, cycle_count bigint not null"
)


@dataclass(slots=True)
class Elements:
    """The columns and the primary key in the parentheses of a CREATE TABLE."""

    columns: list[ColumnDefinition] = field(default_factory=list)
    primary_key: tuple[str, ...] | None = ()
    keys: list[Key] = field(default_factory=list)
    unique_keys: int = 0
    is_versioned: bool = False

    def take(self, key: Key) -> None:
        """Add a key, or what a column states about keys."""
        self.primary_key = key.primary if key.primary != () else self.primary_key
        self.unique_keys += key.is_unique
        self.is_versioned |= key.is_versioned
        self.keys.append(key)

    @property
    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        """The foreign keys, in their order."""
        return tuple(key.foreign for key in self.keys if key.foreign is not None)

    def hidden_columns(self, place: int) -> tuple[HiddenColumn, ...]:
        """The hidden columns of the keys, which come after all others."""
        hidden: list[HiddenColumn] = []
        for key in self.keys:
            hidden += hidden_columns_of(key, place, hidden)
        return tuple(hidden)


@dataclass(slots=True)
class CreateTable:
    """CREATE TABLE; `source` is set for LIKE, `query` for SELECT.

    `is_certain` if it is logged only after it has created the table, despite IF NOT EXISTS.
    """

    name: Name
    elements: Elements = field(default_factory=Elements)
    charset_options: list[Charset] = field(default_factory=list)
    source: Name | None = None
    query: list[Token] | None = None
    is_temporary: bool = False
    only_if_new: bool = False
    replaces: bool = False
    is_certain: bool = False
    engine: str = ""
    partitioning: str = ""

    def has_created(self, session: Session) -> bool | None:
        """Whether it created the table; None if the log does not show it.

        MySQL logs the transaction of a statement that changed something only for InnoDB.
        """
        if not self.only_if_new or self.is_certain:
            return True
        is_shown = session.has_changed or self.engine.upper() == "INNODB"
        return session.has_changed if is_shown else None


class AlterTable(NamedTuple):
    """ALTER TABLE, with its clauses as tokens; also CREATE INDEX and DROP INDEX.

    `removes_rows`: with IGNORE, it may remove rows that are equal in a new key.
    """

    name: Name
    clauses: list[list[Token]]
    removes_rows: bool = False

    @property
    def new_name(self) -> Name | None:
        """The new name that it gives to the table: the last one, even if other clauses cannot be followed."""
        name: Name | None = None
        for cursor in map(TokenCursor, self.clauses):
            with suppress(UnreadableError):
                name = (cursor.skip("RENAME") and read_new_name(cursor)) or name
        return name


class RenameTables(NamedTuple):
    """RENAME TABLE: old and new names, in order."""

    pairs: list[tuple[Name, Name]]


@dataclass(slots=True)
class DropTables:
    """DROP TABLE, DROP SEQUENCE.

    `is_temporary` if the tables are temporary, or none is; None if they may be.
    `may_be_others`: DROP SEQUENCE IF EXISTS, which does not drop other tables.
    """

    names: list[Name]
    is_temporary: bool | None = None
    may_be_others: bool = False

    def drops_real(self, is_temporary: bool, table: TableDefinition | None) -> bool:
        """Whether a permanent table is dropped, by its definition, if the session has a temporary one of the
        name or not.
        """
        if self.may_be_others and (table is None or not is_sequence(table)):
            return False
        return not (is_temporary if self.is_temporary is None else self.is_temporary)


class TruncateTable(NamedTuple):
    """TRUNCATE TABLE, which leaves definitions unchanged."""

    name: Name


@dataclass(slots=True)
class ChangeDatabase:
    """CREATE, ALTER, DROP or RENAME DATABASE; None for the default one."""

    name: str | None
    charset_options: list[Charset] = field(default_factory=list)
    is_created: bool = False
    is_dropped: bool = False
    only_if_new: bool = False
    new_name: str | None = None


Statement = CreateTable | AlterTable | RenameTables | DropTables | TruncateTable | ChangeDatabase


_ADD, _DROP = (Token(TokenKind.WORD, word) for word in ("ADD", "DROP"))

#: Servers that rewrite DROP TABLE drop temporary tables by statements of their own.
_GENERATED = "/* generated by server */"


def read_statement(sql: str, session: Session) -> Statement | None:
    """Parse a statement into a record; None if it changes neither a definition nor a whole table.

    Raises `UnreadableError`: the statement may change one, but cannot be parsed.
    """
    tokens = list(
        tokens_of(sql, session.sql_mode, is_single_byte=session.is_single_byte, is_mysql=session.is_mysql)
    )
    while tokens and tokens[-1] == _SEMICOLON:  # logged if a comment follows it
        tokens.pop()
    cursor = TokenCursor(tokens)
    skip_variables(cursor)
    if cursor.skip("CREATE"):
        return _create(cursor, session.sql_mode)
    word = cursor.skip_one(*_READERS)
    statement = _READERS[word](cursor) if word else None
    if isinstance(statement, DropTables) and not statement.is_temporary and _GENERATED in sql:
        statement.is_temporary = False
    return statement


def skip_variables(cursor: TokenCursor) -> None:
    """Skip SET STATEMENT … FOR, which sets MariaDB's variables for one statement."""
    if cursor.skip("SET", "STATEMENT"):
        while cursor and not cursor.skip("FOR"):
            cursor.next()


def _create(cursor: TokenCursor, sql_mode: int) -> Statement | None:
    replaces = cursor.skip("OR", "REPLACE")
    is_temporary = cursor.skip("TEMPORARY")
    kind = cursor.skip_one("TABLE", "SEQUENCE", "DATABASE", "SCHEMA")
    if not kind:
        return _index(cursor, _ADD)
    only_if_new = cursor.skip("IF", "NOT", "EXISTS")
    if kind in ("DATABASE", "SCHEMA"):
        return ChangeDatabase(
            cursor.name(),
            _database_options(cursor),
            is_created=True,
            is_dropped=replaces,
            only_if_new=only_if_new,
        )
    table = CreateTable(
        cursor.dotted_name(), is_temporary=is_temporary, only_if_new=only_if_new, replaces=replaces
    )
    if kind == "SEQUENCE":
        values = _values(cursor) or [f"{name} bigint not null" for name in _VALUES]
        table.elements = read_elements(TokenCursor(list(tokens_of(", ".join((*values, _COUNTS))))), 0)
    elif cursor.skip("LIKE"):
        table.source = cursor.dotted_name()
    else:
        _create_table(cursor, table, sql_mode)
    return table


def _values(cursor: TokenCursor) -> list[str]:
    """The columns of a sequence that have the type after AS; none without AS."""
    while cursor and not cursor.skip("AS"):
        cursor.next()
    sequence_type = f"{cursor.name()} {cursor.skip_one('SIGNED', 'UNSIGNED')}" if cursor else ""
    return [f"{name} {sequence_type} not null" for name in _VALUES] if sequence_type else []


def is_sequence(table: TableDefinition) -> bool:
    """Whether a table is a sequence, by the names of its columns."""
    return tuple(column.name for column in table.columns[: len(_VALUES)]) == _VALUES


def _index(cursor: TokenCursor, verb: Token) -> AlterTable | None:
    """CREATE INDEX or DROP INDEX, as the ALTER TABLE that adds or drops the same index."""
    cursor.skip_one("ONLINE", "OFFLINE")
    clause = [verb]
    while cursor and cursor.keyword() != "ON":
        clause.append(cursor.next())
    if all(token.keyword != "INDEX" for token in clause[1:3]):
        return None
    if not cursor.skip("ON") and verb is _ADD:
        return None
    return AlterTable(cursor.dotted_name(), [clause + cursor.rest()])


def _create_table(cursor: TokenCursor, table: CreateTable, sql_mode: int) -> None:
    if cursor.mark() == "(" and not _begins_query(cursor, 1):
        inner = TokenCursor(cursor.group())
        if inner.skip("LIKE"):
            table.source = inner.dotted_name()
            return
        table.elements = read_elements(inner, sql_mode)
    while cursor:
        if charset := read_charset(cursor):
            table.charset_options.append(charset)
        elif cursor.skip("WITH", "SYSTEM", "VERSIONING"):
            table.elements.is_versioned = True
        elif cursor.skip("ENGINE"):
            cursor.skip("=")
            table.engine = cursor.next().text
        elif cursor.skip("PARTITION", "BY"):
            table.partitioning = read_partitioning(cursor)
        elif cursor.skip("START", "TRANSACTION"):  # MySQL's CREATE TABLE … SELECT in row format
            table.is_certain = True
        elif _begins_query(cursor, int(cursor.mark() == "(")):
            table.query = cursor.rest()
        elif not cursor.skip_group():
            cursor.next()


def _begins_query(cursor: TokenCursor, distance: int) -> bool:
    while cursor.mark(distance) == "(":
        distance += 1
    word, after = cursor.keyword(distance), cursor.keyword(distance + 1)
    if word == "WITH":
        return after not in ("SYSTEM", "PARSER")
    return word in ("SELECT", "VALUES", "TABLE") and after not in ("LESS", "IN")


def read_elements(cursor: TokenCursor, sql_mode: int) -> Elements:
    """Parse the contents of the parentheses of a CREATE TABLE."""
    elements = Elements()
    for part in split(cursor.rest()):
        inner = TokenCursor(part)
        if not is_column(inner):
            elements.take(read_key(inner))
            continue
        column, key = read_column(inner, sql_mode)
        elements.take(key)
        if inner:
            raise UnreadableError(f"unexpected {inner.next().shown} after a column")
        elements.columns.append(column)
    if elements.primary_key == ():
        elements.primary_key = tuple(column.name for column in elements.columns if column.is_primary_key)
    required = {name.casefold() for key in elements.keys for name in key.required}
    elements.columns = [
        replace(column, is_nullable=column.is_nullable and column.key not in required)
        for column in elements.columns
    ]
    return elements


def _alter(cursor: TokenCursor) -> Statement | None:
    ignores = False
    while word := cursor.skip_one("ONLINE", "OFFLINE", "IGNORE"):
        ignores |= word == "IGNORE"
    kind = cursor.skip_one("TABLE", "SEQUENCE", "DATABASE", "SCHEMA")
    if kind in ("TABLE", "SEQUENCE"):
        cursor.skip("IF", "EXISTS")
        name = cursor.dotted_name()
        _skip_wait(cursor)
        if kind == "SEQUENCE":
            clauses = [list(tokens_of(f"modify {value}")) for value in _values(cursor)]
            return AlterTable(name, clauses) if clauses else None
        return AlterTable(name, [clause for clause in split(cursor.rest()) if clause], ignores)
    if not kind:
        return None
    database = None if _begins_options(cursor) else cursor.name()
    return None if cursor.skip("UPGRADE") else ChangeDatabase(database, _database_options(cursor))


def _begins_options(cursor: TokenCursor) -> bool:
    """Whether the options of the default database come next, rather than the name of a database."""
    option = [token for distance in range(5) if (token := cursor.peek(distance))]
    value = cursor.peek(1)
    is_value = value is not None and (value.kind is TokenKind.STRING or value.text == "=")
    return cursor.keyword() in ("DEFAULT", "READ") or is_value or bool(read_charset(TokenCursor(option)))


def _rename(cursor: TokenCursor) -> Statement | None:
    if cursor.skip_one("DATABASE", "SCHEMA"):
        old = cursor.name()
        if not cursor.skip("TO"):
            raise UnreadableError("RENAME without TO")
        return ChangeDatabase(old, is_dropped=True, new_name=cursor.name())
    if not cursor.skip_one("TABLE", "TABLES"):
        return None
    cursor.skip("IF", "EXISTS")
    pairs = []
    for part in split(cursor.rest()):
        inner = TokenCursor(part)
        old_name = inner.dotted_name()
        _skip_wait(inner)
        if not inner.skip("TO"):
            raise UnreadableError("RENAME without TO")
        pairs.append((old_name, inner.dotted_name()))
    return RenameTables(pairs)


def _drop(cursor: TokenCursor) -> Statement | None:
    if cursor.skip_one("DATABASE", "SCHEMA"):
        cursor.skip("IF", "EXISTS")
        return ChangeDatabase(cursor.name(), is_dropped=True)
    is_temporary = cursor.skip("TEMPORARY")
    kind = cursor.skip_one("TABLE", "TABLES", "SEQUENCE")
    if not kind:
        return _index(cursor, _DROP)
    may_miss = cursor.skip("IF", "EXISTS")
    names = [TokenCursor(part).dotted_name() for part in split(cursor.rest())]
    return DropTables(names, is_temporary or None, may_miss and kind == "SEQUENCE")


def _truncate(cursor: TokenCursor) -> Statement:
    cursor.skip("TABLE")
    return TruncateTable(cursor.dotted_name())


def _skip_wait(cursor: TokenCursor) -> None:
    if cursor.skip("WAIT"):
        cursor.next()
    else:
        cursor.skip("NOWAIT")


def _database_options(cursor: TokenCursor) -> list[Charset]:
    options = []
    while cursor:
        if charset := read_charset(cursor):
            options.append(charset)
        else:
            cursor.next()
    return options


_READERS: dict[str, Callable[[TokenCursor], Statement | None]] = {
    "ALTER": _alter,
    "RENAME": _rename,
    "DROP": _drop,
    "TRUNCATE": _truncate,
}


#: Variables that MySQL logs with CREATE TABLE and CREATE DATABASE since 8.0.13 and 8.0.16.
_OF_MYSQL_8 = ("sql_require_primary_key", "default_table_encryption")
#: Variables that only MySQL logs, the first since 5.6 with nearly all DDL, the second since 8.0 with all.
_OF_MYSQL = ("updated_schema_names", "default_collation_for_utf8mb4")


def is_half_done(body: QueryBody) -> bool:
    """Whether a QUERY_EVENT is the unfinished or failed half of a two-phase ALTER of MariaDB.

    Only the COMMIT of a two-phase ALTER changes the table.
    """
    flags = _variables(body).get("mariadb_gtid_flags3")
    return flags is not None and (flags.is_start_alter or flags.is_rollback_alter)


def session_of(body: QueryBody) -> Session:
    """The session of a QUERY_EVENT, from its body."""
    variables = _variables(body)
    charset, modes = variables.get("charset"), variables.get("sql_mode")
    database = variables.get("charset_database")
    client = charset_of_number(charset.client if charset is not None else None).charset
    # MySQL since 8.0 and MariaDB since 10.6 log the transaction of DDL that changed something.
    has_changed: bool | None = "ddl_xid" in variables or "mariadb_xid" in variables or None
    if has_changed is None and not variables.keys().isdisjoint(_OF_MYSQL_8):
        has_changed = False
    return Session(
        body.thread_id,
        modes.modes if modes is not None else 0,
        charset_of_number(charset.server if charset is not None else None),
        charset_of_number(database.collation_id if database is not None else None),
        has_changed,
        is_single_byte=client is not None and max_bytes_of(client) == 1,
        is_mysql=not variables.keys().isdisjoint(_OF_MYSQL),
    )


def text_of(body: QueryBody) -> str | None:
    """The statement of a QUERY_EVENT, from its body; None if its character set is unknown."""
    query: bytes = body.query
    if query.isascii():
        return query.decode("ascii")
    charset = _variables(body).get("charset")
    name = charset_of_number(charset.client if charset is not None else None).charset
    decode = decoder_of(name or "utf8mb4")
    try:
        return query.decode("utf-8", "surrogateescape") if decode is None else decode(query, "strict")
    except UnicodeDecodeError:
        return None if name not in (None, "utf8mb3", "utf8mb4") else query.decode("utf-8", "surrogateescape")


def _variables(body: QueryBody) -> dict[str | int, Node]:
    variables = [] if body.status_vars is None else body.status_vars.variables
    return {getattr(variable.key, "name", variable.key): variable.value for variable in variables}
