"""Columns whose values an ALTER TABLE converts or fills in without logging rows.

The values that rows have after it are known in these cases (MySQL 9.7, MariaDB 11.8, also with INSTANT):

=============================================  =====================================================
ADD COLUMN with DEFAULT and a literal          the literal, whatever the default is later
ADD COLUMN ... NOT NULL without DEFAULT        0, an empty string, or the first member of an ENUM
a type that has all values of the one before   the same value; DECIMAL and DATE get more digits, FLOAT
                                               becomes the DOUBLE that is equal
NOT NULL instead of NULL                       the same value; NULL becomes 0 or an empty string (in a
                                               strict `sql_mode`, it ends the statement instead)
NULL, DEFAULT, COMMENT, keys, places, names    the same value
=============================================  =====================================================

All others count as converted. So do times whose default depends on the session, the time zero that NULL
becomes, and the member 0 of an ENUM.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from binlog_kaitai.core.grammar import masks
from binlog_kaitai.ddl.alter import Alteration
from binlog_kaitai.ddl.column_charsets import CharsetChange
from binlog_kaitai.ddl.column_grammar import read_column
from binlog_kaitai.ddl.definition_changes import column_clauses
from binlog_kaitai.ddl.lexer import Token, TokenCursor, TokenKind, UnreadableError
from binlog_kaitai.ddl.logged_columns import logged_column
from binlog_kaitai.ddl.statements import AlterTable
from binlog_kaitai.values.column_kinds import STRINGS, of_type, sql_type
from binlog_kaitai.values.defaults import UnknownDefaultError, default_of
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column
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

#: Words with which a column has numbers of the server.
_NUMBERED = ("AUTO_INCREMENT", "SERIAL")

#: Takes any clause that can be parsed: it has no columns that a clause could contradict.
_NO_TABLE = TableDefinition("", "", Columns())


class KnownColumn(NamedTuple):
    """A column that is new or has another type, and whose values in the rows that there are are known.

    `old`: None for a new column.
    `value`: the one of a new column, or that NULL becomes; None if it stays NULL.
    `has_same_text`: all values have the same text in both types.
    """

    old: Column | None
    new: Column
    value: Value = None
    has_same_text: bool = False


@dataclass(frozen=True)
class Conversions:
    """Columns by their names after a statement.

    `values`: those whose values it may convert.
    `fractions`: times that only get more fractional digits, as their text shows.
    `filled`: new columns that are not NULL in the rows that there are, or may not be.
    `known`: columns whose values are known, but for new ones that are NULL and columns of the same type.
    """

    values: tuple[str, ...] = ()
    fractions: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    known: tuple[KnownColumn, ...] = ()


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
    redefined = {column.new.casefold() for column in columns if column.verb in ("CHANGE", "MODIFY")}
    is_every = statement.removes_rows or bool(redefined)
    is_every |= any(TokenCursor(clause).skip("CONVERT", "TO") for clause in statement.clauses)
    words = {column.new: column.rest.rest() for column in columns if column.verb == "ADD"}
    added = [name for name, tokens in words.items() if _is_filled(name, tokens, sql_mode)]
    if statement.removes_rows or before is None or after is None:
        return Conversions(("*",) if is_every else (), filled=tuple(added))
    is_strict = bool(sql_mode & _STRICT)
    new_names = {named.old.casefold(): named.new for named in columns if named.old != named.new and named.old}
    names = dict(zip(after.columns.keys, after.columns, strict=True))
    by_kind: dict[str, list[Any]] = {"values": [], "fractions": [], "filled": [], "known": []}
    for name in added:
        if before.find(name) is None or new_names.get(name.casefold()) == "":  # not IF NOT EXISTS
            effect = "filled" if _is_numbered(words[name]) else _added(names[name.casefold()])
            _take(by_kind, name, effect, names, "filled")
    for old in before.columns:
        new = names.get(new_names.get(old.key, old.name).casefold())
        if new is not None and new.is_generated and new.key in redefined:
            by_kind["values"].append(new.name)  # its expression may be another one
        elif new is not None and new is not old:
            effect = _changed(old, new, is_strict=is_strict)
            is_other = not effect and old.key != new.key and not _is_alone(new.name, names)
            _take(by_kind, new.name, "values" if is_other else effect, names, "values")
    return Conversions(**{kind: tuple(columns) for kind, columns in by_kind.items()})


def _take(
    by_kind: dict[str, list[Any]], name: str, effect: KnownColumn | str, names: Iterable[str], unknown: str
) -> None:
    """Note down what happens to a column, by the name of a field of `Conversions`; "" for nothing.

    `names`: of all columns, by their keys.
    `unknown`: the field if the values are not known there.
    """
    if isinstance(effect, str):
        if effect:
            by_kind[effect].append(name)
    elif _is_alone(name, names):
        by_kind["known"].append(effect)
    elif effect.value is not None or not effect.has_same_text:
        by_kind[unknown].append(name)


def _is_alone(name: str, names: Iterable[str]) -> bool:
    """Whether no column has the name of another one with `_` appended, under which a lake may continue it."""
    return not any(key != name.casefold() == key.rstrip("_") for key in names)


def _changed(old: ColumnDefinition, new: ColumnDefinition, *, is_strict: bool) -> KnownColumn | str:
    has_no_null = old.is_nullable and not new.is_nullable and not is_strict
    if _keeps_values(old, new, is_strict=is_strict):
        if not has_no_null and _of_type(old) == _of_type(new):
            return ""
        return _known(old, new, has_no_null=has_no_null, has_same_text=True) or "values" * has_no_null
    if _has_more_digits(old, new, is_strict=is_strict):
        return _known(old, new, has_no_null=has_no_null) or "values"
    is_longer = old.base_type in _TIMES and _number(old) < _number(new)
    as_long = replace(new, type_name=old.type_name)  # the same but for its digits
    is_kept = old.base_type == new.base_type and _keeps_values(old, as_long, is_strict=is_strict)
    return "fractions" if is_longer and is_kept and not has_no_null else "values"


def _added(new: ColumnDefinition) -> KnownColumn | str:
    if new.default == "" and not new.is_nullable:
        members = new.members if new.base_type == "enum" else None
        new = replace(new, default=_quoted(members[0]) if members else _empty(new))
    return (not new.is_row_period and _known(None, new, has_no_null=True)) or "filled"


def _known(
    old: ColumnDefinition | None, new: ColumnDefinition, *, has_no_null: bool, has_same_text: bool = False
) -> KnownColumn | None:
    """A column that is new or has another type; None if its values are not known.

    `has_no_null`: there is a value that it has instead of NULL.
    """
    try:
        columns = [logged_column(column) for column in (old, new) if column is not None]
        last, value = columns[-1], None
        if last is None or any(col is None or (col.kind in STRINGS and not col.charset) for col in columns):
            return None
        if has_no_null:
            value = default_of(last if old is None else replace(last, default=_empty(new)))
    except (ValueError, UnknownDefaultError):
        return None
    if has_no_null and value is None:
        return None
    return KnownColumn(columns[0] if len(columns) > 1 else None, last, value, has_same_text)


def _empty(column: ColumnDefinition) -> str:
    """The literal of the value that a type has instead of NULL; "" if it is not known."""
    is_string = column.base_type in (*_CHARS, *_BYTES, *_TEXTS, *_BLOBS, "set")
    return "0" if sql_type(column.base_type).is_number else "''" if is_string else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _is_numbered(words: Sequence[Token]) -> bool:
    """Whether the server numbers the rows in a column."""
    return any(token.keyword in _NUMBERED for token in words)


def _is_filled(name: str, words: Sequence[Token], sql_mode: int) -> bool:
    """Whether a new column is generated, or has a default other than NULL, if only the type's."""
    column, _ = read_column(TokenCursor([Token(TokenKind.NAME, name), *words]), sql_mode)
    # Whether a TIMESTAMP may be NULL without that word depends on a setting of the server.
    may_have_own = column.base_type == "timestamp" and column.has_on_update is not False
    is_null = (
        column.is_nullable and (column.default or "NULL").upper() == "NULL" and column.default is not None
    )
    is_computed = column.is_generated or _is_numbered(words)
    return not is_null or is_computed or (may_have_own and column.default == "")


def _keeps_values(old: ColumnDefinition, new: ColumnDefinition, *, is_strict: bool) -> bool:
    """Whether each value of a column is the same one, with the same text, in the new type."""
    if _of_type(old) == _of_type(new):
        return True
    if not all(text.isdecimal() for column in (old, new) if not column.members for text in column.arguments):
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


def _has_more_digits(old: ColumnDefinition, new: ColumnDefinition, *, is_strict: bool) -> bool:
    """Whether each value of a column is an equal one in the new type, which has more digits."""
    types = old.base_type, new.base_type
    if not all(map(str.isdecimal, (*old.arguments, *new.arguments))):
        return False
    if types == ("decimal", "decimal"):
        digits = _number(new, 0, 10) - _number(new, 1) - _number(old, 0, 10) + _number(old, 1)
        has_room = digits >= 0 and (old.is_unsigned or not new.is_unsigned)
        return _number(old, 1) <= _number(new, 1) and bool(is_strict or has_room)
    is_float = types == ("float", "double") and not old.arguments and not new.arguments
    return types == ("date", "datetime") or (is_float and old.is_unsigned == new.is_unsigned)


def _of_type(column: ColumnDefinition) -> tuple[object, ...]:
    return column.type_name, column.is_unsigned, column.charset, column.members


def _limits(column: ColumnDefinition) -> tuple[int, int] | None:
    """The least and the greatest number of a type of integers, or of decimals without a fraction."""
    if column.base_type == "decimal" and _number(column, 1) == 0:
        most = 10 ** _number(column, 0, 10) - 1
        return (0 if column.is_unsigned else -most), most
    size = next((of_type(kind).size for kind in sql_type(column.base_type).logged), 0)
    if not size:
        return None
    return (0, (1 << 8 * size) - 1) if column.is_unsigned else (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1)


def _number(column: ColumnDefinition, index: int = 0, default: int = 0) -> int:
    """An argument of a type."""
    return int(column.arguments[index]) if index < len(column.arguments) else default


def _length(column: ColumnDefinition) -> int | None:
    """The greatest length of a value as text, in characters."""
    if column.base_type == "enum":
        return max(map(len, column.members or ("",)))
    if column.base_type in (*_CHARS, *_BYTES):
        return _number(column, 0, 1)
    # Unsigned numbers may be filled up with zeros.
    limits = None if column.is_unsigned else _limits(column)
    return None if limits is None else max(len(str(limit)) for limit in limits)


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
