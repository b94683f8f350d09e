"""Numbers, dates and times of many rows as text: bytes, and where each text begins, without Arrow."""

from __future__ import annotations

from time import localtime
from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints, Number, OutBytes, OutInts
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.kernels.groups import distinct
from binlog_kaitai.text.text_kernels import PAIRS, put_number, put_padded

_ONE, _TWO = np.uint64(1), np.uint64(2)

#: Powers of ten.
UNITS = np.array([10**exponent for exponent in range(10)], dtype=np.int64)


#: Length of ``YYYY-MM-DD hh:mm:ss``.
CLOCK_SIZE = 19


def put_two(value: int, out: Bytes, offset: int) -> int:
    """Write a number below 100 with two digits; `out` must have room."""
    # With signed indexes, Numba would generate code for negative ones.
    pair, place = _TWO * np.uint64(value), np.uint64(offset)
    out[place] = PAIRS[pair]
    out[place + _ONE] = PAIRS[pair + _ONE]
    return offset + 2


def put_micros(number: Number, digits: int, out: Bytes, offset: int) -> Any:
    """Write microseconds with a point and `digits` digits, if any; -1 for a second or more."""
    if digits == 0:
        return offset
    if number >= 1_000_000 or digits > 6:
        return -1
    out[offset] = 46
    return put_padded(number // UNITS[6 - digits], digits, out, offset + 1)


@inlined
def put_hours(hour: int, minute: int, second: int, out: Bytes, offset: int) -> int:
    """Write hours, of two digits or more, minutes and seconds; `out` must have room."""
    offset = put_two(hour, out, offset) if hour < 100 else put_number(hour, out, offset)
    out[offset] = 58
    offset = put_two(minute, out, offset + 1)
    out[offset] = 58
    return put_two(second, out, offset + 1)


def put_date(days: int, out: Bytes, offset: int) -> int:
    """Write days since 1970-01-01, in the years 1 to 9999, as ``YYYY-MM-DD``; `out` must have room."""
    # Days since 0000-03-01, in periods of 400 years that begin in March (see `read_kernels.days_of`).
    days += 719_468
    of_era = days % 146_097
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    year += days // 146_097 * 400
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3
    if month > 12:
        month -= 12
        year += 1
    offset = put_two(year // 100, out, offset)
    offset = put_two(year % 100, out, offset)
    out[offset] = 45
    offset = put_two(month, out, offset + 1)
    out[offset] = 45
    return put_two(day, out, offset + 1)


@kernel
def put_clocks(seconds: Ints, out: OutBytes) -> None:
    """Write seconds since 1970-01-01 as ``YYYY-MM-DD hh:mm:ss``; `out` has 19 bytes for each."""
    for index in range(min(seconds.shape[0], out.shape[0] // CLOCK_SIZE)):
        value = seconds[index]
        end = put_date(value // 86_400, out, index * CLOCK_SIZE)
        out[end] = 32
        put_hours(value // 3600 % 24, value // 60 % 60, value % 60, out, end + 1)


@kernel
def put_numbers(values: Ints, out: OutBytes, offsets: OutInts) -> int:
    """Write numbers (not -2^63) in decimal; `out` needs 20 bytes per number. Returns the length."""
    offset = 0
    offsets[0] = 0
    for index in range(values.shape[0]):
        if offset + 20 <= out.shape[0]:
            offset = put_number(values[index], out, offset)
        offsets[index + 1] = offset
    return offset


def number_texts(values: Ints) -> tuple[Bytes, Ints]:
    """Numbers (int64, none of them -2^63) in decimal, and the start of each."""
    out, offsets = np.empty(20 * len(values), dtype=np.uint8), np.empty(len(values) + 1, dtype=np.int64)
    return out[: put_numbers.run(values, out, offsets)], offsets


def on_local_clocks(seconds: Ints) -> Ints:
    """Moments (int64, since 1970-01-01 UTC) as seconds since 1970-01-01 on the clocks of the local zone."""
    # Offsets of zones change at quarters of an hour.
    quarters = seconds // 900
    first, which = distinct(quarters)
    starts = (900 * quarters[first]).tolist()
    offsets = np.array([localtime(start).tm_gmtoff for start in starts], dtype=np.int64)
    return seconds + offsets[which]


def clock_texts(seconds: Ints) -> tuple[Bytes, Ints]:
    """Moments (int64, since 1970-01-01 UTC) as local ``YYYY-MM-DD hh:mm:ss``, and the start of each."""
    out = np.empty(CLOCK_SIZE * len(seconds), dtype=np.uint8)
    put_clocks.run(on_local_clocks(seconds), out)
    return out, CLOCK_SIZE * np.arange(len(seconds) + 1)
