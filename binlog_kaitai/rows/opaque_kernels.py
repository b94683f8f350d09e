"""Kernels that print values that JSON has no type for, see `values.json_documents.opaque_text`."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    json_datetime,
    json_datetime_end,
    json_decimal,
    json_decimal_number,
    json_time,
    json_time_end,
)
from binlog_kaitai.log.text_kernels import copy, put_number
from binlog_kaitai.rows.float_texts import LEFT
from binlog_kaitai.rows.text.base64_kernel import LINE, PAIRS, put_base64
from binlog_kaitai.rows.text.printed_values import put_calendar, put_clock, put_decimal, put_micros

DECIMAL, DATE, TIME, STRING = (
    int(kind) for kind in (ColumnType.newdecimal, ColumnType.date, ColumnType.time, ColumnType.var_string)
)
DATETIME, TIMESTAMP = int(ColumnType.datetime), int(ColumnType.timestamp)

_DASH, _QUOTE = ord("-"), ord('"')
_BASE64 = np.frombuffer(b'"base64:type', dtype=np.uint8)

#: Maximum text length of a DECIMAL, whose precision is one byte.
_MOST_DIGITS = 264


@kernel
def opaque_room(length: int) -> Any:
    """Upper bound for the length that `put_opaque` writes for a number of bytes."""
    return max((length // LINE + 1) * 78 + 40, _MOST_DIGITS)


@kernel
def put_opaque(data: Bytes, kind: int, start: int, length: int, out: Bytes, at: int) -> Any:
    """Print the value of a column type other than STRING, in bounds; LEFT if it is invalid."""
    end = start + length
    if kind == DECIMAL:
        return put_json_decimal(data, start, end, out, at)
    if kind in (DATE, DATETIME, TIMESTAMP):
        at = put_json_datetime(data, start, end, kind == DATE, out, at)
    elif kind == TIME:
        at = put_json_time(data, start, end, out, at)
    else:
        at = put_json_bytes(data, kind, start, end, out, at)
    return at if at >= 0 else LEFT


@kernel
def put_json_decimal(data: Bytes, start: int, end: int, out: Bytes, at: int) -> Any:
    """Print a DECIMAL."""
    number = json_decimal_number(data, start)
    if number > end:
        return LEFT
    precision, scale, size = json_decimal(data, start)
    if number + size > end:
        return LEFT
    at = put_decimal(data, number, precision, scale, out, at)
    return at if at >= 0 else LEFT


@kernel
def put_json_datetime(data: Bytes, start: int, end: int, is_date: bool, out: Bytes, at: int) -> Any:
    """Print a date or a date with time in quotes; negative if it is invalid."""
    if json_datetime_end(data, start) > end:
        return LEFT
    year, month, day, hour, minute, second, microsecond = json_datetime(data, start)
    if year > 9999:
        return LEFT
    out[at] = _QUOTE
    at = put_calendar(year, month, day, _DASH, out, at + 1)
    if not is_date:
        out[at] = 32
        at = put_micros(microsecond, 6, out, put_clock(hour, minute, second, out, at + 1))
        if at < 0:
            return LEFT
    out[at] = _QUOTE
    return at + 1


@kernel
def put_json_time(data: Bytes, start: int, end: int, out: Bytes, at: int) -> Any:
    """Print a time in quotes; negative if it is invalid."""
    if json_time_end(data, start) > end:
        return LEFT
    is_negative, hour, minute, second, microsecond = json_time(data, start)
    out[at] = _QUOTE
    at += 1
    if is_negative:
        out[at] = _DASH
        at += 1
    at = put_clock(hour, minute, second, out, at)
    if at >= 0:
        at = put_micros(microsecond, 6, out, at)
    if at < 0:
        return LEFT
    out[at] = _QUOTE
    return at + 1


@kernel
def put_json_bytes(data: Bytes, kind: int, start: int, end: int, out: Bytes, at: int) -> Any:
    """Print bytes in base64 after the number of their type, in quotes."""
    copy(_BASE64, 0, _BASE64.shape[0], out, at)
    at = put_number(kind, out, at + _BASE64.shape[0])
    out[at] = 58
    at += 1
    while start < end:
        stop = min(start + LINE, end)
        at = put_base64(data, start, stop, PAIRS, out, at)
        start = stop
        # The end of a line, escaped; the last line has none.
        if start < end:
            out[at - 1], out[at] = 92, 110
            at += 1
        else:
            at -= 1
    out[at] = _QUOTE
    return at + 1
