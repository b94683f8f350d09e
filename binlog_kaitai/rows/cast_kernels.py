"""A kernel that writes SQL expressions for values in JSON documents, see `values.sql_text`."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import json_decimal
from binlog_kaitai.log.text_kernels import copy, put_number
from binlog_kaitai.rows.opaque_kernels import DATE, DATETIME, DECIMAL, TIME, TIMESTAMP
from binlog_kaitai.values.sql_text import BYTE_STRINGS, CASTS, EXACT_DIGITS, EXACT_POWER, MOST_DIGITS

DOUBLE = int(ColumnType.double)
_BYTE_STRINGS = tuple(int(kind) for kind in BYTE_STRINGS)

#: Maximum length of a cast in addition to the text of its value.
CAST_ROOM = 64


def _text(text: str) -> Bytes:
    return np.frombuffer(text.encode(), dtype=np.uint8)


_CAST, _AS, _END, _QUOTE = _text("CAST('"), _text("' AS "), _text(")"), ord('"')
_POINT, _EXPONENT, _MINUS, _ZERO, _NINE = ord("."), ord("e"), ord("-"), ord("0"), ord("9")
_TO_DECIMAL, _COMMA = _text("DECIMAL("), ord(",")
_TO_DATE, _TO_TIME = _text(CASTS[ColumnType.date]), _text(CASTS[ColumnType.time])
_TO_DATETIME = _text(CASTS[ColumnType.datetime])


@kernel
def has_cast(kind: int) -> bool:
    """Whether JSON text does not express a value of a column type, but SQL does."""
    return kind in (DECIMAL, DATE, TIME, DATETIME, TIMESTAMP)


@kernel
def is_byte_string(kind: int) -> bool:
    """Whether a value has a column type of byte strings, whose casts the event reader writes."""
    return kind in _BYTE_STRINGS


@kernel
def is_long_double(text: Bytes, begin: int, end: int) -> bool:
    """Whether JSON parsers may round the number `text[begin:end]`, see `values.sql_text`."""
    digits, fraction = 0, 0
    exponent: Any = 0
    has_point, has_exponent, is_negative = False, False, False
    for position in range(begin, end):
        byte = text[position]
        if byte == _POINT:
            has_point = True
        elif byte == _EXPONENT:
            has_exponent = True
        elif has_exponent and byte == _MINUS:
            is_negative = True
        elif _ZERO <= byte <= _NINE:
            if has_exponent:
                exponent = 10 * exponent + np.int64(byte) - _ZERO
            else:
                digits += digits > 0 or byte != _ZERO
                fraction += has_point
    power = (-exponent if is_negative else exponent) - fraction
    return digits > EXACT_DIGITS or abs(power) > EXACT_POWER


@kernel
def put_cast(
    data: Bytes, kind: int, start: int, text: Bytes, begin: int, end: int, out: Bytes, at: int
) -> Any:
    """Write the cast of the value at `data[start]`, whose JSON text is `text[begin:end]`.

    A DOUBLE needs no cast, but an exponent: without one, it would be a DECIMAL.
    """
    if kind == DOUBLE:
        has_exponent = False
        for position in range(begin, end):
            has_exponent |= text[position] == _EXPONENT
        copy(text, begin, end - begin, out, at)
        at += end - begin
        if not has_exponent:
            out[at], out[at + 1] = _EXPONENT, _ZERO
            at += 2
        return at
    copy(_CAST, 0, _CAST.shape[0], out, at)
    at += _CAST.shape[0]
    if text[begin] == _QUOTE:
        begin += 1
        end -= 1
    copy(text, begin, end - begin, out, at)
    at += end - begin
    copy(_AS, 0, _AS.shape[0], out, at)
    at += _AS.shape[0]
    if kind == DECIMAL:
        precision, scale, _ = json_decimal(data, start)
        copy(_TO_DECIMAL, 0, _TO_DECIMAL.shape[0], out, at)
        at = put_number(min(precision, MOST_DIGITS), out, at + _TO_DECIMAL.shape[0])
        out[at] = _COMMA
        at = put_number(scale, out, at + 1)
        copy(_END, 0, _END.shape[0], out, at)
        at += _END.shape[0]
    else:
        name = _TO_DATE if kind == DATE else _TO_TIME if kind == TIME else _TO_DATETIME
        copy(name, 0, name.shape[0], out, at)
        at += name.shape[0]
    copy(_END, 0, _END.shape[0], out, at)
    return at + _END.shape[0]
