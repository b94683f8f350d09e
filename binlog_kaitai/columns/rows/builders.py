"""Arrow arrays out of the places of values, by the kernels of their type.

A builder may leave out what it cannot make: it gives the array and the rows that are left to the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from binlog_kaitai.columns.rows import number_kernels, strings, time_kernels
from binlog_kaitai.columns.rows.arrow_types import arrow_type
from binlog_kaitai.columns.rows.cells import CellError, Cells
from binlog_kaitai.columns.rows.documents import documents
from binlog_kaitai.columns.rows.time_kernels import FINE, WRONG, ZERO
from binlog_kaitai.columns.rows.widths import decimal_groups
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.grammar import ColumnType
from binlog_kaitai.schema import Column
from binlog_kaitai.values import ZeroDate, text_form

#: Most digits that fit 63 bits.
_SHORT = 18


def build(cells: Cells, zero_dates: str = "null") -> Any:
    """The values of a column as an Arrow array of the column's type.

    Raises
    ------
    CellError
        A value is none, or a zero date where `zero_dates` is ``"error"``.
    """
    column = cells.column
    kind = arrow_type(column, zero_dates)
    builder = _BUILDERS.get(column.type)
    if builder is None:
        return by_reader(cells, kind)
    if builder is _times and pa.types.is_string(kind):
        return by_reader(cells, kind, zero_dates)
    if builder is _times:
        return _times(cells, kind, zero_dates)
    return builder(cells, kind)


def by_reader(cells: Cells, kind: Any, zero_dates: str = "null") -> Any:
    """The values made by the reader."""
    column = cells.column

    def convert(value: Any) -> Any:
        return plain_value(value, column, kind, zero_dates)

    return pa.array(cells.by_reader(np.arange(len(cells)), convert), kind)


def plain_value(value: Any, column: Column, kind: Any, zero_dates: str = "null") -> Any:
    """A value of the reader as PyArrow takes it for an Arrow type.

    Bytes that are no text of a text column are escaped.

    Raises
    ------
    GrammarError
        A zero date where `zero_dates` is ``"error"``.
    """
    if isinstance(value, ZeroDate) and zero_dates != "text":
        if zero_dates == "error":
            raise GrammarError(f"a date that no calendar has: {value}")
        return None
    if pa.types.is_string(kind) and value is not None:
        return strings.escaped(value) if isinstance(value, bytes) else strings.plain(text_form(value, column))
    if pa.types.is_decimal(kind) and isinstance(value, int):
        return Decimal(value)
    return value


def fixed(cells: Cells, values: Any, kind: Any, valid: Any = None) -> Any:
    """An Arrow array of values of a fixed size, which lie in `values` as Arrow has them."""
    valid = cells.valid if valid is None else valid
    nulls = len(valid) - int(np.count_nonzero(valid))
    bits = pa.py_buffer(np.packbits(valid, bitorder="little")) if nulls else None
    return pa.Array.from_buffers(kind, len(cells), [bits, pa.py_buffer(np.ascontiguousarray(values))], nulls)


def _raw(cells: Cells) -> Any:
    """Little-endian numbers, uint64."""
    raw = np.empty(len(cells), dtype=np.uint64)
    cells.run(number_kernels.read_little, cells.width.fixed, raw)
    return raw


def _integers(cells: Cells, kind: Any) -> Any:
    raw = _raw(cells)
    if pa.types.is_decimal(kind):
        wide = np.zeros((len(cells), 2), dtype=np.uint64)
        wide[:, 0] = raw
        return fixed(cells, wide, kind)
    if not cells.column.is_unsigned and cells.width.fixed < 8:
        unused = 64 - 8 * cells.width.fixed
        raw = (raw.view(np.int64) << unused) >> unused
    return fixed(cells, raw.astype(kind.to_pandas_dtype(), copy=False), kind)


def _floats(cells: Cells, kind: Any) -> Any:
    raw = _raw(cells)
    return fixed(cells, raw if cells.width.fixed == 8 else raw.astype(np.uint32), kind)


def _decimals(cells: Cells, kind: Any) -> Any:
    counts, sizes = (
        np.array(values, dtype=np.int64) for values in zip(*decimal_groups(cells.column), strict=True)
    )
    is_wrong = np.empty(len(cells), dtype=np.bool_)
    out: Any
    if kind.bit_width == 128 and kind.precision <= _SHORT:
        out = np.empty((len(cells), 2), dtype=np.int64)
        wrong = cells.run(number_kernels.read_short_decimals, counts, sizes, out, is_wrong)
    else:
        out = np.empty((len(cells), kind.bit_width // 32), dtype=np.uint32)
        wrong = cells.run(number_kernels.read_decimals, counts, sizes, out, is_wrong)
    if wrong:
        cells.by_reader(np.flatnonzero(is_wrong))  # says what is wrong
        raise AssertionError("digits that only the reader can read")
    return fixed(cells, out, kind)


def _years(cells: Cells, kind: Any) -> Any:
    raw = _raw(cells)
    return fixed(cells, np.where(raw, raw + np.uint64(1900), 0).astype(np.uint16), kind)


def _bits(cells: Cells, kind: Any) -> Any:
    raw = np.empty(len(cells), dtype=np.uint64)
    cells.run(number_kernels.read_big, cells.width.fixed, raw)
    return fixed(cells, raw, kind)


def _members(cells: Cells, kind: Any) -> Any:
    """ENUM and SET: each distinct number is looked up once."""
    raw, valid = _raw(cells), cells.valid
    if not pa.types.is_string(kind):
        return fixed(cells, raw.astype(kind.to_pandas_dtype()), kind)
    _, first, which = np.unique(raw[valid], return_index=True, return_inverse=True)
    texts = cells.by_reader(np.flatnonzero(valid)[first])
    codes = np.zeros(len(cells), dtype=np.int32)
    codes[valid] = which.reshape(-1)
    indices = fixed(cells, codes, pa.int32())
    return pa.array([strings.plain(text) for text in texts], kind).take(indices)


def _times(cells: Cells, kind: Any, zero_dates: str) -> Any:
    out = np.empty(len(cells), dtype=np.int64)
    states = np.empty(len(cells), dtype=np.uint8)
    _TIMES[cells.column.type](cells, out, states)
    valid = cells.valid
    if states.any():
        if (rows := np.flatnonzero(states == WRONG)).size:
            cells.by_reader(rows)  # says what is wrong
            raise AssertionError("a time that only the reader can read")
        rows = np.flatnonzero(states == ZERO)
        if zero_dates == "error":
            row = rows[:1]
            raise CellError(
                int(row[0]), GrammarError(f"a date that no calendar has: {cells.by_reader(row)[0]}")
            )
        valid = valid & (states == FINE)
    return fixed(cells, out.astype(np.int32) if kind.bit_width == 32 else out, kind, valid)


def _with_fraction(kernel: Any) -> Callable[[Cells, Any, Any], None]:
    def read(cells: Cells, out: Any, states: Any) -> None:
        cells.run(kernel, cells.width.fixed, cells.column.fractional_digits, out, states)

    return read


def _by_number(kernel: Any) -> Callable[[Cells, Any, Any], None]:
    def read(cells: Cells, out: Any, states: Any) -> None:
        kernel.for_work(8 * len(cells))(_raw(cells), cells.starts, out, states)

    return read


def _timestamps(cells: Cells, out: Any, states: Any) -> None:
    raw = _raw(cells).view(np.int64)
    out[:] = raw * 1_000_000
    states[:] = np.where((raw == 0) & cells.valid, ZERO, FINE)


_TIMES: dict[ColumnType | int, Callable[[Cells, Any, Any], None]] = {
    ColumnType.date: lambda cells, out, states: cells.run(time_kernels.read_dates, out, states),
    ColumnType.newdate: lambda cells, out, states: cells.run(time_kernels.read_dates, out, states),
    ColumnType.time: _by_number(time_kernels.make_times),
    ColumnType.datetime: _by_number(time_kernels.make_datetimes),
    ColumnType.timestamp: _timestamps,
    ColumnType.time2: _with_fraction(time_kernels.read_times2),
    ColumnType.datetime2: _with_fraction(time_kernels.read_datetimes2),
    ColumnType.timestamp2: _with_fraction(time_kernels.read_timestamps2),
}

_BUILDERS: dict[ColumnType | int, Any] = {
    ColumnType.tiny: _integers,
    ColumnType.short: _integers,
    ColumnType.int24: _integers,
    ColumnType.long: _integers,
    ColumnType.longlong: _integers,
    ColumnType.float: _floats,
    ColumnType.double: _floats,
    ColumnType.newdecimal: _decimals,
    ColumnType.year: _years,
    ColumnType.bit: _bits,
    ColumnType.enum: _members,
    ColumnType.set: _members,
    **dict.fromkeys(_TIMES, _times),
    **strings.BUILDERS,
    ColumnType.json: documents,
    ColumnType.typed_array: documents,
}
