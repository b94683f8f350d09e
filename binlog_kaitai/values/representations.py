"""How values of each kind of column are represented in Python, Arrow, text, JSON and SQL.

The entries start from the grammar's objects, see `row_image.ksy`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values import numbers, sql_text, strings, temporal
from binlog_kaitai.values.charsets import decoder_of
from binlog_kaitai.values.column_kinds import COMPRESSED, DOCUMENTS, STRINGS, Kind, of_type
from binlog_kaitai.values.json_documents import JsonDiff, JsonText, json_of, marked
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.sql_text import SqlDialect

#: A value of a row: the result of `Representation.decode`, or None for NULL. A document is :class:`JsonText`.
Value = int | float | Decimal | str | bytes | date | datetime | timedelta | list[float] | JsonDiff | None

Decode = Callable[[Any, Column], Value]
Text = Callable[[Any, Column], str]
ArrowType = Callable[[Column], "pa.DataType"]  # a string: Arrow is loaded at first use
Sql = Callable[[Any, Column, SqlDialect], str]

#: Maximum digits of Arrow's 128-bit decimal.
_DECIMAL_128 = 38


class Representation(NamedTuple):
    """How values of one kind are represented.

    `decode`: returns the value, given the grammar's object for a cell, and the column.
    `arrow`: the Arrow type for the column.
    `json`: ``"number"``, ``"text"``, ``"document"``, ``"list"``: the form in JSON; byte strings are always
    ``{"hex": …}``.
    `text`: the value as the server prints it; takes values returned by `decode`.
    `sql`: the value as an SQL literal; None if that is `text` in quotes.
    """

    decode: Decode
    arrow: ArrowType
    json: str
    text: Text = lambda value, _: str(value)
    sql: Sql | None = None


def representation_of(column: Column) -> Representation:
    """How the values of a column are represented.

    Raises `GrammarError`: the grammar does not know the type.
    """
    representation = _REPRESENTATIONS.get(column.kind)
    if representation is None:
        raise GrammarError(f"unknown column type {int(column.type)}")
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


def _integer(cell: Any, column: Column) -> Value:
    return numbers.integer(cell.value, of_type(column.type).size, column.is_unsigned)


def _float(cell: Any, column: Column) -> Value:
    return float(cell.value)


def _integer_arrow(column: Column) -> pa.DataType:
    size = of_type(column.type).size
    if column.is_unsigned and size == 8:
        return pa.decimal128(20, 0)
    return pa.type_for_alias(f"{'u' if column.is_unsigned else ''}int{32 if size == 3 else size * 8}")


def _decimal_arrow(column: Column) -> pa.DataType:
    precision, scale = column.precision or 1, column.scale or 0
    return pa.decimal128(precision, scale) if precision <= _DECIMAL_128 else pa.decimal256(precision, scale)


def _string_arrow(column: Column) -> pa.DataType:
    is_bytes = decoder_of(column.charset) is None and not strings.has_own_text(column)
    return pa.binary() if is_bytes else pa.string()


def _choice_arrow(column: Column) -> pa.DataType:
    if column.members is not None:
        return pa.string()
    return pa.uint16() if column.kind == Kind.ENUM else pa.uint64()


def _always(name: str) -> ArrowType:
    return lambda _: pa.type_for_alias(name)


def _number_sql(value: object, *_: object) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


_MOMENT = Representation(
    temporal.datetime_of,
    _always("timestamp[us]"),
    "text",
    lambda value, column: temporal.datetime_text(value, column.fractional_digits),
)
_STAMP = _MOMENT._replace(decode=temporal.timestamp_of, arrow=lambda _: pa.timestamp("us", tz="UTC"))
_TIME = Representation(
    temporal.time_of,
    _always("duration[us]"),
    "text",
    lambda value, column: temporal.time_text(value, column.fractional_digits),
)
_STRING = Representation(strings.text_of, _string_arrow, "text", sql=sql_text.string_sql)
_CHOICE = Representation(
    lambda cell, column: strings.enum_of(cell.value, column), _choice_arrow, "number", sql=sql_text.choice_sql
)
_JSON = Representation(json_of, _always("string"), "document", sql=sql_text.text_sql)

_REPRESENTATIONS: dict[Kind, Representation] = {
    Kind.NULL: Representation(lambda cell, _: None, _always("null"), "text"),
    Kind.INTEGER: Representation(_integer, _integer_arrow, "number", sql=_number_sql),
    Kind.FLOAT: Representation(_float, _always("float"), "number", numbers.float_text, sql_text.float_sql),
    Kind.DOUBLE: Representation(
        _float, _always("double"), "number", numbers.double_text, sql_text.double_sql
    ),
    Kind.DECIMAL: Representation(
        numbers.decimal, _decimal_arrow, "text", lambda value, _: f"{value:f}", _number_sql
    ),
    Kind.BIT: Representation(
        lambda cell, _: int.from_bytes(cell.bits, "big"), _always("uint64"), "number", sql=_number_sql
    ),
    Kind.YEAR: Representation(
        lambda cell, _: int(cell.value),
        _always("uint16"),
        "number",
        lambda value, _: f"{value:04}",
        _number_sql,
    ),
    Kind.DATE: Representation(temporal.date_of, _always("date32"), "text", temporal.date_text),
    Kind.DATETIME: _MOMENT,
    Kind.TIMESTAMP: _STAMP,
    Kind.TIME: _TIME,
    Kind.OLD_DATETIME: _MOMENT._replace(decode=temporal.old_datetime_of),
    Kind.OLD_TIMESTAMP: _STAMP._replace(decode=temporal.old_timestamp_of),
    Kind.OLD_TIME: _TIME._replace(decode=temporal.old_time_of),
    **dict.fromkeys(STRINGS, _STRING),
    Kind.CHAR: _STRING._replace(decode=strings.padded_text_of),
    **dict.fromkeys(COMPRESSED, _STRING._replace(decode=strings.compressed_text_of)),
    Kind.ENUM: _CHOICE,
    Kind.SET: _CHOICE._replace(decode=lambda cell, column: strings.set_of(cell.value, column)),
    **dict.fromkeys(DOCUMENTS, _JSON),
    Kind.GEOMETRY: Representation(
        lambda cell, _: bytes(cell._raw_content), _always("binary"), "text", sql=sql_text.geometry_sql
    ),
    Kind.VECTOR: Representation(
        strings.vector_of,
        lambda _: pa.list_(pa.field("item", pa.float32())),
        "list",
        lambda value, _: f"[{','.join(f'{element:.5e}' for element in value)}]",
        sql_text.vector_sql,
    ),
}
