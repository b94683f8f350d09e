"""How values of each kind of column are represented in Python, Arrow, text, JSON and SQL.

The entries start from the grammar's objects, see `row_image.ksy`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values import numbers, sql_text, strings, temporal
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import COMPRESSED, DOCUMENTS, STRINGS, Kind, of_type
from binlog_kaitai.values.json_documents import JsonDiff, JsonText, json_of, marked
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.sql_text import SqlDialect

#: A value of a row: the result of `Representation.decode`, or None for NULL.
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
ArrowType = Callable[[Column], pa.DataType]
Sql = Callable[[Any, Column, SqlDialect], str]

#: Maximum digits of Arrow's 128-bit decimal.
_DECIMAL_128 = 38

#: Maximum digits of a DECIMAL, bits of a BIT, and fractional second digits, in either server.
_MOST_DIGITS, _MOST_BITS, _MOST_FRACTION = 65, 64, 6


@dataclass(frozen=True, slots=True)
class Representation:
    """How values of one kind are represented.

    `decode`: returns the value, given the grammar's object for a cell, and the column.
    `arrow`: the Arrow type for the column.
    `text`: the value as the server prints it; takes values returned by `decode`.
    `json`: ``"number"``, ``"text"``, ``"document"``, ``"list"``: the form in JSON; byte strings are always
    ``{"hex": …}``.
    `sql`: the value as an SQL literal; None if that is `text` in quotes.
    """

    decode: Decode
    arrow: ArrowType
    text: Text
    json: str
    sql: Sql | None = None


def representation_of(column: Column) -> Representation:
    """How the values of a column are represented.

    Raises `GrammarError`: the grammar does not know the type, or its length exceeds every server's limit.
    """
    representation = _REPRESENTATIONS.get(column.kind)
    if representation is None:
        raise GrammarError(f"unknown column type {int(column.type)}")
    if (column.precision or 0) > _MOST_DIGITS or (column.scale or 0) > (column.precision or 0):
        raise GrammarError(f"invalid DECIMAL({column.precision},{column.scale})")
    if (column.bits or 0) > _MOST_BITS:
        raise GrammarError(f"invalid BIT({column.bits})")
    if column.fractional_digits > _MOST_FRACTION:
        raise GrammarError(f"invalid precision of {column.fractional_digits} fractional digits")
    return representation


def value_of(cell: Any, column: Column) -> Value:
    """The Python value of a present, non-NULL cell, from the grammar's object."""
    return representation_of(column).decode(cell, column)


def text_form(value: Value, column: Column) -> str:
    """A value as the server prints it; byte strings as hexadecimal with ``0x``."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, str):
        return str(value)
    return representation_of(column).text(value, column)


def sql_form(value: Value, column: Column, dialect: SqlDialect) -> str:
    """A value as an SQL literal, see `sql_text`.

    Raises `GrammarError`: the value has no literal.
    """
    if value is None:
        return "NULL"
    representation = representation_of(column)
    if representation.sql is not None:
        return representation.sql(value, column, dialect)
    text = value if isinstance(value, str) else representation.text(value, column)
    return sql_text.literal(text, dialect.utf8)


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
    match representation_of(column).json:
        case "text":
            return text_form(value, column)
        case "list" if isinstance(value, list):
            return [_finite(numbers.shortest_float(element)) for element in value]
    if isinstance(value, float):
        return _finite(numbers.shortest_float(value) if column.kind == Kind.FLOAT else value)
    return value


def _finite(value: float) -> float | str:
    # JSON cannot represent other numbers; servers do not write them.
    return value if isfinite(value) else str(value)


def _integer_of(cell: Any, column: Column) -> Value:
    return numbers.integer(cell.value, of_type(column.type).size, column.is_unsigned)


def _integer_arrow(column: Column) -> pa.DataType:
    size = of_type(column.type).size
    if column.is_unsigned and size == 8:
        return pa.decimal128(20, 0)
    return pa.type_for_alias(f"{'u' if column.is_unsigned else ''}int{32 if size == 3 else size * 8}")


def _number_sql(value: object, *_: object) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _plain_text(value: object, _: Column) -> str:
    return str(value)


def _vector_text(value: list[float], _: Column) -> str:
    return f"[{','.join(f'{element:.5e}' for element in value)}]"


def _decimal_arrow(column: Column) -> pa.DataType:
    precision, scale = column.precision or 1, column.scale or 0
    return pa.decimal128(precision, scale) if precision <= _DECIMAL_128 else pa.decimal256(precision, scale)


def _string_arrow(column: Column) -> pa.DataType:
    is_bytes = column.charset == BINARY and not strings.has_own_text(column)
    return pa.binary() if is_bytes else pa.string()


def _always(name: str) -> ArrowType:
    return lambda _: pa.type_for_alias(name)


def _members_arrow(column: Column) -> pa.DataType:
    if column.members is not None:
        return pa.string()
    return pa.uint16() if column.kind == Kind.ENUM else pa.uint64()


def _nothing(cell: object, column: Column) -> Value:
    return None


_STRING = Representation(strings.text_of, _string_arrow, _plain_text, "text", sql=sql_text.string_sql)
_DATETIME = Representation(
    lambda cell, column: temporal.datetime_of(cell, column.fractional_digits),
    _always("timestamp[us]"),
    lambda value, column: temporal.datetime_text(value, column.fractional_digits),
    "text",
)
_TIMESTAMP = Representation(
    lambda cell, column: temporal.timestamp_of(cell, column.fractional_digits),
    lambda _: pa.timestamp("us", tz="UTC"),
    _DATETIME.text,
    "text",
)
_TIME = Representation(
    lambda cell, _: temporal.time_of(cell),
    _always("duration[us]"),
    lambda value, column: temporal.time_text(value, column.fractional_digits),
    "text",
)
_JSON = Representation(
    lambda cell, _: json_of(cell),
    _always("string"),
    _plain_text,
    "document",
    sql=lambda value, *_: sql_text.text_sql(value),
)

_REPRESENTATIONS: dict[Kind, Representation] = {
    Kind.NULL: Representation(_nothing, _always("null"), _plain_text, "text"),
    Kind.INTEGER: Representation(_integer_of, _integer_arrow, _plain_text, "number", _number_sql),
    Kind.FLOAT: Representation(
        lambda cell, _: float(cell.value),
        _always("float"),
        lambda value, _: numbers.float_text(value),
        "number",
        sql_text.float_sql,
    ),
    Kind.DOUBLE: Representation(
        lambda cell, _: float(cell.value),
        _always("double"),
        lambda value, _: numbers.double_text(value),
        "number",
        sql_text.double_sql,
    ),
    Kind.DECIMAL: Representation(
        lambda cell, _: numbers.decimal(cell),
        _decimal_arrow,
        lambda value, _: f"{value:f}",
        "text",
        _number_sql,
    ),
    Kind.BIT: Representation(
        lambda cell, _: int.from_bytes(cell.bits, "big"),
        _always("uint64"),
        _plain_text,
        "number",
        _number_sql,
    ),
    Kind.YEAR: Representation(
        lambda cell, _: int(cell.value),
        _always("uint16"),
        lambda value, _: f"{value:04}",
        "number",
        _number_sql,
    ),
    Kind.DATE: Representation(
        lambda cell, _: temporal.date_of(cell),
        _always("date32"),
        lambda value, _: temporal.date_text(value),
        "text",
    ),
    Kind.DATETIME: _DATETIME,
    Kind.TIMESTAMP: _TIMESTAMP,
    Kind.TIME: _TIME,
    Kind.OLD_DATETIME: replace(
        _DATETIME, decode=lambda cell, column: temporal.old_datetime_of(cell, column.fractional_digits)
    ),
    Kind.OLD_TIMESTAMP: replace(
        _TIMESTAMP, decode=lambda cell, column: temporal.old_timestamp_of(cell, column.fractional_digits)
    ),
    Kind.OLD_TIME: replace(
        _TIME, decode=lambda cell, column: temporal.old_time_of(cell, column.fractional_digits)
    ),
    **dict.fromkeys(STRINGS, _STRING),
    Kind.CHAR: replace(_STRING, decode=strings.padded_text_of),
    **dict.fromkeys(COMPRESSED, replace(_STRING, decode=strings.compressed_text_of)),
    Kind.ENUM: Representation(
        lambda cell, column: strings.enum_of(cell.value, column),
        _members_arrow,
        _plain_text,
        "number",
        sql_text.choice_sql,
    ),
    Kind.SET: Representation(
        lambda cell, column: strings.set_of(cell.value, column),
        _members_arrow,
        _plain_text,
        "number",
        sql_text.choice_sql,
    ),
    **dict.fromkeys(DOCUMENTS, _JSON),
    Kind.GEOMETRY: Representation(
        lambda cell, _: bytes(cell._raw_content),
        _always("binary"),
        _plain_text,
        "text",
        sql_text.geometry_sql,
    ),
    Kind.VECTOR: Representation(
        lambda cell, _: list(cell.content.elements),
        lambda _: pa.list_(pa.field("item", pa.float32())),
        _vector_text,
        "list",
        sql_text.vector_sql,
    ),
}
