"""The value that a row gets in a column that its INSERT does not name.

With `binlog_row_image` MINIMAL, servers leave such a column out of the image if its default is a literal;
the values of expressions, functions and triggers are in the image (MySQL 5.7 to 9.7, MariaDB 10.11 to 11.8).
Only literals with the same meaning in every session are converted: a TIMESTAMP depends on the time zone.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import STRINGS, Kind
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?", re.ASCII)
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
    if not literal or column.is_generated is not False:
        raise UnknownDefaultError
    is_string = literal[0] == "'"
    text = literal[1:-1].replace("''", "'") if is_string else _WORDS.get(literal.upper(), literal)
    is_fitting = is_string if column.kind in _TEXTS else not (is_string and column.kind is Kind.BIT)
    if column.kind not in _CONVERSIONS or not is_fitting:
        raise UnknownDefaultError
    try:
        return _CONVERSIONS[column.kind](text, column)
    except (ValueError, ArithmeticError, struct.error) as error:
        raise UnknownDefaultError from error


def _decimal(text: str, column: Column) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    number = Decimal(text)
    scaled = number.quantize(Decimal(1).scaleb(-(column.scale or 0)))
    if scaled != number:  # the server rounds it
        raise ValueError(text)
    return scaled


def _float(text: str, column: Column) -> float:
    if not _NUMBER.fullmatch(text) or "(" in (column.type_name or "("):  # which has decimal digits
        raise ValueError(text)
    kind = "f" if column.kind is Kind.FLOAT else "d"
    number: float = struct.unpack(kind, struct.pack(kind, float(text)))[0]
    return number


def _string(text: str, column: Column) -> str | bytes:
    is_cut = column.kind is Kind.CHAR and (text.endswith(" ") or column.charset == BINARY)  # or padded
    if (column.charset is None and not text.isascii()) or is_cut or has_own_text(column):
        raise ValueError(text)
    return text.encode("ascii") if column.charset == BINARY else text


def _members(text: str, column: Column) -> str:
    members, chosen = column.members or (), text.split(",") if column.kind is Kind.SET else [text]
    if not {*chosen} <= {*members}:  # the server compares them by collation
        raise ValueError(text)
    return ",".join(member for member in members if member in chosen)


def _moment(text: str, column: Column) -> date | datetime:
    if not _MOMENT.fullmatch(text):
        raise ValueError(text)
    moment = datetime.fromisoformat(text)
    if column.kind is Kind.DATE and (moment.hour, moment.minute, moment.second) != (0, 0, 0):
        raise ValueError(text)
    return moment.date() if column.kind is Kind.DATE else moment


_TEXTS = STRINGS | {Kind.ENUM, Kind.SET, Kind.DATE, Kind.DATETIME}
_CONVERSIONS: dict[Kind, Callable[[str, Column], Value]] = {
    Kind.INTEGER: lambda text, column: int(_decimal(text, column)),
    Kind.DECIMAL: _decimal,
    Kind.FLOAT: _float,
    Kind.DOUBLE: _float,
    Kind.ENUM: _members,
    Kind.SET: _members,
    Kind.DATE: _moment,
    Kind.DATETIME: _moment,
    Kind.BIT: lambda text, column: int(text[2:-1], 2) if text[1:2] == "'" else int(text),
    **dict.fromkeys(STRINGS, _string),
}
