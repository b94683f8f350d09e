"""Text styles: a writer function for each column type, and a fallback for rare types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.image_walk import ABSENT
from binlog_kaitai.values.column_kinds import Value
from binlog_kaitai.values.schema import Column


@dataclass(frozen=True)
class Style:
    """A text style for values.

    Attributes
    ----------
    writers : mapping from column type to callable
        Takes the style and the cells of a column, and returns an Arrow array of bytes, with null for missing
        values and for values that `value` has to write.
    value : callable
        Takes a value, not None, in the event reader's form, and its column; for types without a writer.
    null : bytes
        Text for NULL.
    """

    writers: Mapping[ColumnType | int, Callable[[Style, Cells], Any]]
    value: Callable[[Value, Column], bytes]
    null: bytes = b"NULL"

    def texts(self, cells: Cells) -> Any:
        """The text of each cell; null if the image does not contain the column.

        Raises
        ------
        CellError
            A value is invalid, or cannot be written in this style.
        """
        writer = self.writers.get(cells.column.type)
        found = by_value(self, cells) if writer is None else writer(self, cells)
        if writer is not None and found.null_count:
            found = replaced(self, cells, found, is_null(found) & cells.valid)
        if not found.null_count:
            return found
        is_absent = cells.starts == ABSENT
        if not is_absent.any():
            return pc.fill_null(found, self.null)
        is_nothing = pa.array(is_null(found) & ~is_absent)
        return pc.if_else(is_nothing, pa.scalar(self.null, pa.binary()), found)


def by_value(style: Style, cells: Cells, rows: Any = None) -> Any:
    """Text of the given rows (or all), one value at a time, each distinct value once."""
    rows = np.arange(len(cells)) if rows is None else rows
    starts = np.maximum(cells.starts[rows], 0)
    firsts = np.where(cells.valid[rows], group_ranges(cells.data, starts, starts + cells.sizes(rows)), -1)
    first, which = distinct(firsts)
    made = cells.by_reader(rows[first], lambda value: style.value(value, cells.column))
    return pa.array(made, pa.binary()).take(pa.array(which))


def replaced(style: Style, cells: Cells, found: Any, is_other: Any) -> Any:
    """Texts with some rows, given by a bool array, replaced by values written one at a time."""
    rows = np.flatnonzero(is_other)
    if not len(rows):
        return found
    return pc.replace_with_mask(found, pa.array(is_other), by_value(style, cells, rows))


def is_null(found: Any) -> Any:
    """Where an Arrow array is null, as a bool array."""
    return found.is_null().to_numpy(zero_copy_only=False)
