"""Character set and collation options of columns, tables and databases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from binlog_kaitai.ddl.lexer import TokenCursor
from binlog_kaitai.values.charsets import (
    BINARY,
    canonical_name,
    charset_of,
    codec_table,
    decode,
    decode_member,
    max_bytes_of,
)
from binlog_kaitai.values.column_kinds import sql_type
from binlog_kaitai.values.table_definition import UNKNOWN_CHARSET, Charset, ColumnDefinition

#: Stands for DEFAULT in an option.
DEFAULT = "default"


def read_charset(cursor: TokenCursor) -> Charset:
    """Parse a character set or collation option if one comes next; unknown, and so false, otherwise.

    A value of DEFAULT remains `DEFAULT`: its meaning depends on where the option is.
    """
    start = 1 if cursor.keyword() == "DEFAULT" else 0
    if cursor.keyword(start) == "COLLATE":
        _skip_words(cursor, start + 1)
        collation = cursor.next().text.lower()
        charset = collation.partition("_")[0]  # which is missing from the names of MariaDB's uca1400
        is_known = collation != DEFAULT and not charset.startswith("uca")
        return Charset(canonical_name(charset) if is_known else None, collation)
    if cursor.keyword(start) == "CHARSET":
        _skip_words(cursor, start + 1)
    elif cursor.keyword(start) in ("CHARACTER", "CHAR") and cursor.keyword(start + 1) == "SET":
        _skip_words(cursor, start + 2)
    else:
        return UNKNOWN_CHARSET
    return Charset(canonical_name(cursor.next().text))


def _skip_words(cursor: TokenCursor, count: int) -> None:
    for _ in range(count):
        cursor.next()
    cursor.skip("=")


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

    `current`: the charset without the options.
    `above`: the charset of the table's database, or of the server.
    """
    recent = older = current
    for option in options:
        if DEFAULT in (option.charset, option.collation):
            recent = Charset(above.charset if option.charset == DEFAULT else recent.charset)
            older = above
        else:
            recent, older = merge(recent, option), merge(older, option)
    return agreed(recent, older)


def agreed(first: Charset, second: Charset) -> Charset:
    """What two charsets have in common, of which it is not known which one applies."""
    if first.charset != second.charset:
        return UNKNOWN_CHARSET
    return first if first == second else Charset(first.charset)


def charset_of_number(collation_id: int | None) -> Charset:
    """The charset of a collation by its number."""
    name = None if collation_id is None else charset_of(collation_id)
    return Charset(name) if name else UNKNOWN_CHARSET


#: Stands for the binary collation of a character set that is not known yet.
OF_CHARSET = "_bin"

#: The longest values of TEXT and BLOB types, in bytes, by the first part of the type's name.
_SIZES = {"tiny": 0xFF, "": 0xFFFF, "medium": 0xFFFFFF, "long": 0xFFFFFFFF}
_TEXTS = {prefix + kind: most for prefix, most in _SIZES.items() for kind in ("text", "blob")}
#: The longest VARCHAR that fits into a row.
_LONGEST_VARCHAR = 65533


def finish(column: ColumnDefinition, default: Charset = UNKNOWN_CHARSET) -> ColumnDefinition:
    """Complete a column with its table's charset if it has none of its own, and derive its type from that."""
    kind = sql_type(column.base_type)
    if not kind.is_text:
        return _sized(column)
    charset, collation = column.charset, column.collation
    if charset is None:
        charset, collation = default.charset, collation or default.collation
    if collation == OF_CHARSET:
        collation = None if charset is None else charset + OF_CHARSET
    column = replace(column, charset=charset, collation=None if collation == DEFAULT else collation)
    if column.base_type in ("enum", "set"):
        return with_members(column, members_of(column.arguments, column.charset))
    return _sized(as_bytes(column))


def as_bytes(column: ColumnDefinition) -> ColumnDefinition:
    """A text as the type of byte strings that it is if its character set is binary."""
    base = sql_type(column.base_type).of_bytes
    if column.charset != BINARY or not base:
        return column
    return replace(_with_type(column, base, column.arguments), charset=None, collation=None)


def _with_type(column: ColumnDefinition, base: str, arguments: tuple[str, ...] = ()) -> ColumnDefinition:
    type_name = base + (f"({','.join(arguments)})" if arguments else "")
    return replace(column, type_name=type_name, base_type=base, arguments=arguments)


def _sized(column: ColumnDefinition) -> ColumnDefinition:
    """A column in the type that the server chooses for its length: TEXT(n), BLOB(n), a VARCHAR that is too
    long for a row.
    """
    base, kind = column.base_type, sql_type(column.base_type)
    if base not in ("text", "blob", "varchar", "varbinary") or not column.arguments:
        return column
    if not column.arguments[0].isdecimal() or (kind.is_text and column.charset is None):
        return column
    size = int(column.arguments[0][:11]) * (max_bytes_of(column.charset) if column.charset else 1)
    if base.startswith("var") and size <= _LONGEST_VARCHAR:
        return column
    return _with_type(column, _of_size("text" if kind.is_text else "blob", size))


def _of_size(kind: str, size: int) -> str:
    """The shortest TEXT or BLOB for values of this many bytes."""
    return next((prefix + kind for prefix, most in _SIZES.items() if size <= most), "long" + kind)


def _converted_text(column: ColumnDefinition, new: Charset) -> ColumnDefinition:
    """A text after a conversion, in a type for as many characters."""
    size = _TEXTS.get(column.base_type)
    if size is not None and column.charset is not None and new.charset is not None:
        characters = size // max_bytes_of(column.charset)
        column = _with_type(column, _of_size("text", characters * max_bytes_of(new.charset)))
    return _sized(as_bytes(replace(column, charset=new.charset, collation=new.collation)))


def with_members(column: ColumnDefinition, members: Sequence[str] | None) -> ColumnDefinition:
    """An ENUM or SET column with other members, or with unknown ones."""
    if members is None:
        return replace(column, members=None, arguments=(), type_name=column.base_type)
    arguments = tuple(map(quoted, members))
    type_name = f"{column.base_type}({','.join(arguments)})"
    return replace(column, members=tuple(members), arguments=arguments, type_name=type_name)


#: Character sets that do not extend ASCII: servers differ in how they read their members after a conversion.
_WIDE = frozenset(("ucs2", "utf16", "utf16le", "utf32"))


class CharsetChange:
    """The character set clauses of one ALTER TABLE.

    `table_charset`: the table's default before the statement.
    `database_charset`: the default of the table's database.
    `conversion_default`: the charset that CONVERT TO CHARACTER SET DEFAULT stands for.
    `options`: the table options so far.
    """

    def __init__(
        self, table_charset: Charset, database_charset: Charset, conversion_default: Charset
    ) -> None:
        self._table_charset = table_charset
        self._database_charset = database_charset
        self._conversion_default = conversion_default
        self.options: list[Charset] = []
        self._conversion: Charset | None = None
        self._are_options_first = False

    def read_conversion(self, cursor: TokenCursor) -> None:
        """Parse what follows CONVERT TO."""
        charset = read_charset(cursor)
        if charset.charset == DEFAULT:
            charset = self._conversion_default
        charset = merge(charset, read_charset(cursor))
        self._conversion = charset._replace(collation=None) if charset.collation == DEFAULT else charset
        self._are_options_first = bool(self.options)

    @property
    def converts(self) -> bool:
        """Whether columns that the statement does not define change."""
        return self._conversion is not None

    @property
    def is_given(self) -> bool:
        """Whether there is any such clause."""
        return bool(self.options) or self.converts

    @property
    def default(self) -> Charset:
        """The table's default after the statement."""
        before = self._table_charset if self._conversion is None else self._conversion
        charset = with_options(before, self.options, self._database_charset)
        # After an option, a conversion prevails in MySQL 5.7, but not in MariaDB.
        return agreed(before, charset) if self._are_options_first else charset

    def defined(self, column: ColumnDefinition) -> ColumnDefinition:
        """A column that the statement defines; the charset clauses may come after it."""
        if self._conversion is not None and _is_converted(column):
            is_binary = column.charset is None and column.collation == OF_CHARSET
            collation = OF_CHARSET if is_binary else self._conversion.collation
            column = replace(column, charset=self._conversion.charset, collation=collation)
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
        return _converted_text(column, new)


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


#: What servers accept as a member: one string, or the digits of its bytes.
_STRING = re.compile(r"'((?:[^']|'')*)'", re.DOTALL)
_HEXADECIMAL = re.compile(r"0x([0-9A-Fa-f]+)|[xX] '([0-9A-Fa-f]+)'")
_BINARY = re.compile(r"0b([01]+)|[bB] '([01]+)'")


def members_of(literals: Sequence[str], charset: str | None) -> tuple[str, ...] | None:
    """The members of an ENUM or SET column as the server stores them; None if they are not certain.

    `literals`: strings in quotes, without escapes; or digits (``0x61``, ``x '61'``, ``b '01100001'``).
    `charset`: of the column, or None if it is unknown. It determines what bytes mean, and whether trailing
    blanks belong to a member.
    """
    members = [_member(literal, charset) for literal in literals]
    known = tuple(member for member in members if member is not None)
    return known if len(known) == len(members) else None


def quoted(member: str) -> str:
    """A member as a literal."""
    return "'" + member.replace("'", "''") + "'"


def _member(literal: str, charset: str | None) -> str | None:
    if (string := _STRING.fullmatch(literal)) is not None:
        text = _converted(string[1].replace("''", "'"), charset)
    elif (data := _bytes(literal)) is not None:
        value = decode(data, charset or "ascii")
        if isinstance(value, bytes) and charset == BINARY:
            value = value.decode("utf-8", "surrogateescape")
        if not isinstance(value, str):
            return None
        text = value
    else:
        return None
    if not text.endswith(" ") or charset == BINARY:
        return text
    # All other collations strip them, NO PAD ones included.
    return None if charset is None else text.rstrip(" ")


def _bytes(literal: str) -> bytes | None:
    for pattern, base, count in ((_HEXADECIMAL, 16, 2), (_BINARY, 2, 8)):
        if (match := pattern.fullmatch(literal)) is not None:
            digits = match[1] or match[2]
            return int(digits, base).to_bytes(-(-len(digits) // count), "big")
    return None


def bytes_of(text: str, charset: str) -> bytes | None:
    """A text in a character set; None if the character set is unknown, or lacks a character."""
    table = codec_table(charset)
    if table is None:
        return None
    others = {text: data for data, text in table.others.items()}
    try:
        data = b"".join(
            others.get(character) or character.encode(table.codec, "surrogateescape") for character in text
        )
    except UnicodeEncodeError:
        return None
    return data if decode_member(data, charset) == text else None


def _converted(member: str, charset: str | None) -> str:
    """A member with question marks for characters that its character set lacks, as the server stores it."""
    if charset is None or codec_table(charset) is None:
        return member
    return "".join("?" if bytes_of(character, charset) is None else character for character in member)
