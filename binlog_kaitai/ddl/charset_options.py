"""Character set and collation options of columns, tables and databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from binlog_kaitai.ddl.column_types import sql_type
from binlog_kaitai.ddl.lexer import Cursor
from binlog_kaitai.ddl.members import members_of, quoted
from binlog_kaitai.values.charsets import BINARY, charset_of
from binlog_kaitai.values.definition import UNKNOWN_CHARSET, Charset, ColumnDefinition

#: Stands for DEFAULT in an option.
DEFAULT = "default"


def read_charset(cursor: Cursor) -> Charset:
    """Parse a character set or collation option if one comes next; unknown, and so false, otherwise.

    A value of DEFAULT remains `DEFAULT`: its meaning depends on where the option is.
    """
    start = 1 if cursor.keyword() == "DEFAULT" else 0
    if cursor.keyword(start) == "COLLATE":
        _skip_words(cursor, start + 1)
        collation = cursor.next().text.lower()
        return Charset(None if collation == DEFAULT else charset_of_collation(collation), collation)
    if cursor.keyword(start) == "CHARSET":
        _skip_words(cursor, start + 1)
    elif cursor.keyword(start) in ("CHARACTER", "CHAR") and cursor.keyword(start + 1) == "SET":
        _skip_words(cursor, start + 2)
    else:
        return UNKNOWN_CHARSET
    return Charset(canonical(cursor.next().text))


def _skip_words(cursor: Cursor, count: int) -> None:
    for _ in range(count):
        cursor.next()
    cursor.skip("=")


def canonical(charset: str) -> str:
    """The name of a character set in newer servers."""
    return "utf8mb3" if charset.lower() == "utf8" else charset.lower()


def charset_of_collation(collation: str) -> str | None:
    """The character set of a collation, by name; None if the name does not include it (MariaDB's uca1400)."""
    charset = collation.partition("_")[0]
    return None if charset.startswith("uca") else canonical(charset)


def merge(old: Charset, new: Charset) -> Charset:
    """Combine two charset options; a collation alone may keep the earlier character set."""
    if not new:
        return old
    if new.collation is None:
        return new
    return Charset(new.charset or old.charset, new.collation)


def with_options(current: Charset, options: Sequence[Charset], above: Charset) -> Charset:
    """The charset of a table or database after options of a statement.

    Servers differ in what DEFAULT means: in MariaDB 10.11, COLLATE DEFAULT keeps the character set; in MySQL
    5.7 and MariaDB 10.2, either DEFAULT restores the charset of the level above. MySQL 8.0 has neither.

    Parameters
    ----------
    current
        The charset without the options.
    above
        The charset of the table's database, or of the server.
    """
    recent = older = current
    for option in options:
        if DEFAULT in (option.charset, option.collation):
            recent = Charset(above.charset if option.charset == DEFAULT else recent.charset)
            older = above
        else:
            recent, older = merge(recent, option), merge(older, option)
    return agreed(recent, older)


def agreed(one: Charset, other: Charset) -> Charset:
    """What two charsets have in common, of which it is not known which one applies."""
    if one.charset != other.charset:
        return UNKNOWN_CHARSET
    return one if one == other else Charset(one.charset)


def charset_of_number(collation_id: int | None) -> Charset:
    """The charset of a collation by its number."""
    name = None if collation_id is None else charset_of(collation_id)
    return Charset(name) if name else UNKNOWN_CHARSET


#: Names of text types whose character set is binary.
OF_BYTES = {"char": "binary", "varchar": "varbinary", "text": "blob", "tinytext": "tinyblob"}
OF_BYTES |= {"mediumtext": "mediumblob", "longtext": "longblob"}


def finish(column: ColumnDefinition, default: Charset = UNKNOWN_CHARSET) -> ColumnDefinition:
    """Complete a column with its table's charset if it has none of its own, and derive its type from that."""
    if not sql_type(column.base_type).is_text:
        return column
    if column.charset is None:
        column = replace(column, charset=default.charset, collation=column.collation or default.collation)
    if column.collation == DEFAULT:
        column = replace(column, collation=None)
    if column.charset == BINARY and column.base_type in OF_BYTES:
        return as_bytes(column)
    if column.base_type in ("enum", "set"):
        return with_members(column, members_of(column.arguments, column.charset))
    return column


def as_bytes(column: ColumnDefinition) -> ColumnDefinition:
    """A column of `OF_BYTES` as the type of byte strings that it becomes."""
    base = OF_BYTES[column.base_type]
    type_name = base + column.type_name.removeprefix(column.base_type)
    return replace(column, type_name=type_name, base_type=base, charset=None, collation=None)


def with_members(column: ColumnDefinition, members: Sequence[str] | None) -> ColumnDefinition:
    """An ENUM or SET column with other members, or with unknown ones."""
    if members is None:
        return replace(column, members=None, arguments=(), type_name=column.base_type)
    arguments = tuple(map(quoted, members))
    type_name = f"{column.base_type}({','.join(arguments)})"
    return replace(column, members=tuple(members), arguments=arguments, type_name=type_name)
