"""What ALTER TABLE does to the character sets of a table and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from binlog_kaitai.ddl.charset_options import (
    DEFAULT,
    OF_BYTES,
    agreed,
    as_bytes,
    finish,
    merge,
    read_charset,
    with_members,
    with_options,
)
from binlog_kaitai.ddl.column_types import sql_type
from binlog_kaitai.ddl.lexer import Cursor
from binlog_kaitai.ddl.members import bytes_of
from binlog_kaitai.values.charsets import BINARY, decode_member
from binlog_kaitai.values.definition import Charset, ColumnDefinition

#: Character sets that do not extend ASCII: servers differ in how they read their members after a conversion.
_WIDE = frozenset(("ucs2", "utf16", "utf16le", "utf32"))


class CharsetChange:
    """The character set clauses of one ALTER TABLE.

    Parameters
    ----------
    table_charset
        The table's default before the statement.
    database_charset
        The default of the table's database.
    conversion_default
        The charset that CONVERT TO CHARACTER SET DEFAULT stands for.
    """

    def __init__(
        self, table_charset: Charset, database_charset: Charset, conversion_default: Charset
    ) -> None:
        self._table_charset = table_charset
        self._database_charset = database_charset
        self._conversion_default = conversion_default
        self._options: list[Charset] = []
        self._conversion: Charset | None = None
        self._are_options_first = False

    def add_option(self, option: Charset) -> None:
        """Add a table option."""
        self._options.append(option)

    def read_conversion(self, cursor: Cursor) -> None:
        """Parse what follows CONVERT TO."""
        charset = read_charset(cursor)
        if charset.charset == DEFAULT:
            charset = self._conversion_default
        charset = merge(charset, read_charset(cursor))
        self._conversion = replace(charset, collation=None) if charset.collation == DEFAULT else charset
        self._are_options_first = bool(self._options)

    @property
    def default(self) -> Charset:
        """The table's default after the statement."""
        before = self._table_charset if self._conversion is None else self._conversion
        charset = with_options(before, self._options, self._database_charset)
        # After an option, a conversion prevails in MySQL 5.7, but not in MariaDB.
        return agreed(before, charset) if self._are_options_first else charset

    def defined(self, column: ColumnDefinition) -> ColumnDefinition:
        """A column that the statement defines; the charset clauses may come after it."""
        if self._conversion is not None and _is_converted(column):
            column = replace(column, charset=self._conversion.charset, collation=self._conversion.collation)
        return finish(column, self.default)

    def kept(self, column: ColumnDefinition) -> ColumnDefinition:
        """A column that the statement does not define.

        In a conversion, servers convert values, but keep the bytes of ENUM and SET members, which then stand
        for other characters.
        """
        new = self._conversion
        if new is None or not _is_converted(column):
            return column
        if column.members is not None:
            column = with_members(column, _in_other_charset(column.members, column.charset, new.charset))
        column = replace(column, charset=new.charset, collation=new.collation)
        return as_bytes(column) if new.charset == BINARY and column.base_type in OF_BYTES else column


def _is_converted(column: ColumnDefinition) -> bool:
    is_text = sql_type(column.base_type).is_text or column.base_type == "json"  # a text type in MariaDB
    return is_text and column.charset != BINARY


def _in_other_charset(members: Sequence[str], before: str | None, after: str | None) -> list[str] | None:
    """Members whose bytes are read in another character set; None if they are uncertain."""
    if before is not None and before == after:
        return list(members)
    if after is None or not _WIDE.isdisjoint((before, after)):
        return None
    # A character set that is not stated is taken to extend ASCII.
    stored = [bytes_of(member, before or "ascii") for member in members]
    return None if None in stored else [decode_member(data, after) for data in stored if data is not None]
