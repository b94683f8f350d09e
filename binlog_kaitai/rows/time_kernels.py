"""Kernels that read dates and times from row images.

All take `data` and the `starts` of `walk.locate`, and fill `out` with days (int32) or microseconds (int64),
and `states`, uint8: FINE, ZERO for a date that is not in the calendar, WRONG for an invalid value. A negative
start means no value, with the state FINE. They return the number of values that are not FINE.
"""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    date,
    datetime,
    datetime2,
    time,
    time2,
    timestamp,
    timestamp2,
)

FINE, ZERO, WRONG = 0, 1, 2

_DAY = 86_400_000_000
_SECOND = 1_000_000


@kernel
def days_of(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a date in the years 1 to 9999; below -1000000 if there is no such date."""
    if year < 1 or year > 9999 or month < 1 or month > 12 or day < 1:
        return -2_000_000
    if day > 28:
        # Divisible by 4 and, for centuries, by 400; a multiple of 100 is divisible by 400 if it is by 16.
        is_leap = year & 3 == 0 and (year % 25 != 0 or year & 15 == 0)
        length = (29 if is_leap else 28) if month == 2 else 30 + ((month + (month >> 3)) & 1)
        if day > length:
            return -2_000_000
    # Count years from March, so that the leap day is the last day of a year.
    years = year - 1 if month <= 2 else year
    months = month + 9 if month <= 2 else month - 3
    hundreds = years // 100
    of_year = (153 * months + 2) // 5 + day - 1
    return years * 365 + (years >> 2) - hundreds + (hundreds >> 2) + of_year - 719_468


@kernel
def read_dates(data: Bytes, starts: Array, out: Array, states: Array) -> int:
    """DATE, as days since 1970-01-01."""
    last = data.shape[0] - 3
    invalid = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        year, month, day = date(data, start)
        days = days_of(year, month, day)
        if days < -1_000_000:
            states[index] = ZERO
            invalid += 1
        else:
            out[index] = days
    return invalid


@kernel
def read_datetimes2(data: Bytes, starts: Array, size: int, digits: int, out: Ints, states: Array) -> int:
    """DATETIME since 5.6.4, `size` bytes, as microseconds since 1970-01-01 without time zone."""
    last = data.shape[0] - size
    invalid = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        _, year, month, day, hour, minute, second, microsecond = datetime2(data, start, digits)
        days = days_of(year, month, day)
        if microsecond >= _SECOND:
            states[index] = WRONG
            invalid += 1
        elif days < -1_000_000 or hour > 23 or minute > 59 or second > 59:
            states[index] = ZERO
            invalid += 1
        else:
            out[index] = days * _DAY + (hour * 3600 + minute * 60 + second) * _SECOND + microsecond
    return invalid


@kernel
def read_timestamps2(data: Bytes, starts: Array, size: int, digits: int, out: Ints, states: Array) -> int:
    """TIMESTAMP since 5.6.4, `size` bytes, as microseconds since 1970-01-01 UTC."""
    last = data.shape[0] - size
    invalid = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        seconds, microsecond = timestamp2(data, start, digits)
        if microsecond >= _SECOND:
            states[index] = WRONG
            invalid += 1
        elif seconds == 0:
            states[index] = ZERO
            invalid += 1
        else:
            out[index] = seconds * _SECOND + microsecond
    return invalid


@kernel
def read_times2(data: Bytes, starts: Array, size: int, digits: int, out: Ints, states: Array) -> int:
    """TIME since 5.6.4, `size` bytes, as microseconds."""
    last = data.shape[0] - size
    invalid = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        _, is_negative, hour, minute, second, microsecond = time2(data, start, digits)
        if microsecond >= _SECOND or minute > 59 or second > 59:
            states[index] = WRONG
            invalid += 1
        else:
            length = (hour * 3600 + minute * 60 + second) * _SECOND + microsecond
            out[index] = -length if is_negative else length
    return invalid


@kernel
def read_times(data: Bytes, starts: Array, out: Ints, states: Array) -> int:
    """TIME before 5.6.4, as microseconds."""
    last = data.shape[0] - 3
    invalid = 0
    for index in range(starts.shape[0]):
        out[index] = 0
        states[index] = FINE
        start = starts[index]
        if start < 0 or start > last:
            continue
        is_negative, hour, minute, second = time(data, start)
        if minute > 59 or second > 59:
            states[index] = WRONG
            invalid += 1
        else:
            length = (hour * 3600 + minute * 60 + second) * _SECOND
            out[index] = -length if is_negative else length
    return invalid


@kernel
def read_datetimes(data: Bytes, starts: Array, out: Ints, states: Array) -> int:
    """DATETIME before 5.6.4, as microseconds since 1970-01-01 without time zone."""
    last = data.shape[0] - 8
    invalid = 0
    for index in range(starts.shape[0]):
        out[index] = 0
        states[index] = FINE
        start = starts[index]
        if start < 0 or start > last:
            continue
        year, month, day, hour, minute, second = datetime(data, start)
        days = days_of(year, month, day)
        if days < -1_000_000 or hour > 23 or minute > 59 or second > 59:
            states[index] = ZERO
            invalid += 1
        else:
            out[index] = days * _DAY + (hour * 3600 + minute * 60 + second) * _SECOND
    return invalid


@kernel
def read_timestamps(data: Bytes, starts: Array, out: Ints, states: Array) -> int:
    """TIMESTAMP before 5.6.4, as microseconds since 1970-01-01 UTC."""
    last = data.shape[0] - 4
    invalid = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        seconds = timestamp(data, start)
        if seconds == 0:
            states[index] = ZERO
            invalid += 1
        else:
            out[index] = seconds * _SECOND
    return invalid
