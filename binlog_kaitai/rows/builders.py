"""Builds Arrow arrays from the offsets of values: together where kernels exist, else by the event reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.adapter import digit_groups
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.rows import read_kernels as ways
from binlog_kaitai.rows import string_columns as strings
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.fused_columns import ColumnValues, ReadMethod, read_together
from binlog_kaitai.rows.read_kernels import FINE, WRONG, ZERO
from binlog_kaitai.rows.string_columns import documents
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.charsets import escaped
from binlog_kaitai.values.column_kinds import CHOICES, DOCUMENTS, Kind
from binlog_kaitai.values.representations import Value, text_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.temporal import ZeroDate


class Builder(NamedTuple):
    """How arrays of a column type are built.

    `way`: returns how kernels read the values, given the cells and the Arrow type; without it, or if it
    returns None, `make` reads them.
    `make`: builds the array, given the cells, the Arrow type, the values read, and the treatment of zero
    dates.
    """

    way: Callable[[Cells, pa.DataType], ReadMethod | None] | None
    make: Callable[[Cells, pa.DataType, Any, str], pa.Array]


def build(cells: Cells, zero_dates: str = "null") -> pa.Array:
    """The values of a column as an Arrow array.

    Raises `CellError`: a value is invalid, or a zero date while `zero_dates` is ``"error"``.
    """
    (array,) = build_all([cells], zero_dates)
    return array


def build_some(cells: Cells, rows: Ints) -> pa.Array:
    """The values of some rows, like `build`; an error has the number of the row among all."""
    try:
        return build(cells.part(rows))
    except CellError as error:
        raise CellError(int(rows[error.row]), error.error) from error


def build_all(columns: Sequence[Cells], zero_dates: str = "null") -> Iterator[pa.Array]:
    """The values of several columns of the same rows, like `build`."""
    kinds = [_kind(cells, zero_dates) for cells in columns]
    builders = [_builder(cells, kind) for cells, kind in zip(columns, kinds, strict=True)]
    methods = [
        None if builder.way is None else builder.way(cells, kind)
        for builder, cells, kind in zip(builders, columns, kinds, strict=True)
    ]
    values = iter(
        read_together([(cells, method) for cells, method in zip(columns, methods, strict=True) if method])
    )
    for cells, kind, builder, method in zip(columns, kinds, builders, methods, strict=True):
        yield builder.make(cells, kind, next(values) if method else None, zero_dates)


def _kind(cells: Cells, zero_dates: str) -> pa.DataType:
    memory, key = cells.table.memory, ("arrow type", cells.column.index, zero_dates)
    if key not in memory:
        memory[key] = arrow_type(cells.column, zero_dates)
    return memory[key]


def _builder(cells: Cells, kind: pa.DataType) -> Builder:
    builder = _BUILDERS.get(cells.column.kind, _BY_READER)
    is_text = builder.make is _times and pa.types.is_string(kind)
    is_other = pa.types.is_null(kind) or is_text or cells.column.has_old_fraction
    return _BY_READER if is_other else builder


def by_reader(cells: Cells, kind: pa.DataType, zero_dates: str = "null") -> pa.Array:
    """Values decoded by the event reader."""
    column = cells.column

    def convert(value: Value) -> Any:
        return plain_value(value, column, kind, zero_dates)

    return pa.array(cells.by_reader(np.arange(len(cells)), convert), kind)


def plain_value(value: Value, column: Column, kind: pa.DataType, zero_dates: str = "null") -> Any:
    """Convert a value of the event reader to what PyArrow accepts for an Arrow type.

    Bytes that are invalid in the column's character set are escaped.

    Raises `BinlogError`: a zero date while `zero_dates` is ``"error"``.
    """
    if isinstance(value, ZeroDate) and zero_dates != "text":
        if zero_dates == "error":
            raise _refused(value)
        return None
    if pa.types.is_string(kind) and value is not None:
        if isinstance(value, bytes):
            return escaped(value, column.charset)
        return plain(text_form(value, column))
    if pa.types.is_decimal(kind) and isinstance(value, int):
        return Decimal(value)
    return value


def _refused(date: ZeroDate) -> BinlogError:
    """The error for a zero date: servers log such dates, so the log is not damaged."""
    return BinlogError(f"invalid date: {date}")


def _as_it_is(cells: Cells, kind: pa.DataType, values: ColumnValues, zero_dates: str) -> pa.Array:
    return values.array(kind, len(cells))


def _number(cells: Cells, kind: pa.DataType) -> ReadMethod:
    size = cells.width.fixed
    if size == 8:
        return ReadMethod(ways.EIGHTS, 8, 1)
    is_signed = cells.column.kind == Kind.INTEGER and not cells.column.is_unsigned
    return ReadMethod(ways.INTEGERS, 4 if size == 3 else size, int(is_signed))


def _integer(cells: Cells, kind: pa.DataType) -> ReadMethod:
    if pa.types.is_decimal(kind):
        return ReadMethod(ways.EIGHTS, 16, 2)
    return _number(cells, kind)


def _decimal(cells: Cells, kind: pa.DataType) -> ReadMethod:
    layout, _ = digit_groups(cells.column.precision or 0, cells.column.scale or 0)
    groups = np.array([group[:2] for group in layout], dtype=np.int64).reshape(-1)
    return ReadMethod(
        ways.DECIMALS if kind.bit_width == 128 else ways.LONG_DECIMALS, kind.bit_width // 8, 0, groups
    )


def _decimals(cells: Cells, kind: pa.DataType, values: ColumnValues, zero_dates: str) -> pa.Array:
    if values.invalid:
        cells.by_reader(np.arange(len(cells)))  # raises the error of the first invalid value
        raise AssertionError("digits that only the event reader can decode")
    return values.array(kind, len(cells))


def _choice(cells: Cells, kind: pa.DataType) -> ReadMethod | None:
    if not pa.types.is_string(kind):
        return _number(cells, kind)
    return strings.choice_way(cells)


def _choices(cells: Cells, kind: pa.DataType, values: ColumnValues | None, zero_dates: str) -> pa.Array:
    """ENUM and SET; each distinct number is looked up once."""
    if pa.types.is_string(kind):
        return strings.choice_texts(cells, kind, values)
    assert values is not None
    number = pa.type_for_alias(f"uint{8 * _number(cells, kind).item}")
    return values.array(number, len(cells)).cast(kind)


def _time(how: int, item: int = 8) -> Callable[[Cells, pa.DataType], ReadMethod]:
    return lambda cells, kind: ReadMethod(how, item, cells.column.fractional_digits)


def _times(cells: Cells, kind: pa.DataType, values: ColumnValues, zero_dates: str) -> pa.Array:
    array = values.array(kind, len(cells))
    if not values.invalid:
        return array
    states = values.states
    if (rows := np.flatnonzero(states == WRONG)).size:
        cells.by_reader(rows)  # raises the error of the first invalid value
        raise AssertionError("a time that only the event reader can decode")
    rows = np.flatnonzero(states == ZERO)
    if zero_dates == "error":
        row = rows[:1]
        raise CellError(int(row[0]), _refused(cells.by_reader(row)[0]))
    valid = cells.valid & (states == FINE)
    bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(kind, len(cells), [bits, array.buffers()[1]])


_BY_READER = Builder(None, lambda cells, kind, values, zero_dates: by_reader(cells, kind, zero_dates))

_BUILDERS: dict[Kind, Builder] = {
    Kind.INTEGER: Builder(_integer, _as_it_is),
    Kind.FLOAT: Builder(_number, _as_it_is),
    Kind.DOUBLE: Builder(_number, _as_it_is),
    Kind.DECIMAL: Builder(_decimal, _decimals),
    Kind.YEAR: Builder(lambda cells, kind: ReadMethod(ways.YEARS, 2), _as_it_is),
    Kind.BIT: Builder(lambda cells, kind: ReadMethod(ways.BIG, 8), _as_it_is),
    **dict.fromkeys(CHOICES, Builder(_choice, _choices)),
    Kind.DATE: Builder(_time(ways.DATES, 4), _times),
    Kind.DATETIME: Builder(_time(ways.DATETIMES), _times),
    Kind.TIMESTAMP: Builder(_time(ways.TIMESTAMPS), _times),
    Kind.TIME: Builder(_time(ways.TIMES), _times),
    Kind.OLD_DATETIME: Builder(_time(ways.OLD_DATETIMES), _times),
    Kind.OLD_TIMESTAMP: Builder(_time(ways.OLD_TIMESTAMPS), _times),
    Kind.OLD_TIME: Builder(_time(ways.OLD_TIMES), _times),
    **{kind: Builder(*both) for kind, both in strings.BUILDERS.items()},
    **dict.fromkeys(DOCUMENTS, Builder(None, lambda cells, kind, values, zero_dates: documents(cells, kind))),
}
