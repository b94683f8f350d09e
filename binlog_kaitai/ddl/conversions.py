"""Columns whose values an ALTER TABLE converts or fills in without logging rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from binlog_kaitai.core.grammar import masks
from binlog_kaitai.ddl.alter import Alteration
from binlog_kaitai.ddl.column_charsets import CharsetChange
from binlog_kaitai.ddl.column_grammar import read_column
from binlog_kaitai.ddl.definition_changes import column_clauses
from binlog_kaitai.ddl.lexer import Token, TokenCursor, TokenKind, UnreadableError
from binlog_kaitai.ddl.statements import AlterTable
from binlog_kaitai.values.column_kinds import of_type, sql_type
from binlog_kaitai.values.table_definition import UNKNOWN_CHARSET, ColumnDefinition, Columns, TableDefinition

#: In one of these modes a value that the new type cannot have ends the statement. In every mode, numbers and
#: times are rounded, and blanks are cut off.
_STRICT = masks.SqlMode.IS_STRICT_TRANS_TABLES | masks.SqlMode.IS_STRICT_ALL_TABLES

_CHARS, _BYTES = ("char", "varchar"), ("varbinary",)
#: Types of long texts and byte strings, the shortest first. Any VARCHAR and VARBINARY fits into the second.
_TEXTS = ("tinytext", "text", "mediumtext", "longtext")
_BLOBS = ("tinyblob", "blob", "mediumblob", "longblob")
_UNICODE = ("utf8mb4", "utf16", "utf16le", "utf32")
_TIMES = ("time", "datetime", "timestamp")

#: Takes any clause that can be parsed: it has no columns that a clause could contradict.
_NO_TABLE = TableDefinition("", "", Columns())


@dataclass(frozen=True)
class Conversions:
    """Columns by their names after a statement.

    `values`: those whose values it may convert.
    `fractions`: times that only get more fractional digits, as their text shows.
    `filled`: new columns that are not NULL in the rows that there are, or may not be.
    """

    values: tuple[str, ...] = ()
    fractions: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()


def conversions_by(
    statement: AlterTable, before: TableDefinition | None, after: TableDefinition | None, sql_mode: int
) -> Conversions:
    """The columns whose values a statement converts, given the table before and after it.

    ``*`` for all: the table is unknown, or the statement may remove rows.
    Raises `UnreadableError`: a clause cannot be parsed, or does not fit the table before it.
    """
    if after is None:
        charsets = CharsetChange(UNKNOWN_CHARSET, UNKNOWN_CHARSET, UNKNOWN_CHARSET)
        Alteration(_NO_TABLE, statement.clauses, sql_mode, charsets)
        if before is not None:
            raise UnreadableError("it contradicts the definition of the table")
    columns = list(column_clauses(statement.clauses))
    redefined = {one.new.casefold() for one in columns if one.verb in ("CHANGE", "MODIFY")}
    is_every = statement.removes_rows or bool(redefined)
    is_every |= any(TokenCursor(clause).skip("CONVERT", "TO") for clause in statement.clauses)
    filled = tuple(
        one.new for one in columns if one.verb == "ADD" and _is_filled(one.new, one.rest.rest(), sql_mode)
    )
    if statement.removes_rows or before is None or after is None:
        return Conversions(("*",) if is_every else (), filled=filled)
    is_strict = bool(sql_mode & _STRICT)
    new_names = {one.old.casefold(): one.new for one in columns if one.old != one.new and one.old}
    values: list[str] = []
    fractions: list[str] = []
    for old in before.columns:
        number = after.find(new_names.get(old.key, old.name))
        if number is None:
            continue
        new = after.columns[number]
        if new.is_generated and new.key in redefined:  # its expression may be another one
            values.append(new.name)
        elif new is not old and not _keeps_values(old, new, is_strict=is_strict):
            is_longer = old.base_type in _TIMES and _number(old) < _number(new)
            as_long = replace(new, type_name=old.type_name)  # the same but for its digits
            is_kept = old.base_type == new.base_type and _keeps_values(old, as_long, is_strict=is_strict)
            (fractions if is_longer and is_kept else values).append(new.name)
    return Conversions(tuple(values), tuple(fractions), filled)


def _is_filled(name: str, words: Sequence[Token], sql_mode: int) -> bool:
    """Whether a new column is generated, or has a default other than NULL, if only the type's."""
    column, _ = read_column(TokenCursor([Token(TokenKind.NAME, name), *words]), sql_mode)
    # Whether a TIMESTAMP may be NULL without that word depends on a setting of the server.
    may_have_own = column.base_type == "timestamp" and column.has_on_update is not False
    is_numbered = any(token.keyword == "AUTO_INCREMENT" for token in words)
    is_null = (
        column.is_nullable and (column.default or "NULL").upper() == "NULL" and column.default is not None
    )
    return not is_null or column.is_generated or is_numbered or (may_have_own and column.default == "")


def _keeps_values(old: ColumnDefinition, new: ColumnDefinition, *, is_strict: bool) -> bool:
    """Whether each value of a column is the same one, with the same text, in the new type."""
    if old.is_nullable and not new.is_nullable and not is_strict:
        return False
    if _of_type(old) == _of_type(new):
        return True
    if not all(one.isdecimal() for column in (old, new) if not column.members for one in column.arguments):
        return False  # such as MariaDB's VARCHAR2(10 BYTE)
    if (limits := _limits(old)) is not None and (new_limits := _limits(new)) is not None:
        return is_strict or (new_limits[0] <= limits[0] and limits[1] <= new_limits[1])
    if old.base_type == new.base_type == "decimal":
        is_longer = _number(old, 0, 10) <= _number(new, 0, 10) and (old.is_unsigned or not new.is_unsigned)
        return _number(old, 1) == _number(new, 1) and (is_strict or is_longer)
    if old.members is not None and old.base_type == new.base_type:
        if old.base_type == "set":
            return old.members == (new.members or ())[: len(old.members)]
        return {*old.members} <= {*(new.members or ())}
    return _keeps_strings(old, new, is_strict=is_strict)


def _of_type(column: ColumnDefinition) -> tuple[object, ...]:
    return column.type_name, column.is_unsigned, column.charset, column.members


def _limits(column: ColumnDefinition) -> tuple[int, int] | None:
    """The least and the greatest number of a type of integers, or of decimals without a fraction."""
    if column.base_type == "decimal" and _number(column, 1) == 0:
        most = 10 ** _number(column, 0, 10) - 1
        return (0 if column.is_unsigned else -most), most
    size = next((of_type(one).size for one in sql_type(column.base_type).logged), 0)
    if not size:
        return None
    return (0, (1 << 8 * size) - 1) if column.is_unsigned else (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1)


def _number(column: ColumnDefinition, at: int = 0, default: int = 0) -> int:
    """An argument of a type."""
    return int(column.arguments[at]) if at < len(column.arguments) else default


def _length(column: ColumnDefinition) -> int | None:
    """The greatest length of a value as text, in characters."""
    if column.base_type == "enum":
        return max(map(len, column.members or ("",)))
    if column.base_type in (*_CHARS, *_BYTES):
        return _number(column, 0, 1)
    # Unsigned numbers may be filled up with zeros.
    limits = None if column.is_unsigned else _limits(column)
    return None if limits is None else max(len(str(one)) for one in limits)


def _keeps_strings(old: ColumnDefinition, new: ColumnDefinition, *, is_strict: bool) -> bool:
    if (old.base_type in (*_BYTES, *_BLOBS)) != (new.base_type in (*_BYTES, *_BLOBS)):
        return False
    length = _length(old)
    if sql_type(old.base_type).is_text and old.charset != new.charset and not is_strict:
        is_counted = length is not None and new.base_type in _CHARS  # in characters, not bytes
        if new.charset not in _UNICODE or not is_counted:
            return False
    for short, long in ((_CHARS, _TEXTS), (_BYTES, _BLOBS)):
        if old.base_type in long and new.base_type in long:
            is_plain = not old.arguments and not new.arguments
            return is_plain and long.index(old.base_type) <= long.index(new.base_type)
        if length is not None and new.base_type in long[1:]:
            return not new.arguments
        if length is not None and new.base_type in short:
            is_cut = old.base_type == "varchar" and new.base_type == "char"  # blanks at the end
            return length <= _number(new, 0, 1) and not is_cut
    return False
