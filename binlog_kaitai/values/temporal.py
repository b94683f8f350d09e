"""Dates and times: conversion from the grammar's objects, and formatting as servers print them.

A date that does not exist in the calendar (0000-00-00, 2020-00-00, 2020-02-31) stays text, as
:class:`ZeroDate`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from binlog_kaitai.core.grammar import TemporalValues
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.schema import Column

_DIGITS = 6
#: 838:59:59.999999, in microseconds.
_LONGEST_TIME = ((838 * 60 + 59) * 60 + 59) * 10**6 + 999_999


class ZeroDate(str):
    """A date or time that Python's types cannot represent, as MySQL prints it."""

    __slots__ = ()


def date_of(cell: TemporalValues.Date, *_: object) -> date | ZeroDate:
    """A DATE."""
    try:
        return date(cell.year, cell.month, cell.day)
    except ValueError:
        return ZeroDate(f"{cell.year:04}-{cell.month:02}-{cell.day:02}")


def datetime_of(cell: TemporalValues.Datetime2, column: Column) -> datetime | ZeroDate:
    """A date and time in the format since 5.6.4, without time zone."""
    clock = cell.hour, cell.minute, cell.second, cell.microsecond
    return _datetime(column.fractional_digits, cell.year, cell.month, cell.day, *clock)


def old_datetime_of(cell: Any, column: Column) -> datetime | ZeroDate:
    """A date and time in the format before 5.6.4, or in MariaDB's with a fraction."""
    digits = column.fractional_digits
    if cell.packed is None:
        return _datetime(digits, cell.year, cell.month, cell.day, cell.hour, cell.minute, cell.second)
    number, fraction = divmod(int.from_bytes(cell.packed, "big"), 10**digits)
    number, second = divmod(number, 60)
    number, minute = divmod(number, 60)
    number, hour = divmod(number, 24)
    number, day = divmod(number, 32)
    year, month = divmod(number, 13)
    microsecond = fraction * 10 ** (_DIGITS - digits)
    return _datetime(digits, year, month, day, hour, minute, second, microsecond)


def timestamp_of(cell: TemporalValues.Timestamp2, column: Column) -> datetime | ZeroDate:
    """A TIMESTAMP in the format since 5.6.4, in UTC; 0 is the zero date."""
    return _timestamp(cell.seconds, cell.microsecond, column.fractional_digits)


def old_timestamp_of(cell: Any, column: Column) -> datetime | ZeroDate:
    """A TIMESTAMP in the format before 5.6.4, or in MariaDB's with a fraction."""
    digits, fraction = column.fractional_digits, int.from_bytes(cell.packed_fraction or b"", "big")
    return _timestamp(cell.seconds, fraction * 10 ** (_DIGITS - digits) if fraction else 0, digits)


def time_of(cell: TemporalValues.Time2, *_: object) -> timedelta:
    """A TIME in the format since 5.6.4."""
    return _time(cell, cell.microsecond)


def old_time_of(cell: Any, column: Column) -> timedelta:
    """A TIME in the format before 5.6.4, or in MariaDB's with a fraction."""
    if cell.packed is None:
        return _time(cell, 0)
    unit = 10 ** (_DIGITS - column.fractional_digits)
    zero = _LONGEST_TIME // unit + 1
    length = timedelta(microseconds=(int.from_bytes(cell.packed, "big") - zero) * unit)
    if abs(length) > timedelta(microseconds=_LONGEST_TIME):
        raise GrammarError(f"invalid time: {length}")
    return length


def _datetime(
    digits: int, year: int, month: int, day: int, hour: int, minute: int, second: int, microsecond: int = 0
) -> datetime | ZeroDate:
    _check_fraction(microsecond)
    try:
        return datetime(year, month, day, hour, minute, second, microsecond)
    except ValueError:
        text = f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
        return ZeroDate(text + fraction_text(microsecond, digits))


def _timestamp(seconds: int, microsecond: int, digits: int) -> datetime | ZeroDate:
    _check_fraction(microsecond)
    if seconds == 0:
        return ZeroDate("0000-00-00 00:00:00" + fraction_text(microsecond, digits))
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=microsecond)


def _time(cell: Any, microsecond: int) -> timedelta:
    _check_fraction(microsecond)
    if cell.minute > 59 or cell.second > 59:
        raise GrammarError(f"invalid time: {cell.hour}:{cell.minute}:{cell.second}")
    length = timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=microsecond)
    return -length if cell.is_negative else length


def date_text(value: date, *_: object) -> str:
    """``YYYY-MM-DD``."""
    return f"{value.year:04}-{value.month:02}-{value.day:02}"


def datetime_text(value: datetime, digits: int = 0) -> str:
    """``YYYY-MM-DD hh:mm:ss`` with the given number of fractional digits; a TIMESTAMP in UTC."""
    clock = f"{value.hour:02}:{value.minute:02}:{value.second:02}"
    return f"{date_text(value)} {clock}{fraction_text(value.microsecond, digits)}"


def time_text(value: timedelta, digits: int = 0) -> str:
    """``[-]hh:mm:ss`` with the given number of fractional digits."""
    sign, length = ("-", -value) if value < timedelta() else ("", value)
    minutes, second = divmod(length.days * 86_400 + length.seconds, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"
    return sign + clock + fraction_text(length.microseconds, digits)


def fraction_text(microsecond: int, digits: int) -> str:
    """Fractional seconds with a leading point; empty for no digits."""
    return f".{microsecond:06}"[: digits + 1] if digits else ""


def _check_fraction(microsecond: int) -> None:
    if microsecond >= 10**_DIGITS:
        raise GrammarError(f"invalid fraction of a second: {microsecond} microseconds")
