"""The table of column types: how each value is represented in Python, Arrow, text, JSON and SQL.

The grammar defines the layout of a value in a row image (`row_image.ksy`); the entries here start from its
objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values import numbers, sql_text, strings, temporal
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.json_documents import JsonDiff, JsonText, json_of, marked
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.sql_text import SqlDialect

#: A value of a row: the result of `ColumnKind.decode`, or None for NULL.
Value = (
    int
    | float
    | Decimal
    | str
    | bytes
    | date
    | datetime
    | timedelta
    | list[float]
    | JsonText
    | JsonDiff
    | None
)

Decode = Callable[[Any, Column], Value]
Text = Callable[[Any, Column], str]
ArrowName = Callable[[Column], str]
Sql = Callable[[Any, Column, SqlDialect], str]

#: Maximum digits of Arrow's 128-bit decimal.
_DECIMAL_128 = 38

#: Maximum digits of a DECIMAL, bits of a BIT, and fractional second digits, in either server.
_MOST_DIGITS, _MOST_BITS, _MOST_FRACTION = 65, 64, 6


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """How values of one column type are represented.

    Attributes
    ----------
    decode : callable
        Returns the value, given the grammar's object for a cell, and the column.
    arrow : callable
        Name of the Arrow type for the column, as PyArrow spells it.
    text : callable
        The value as the server prints it; takes values returned by `decode`.
    json : str
        ``"number"``, ``"text"``, ``"document"``, ``"list"``: the form in JSON; byte strings are always
        ``{"hex": …}``.
    size : int or None
        Length of an integer, in bytes.
    sql : callable or None
        The value as an SQL literal; None if that is `text` in quotes.
    """

    decode: Decode
    arrow: ArrowName
    text: Text
    json: str
    size: int | None = None
    sql: Sql | None = None


def kind_of(column: Column) -> ColumnKind:
    """The entry of the table for a column.

    Raises
    ------
    GrammarError
        The grammar does not know the type, or its length exceeds every server's limit.
    """
    kind = TYPES.get(column.type)
    if kind is None:
        raise GrammarError(f"unknown column type {int(column.type)}")
    if (column.precision or 0) > _MOST_DIGITS or (column.scale or 0) > (column.precision or 0):
        raise GrammarError(f"invalid DECIMAL({column.precision},{column.scale})")
    if (column.bits or 0) > _MOST_BITS:
        raise GrammarError(f"invalid BIT({column.bits})")
    if column.fractional_digits > _MOST_FRACTION:
        raise GrammarError(f"invalid precision of {column.fractional_digits} fractional digits")
    return kind


def value_of(cell: Any, column: Column) -> Value:
    """The Python value of a present, non-NULL cell, from the grammar's object."""
    return kind_of(column).decode(cell, column)


def text_form(value: Value, column: Column) -> str:
    """A value as the server prints it; byte strings as hexadecimal with ``0x``."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, str):
        return str(value)
    return kind_of(column).text(value, column)


def sql_form(value: Value, column: Column, dialect: SqlDialect) -> str:
    """A value as an SQL literal, see `sql_text`.

    Raises
    ------
    GrammarError
        The value has no literal.
    """
    if value is None:
        return "NULL"
    kind = kind_of(column)
    if kind.sql is not None:
        return kind.sql(value, column, dialect)
    return sql_text.literal(value if isinstance(value, str) else kind.text(value, column), dialect.utf8)


def json_form(value: Value, column: Column) -> Any:
    """A value in the JSON form of `rows --format json`; documents are :class:`JsonText`, to be inserted
    verbatim.

    The document ``null`` differs from SQL NULL: see :func:`marked`.
    """
    if value is None:
        return None
    if isinstance(value, JsonText):
        return marked(value)
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, str):
        return str(value)
    match kind_of(column).json:
        case "text":
            return text_form(value, column)
        case "list" if isinstance(value, list):
            return [_finite(numbers.shortest_float(element)) for element in value]
    if isinstance(value, float):
        return _finite(numbers.shortest_float(value) if column.type == ColumnType.float else value)
    return value


def _finite(value: float) -> float | str:
    # JSON cannot represent other numbers; servers do not write them.
    return value if isfinite(value) else str(value)


def _integer(size: int) -> ColumnKind:
    bits = 32 if size == 3 else size * 8

    def decode(cell: Any, column: Column) -> Value:
        return numbers.integer(cell.value, size, column.is_unsigned)

    def arrow(column: Column) -> str:
        if column.is_unsigned and size == 8:
            return "decimal128(20, 0)"
        return f"{'u' if column.is_unsigned else ''}int{bits}"

    return ColumnKind(decode, arrow, _plain_text, "number", size, _number_sql)


def _number_sql(value: object, *_: object) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _plain_text(value: object, _: Column) -> str:
    return str(value)


def _vector_text(value: list[float], _: Column) -> str:
    return f"[{','.join(f'{element:.5e}' for element in value)}]"


def _decimal_arrow(column: Column) -> str:
    precision = column.precision or 1
    return f"decimal{128 if precision <= _DECIMAL_128 else 256}({precision}, {column.scale or 0})"


def _string_arrow(column: Column) -> str:
    return (
        "binary" if column.charset == BINARY and (column.type_name or "").lower() not in TEXTUAL else "string"
    )


#: MariaDB types that are stored as byte strings and shown as text.
TEXTUAL = frozenset(("uuid", "inet4", "inet6"))


def _always(name: str) -> ArrowName:
    return lambda _: name


def _members_arrow(column: Column) -> str:
    return (
        "string" if column.members is not None else "uint16" if column.type == ColumnType.enum else "uint64"
    )


def _nothing(cell: object, column: Column) -> Value:
    return None


_STRING = ColumnKind(strings.text_of, _string_arrow, _plain_text, "text", sql=sql_text.string_sql)
_COMPRESSED = replace(_STRING, decode=strings.compressed_text_of)
_DATE = ColumnKind(
    lambda cell, _: temporal.date_of(cell),
    _always("date32"),
    lambda value, _: temporal.date_text(value),
    "text",
)
_DATETIME = ColumnKind(
    lambda cell, column: temporal.datetime_of(cell, column.fractional_digits),
    _always("timestamp[us]"),
    lambda value, column: temporal.datetime_text(value, column.fractional_digits),
    "text",
)
_TIMESTAMP = ColumnKind(
    lambda cell, column: temporal.timestamp_of(cell, column.fractional_digits),
    _always("timestamp[us, tz=UTC]"),
    _DATETIME.text,
    "text",
)
_TIME = ColumnKind(
    lambda cell, _: temporal.time_of(cell),
    _always("duration[us]"),
    lambda value, column: temporal.time_text(value, column.fractional_digits),
    "text",
)
_OLD_DATETIME = replace(
    _DATETIME, decode=lambda cell, column: temporal.old_datetime_of(cell, column.fractional_digits)
)
_OLD_TIMESTAMP = replace(
    _TIMESTAMP, decode=lambda cell, column: temporal.old_timestamp_of(cell, column.fractional_digits)
)
_OLD_TIME = replace(_TIME, decode=lambda cell, column: temporal.old_time_of(cell, column.fractional_digits))
_JSON = ColumnKind(
    lambda cell, _: json_of(cell),
    _always("string"),
    _plain_text,
    "document",
    sql=lambda value, *_: sql_text.text_sql(value),
)

#: Types of integers; of text and byte strings, except MariaDB's compressed columns; of dates and times.
INTEGER_TYPES = (ColumnType.tiny, ColumnType.short, ColumnType.int24, ColumnType.long, ColumnType.longlong)
STRING_TYPES = (
    ColumnType.string,
    ColumnType.varchar,
    ColumnType.tiny_blob,
    ColumnType.medium_blob,
    ColumnType.long_blob,
    ColumnType.blob,
)
TIME_TYPES: dict[ColumnType | int, ColumnKind] = {
    ColumnType.date: _DATE,
    ColumnType.newdate: _DATE,
    ColumnType.time: _OLD_TIME,
    ColumnType.time2: _TIME,
    ColumnType.datetime: _OLD_DATETIME,
    ColumnType.datetime2: _DATETIME,
    ColumnType.timestamp: _OLD_TIMESTAMP,
    ColumnType.timestamp2: _TIMESTAMP,
}

#: The representation of each column type; types that never occur in row images are left out.
TYPES: dict[ColumnType | int, ColumnKind] = {
    ColumnType.tiny: _integer(1),
    ColumnType.short: _integer(2),
    ColumnType.int24: _integer(3),
    ColumnType.long: _integer(4),
    ColumnType.longlong: _integer(8),
    ColumnType.float: ColumnKind(
        lambda cell, _: float(cell.value),
        _always("float"),
        lambda value, _: numbers.float_text(value),
        "number",
        sql=sql_text.float_sql,
    ),
    ColumnType.double: ColumnKind(
        lambda cell, _: float(cell.value),
        _always("double"),
        lambda value, _: numbers.double_text(value),
        "number",
        sql=sql_text.double_sql,
    ),
    ColumnType.newdecimal: ColumnKind(
        lambda cell, _: numbers.decimal(cell),
        _decimal_arrow,
        lambda value, _: f"{value:f}",
        "text",
        sql=_number_sql,
    ),
    ColumnType.bit: ColumnKind(
        lambda cell, _: int.from_bytes(cell.bits, "big"),
        _always("uint64"),
        _plain_text,
        "number",
        sql=_number_sql,
    ),
    ColumnType.year: ColumnKind(
        lambda cell, _: int(cell.value),
        _always("uint16"),
        lambda value, _: f"{value:04}",
        "number",
        sql=_number_sql,
    ),
    ColumnType.null: ColumnKind(_nothing, _always("null"), _plain_text, "text"),
    **TIME_TYPES,
    **dict.fromkeys(STRING_TYPES, _STRING),
    ColumnType.varchar_compressed: _COMPRESSED,
    ColumnType.blob_compressed: _COMPRESSED,
    ColumnType.enum: ColumnKind(
        lambda cell, column: strings.enum_of(cell.value, column),
        _members_arrow,
        _plain_text,
        "number",
        sql=sql_text.choice_sql,
    ),
    ColumnType.set: ColumnKind(
        lambda cell, column: strings.set_of(cell.value, column),
        _members_arrow,
        _plain_text,
        "number",
        sql=sql_text.choice_sql,
    ),
    ColumnType.json: _JSON,
    ColumnType.typed_array: _JSON,
    ColumnType.geometry: ColumnKind(
        lambda cell, _: bytes(cell._raw_content),
        _always("binary"),
        _plain_text,
        "text",
        sql=sql_text.geometry_sql,
    ),
    ColumnType.vector: ColumnKind(
        lambda cell, _: list(cell.content.elements),
        _always("list<float>"),
        _vector_text,
        "list",
        sql=sql_text.vector_sql,
    ),
}
