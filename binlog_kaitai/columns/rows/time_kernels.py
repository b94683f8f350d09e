"""Dates and times out of row images. All functions are kernels, see `compile`.

Every one takes `data` and `starts` as `walk.locate` gives them, and fills `out` with days (int32) or
microseconds (int64), and `states`, uint8: FINE, ZERO for what no calendar has, WRONG for what is no time at
all. Where `starts` is negative there is no value, and the state is FINE. It gives how many are not FINE.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import kernel
from binlog_kaitai.columns.kernels import read_u4, read_u8

FINE, ZERO, WRONG = 0, 1, 2

_DAY = 86_400_000_000
_SECOND = 1_000_000


@kernel
def days_of(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a date in the years 1 to 9999; below -1000000 if there is no such date."""
    if year < 1 or year > 9999 or month < 1 or month > 12 or day < 1:
        return -2_000_000
    if day > 28:
        # Every fourth year is a leap year; of the hundreds only every fourth is, which 16 tells.
        is_leap = year & 3 == 0 and (year % 25 != 0 or year & 15 == 0)
        length = (29 if is_leap else 28) if month == 2 else 30 + ((month + (month >> 3)) & 1)
        if day > length:
            return -2_000_000
    # March is the first month of a year that ends with the leap day.
    years = year - 1 if month <= 2 else year
    months = month + 9 if month <= 2 else month - 3
    hundreds = years // 100
    of_year = (153 * months + 2) // 5 + day - 1
    return years * 365 + (years >> 2) - hundreds + (hundreds >> 2) + of_year - 719_468


@kernel
def read_dates(data: Any, starts: Any, out: Any, states: Any) -> int:
    """DATE, as days since 1970-01-01."""
    last = data.shape[0] - 3
    odd = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        at = np.uint64(start)
        number = (
            np.int64(data[at])
            | np.int64(data[at + np.uint64(1)]) << 8
            | np.int64(data[at + np.uint64(2)]) << 16
        )
        days = days_of(number >> 9, (number >> 5) & 15, number & 31)
        if days < -1_000_000:
            states[index] = ZERO
            odd += 1
        else:
            out[index] = days
    return odd


@kernel
def read_fraction(data: Any, at: Any, digits: int) -> Any:
    """A fraction of a second in microseconds; its bytes, from `at` (uint64) on, must be inside."""
    if digits == 0:
        return 0
    if digits < 3:
        return np.int64(data[at]) * 10_000
    if digits < 5:
        return (np.int64(data[at]) << 8 | np.int64(data[at + np.uint64(1)])) * 100
    return (
        np.int64(data[at]) << 16 | np.int64(data[at + np.uint64(1)]) << 8 | np.int64(data[at + np.uint64(2)])
    )


@kernel
def read_datetimes2(data: Any, starts: Any, size: int, digits: int, out: Any, states: Any) -> int:
    """DATETIME since 5.6.4, `size` bytes, as microseconds since 1970-01-01 in no zone."""
    last = data.shape[0] - size
    odd = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        at = np.uint64(start)
        number = (
            np.int64(data[at]) << 32
            | np.int64(data[at + np.uint64(1)]) << 24
            | np.int64(data[at + np.uint64(2)]) << 16
            | np.int64(data[at + np.uint64(3)]) << 8
            | np.int64(data[at + np.uint64(4)])
        )
        microsecond = read_fraction(data, at + np.uint64(5), digits)
        months = (number >> 22) & 0x1FFFF
        hour = (number >> 12) & 31
        minute = (number >> 6) & 63
        second = number & 63
        days = days_of(months // 13, months % 13, (number >> 17) & 31)
        if microsecond >= _SECOND:
            states[index] = WRONG
            odd += 1
        elif days < -1_000_000 or hour > 23 or minute > 59 or second > 59:
            states[index] = ZERO
            odd += 1
        else:
            out[index] = days * _DAY + (hour * 3600 + minute * 60 + second) * _SECOND + microsecond
    return odd


@kernel
def read_timestamps2(data: Any, starts: Any, size: int, digits: int, out: Any, states: Any) -> int:
    """TIMESTAMP since 5.6.4, `size` bytes, as microseconds since 1970-01-01 UTC."""
    last = data.shape[0] - size
    odd = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        at = np.uint64(start)
        seconds = (
            np.int64(data[at]) << 24
            | np.int64(data[at + np.uint64(1)]) << 16
            | np.int64(data[at + np.uint64(2)]) << 8
            | np.int64(data[at + np.uint64(3)])
        )
        microsecond = read_fraction(data, at + np.uint64(4), digits)
        if microsecond >= _SECOND:
            states[index] = WRONG
            odd += 1
        elif seconds == 0:
            states[index] = ZERO
            odd += 1
        else:
            out[index] = seconds * _SECOND + microsecond
    return odd


@kernel
def read_times2(data: Any, starts: Any, size: int, digits: int, out: Any, states: Any) -> int:
    """TIME since 5.6.4, `size` bytes, as microseconds."""
    last = data.shape[0] - size
    unit = 0 if digits == 0 else 10_000 if digits < 3 else 100 if digits < 5 else 1
    limit = 1 if digits == 0 else 0x100 if digits < 3 else 0x10000 if digits < 5 else 0x1000000
    odd = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        at = np.uint64(start)
        number = (
            np.int64(data[at]) << 16
            | np.int64(data[at + np.uint64(1)]) << 8
            | np.int64(data[at + np.uint64(2)])
        )
        fraction = np.int64(0)
        for step in range(3, size):
            fraction = fraction << 8 | np.int64(data[at + np.uint64(step)])
        # The bytes with the fraction are one number, to which half its range was added.
        number = (number - 0x800000) * limit + fraction
        sign = 1
        if number < 0:
            number = -number
            sign = -1
        microsecond = number % limit * unit
        number //= limit
        minute = (number >> 6) & 63
        second = number & 63
        if microsecond >= _SECOND or minute > 59 or second > 59:
            states[index] = WRONG
            odd += 1
        else:
            hour = (number >> 12) & 0x3FF
            out[index] = sign * ((hour * 3600 + minute * 60 + second) * _SECOND + microsecond)
    return odd


@kernel
def read_times(data: Any, starts: Any, out: Any, states: Any) -> int:
    """TIME before 5.6.4, as microseconds."""
    last = data.shape[0] - 3
    odd = 0
    for index in range(starts.shape[0]):
        out[index] = 0
        states[index] = FINE
        start = starts[index]
        if start < 0 or start > last:
            continue
        number = np.int64(data[start]) | np.int64(data[start + 1]) << 8 | np.int64(data[start + 2]) << 16
        sign = 1
        if number >= 0x800000:
            number = 0x1000000 - number
            sign = -1
        minute = number // 100 % 100
        second = number % 100
        if minute > 59 or second > 59:
            states[index] = WRONG
            odd += 1
        else:
            out[index] = sign * (number // 10_000 * 3600 + minute * 60 + second) * _SECOND
    return odd


@kernel
def read_datetimes(data: Any, starts: Any, out: Any, states: Any) -> int:
    """DATETIME before 5.6.4, as microseconds since 1970-01-01 in no zone."""
    last = data.shape[0] - 8
    odd = 0
    for index in range(starts.shape[0]):
        out[index] = 0
        states[index] = FINE
        start = starts[index]
        if start < 0 or start > last:
            continue
        number = read_u8(data, np.uint64(start))
        clock = np.int64(number % np.uint64(1_000_000))
        date = number // np.uint64(1_000_000)
        if date > np.uint64(99_991_231):
            states[index] = ZERO
            odd += 1
            continue
        day = np.int64(date)
        days = days_of(day // 10_000, day // 100 % 100, day % 100)
        hour = clock // 10_000
        minute = clock // 100 % 100
        second = clock % 100
        if days < -1_000_000 or hour > 23 or minute > 59 or second > 59:
            states[index] = ZERO
            odd += 1
        else:
            out[index] = days * _DAY + (hour * 3600 + minute * 60 + second) * _SECOND
    return odd


@kernel
def read_timestamps(data: Any, starts: Any, out: Any, states: Any) -> int:
    """TIMESTAMP before 5.6.4, as microseconds since 1970-01-01 UTC."""
    last = data.shape[0] - 4
    odd = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if start < 0 or start > last:
            continue
        seconds = read_u4(data, np.uint64(start))
        if seconds == 0:
            states[index] = ZERO
            odd += 1
        else:
            out[index] = seconds * _SECOND
    return odd
