"""Dates and times: out of the grammar's objects, and as servers print them.

A date that no calendar has (0000-00-00, 2020-00-00, 2020-02-31) stays text, as :class:`ZeroDate`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from binlog_kaitai.errors import GrammarError

_DIGITS = 6


class ZeroDate(str):
    """A date or time as MySQL prints it that Python's types cannot hold."""

    __slots__ = ()


def date_of(cell: Any) -> date | ZeroDate:
    """A DATE."""
    try:
        return date(cell.year, cell.month, cell.day)
    except ValueError:
        return ZeroDate(f"{cell.year:04}-{cell.month:02}-{cell.day:02}")


def datetime_of(cell: Any, digits: int = 0) -> datetime | ZeroDate:
    """A DATETIME of any format, without zone."""
    microsecond = getattr(cell, "microsecond", 0)
    parts = (cell.year, cell.month, cell.day, cell.hour, cell.minute, cell.second)
    _check_fraction(microsecond)
    try:
        return datetime(*parts, microsecond)
    except ValueError:
        text = "{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*parts)
        return ZeroDate(text + fraction_text(microsecond, digits))


def timestamp_of(cell: Any, digits: int = 0) -> datetime | ZeroDate:
    """A TIMESTAMP of any format, in UTC; 0 is the zero date."""
    microsecond = getattr(cell, "microsecond", 0)
    _check_fraction(microsecond)
    if cell.seconds == 0:
        return ZeroDate("0000-00-00 00:00:00" + fraction_text(0, digits))
    return datetime.fromtimestamp(cell.seconds, UTC).replace(microsecond=microsecond)


def time_of(cell: Any) -> timedelta:
    """A TIME of any format."""
    microsecond = getattr(cell, "microsecond", 0)
    _check_fraction(microsecond)
    if cell.minute > 59 or cell.second > 59:
        raise GrammarError(f"no time: {cell.hour}:{cell.minute}:{cell.second}")
    length = timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=microsecond)
    return -length if cell.is_negative else length


def date_text(value: date) -> str:
    """``YYYY-MM-DD``."""
    return f"{value.year:04}-{value.month:02}-{value.day:02}"


def datetime_text(value: datetime, digits: int = 0) -> str:
    """``YYYY-MM-DD hh:mm:ss`` with a fraction of so many digits; a TIMESTAMP in UTC."""
    clock = f"{value.hour:02}:{value.minute:02}:{value.second:02}"
    return f"{date_text(value)} {clock}{fraction_text(value.microsecond, digits)}"


def time_text(value: timedelta, digits: int = 0) -> str:
    """``[-]hh:mm:ss`` with a fraction of so many digits."""
    sign, length = ("-", -value) if value < timedelta() else ("", value)
    minutes, second = divmod(length.days * 86_400 + length.seconds, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"
    return sign + clock + fraction_text(length.microseconds, digits)


def fraction_text(microsecond: int, digits: int) -> str:
    """The fraction of a second with the point before it; nothing for no digits."""
    return f".{microsecond:06}"[: digits + 1] if digits else ""


def _check_fraction(microsecond: int) -> None:
    if microsecond >= 10**_DIGITS:
        raise GrammarError(f"no fraction of a second: {microsecond} microseconds")
