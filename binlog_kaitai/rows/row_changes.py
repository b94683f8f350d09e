"""Changed rows as columns: groups of changes of one kind whose images have the same columns.

In tables with MariaDB's system versioning, changes of current rows are distinguished from those of history
rows. The end of a current row is the maximum time, or transaction number. The server also logs its changes of
history: a DELETE as an update of the row's end, and with an UPDATE the old row as an insert. Statements
recreate this history, so only changes of current rows are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.log.event_rows import Change
from binlog_kaitai.rows.builders import build
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.image_walk import ABSENT, BEFORE, DELETE, INSERT, LocatedRows
from binlog_kaitai.rows.partial_updates import with_documents
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.schema import Column, Schema


class Side:
    """The before or after images of some changes.

    `rows` (int64 array): numbers of the rows among the walked ones.
    """

    def __init__(self, table: Table, walked: LocatedRows, rows: Ints) -> None:
        self._table = table
        self._walked = walked
        self.rows = rows

    def has(self, column: Column) -> bool:
        """Whether the images contain a column."""
        return len(self.rows) > 0 and int(self._walked.starts_of(column.index)[self.rows[0]]) != ABSENT

    def is_unknown(self, column: Column) -> bool:
        """Whether a partial update leaves the value of a column unknown."""
        return bool(self._walked.unknown[self._walked.lines[column.index], self.rows[:1]].any())

    def _cells(self, column: Column) -> Cells:
        return Cells.of(self._table, column, self._walked).part(self.rows)

    def values(self, column: Column) -> pa.Array:
        """The values of a column as an Arrow array of its type; dates and times as text."""
        array = build(self._cells(column), "text")
        if not self._walked.updates:
            return array
        return with_documents(array, self._walked.select(self.rows), column.index)

    def select(self, rows: Ints) -> Side:
        """Some of the images."""
        return Side(self._table, self._walked, self.rows[rows])

    def differs(self, other: Side, column: Column) -> Bools:
        """Which rows have other values in a column, or a value in only one of the images."""
        return self._cells(column).differs(other._cells(column))


@dataclass(frozen=True)
class ChangeGroup:
    """Changes of one kind.

    `change`: change
    `events`, `numbers` (int64 arrays): number of each change's event in the page's images, and of the change
    within the event.
    `before`, `after`: side or None
    """

    change: Change
    events: Ints
    numbers: Ints
    before: Side | None
    after: Side | None

    def __len__(self) -> int:
        return len(self.events)

    def select(self, rows: Ints) -> ChangeGroup:
        """Some of the changes."""
        before = None if self.before is None else self.before.select(rows)
        after = None if self.after is None else self.after.select(rows)
        return ChangeGroup(self.change, self.events[rows], self.numbers[rows], before, after)

    def changed(self, column: Column) -> Bools:
        """Which updates change the value of a column, as a bool array.

        A column that only one of the images has counts as changed.
        """
        if self.before is None or self.after is None:
            return np.ones(len(self), dtype=np.bool_)
        return self.before.differs(self.after, column)


_CHANGES = ((Change.INSERT, INSERT), (Change.UPDATE, BEFORE), (Change.DELETE, DELETE))


def walked_groups(table: Table, walked: LocatedRows) -> Iterator[ChangeGroup]:
    """Rows walked by the kernels, as groups."""
    for change, kind in _CHANGES:
        rows = np.flatnonzero(walked.changes == kind)
        for same in _alike(walked, rows, is_update=change is Change.UPDATE) if len(rows) else ():
            before = Side(table, walked, same) if change is not Change.INSERT else None
            after = Side(table, walked, same + (change is Change.UPDATE))
            numbers = walked.events[same], walked.numbers[same]
            yield ChangeGroup(change, *numbers, before, after if change is not Change.DELETE else None)


def _alike(walked: LocatedRows, rows: Ints, *, is_update: bool) -> Iterator[Ints]:
    """Rows whose images have the same columns, which all images of an event have but for partial updates."""
    is_new = np.diff(walked.events[rows], prepend=-1) != 0
    begins = np.flatnonzero(is_new | bool(walked.updates))
    first = rows[begins]
    absent = walked.starts[:, first] == ABSENT
    if is_update:
        unknown = walked.unknown[:, first + 1] if walked.updates else absent[:0]
        absent = np.concatenate((absent, walked.starts[:, first + 1] == ABSENT, unknown))
    if not absent.any():
        yield rows
        return
    bits = np.ascontiguousarray(np.packbits(absent, axis=0).T)
    keys = bits.view([("", bits.dtype, (bits.shape[1],))]).reshape(-1)
    distinct, which = np.unique(keys, return_inverse=True)
    of_row = np.repeat(which.reshape(-1), np.diff(begins, append=len(rows)))
    for number in range(len(distinct)):
        yield rows[of_row == number]


#: The ends of current rows: the last second in 31 bits, in 32 bits (since 11.5), and for transactions.
_NOW = ("2038-01-19 03:14:07.999999", "2106-02-07 06:28:15.999999", "18446744073709551615")


def row_end(schema: Schema) -> Column | None:
    """The column with the end of a row's period; None if a table is not versioned."""
    period = [column for column in schema.columns if column.is_row_period]
    return period[-1] if period else None


def without_history(group: ChangeGroup, end: Column) -> Iterator[tuple[ChangeGroup, bool]]:
    """The changes of current rows, and whether they are updates that end a row, which become deletes."""
    before = np.ones(len(group), dtype=np.bool_) if group.before is None else _is_current(group.before, end)
    after = np.ones(len(group), dtype=np.bool_) if group.after is None else _is_current(group.after, end)
    yield group.select(np.flatnonzero(before & after)), False
    if group.change is Change.UPDATE:
        ended = group.select(np.flatnonzero(before & ~after))
        yield replace(ended, change=Change.DELETE, after=None), True


def _is_current(side: Side, end: Column) -> Bools:
    if not side.has(end):
        return np.ones(len(side.values(end)), dtype=np.bool_)
    ends = side.values(end).cast(pa.string())
    return np.asarray(pc.fill_null(pc.is_in(ends, value_set=pa.array(_NOW)), False))
