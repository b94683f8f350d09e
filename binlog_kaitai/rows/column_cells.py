"""The values of a column as offsets into an array, and decoding by the event reader as a fallback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from binlog_kaitai.core.grammar import parse_cell
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.kernels.arrays import Array, Bools, view_of
from binlog_kaitai.kernels.byte_kernels import same_ranges
from binlog_kaitai.rows.image_walk import ABSENT, LocatedRows
from binlog_kaitai.rows.string_kernels import measure
from binlog_kaitai.rows.table_maps import Table, Width
from binlog_kaitai.values.representations import Value, value_of
from binlog_kaitai.values.schema import Column

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Bytes, Ints
    from binlog_kaitai.kernels.compile import Kernel


class CellError(Exception):
    """An invalid value, with the number of its row and the error."""

    def __init__(self, row: int, error: BinlogError) -> None:
        super().__init__(str(error))
        self.row = row
        self.error = error


#: Maximum length of the texts of an array in Arrow, in bytes.
LONGEST = (1 << 31) - 1


def check_ends(ends: Array) -> None:
    """Check the ends of texts that become one array, int64.

    Raises `CellError`: a text ends after `LONGEST` bytes.
    """
    if len(ends) and int(ends[-1]) > LONGEST:
        error = BinlogError("the texts of one column exceed 2 GiB, Arrow's limit for strings")
        raise CellError(int(np.argmax(ends > LONGEST)), error)


class Cells:
    """The values of one column in many rows.

    `data`: uint8 array, contains the values.
    `starts`: int64 array, offset of each value, including its length prefix; negative for no value.
    """

    def __init__(self, table: Table, column: Column, data: Bytes, starts: Ints) -> None:
        widths = table.widths
        assert widths is not None
        self.table = table
        self.column = column
        self.width: Width = widths[column.index]
        self.data = data
        self.starts = starts
        self._valid: Bools | None = None

    @classmethod
    def of(cls, table: Table, column: Column, rows: LocatedRows) -> Cells:
        """The cells of rows found by the walk, without the results of partial updates."""
        starts = rows.starts_of(column.index)
        if rows.updates:
            starts = np.where(starts > len(rows.data), ABSENT, starts)
        return cls(table, column, rows.data, starts)

    def part(self, rows: Ints | slice) -> Cells:
        """The cells of the given rows."""
        return Cells(self.table, self.column, self.data, self.starts[rows])

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def valid(self) -> Bools:
        """Which rows have a value, as a bool array."""
        if self._valid is None:
            self._valid = self.starts >= 0
        return self._valid

    def run(self, kernel: Kernel[Any], *arguments: Any) -> Any:
        """Call a kernel with `data`, `starts` and the arguments."""
        return kernel.run(self.data, self.starts, *arguments)

    def sizes(self, rows: Ints) -> Ints:
        """Length of the values of the given rows, including length prefixes; 0 for no value."""
        starts = self.starts[rows]
        if not self.width.prefix:
            return np.where(starts >= 0, self.width.fixed, 0)
        offsets = np.empty(len(starts) + 1, dtype=np.int64)
        offsets[0] = 0
        measure.run(self.data, starts, self.width.prefix, 0, 0, offsets[1:])
        return np.where(starts >= 0, np.diff(offsets) + self.width.prefix, 0)

    def differs(self, other: Cells) -> Bools:
        """Which rows have other bytes in another array of the same column, or a value in only one of them."""
        every = np.arange(len(self))
        sizes, both = self.sizes(every), self.valid & other.valid
        lengths = np.where(both & (sizes == other.sizes(every)), sizes, 0)
        is_same: Bools = np.empty(len(every), dtype=np.bool_)
        starts = (np.where(both, cells.starts, 0) for cells in (self, other))
        same_ranges.run(self.data, *starts, lengths, is_same)
        is_other: Bools = np.where(both, ~is_same | (lengths != sizes), self.starts != other.starts)
        return is_other

    def range_of(self, row: int) -> tuple[int, int]:
        """Start and end of the bytes of a value in `data`, without its length prefix."""
        start, size = int(self.starts[row]), int(self.sizes(np.array([row]))[0])
        return start + self.width.prefix, start + size

    def raw(self, rows: Ints) -> list[bytes | None]:
        """Bytes of the values of the given rows, including length prefixes; None for no value."""
        sizes, starts = self.sizes(rows).tolist(), self.starts[rows].tolist()
        view = view_of(self.data)
        return [
            bytes(view[start : start + size]) if start >= 0 else None
            for start, size in zip(starts, sizes, strict=True)
        ]

    def by_reader(self, rows: Ints, convert: Callable[[Value], Any] = lambda value: value) -> list[Any]:
        """The values of some rows from the event reader, each distinct one decoded once; None for no value.

        Raises `CellError`: a value is invalid.
        """
        converted: dict[bytes | None, Any] = {None: None}
        values = []
        for row, raw in zip(rows.tolist(), self.raw(rows), strict=True):
            if raw not in converted:
                try:
                    converted[raw] = convert(self._value(raw))
                except BinlogError as error:
                    raise CellError(row, error) from error
            values.append(converted[raw])
        return values

    def _value(self, raw: bytes | None) -> Value:
        assert raw is not None
        cell = parse_cell(self.table.table_map, self.column.index, raw)
        try:
            return value_of(cell, self.column)
        except GrammarError:
            raise
        except Exception as error:  # generated code raises various errors on invalid bytes
            raise GrammarError(f"cannot be read: {error}") from error
