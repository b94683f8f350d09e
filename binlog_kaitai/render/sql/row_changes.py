"""Changed rows as columns: groups of changes of one kind whose images have the same columns.

In tables with MariaDB's system versioning, changes of current rows are distinguished from those of history
rows. The end of a current row is the maximum time, or transaction number. The server also logs its changes of
history: a DELETE as an update of the row's end, and with an UPDATE the old row as an insert. Statements
recreate this history, so only changes of current rows are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.log.event_rows import Change, Row
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import build, plain_value
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.image_walk import ABSENT, BEFORE, DELETE, INSERT, LocatedRows
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.json_documents import JsonDiff
from binlog_kaitai.values.schema import Column, Schema


class Side(Protocol):
    """The before or after images of some changes."""

    def has(self, column: Column) -> bool:
        """Whether the images contain a column."""
        ...

    def is_diff(self, column: Column) -> bool:
        """Whether the images contain changes of a document (PARTIAL_JSON) instead of its value."""
        ...

    def values(self, column: Column) -> pa.Array:
        """The values of a column as an Arrow array of its type; dates and times as text."""
        ...

    def select(self, rows: Ints) -> Side:
        """Some of the images."""
        ...


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
        match self.before, self.after:
            case (WalkedSide() as before, WalkedSide() as after):
                return before.differs(after, column)
            case (ReadSide() as before, ReadSide() as after):
                return before.differs(after, column)
        return np.ones(len(self), dtype=np.bool_)


class WalkedSide:
    """Images walked by the kernels.

    `rows` (int64 array): numbers of the rows among the walked ones.
    """

    def __init__(self, table: Table, walked: LocatedRows, rows: Ints) -> None:
        self._table = table
        self._walked = walked
        self.rows = rows

    def has(self, column: Column) -> bool:
        return len(self.rows) > 0 and int(self._walked.starts[column.index][self.rows[0]]) != ABSENT

    def is_diff(self, column: Column) -> bool:
        return False

    def cells(self, column: Column) -> Cells:
        """The cells of a column."""
        starts = self._walked.starts[column.index][self.rows]
        return Cells(self._table, column, self._walked.data, starts)

    def values(self, column: Column) -> pa.Array:
        return build(self.cells(column), "text")

    def select(self, rows: Ints) -> WalkedSide:
        return WalkedSide(self._table, self._walked, self.rows[rows])

    def differs(self, other: WalkedSide, column: Column) -> Bools:
        """Which rows have different bytes in a column."""
        return self.cells(column).differs(other.cells(column))


class ReadSide:
    """Images from the event reader, for events that the kernels leave to it."""

    def __init__(self, images: Sequence[dict[str, Any]], diffs: Sequence[dict[str, JsonDiff]]) -> None:
        self._images = images
        self._diffs = diffs

    def has(self, column: Column) -> bool:
        return bool(self._images) and (column.name in self._images[0] or column.name in self._diffs[0])

    def is_diff(self, column: Column) -> bool:
        return bool(self._diffs) and column.name in self._diffs[0]

    def values(self, column: Column) -> pa.Array:
        kind = arrow_type(column, "text")
        values = [plain_value(image.get(column.name), column, kind, "text") for image in self._images]
        return pa.array(values, kind)

    def select(self, rows: Ints) -> ReadSide:
        picked = rows.tolist()
        return ReadSide([self._images[row] for row in picked], [self._diffs[row] for row in picked])

    def differs(self, other: ReadSide, column: Column) -> Bools:
        """Which rows have different values in a column."""
        missing = object()
        pairs = zip(self._images, other._images, strict=True)
        name = column.name
        changes = [name not in mine or mine[name] != its.get(name, missing) for mine, its in pairs]
        return np.array(changes, dtype=np.bool_)


_CHANGES = ((Change.INSERT, INSERT), (Change.UPDATE, BEFORE), (Change.DELETE, DELETE))


def walked_groups(table: Table, walked: LocatedRows) -> Iterator[ChangeGroup]:
    """Rows walked by the kernels, as groups."""
    for change, kind in _CHANGES:
        rows = np.flatnonzero(walked.changes == kind)
        for same in _alike(walked, rows, is_update=change is Change.UPDATE) if len(rows) else ():
            before = WalkedSide(table, walked, same) if change is not Change.INSERT else None
            after = WalkedSide(table, walked, same + (change is Change.UPDATE))
            numbers = walked.events[same], walked.numbers[same]
            yield ChangeGroup(change, *numbers, before, after if change is not Change.DELETE else None)


def _alike(walked: LocatedRows, rows: Ints, *, is_update: bool) -> Iterator[Ints]:
    """Rows whose images have the same columns, which is true of all images of an event."""
    begins = np.flatnonzero(np.diff(walked.events[rows], prepend=-1))
    first = rows[begins]
    absent = walked.starts[:, first] == ABSENT
    if is_update:
        absent = np.concatenate((absent, walked.starts[:, first + 1] == ABSENT))
    if not absent.any():
        yield rows
        return
    bits = np.ascontiguousarray(np.packbits(absent, axis=0).T)
    keys = bits.view([("", bits.dtype, (bits.shape[1],))]).reshape(-1)
    distinct, which = np.unique(keys, return_inverse=True)
    of_row = np.repeat(which.reshape(-1), np.diff(begins, append=len(rows)))
    for number in range(len(distinct)):
        yield rows[of_row == number]


def read_groups(rows: Sequence[Row], event: int) -> Iterator[ChangeGroup]:
    """The rows of one event from the event reader, as groups."""
    alike: dict[tuple[frozenset[str], ...], list[Row]] = {}
    for row in rows:
        key = (frozenset(row.before or ()), frozenset(row.after or ()), frozenset(row.diffs))
        alike.setdefault(key, []).append(row)
    for same in alike.values():
        before, after = (
            None if getattr(same[0], name) is None else [getattr(row, name) for row in same]
            for name in ("before", "after")
        )
        yield ChangeGroup(
            same[0].change,
            np.full(len(same), event, dtype=np.int64),
            np.array([row.index for row in same], dtype=np.int64),
            None if before is None else ReadSide(before, [{}] * len(same)),
            None if after is None else ReadSide(after, [row.diffs for row in same]),
        )


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
