"""Kernels that read many columns of row images together.

They read a thousand rows at a time, all columns, so that the bytes of a row are fetched from memory once.
"""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Array, Bytes, Ints, Unsigned
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.rows.number_kernels import (
    number_members,
    read_big,
    read_bytes,
    read_decimals,
    read_eights,
    read_fours,
    read_long_decimals,
    read_pairs,
    read_threes,
    read_years,
)
from binlog_kaitai.rows.string_kernels import copy_values, measure
from binlog_kaitai.rows.time_kernels import (
    read_dates,
    read_datetimes,
    read_datetimes2,
    read_times,
    read_times2,
    read_timestamps,
    read_timestamps2,
)

#: How a column is read, which determines the meaning of the numbers in `more`.
(
    BYTES,
    PAIRS,
    THREES,  # sign bit, or 0
    FOURS,
    EIGHTS,  # 64-bit numbers per value
    BIG,
    YEARS,
    DATES,
    TIMES,
    DATETIMES,
    TIMESTAMPS,
    TIMES2,  # fractional digits; likewise for the next two
    DATETIMES2,
    TIMESTAMPS2,
    DECIMALS,
    LONG_DECIMALS,
    MEMBERS,
    STRINGS,  # minimum length
) = range(18)

#: A row of a plan: read method; size of the values or of their length prefix; additional parameter; range
#: of the column's numbers in `more`; index of its first value in `starts`; and offsets in `out` of its values
#: (in units of values), of its validity bits, and of its time states.
HOW, SIZE, NUMBER, MORE, MORE_END, STARTS, VALUES, BITS, STATES, LINE = range(10)

TIMES_OF_ALL_KINDS = (DATES, TIMES, DATETIMES, TIMESTAMPS, TIMES2, DATETIMES2, TIMESTAMPS2)

#: The results of a column: number of missing values, number of invalid values, total length of all strings.
NULLS, INVALID, TOTAL, RESULTS = range(4)

#: Rows read at a time, a multiple of 8.
STEP = 1024


@kernel
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
        found = 0
        for bit in range(min(8, count - 8 * byte)):
            is_there = 1 if starts[8 * byte + bit] >= 0 else 0
            found |= is_there << bit
            nulls += 1 - is_there
        bits[byte] = found
    return nulls


@kernel
def read_columns(
    data: Bytes,
    starts: Ints,
    count: int,
    plan: Ints,
    more: Ints,
    out: Bytes,
    out2: Array,
    out4: Array,
    out8: Unsigned,
    signed4: Array,
    signed8: Ints,
    results: Ints,
) -> None:
    """Read `count` values of several columns.

    Parameters
    ----------
    starts : int64 array
        Offsets of the values, see `walk.locate`.
    plan : int64 array, columns by LINE
    more : int64 array
        Digit groups of decimals, and member numbers.
    out, out2, out4, out8, signed4, signed8
        The same memory as uint8, uint16, uint32, uint64, int32 and int64: validity, values and offsets.
    results : int64 array, columns by RESULTS
        Output: the results of each column.
    """
    for begin in range(0, count, STEP):
        end = min(begin + STEP, count)
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
            if how == BYTES:
                read_bytes(data, cells, out[first:last])
            elif how == PAIRS:
                read_pairs(data, cells, out2[first:last])
            elif how == THREES:
                read_threes(data, cells, number, out4[first:last])
            elif how == FOURS:
                read_fours(data, cells, out4[first:last])
            elif how == EIGHTS:
                read_eights(data, cells, number, out8[number * first : number * last])
            elif how == BIG:
                read_big(data, cells, size, out8[first:last])
            elif how == YEARS:
                read_years(data, cells, out2[first:last])
            elif how == DATES:
                invalid = read_dates(data, cells, signed4[first:last], states)
            elif how == TIMES:
                invalid = read_times(data, cells, signed8[first:last], states)
            elif how == DATETIMES:
                invalid = read_datetimes(data, cells, signed8[first:last], states)
            elif how == TIMESTAMPS:
                invalid = read_timestamps(data, cells, signed8[first:last], states)
            elif how == TIMES2:
                invalid = read_times2(data, cells, size, number, signed8[first:last], states)
            elif how == DATETIMES2:
                invalid = read_datetimes2(data, cells, size, number, signed8[first:last], states)
            elif how == TIMESTAMPS2:
                invalid = read_timestamps2(data, cells, size, number, signed8[first:last], states)
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
    data: Bytes, starts: Ints, count: int, plan: Ints, offsets: Array, positions: Ints, out: Bytes
) -> None:
    """Copy the strings of several columns, with the offsets from `read_columns`, to their positions in `out`.

    `positions` has one more element, the end; 16 bytes after each column are overwritten.
    """
    for begin in range(0, count, STEP):
        end = min(begin + STEP, count)
        for line in range(plan.shape[0]):
            cells = starts[plan[line, STARTS] + begin : plan[line, STARTS] + end]
            own = offsets[plan[line, VALUES] + begin : plan[line, VALUES] + end + 1]
            copy_values(data, cells, plan[line, SIZE], own, out[positions[line] : positions[line + 1]])
