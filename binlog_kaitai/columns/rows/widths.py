"""How long a value of a column is in a row image: all that walking over one takes.

What the bytes mean is the grammar's (`row_image.ksy`), whose cells a test holds against these lengths. They
are stated here a second time: a cell is chosen by a type that only the table map tells, where the generated
layouts end; and a program for the kernels needs a length, or where one lies, before there is any cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from binlog_kaitai.errors import GrammarError
from binlog_kaitai.grammar import ColumnType
from binlog_kaitai.schema import Column
from binlog_kaitai.values import kind_of


class Width(NamedTuple):
    """Length of a value in bytes; with a `prefix`, a number of that many bytes has the length instead."""

    fixed: int
    prefix: int = 0


#: Bytes of the digits that are fewer than nine.
_BYTES_OF_DIGITS = (0, 1, 1, 2, 2, 3, 3, 4, 4)


def width_of(column: Column) -> Width | None:
    """The width of a column's values; None for a type that is none."""
    try:
        kind_of(column)
    except GrammarError:
        return None
    rule = _WIDTHS.get(column.type)
    return None if rule is None else rule(column)


def decimal_groups(column: Column) -> list[tuple[int, int]]:
    """The groups of digits that a DECIMAL is written in, in order: how many, and their length in bytes."""
    precision, scale = column.precision or 0, column.scale or 0
    whole, rest = divmod(max(precision - scale, 0), 9)
    groups = [(rest, _BYTES_OF_DIGITS[rest])] * bool(rest) + [(9, 4)] * whole
    whole, rest = divmod(scale, 9)
    return groups + [(9, 4)] * whole + [(rest, _BYTES_OF_DIGITS[rest])] * bool(rest)


def fraction_size(digits: int) -> int:
    """Length of a second's fraction, in bytes."""
    return min((digits + 1) // 2, 3)


def _always(size: int) -> Callable[[Column], Width]:
    width = Width(size)
    return lambda column: width


def _with_fraction(size: int) -> Callable[[Column], Width]:
    return lambda column: Width(size + fraction_size(column.fractional_digits))


def _prefixed(column: Column) -> Width:
    return Width(0, column.length_size if 0 < column.length_size < 4 else 4)


_WIDTHS: dict[ColumnType | int, Callable[[Column], Width]] = {
    ColumnType.null: _always(0),
    ColumnType.tiny: _always(1),
    ColumnType.short: _always(2),
    ColumnType.int24: _always(3),
    ColumnType.long: _always(4),
    ColumnType.longlong: _always(8),
    ColumnType.float: _always(4),
    ColumnType.double: _always(8),
    ColumnType.newdecimal: lambda column: Width(sum(size for _, size in decimal_groups(column))),
    ColumnType.bit: lambda column: Width(column.length),
    ColumnType.enum: lambda column: Width(1 if column.length < 2 else 2),
    ColumnType.set: lambda column: Width(column.length if column.length in (1, 2, 3, 4) else 8),
    ColumnType.year: _always(1),
    ColumnType.date: _always(3),
    ColumnType.newdate: _always(3),
    ColumnType.time: _always(3),
    ColumnType.datetime: _always(8),
    ColumnType.timestamp: _always(4),
    ColumnType.time2: _with_fraction(3),
    ColumnType.datetime2: _with_fraction(5),
    ColumnType.timestamp2: _with_fraction(4),
    ColumnType.varchar: _prefixed,
    ColumnType.string: _prefixed,
    ColumnType.tiny_blob: _prefixed,
    ColumnType.medium_blob: _prefixed,
    ColumnType.long_blob: _prefixed,
    ColumnType.blob: _prefixed,
    ColumnType.varchar_compressed: _prefixed,
    ColumnType.blob_compressed: _prefixed,
    ColumnType.geometry: _prefixed,
    ColumnType.vector: _prefixed,
    ColumnType.json: _prefixed,
    ColumnType.typed_array: _prefixed,
}
