"""The value that a row gets in a column that its INSERT does not name.

With `binlog_row_image` MINIMAL, servers leave such a column out of the image if its default is a literal;
the values of expressions, functions and triggers are in the image (MySQL 5.7 to 9.7, MariaDB 10.11 to 11.8).
Only literals with the same meaning in every session are converted: a TIMESTAMP depends on the time zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

import numpy as np

from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import STRINGS, Kind
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)", re.ASCII)
_WORDS = {"TRUE": "1", "FALSE": "0"}


class UnknownDefaultError(Exception):
    """The value is not known."""


def default_of(column: Column) -> Value:
    """The value, as the event reader would return it.

    Raises `UnknownDefaultError`.
    """
    literal = column.default
    if literal is not None and (literal.upper() == "NULL" or (not literal and column.is_nullable)):
        return None
    is_string = literal is not None and literal[:1] == "'"
    if not literal or column.is_generated is not False or column.kind not in _CONVERSIONS:
        raise UnknownDefaultError
    text = literal[1:-1].replace("''", "'") if is_string else _WORDS.get(literal.upper(), literal)
    if not (is_string if column.kind in _OF_STRINGS else _NUMBER.fullmatch(text)):
        raise UnknownDefaultError
    try:
        return _CONVERSIONS[column.kind](text, column)
    except (ValueError, ArithmeticError) as error:
        raise UnknownDefaultError from error


def _exactly(value: Value, is_exact: bool) -> Value:
    """The value, unless the server would convert the literal to another one."""
    if not is_exact:
        raise ValueError(value)
    return value


def _decimal(text: str, column: Column) -> Value:
    number = Decimal(text).quantize(Decimal(1).scaleb(-(column.scale or 0)))
    return _exactly(int(number) if column.kind is Kind.INTEGER else number, number == Decimal(text))


def _float(text: str, column: Column) -> Value:
    value = float(np.float32(text)) if column.kind is Kind.FLOAT else float(text)
    return _exactly(value, column.type_name in ("float", "double"))  # not with numbers of digits


def _string(text: str, column: Column) -> Value:
    is_cut = column.kind is Kind.CHAR and (text.endswith(" ") or column.charset == BINARY)  # or padded
    is_same = text.isascii() or column.charset not in (None, BINARY)
    value = text.encode() if column.charset == BINARY else text
    return _exactly(value, is_same and not is_cut and not has_own_text(column))


def _members(text: str, column: Column) -> Value:
    members, chosen = column.members or (), text.split(",") if column.kind is Kind.SET else [text]
    if column.kind is Kind.SET and not text:
        return ""
    return _exactly(",".join(member for member in members if member in chosen), {*chosen} <= {*members})


_CONVERSIONS: dict[Kind, Callable[[str, Column], Value]] = {
    Kind.INTEGER: _decimal,
    Kind.DECIMAL: _decimal,
    Kind.FLOAT: _float,
    Kind.DOUBLE: _float,
    Kind.ENUM: _members,
    Kind.SET: _members,
    Kind.DATE: lambda text, column: _exactly(date.fromisoformat(text), "-" in text),
    Kind.DATETIME: lambda text, column: _exactly(datetime.fromisoformat(text), len(text) in (10, 19)),
    **dict.fromkeys(STRINGS, _string),
}
_OF_STRINGS = STRINGS | {Kind.ENUM, Kind.SET, Kind.DATE, Kind.DATETIME}
