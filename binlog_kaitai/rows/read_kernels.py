"""Kernels that read numbers, dates and times from row images, and many columns together.

`starts` are offsets in `data` from `walk_images`; a negative one means no value and gives the result 0.

Kernels for dates and times fill `out` with days (int32) or microseconds (int64), and `states`, uint8: FINE,
ZERO for a date that is not in the calendar, WRONG for an invalid value. They return the number of values that
are not FINE.

Columns are read together, a thousand rows at a time, so that the bytes of a row are fetched from memory once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import (
    Array,
    Bytes,
    Indexes,
    Ints,
    IntTable,
    OutBytes,
    OutCrc32s,
    OutHalves,
    OutIndexes,
    OutInts,
    OutIntTable,
    OutUnsigned,
    Unsigned,
)
from binlog_kaitai.kernels.byte_kernels import read_numbers
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.rows.string_kernels import copy_values, measure
from binlog_kaitai.values.decoders import (
    date,
    datetime,
    decimal_sign,
    digits_value,
    enum,
    int_2,
    int_3,
    int_4,
    int_8,
    old_datetime,
    old_time,
    old_timestamp,
    time,
    timestamp,
    year,
)

_ONE, _LOW = np.uint64(1), np.uint64(0xFFFFFFFF)
_HALF, _ALL = np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF)

#: Number of 32-bit limbs in a 256-bit number.
_LIMBS = 8

_POWERS = np.array([10**digits for digits in range(10)], dtype=np.uint64)

#: Decimals with fewer digits fit into 64 bits.
_SHORT = 20


def read_integers(data: Bytes, starts: Array, size: int, is_signed: int, out: Array) -> None:
    """Read little-endian numbers of 1 to 4 bytes; those of 3 bytes are extended to 32 bits."""
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        integer = np.int64(0)
        if 0 <= start <= last:
            if size == 1:
                integer = np.int64(data[np.uint64(start)])
            elif size == 2:
                integer = int_2(data, start, True)
            elif size == 3:
                integer = int_3(data, start, not is_signed)
            else:
                integer = int_4(data, start, True)
        out[index] = integer


def read_eights(data: Bytes, starts: Array, step: int, out: Unsigned) -> None:
    """Read 8-byte little-endian numbers, writing every `step`-th output element."""
    last = data.shape[0] - 8
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index * step] = np.uint64(int_8(data, start)) if 0 <= start <= last else np.uint64(0)
        if step > 1:
            out[index * step + 1] = np.uint64(0)


def read_years(data: Bytes, starts: Array, out: Array) -> None:
    """Read YEAR values."""
    last = data.shape[0] - 1
    for index in range(starts.shape[0]):
        start = starts[index]
        value = np.int64(0)
        if 0 <= start <= last:
            _, value = year(data, start)
        out[index] = value


def number_members(data: Bytes, starts: Array, size: int, numbers: Array, out: Array) -> int:
    """Elements of `numbers` for ENUM and SET values of one or two bytes; -1 for no value.

    Returns the number of values whose entry in `numbers` is -1.
    """
    last = data.shape[0] - size
    unknown = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        number = -1
        if 0 <= start <= last:
            value = enum(data, start, size)
            if value < numbers.shape[0]:
                number = numbers[np.uint64(value)]
            unknown += 1 if number < 0 else 0
        out[index] = number
    return unknown


def read_decimals(data: Bytes, starts: Array, groups: Array, out: Unsigned) -> int:
    """Read DECIMAL values of at most 38 digits, without their point, as 128-bit two's complement.

    `groups`: int64 array, for each group of digits, the number of digits and the length in bytes.
    `out`: uint64 array, two numbers per value, the lower half first.
    Returns the number of values with invalid digits.
    """
    wrong = 0
    count = groups.shape[0] // 2
    size = 0
    for group in range(count):
        size += groups[2 * group + 1]
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        low = np.uint64(0)
        high = np.uint64(0)
        if 0 <= start <= last and size > 0:
            is_negative = decimal_sign(data, start, size)
            negative = _ALL if is_negative else np.uint64(0)
            offset = 0
            digits = 0
            is_wrong = False
            for group in range(count):
                width = groups[2 * group + 1]
                value = np.uint64(digits_value(data, start, group, offset, width, is_negative))
                offset += width
                base = _POWERS[groups[2 * group]]
                is_wrong |= value >= base
                digits += groups[2 * group]
                if digits < _SHORT:
                    low = low * base + value
                else:
                    lower = (low & _LOW) * base + value
                    upper = (low >> _HALF) * base + (lower >> _HALF)
                    low = ((upper & _LOW) << _HALF) | (lower & _LOW)
                    high = high * base + (upper >> _HALF)
            wrong += 1 if is_wrong else 0
            # 128-bit two's complement: invert all bits and add one.
            if low != 0:
                low = (low ^ negative) + (negative & _ONE)
                high ^= negative
            elif high != 0:
                high = (high ^ negative) + (negative & _ONE)
        out[2 * index] = low
        out[2 * index + 1] = high
    return wrong


def read_long_decimals(data: Bytes, starts: Array, groups: Array, out: Array) -> int:
    """Like `read_decimals`, for more digits; `out` is uint32, 8 limbs per value, the lowest first."""
    wrong = 0
    size = 0
    count = groups.shape[0] // 2
    for group in range(count):
        size += groups[2 * group + 1]
    last = data.shape[0] - size
    for index in range(starts.shape[0]):
        start = starts[index]
        is_wrong = False
        first = index * _LIMBS
        for limb in range(_LIMBS):
            out[first + limb] = 0
        if start < 0 or start > last or size == 0:
            continue
        is_negative = decimal_sign(data, start, size)
        offset = 0
        used = 1
        for group in range(count):
            width = groups[2 * group + 1]
            value = np.uint64(digits_value(data, start, group, offset, width, is_negative))
            offset += width
            base = _POWERS[groups[2 * group]]
            if value >= base:
                is_wrong = True
            for limb in range(used):
                value += np.uint64(out[first + limb]) * base
                out[first + limb] = value & _LOW
                value >>= _HALF
            if value != 0 and used < _LIMBS:
                out[first + used] = value
                used += 1
        wrong += 1 if is_wrong else 0
        if is_negative:
            carry = np.uint64(1)
            for limb in range(_LIMBS):
                carry += np.uint64(out[first + limb]) ^ _LOW
                out[first + limb] = carry & _LOW
                carry >>= _HALF
    return wrong


#: How a column is read, which determines the meaning of the numbers in `more`.
(
    INTEGERS,  # 1 if they are signed
    EIGHTS,  # 64-bit numbers per value
    BIG,
    YEARS,
    DATES,
    OLD_TIMES,
    OLD_DATETIMES,
    OLD_TIMESTAMPS,
    TIMES,  # fractional digits; likewise for the next two
    DATETIMES,
    TIMESTAMPS,
    DECIMALS,
    LONG_DECIMALS,
    MEMBERS,
    STRINGS,  # minimum length
) = range(15)

FINE, ZERO, WRONG = 0, 1, 2

_SECOND = 1_000_000


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


@inlined
def moment_at(data: Bytes, start: int, how: int, digits: int) -> Any:
    """The state of a date or time of any kind; and its days, or its microseconds."""
    microsecond = np.int64(0)
    is_negative, is_zero, is_wrong = False, False, False
    if how in (OLD_TIMESTAMPS, TIMESTAMPS):
        if how == OLD_TIMESTAMPS:
            seconds = old_timestamp(data, start)
        else:
            seconds, microsecond = timestamp(data, start, digits)
        is_zero = seconds == 0
    elif how in (OLD_TIMES, TIMES):
        if how == OLD_TIMES:
            is_negative, hour, minute, second = old_time(data, start)
        else:
            _, is_negative, hour, minute, second, microsecond = time(data, start, digits)
        is_wrong = minute > 59 or second > 59
        seconds = hour * 3600 + minute * 60 + second
    else:
        hour, minute, second = np.int64(0), np.int64(0), np.int64(0)
        if how == DATES:
            year, month, day = date(data, start)
        elif how == OLD_DATETIMES:
            year, month, day, hour, minute, second = old_datetime(data, start)
        else:
            _, year, month, day, hour, minute, second, microsecond = datetime(data, start, digits)
        days = days_of(year, month, day)
        is_zero = days < -1_000_000 or hour > 23 or minute > 59 or second > 59
        seconds = days if how == DATES else days * 86_400 + hour * 3600 + minute * 60 + second
    if is_wrong or microsecond >= _SECOND:
        return np.int64(WRONG), np.int64(0)
    if is_zero:
        return np.int64(ZERO), np.int64(0)
    length = seconds if how == DATES else seconds * _SECOND + microsecond
    return np.int64(FINE), -length if is_negative else length


@inlined
def read_moments(
    data: Bytes, starts: Array, how: int, size: int, digits: int, out: Array, states: Array
) -> int:
    """Read dates as days since 1970-01-01, DATETIME without time zone and TIMESTAMP in UTC as microseconds
    since then, and TIME as microseconds.
    """
    last = data.shape[0] - size
    invalid = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        out[index] = 0
        states[index] = FINE
        if 0 <= start <= last:
            state, moment = moment_at(data, start, how, digits)
            out[index] = moment
            states[index] = state
            invalid += state != FINE
    return invalid


#: A row of a plan: read method; size of the values or of their length prefix; additional parameter; range
#: of the column's numbers in `more`; index of its first value in `starts`; and offsets in `out` of its values
#: (in units of values), of its validity bits, and of its time states.
HOW, SIZE, NUMBER, MORE, MORE_END, STARTS, VALUES, BITS, STATES, LINE = range(10)

TIMES_OF_ALL_KINDS = (DATES, OLD_TIMES, OLD_DATETIMES, OLD_TIMESTAMPS, TIMES, DATETIMES, TIMESTAMPS)

#: The results of a column: number of missing values, number of invalid values, total length of all strings.
NULLS, INVALID, TOTAL, RESULTS = range(4)

#: Rows read at a time, a multiple of 8.
ROWS_AT_ONCE = 1024


def mark_valid(starts: Array, bits: Bytes) -> int:
    """Write validity bits, eight per byte of `bits`; returns the number of missing values."""
    nulls = 0
    count = starts.shape[0]
    negative = np.int64(0)
    for index in range(count):
        negative |= starts[index]
    if negative >= 0:
        # The common case: no value is missing.
        bits[:] = 255
        if count & 7:
            bits[bits.shape[0] - 1] = (1 << (count & 7)) - 1
        return 0
    for byte in range(bits.shape[0]):
        eight = 0
        for bit in range(min(8, count - 8 * byte)):
            is_there = 1 if starts[8 * byte + bit] >= 0 else 0
            eight |= is_there << bit
            nulls += 1 - is_there
        bits[byte] = eight
    return nulls


class Memory(NamedTuple):
    """Memory as uint8, uint16, uint32, uint64, int32 and int64."""

    bytes: OutBytes
    twos: OutHalves
    fours: OutCrc32s
    eights: OutUnsigned
    signed4: OutIndexes
    signed8: OutInts


@kernel
def read_columns(
    data: Bytes, starts: Ints, count: int, plan: IntTable, more: Ints, memory: Memory, results: OutIntTable
) -> None:
    """Read `count` values of several columns.

    `starts`: int64 array, offsets of the values, see `walk_images`.
    `plan`: int64 array, columns by LINE.
    `more`: int64 array, digit groups of decimals, and member numbers.
    `memory`: output: validity, values and offsets.
    `results`: int64 array, columns by RESULTS, output: the results of each column.
    """
    out, out2, out4, out8, signed4, signed8 = memory
    for begin in range(0, count, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, count)
        for line in range(plan.shape[0]):
            how = plan[line, HOW]
            size = plan[line, SIZE]
            number = plan[line, NUMBER]
            cells = starts[plan[line, STARTS] + begin : plan[line, STARTS] + end]
            bits = plan[line, BITS]
            results[line, NULLS] += mark_valid(cells, out[bits + (begin >> 3) : bits + ((end + 7) >> 3)])
            groups = more[plan[line, MORE] : plan[line, MORE_END]]
            first = plan[line, VALUES] + begin
            last = plan[line, VALUES] + end
            states = out[plan[line, STATES] + begin : plan[line, STATES] + end]
            invalid = 0
            if how == INTEGERS and size == 1:
                read_integers(data, cells, 1, number, out[first:last])
            elif how == INTEGERS and size == 2:
                read_integers(data, cells, 2, number, out2[first:last])
            elif how == INTEGERS:
                read_integers(data, cells, size, number, out4[first:last])
            elif how == EIGHTS:
                read_eights(data, cells, number, out8[number * first : number * last])
            elif how == BIG and size > 0:
                read_numbers(data, cells, 0, size, True, out8[first:last])
            elif how == BIG:
                out8[first:last] = 0
            elif how == YEARS:
                read_years(data, cells, out2[first:last])
            # With constants, which is faster.
            elif how == DATES:
                invalid = read_moments(data, cells, DATES, size, number, signed4[first:last], states)
            elif how == DATETIMES:
                invalid = read_moments(data, cells, DATETIMES, size, number, signed8[first:last], states)
            elif how == TIMESTAMPS:
                invalid = read_moments(data, cells, TIMESTAMPS, size, number, signed8[first:last], states)
            elif how == TIMES:
                invalid = read_moments(data, cells, TIMES, size, number, signed8[first:last], states)
            elif OLD_TIMES <= how <= OLD_TIMESTAMPS:
                invalid = read_moments(data, cells, how, size, number, signed8[first:last], states)
            elif how == DECIMALS:
                invalid = read_decimals(data, cells, groups, out8[2 * first : 2 * last])
            elif how == LONG_DECIMALS:
                invalid = read_long_decimals(data, cells, groups, out4[8 * first : 8 * last])
            elif how == MEMBERS:
                invalid = number_members(data, cells, size, groups, signed4[first:last])
            elif how == STRINGS:
                results[line, TOTAL] = measure(
                    data, cells, size, number, results[line, TOTAL], signed4[first + 1 : last + 1]
                )
            results[line, INVALID] += invalid


@kernel
def copy_columns(
    data: Bytes, starts: Ints, count: int, plan: IntTable, offsets: Indexes, positions: Ints, out: OutBytes
) -> None:
    """Copy the strings of several columns, with the offsets from `read_columns`, to their positions in `out`.

    `positions` has one more element, the end; 16 bytes after each column are overwritten.
    """
    for begin in range(0, count, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, count)
        for line in range(plan.shape[0]):
            cells = starts[plan[line, STARTS] + begin : plan[line, STARTS] + end]
            own = offsets[plan[line, VALUES] + begin : plan[line, VALUES] + end + 1]
            copy_values(data, cells, plan[line, SIZE], own, out[positions[line] : positions[line + 1]])
