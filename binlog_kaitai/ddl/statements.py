"""Parses statements that define or truncate tables into records.

The parser is written by hand on top of tokens: the syntax around a column varies with the versions of two
servers, and only some of it matters. A statement that is not fully understood is an error, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from binlog_kaitai.ddl.charset_options import merge, read_charset
from binlog_kaitai.ddl.elements import Key, is_column, read_column, read_key
from binlog_kaitai.ddl.lexer import Cursor, Token, UnreadableError, split, tokens_of
from binlog_kaitai.values.definition import UNKNOWN_CHARSET, Charset, ColumnDefinition

Name = tuple[str, ...]  # (table,) or (schema, table)


def qualified(name: Name, schema: str) -> tuple[str, str]:
    """Schema and table of a name; `schema` is the default database."""
    return (name[-2] if len(name) > 1 else schema, name[-1])


#: The columns of a MariaDB sequence, which is stored as a table with one row.
_SEQUENCE = (
    "next_not_cached_value bigint not null, minimum_value bigint not null, maximum_value bigint not null, "
    "start_value bigint not null, increment bigint not null, cache_size bigint unsigned not null, "
    "cycle_option tinyint(1) unsigned not null, cycle_count bigint not null"
)


@dataclass(slots=True)
class Elements:
    """The columns and the primary key in the parentheses of a CREATE TABLE."""

    columns: list[ColumnDefinition] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    hidden_columns: tuple[str, ...] = ()
    unique_keys: int = 0
    is_versioned: bool = False

    def add_key(self, key: Key) -> None:
        """Add a key defined as a separate element."""
        self.primary_key = key.primary or self.primary_key
        self.hidden_columns += key.hidden_columns
        self.unique_keys += key.is_unique


@dataclass(slots=True)
class CreateTable:
    """CREATE TABLE; `source` is set for LIKE, `query` for SELECT."""

    name: Name
    elements: Elements = field(default_factory=Elements)
    charset: Charset = UNKNOWN_CHARSET
    source: Name | None = None
    query: list[Token] | None = None
    is_temporary: bool = False
    only_if_new: bool = False
    replaces: bool = False


@dataclass(slots=True)
class AlterTable:
    """ALTER TABLE, with its clauses as tokens."""

    name: Name
    clauses: list[list[Token]]


@dataclass(slots=True)
class RenameTables:
    """RENAME TABLE: old and new names, in order."""

    pairs: list[tuple[Name, Name]]


@dataclass(slots=True)
class DropTables:
    """DROP TABLE, DROP SEQUENCE."""

    names: list[Name]


@dataclass(slots=True)
class TruncateTable:
    """TRUNCATE TABLE, which leaves definitions unchanged."""

    name: Name


@dataclass(slots=True)
class ChangeDatabase:
    """CREATE, ALTER, DROP or RENAME DATABASE; None for the default one."""

    name: str | None
    charset: Charset = UNKNOWN_CHARSET
    is_created: bool = False
    is_dropped: bool = False
    only_if_new: bool = False
    new_name: str | None = None


Statement = CreateTable | AlterTable | RenameTables | DropTables | TruncateTable | ChangeDatabase


def read_statement(sql: str, sql_mode: int = 0) -> Statement | None:
    """Parse a statement into a record; None if it changes neither a definition nor a whole table.

    Raises
    ------
    UnreadableError
        The statement may change one, but cannot be parsed.
    """
    cursor = Cursor(list(tokens_of(sql, sql_mode)))
    skip_variables(cursor)
    word = cursor.skip_one(*_READERS)
    return _READERS[word](cursor) if word else None


def skip_variables(cursor: Cursor) -> None:
    """Skip SET STATEMENT … FOR, which sets MariaDB's variables for one statement."""
    if cursor.skip("SET", "STATEMENT"):
        while cursor and not cursor.skip("FOR"):
            cursor.next()


def _create(cursor: Cursor) -> Statement | None:
    replaces = cursor.skip("OR", "REPLACE")
    is_temporary = cursor.skip("TEMPORARY")
    kind = cursor.skip_one("TABLE", "SEQUENCE", "DATABASE", "SCHEMA")
    if not kind:
        return None
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
        table.elements = read_elements(Cursor(list(tokens_of(_SEQUENCE))))
    elif cursor.skip("LIKE"):
        table.source = cursor.dotted_name()
    else:
        _create_table(cursor, table)
    return table


def _create_table(cursor: Cursor, table: CreateTable) -> None:
    if cursor.mark() == "(" and not _begins_query(cursor, 1):
        inner = Cursor(cursor.group())
        if inner.skip("LIKE"):
            table.source = inner.dotted_name()
            return
        table.elements = read_elements(inner)
    while cursor:
        if charset := read_charset(cursor):
            table.charset = merge(table.charset, charset)
        elif cursor.skip("WITH", "SYSTEM", "VERSIONING"):
            table.elements.is_versioned = True
        elif _begins_query(cursor, int(cursor.mark() == "(")):
            table.query = cursor.rest()
        elif not cursor.skip_group():
            cursor.next()


def _begins_query(cursor: Cursor, distance: int) -> bool:
    while cursor.mark(distance) == "(":
        distance += 1
    word, after = cursor.keyword(distance), cursor.keyword(distance + 1)
    if word == "WITH":
        return after not in ("SYSTEM", "PARSER")
    return word in ("SELECT", "VALUES") and after not in ("LESS", "IN")


def read_elements(cursor: Cursor) -> Elements:
    """Parse the contents of the parentheses of a CREATE TABLE."""
    elements = Elements()
    for part in split(cursor.rest()):
        inner = Cursor(part)
        if not is_column(inner):
            elements.add_key(read_key(inner))
            continue
        column, is_unique = read_column(inner)
        elements.unique_keys += is_unique
        words = [token.keyword for token in part]
        elements.is_versioned |= "SYSTEM" in words and words[words.index("SYSTEM") - 1] == "WITH"
        if inner:
            raise UnreadableError(f"unexpected {inner.next().shown} after a column")
        elements.columns.append(column)
    keys = [column.name for column in elements.columns if column.is_primary_key]
    elements.primary_key = elements.primary_key or tuple(keys)
    return elements


def _alter(cursor: Cursor) -> Statement | None:
    while cursor.skip_one("ONLINE", "OFFLINE", "IGNORE"):
        pass
    kind = cursor.skip_one("TABLE", "DATABASE", "SCHEMA")
    if kind == "TABLE":
        cursor.skip("IF", "EXISTS")
        name = cursor.dotted_name()
        _skip_wait(cursor)
        return AlterTable(name, [clause for clause in split(cursor.rest()) if clause])
    if not kind:
        return None
    start = [token for distance in range(4) if (token := cursor.peek(distance))]
    database = None if read_charset(Cursor(start)) else cursor.name()
    return None if cursor.skip("UPGRADE") else ChangeDatabase(database, _database_options(cursor))


def _rename(cursor: Cursor) -> Statement | None:
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
        inner = Cursor(part)
        old_name = inner.dotted_name()
        _skip_wait(inner)
        if not inner.skip("TO"):
            raise UnreadableError("RENAME without TO")
        pairs.append((old_name, inner.dotted_name()))
    return RenameTables(pairs)


def _drop(cursor: Cursor) -> Statement | None:
    if cursor.skip_one("DATABASE", "SCHEMA"):
        cursor.skip("IF", "EXISTS")
        return ChangeDatabase(cursor.name(), is_dropped=True)
    is_temporary = cursor.skip("TEMPORARY")
    if not cursor.skip_one("TABLE", "TABLES", "SEQUENCE"):
        return None
    cursor.skip("IF", "EXISTS")
    names = [Cursor(part).dotted_name() for part in split(cursor.rest())]
    return None if is_temporary else DropTables(names)


def _truncate(cursor: Cursor) -> Statement:
    cursor.skip("TABLE")
    return TruncateTable(cursor.dotted_name())


def _skip_wait(cursor: Cursor) -> None:
    if cursor.skip("WAIT"):
        cursor.next()
    else:
        cursor.skip("NOWAIT")


def _database_options(cursor: Cursor) -> Charset:
    found = UNKNOWN_CHARSET
    while cursor:
        if charset := read_charset(cursor):
            found = merge(found, charset)
        elif cursor:
            cursor.next()
    return found


_READERS: dict[str, Callable[[Cursor], Statement | None]] = {
    "CREATE": _create,
    "ALTER": _alter,
    "RENAME": _rename,
    "DROP": _drop,
    "TRUNCATE": _truncate,
}
