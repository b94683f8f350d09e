"""The number of rows that each rows event changes."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.rows.image_walk import WalkInput, count_images
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table

#: Result if the number is unknown.
UNKNOWN = -1


def row_counts(images: Images, wanted: Bools | bool = True) -> Ints:
    """Number of rows of each rows event of a block, int64; an update counts once.

    UNKNOWN if the table map is missing or contradicts the rows, or if the length of a value is unknown;
    and for events excluded by `wanted`, an array of truth values.
    """
    counts = np.full(len(images), UNKNOWN, dtype=np.int64)
    for number, table in enumerate(images.tables):
        if isinstance(table, Table):
            _count(images, np.flatnonzero((images.table_of == number) & wanted), table, counts)
    return counts


class BlockRowNumbers:
    """The first row number of each event, for consecutive blocks of a file.

    It is 0, except in a transaction payload, whose events all have the same position: there, row numbers
    continue from one rows event to the next.
    """

    def __init__(self) -> None:
        self._position, self._end = -1, 0

    def first(self, images: Images) -> Ints:
        """The number of the first row of each rows event of the block, int64."""
        block, rows = images.block, images.rows
        if block.holders is None:
            return np.zeros(len(rows), dtype=np.int64)
        positions = block.positions[rows]
        is_inside = block.end_positions[rows] - positions != block.sizes[rows]
        if not is_inside.any():
            return np.zeros(len(rows), dtype=np.int64)
        begins = np.diff(positions, prepend=self._position) != 0
        goes_on = is_inside & np.append(~begins[1:], True)  # possibly into the next block
        counts = np.maximum(row_counts(images, goes_on), 0)
        before = np.cumsum(counts) - counts
        # The first transaction may have begun in the previous block.
        first = before - np.maximum.accumulate(np.where(begins, before, -self._end))
        self._position, self._end = int(positions[-1]), int(first[-1] + counts[-1])
        return first


def walked_counts(images: Images, chosen: Ints, table: Table) -> Ints:
    """Number of rows of some events of a table with known widths; UNKNOWN if the rows do not match."""
    counts = np.full(len(chosen), UNKNOWN, dtype=np.int64)
    programs, program_of = images.programs()
    is_known = images.has_program[chosen]
    counted = [counts[:0]]
    for portion in images.portions(chosen[is_known]):
        counted.append(count_images(WalkInput.of(portion, programs, program_of)))
    counts[is_known] = np.maximum(np.concatenate(counted), UNKNOWN)
    return counts


def _count(images: Images, chosen: Ints, table: Table, counts: Ints) -> None:
    if table.widths is not None:
        counts[chosen] = walked_counts(images, chosen, table)
    for index in chosen[counts[chosen] == UNKNOWN].tolist():
        counts[index] = _by_reader(images, index, table)


def _by_reader(images: Images, index: int, table: Table) -> int:
    event = images.block.event(int(images.rows[index]), table.table_map)
    try:
        rows = getattr(event.body, "rows", None)
    except BinlogError:
        return UNKNOWN
    except Exception:  # generated code may raise anything on invalid bytes
        return UNKNOWN
    return UNKNOWN if rows is None else len(rows)
