"""Finds rows whose changes a script reverts, and that the same logs change again later.

Rules
-----
1. A row is recognized by its primary key or, if none is known, by all its values: by a digest of their bytes.
2. A later change counts if the script does not revert it, and if it concerns what a statement of the script
   writes or looks for: it inserts or deletes the row, or changes its key or a column that the statement sets.
   All columns count if the statement inserts or deletes the row, or finds it by all columns.
3. To know all later changes, logs are read to their end, past a stop.
4. Memory is bounded: beyond `MOST_ROWS` rows, the script says that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import numpy as np

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints, Unsigned
from binlog_kaitai.kernels.byte_kernels import digest_ranges
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.render.sql.script_lines import place, plain
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import ABSENT, AFTER, BEFORE, DELETE, LocatedRows, MismatchError, walk
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.partial_updates import with_results
from binlog_kaitai.rows.row_changes import ChangeGroup, walked_groups
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.schema import Column

#: Maximum number of rows, and of their changed columns, to recognize: 128 MiB of digests each.
MOST_ROWS = 1 << 24

#: The selected ones of some changes, with a flag.
Select = Callable[[Table, Iterable[ChangeGroup]], Iterator[tuple[ChangeGroup, bool]]]


class LaterChanges:
    """Rows in a script that are changed again after a change in it.

    `by_all_columns`: the statements of the script find rows by more than their keys.
    """

    def __init__(self, *, by_all_columns: bool = False) -> None:
        self._by_all_columns = by_all_columns
        self._rows, self._values, self._again = _Digests(), _Digests(), _Digests()
        self._tables: dict[tuple[str, str], int] = {}
        self._first = self._unread = ""

    @property
    def _is_full(self) -> bool:
        return max(self._rows.size, self._values.size) >= MOST_ROWS

    def stopped(self, error: BinlogError) -> None:
        """Take note of an error after which a log cannot be read on."""
        self._unread = self._unread or plain(str(error))

    def see(self, page: RowsPage, select: Select | None) -> None:
        """Take note of the changes in a page.

        `select`: selects those that the script reverts; None for all changes of the chosen events.
        """
        events = np.union1d(page.chosen, page.others)
        numbers = page.images.table_of[events]
        firsts: list[tuple[int, str]] = []
        for number in distinct_values(numbers).tolist():
            of_table = events[numbers == number]
            table = page.images.table(int(of_table[0]))
            is_chosen = np.isin(of_table, page.chosen)
            if isinstance(table, Table) and (is_chosen.any() or table.key in self._tables):
                self._tables.setdefault(table.key, len(self._tables))
                firsts += self._of_table(page, table, of_table, select)
        if firsts and not self._first:
            row = int(page.images.rows[min(firsts)[0]])
            self._first = f"{place(page.block, row)} ({plain(min(firsts)[1])})"

    def _of_table(
        self, page: RowsPage, table: Table, events: Ints, select: Select | None
    ) -> Iterator[tuple[int, str]]:
        """The event of the first row that is changed again, with its table, if there is one."""
        with suppress(MismatchError, CellError):  # an error of the script, if the event is selected
            for located in walk(page.images, events, len(table.schema.columns)):
                is_selected = np.isin(located.events, page.chosen)
                if select is not None and is_selected.any():
                    is_selected = _selected(table, located, is_selected, select)
                if not self._is_full:
                    hits = self._compared(table, located, is_selected)
                    if len(hits):
                        yield int(located.events[hits[0]]), table.schema.full_name

    def _compared(self, table: Table, located: LocatedRows, is_selected: Bools) -> Ints:
        """The rows that are changed again; takes note of the selected ones."""
        digests = np.full(len(located.events), self._tables[table.key], dtype=np.uint64)
        _digest(table, located, digests)
        has_key = bool(table.schema.primary_key)
        # A new row with the earlier or the current key is in the way; one with equal values is not.
        reverted = is_selected & (has_key | (located.changes != BEFORE))
        is_there = (located.changes == BEFORE) | (located.changes == DELETE)
        others = ~is_selected & (has_key | is_there)
        keeps_key = np.zeros(len(digests), dtype=np.bool_)
        updates = np.flatnonzero(located.changes[:-1] == BEFORE)
        if has_key and not self._by_all_columns:
            updates = updates[digests[updates] == digests[updates + 1]]
            keeps_key[updates] = keeps_key[updates + 1] = True
        is_again = self._rows.follow(digests, reverted, others & ~keeps_key)
        whole = _mixed(digests, _WHOLE)
        is_again |= self._values.follow(whole, reverted & ~keeps_key, others & keeps_key)
        for column in _written(table.schema.columns) if keeps_key.any() else ():
            changed = np.zeros(len(digests), dtype=np.bool_)
            cells = Cells.of(table, column, located)
            before, after = cells.part(updates), cells.part(updates + 1)
            # What is missing from an after image is unchanged.
            pairs = updates[before.differs(after) & (after.starts != ABSENT)]
            changed[pairs] = changed[pairs + 1] = True
            values = _mixed(digests, column.index)
            is_again |= self._values.follow(values, reverted & changed, others & changed)
        hits: Ints = np.flatnonzero(is_again)
        self._again.add(digests[hits])
        return hits

    @property
    def notes(self) -> list[str]:
        """What to say before the script runs."""
        notes = []
        if len(self._again):
            count = f"{len(self._again)} of {len(self._rows)} rows were changed again"
            effect = "the script may overwrite the later changes, or not find the rows"
            notes.append(f"{count}, the first at {self._first}: {effect}")
        if self._is_full:
            notes.append(
                f"of more than {MOST_ROWS} rows or values, it is unknown whether they were changed again"
            )
        if self._unread:
            notes.append(f"it is unknown whether rows were changed again after this: {self._unread}")
        return notes


def _selected(table: Table, located: LocatedRows, is_chosen: Bools, select: Select) -> Bools:
    """Which rows are selected, among those of chosen events."""
    rows = np.flatnonzero(is_chosen)
    is_selected = np.zeros(len(is_chosen), dtype=np.bool_)
    for group, _ in select(table, walked_groups(table, with_results(table, located.select(rows)))):
        for side in (group.before, group.after):
            if side is not None:
                is_selected[rows[side.rows]] = True
    return is_selected


def _digest(table: Table, located: LocatedRows, digests: Unsigned) -> None:
    """Continue the digest of each row."""
    is_after = located.changes[1:] == AFTER
    for column in _identity(table):
        starts = located.starts_of(column.index).copy()
        # What is missing from an after image is unchanged.
        missing = np.flatnonzero(is_after & (starts[1:] == ABSENT)) + 1
        starts[missing] = starts[missing - 1]
        cells = Cells(table, column, located.data, starts)
        sizes = cells.sizes(np.arange(len(starts)))
        digest_ranges.run(located.data, starts + cells.width.prefix * (starts >= 0), starts + sizes, digests)


def _identity(table: Table) -> list[Column]:
    columns = table.schema.columns
    key = [columns[index] for index in table.schema.primary_key]
    return _written(key or columns)


def _written(columns: Iterable[Column]) -> list[Column]:
    """The columns that statements write."""
    return [column for column in columns if not (column.is_generated or column.is_row_period)]


#: Stands for all columns of a row, in place of a column's index.
_WHOLE = -1
#: An odd number that mixes a column's index into a digest.
_MIX = np.uint64(0x9E3779B97F4A7C15)


def _mixed(digests: Unsigned, column: int) -> Unsigned:
    """Digests of a column of each row."""
    factor = np.array([column + 2], dtype=np.uint64) * _MIX  # arrays wrap around without a warning
    return digests ^ factor


class _Digests:
    """A set of digests: sorted arrays, each more than twice as long as the next one."""

    def __init__(self) -> None:
        self._arrays: list[Unsigned] = []

    @property
    def size(self) -> int:
        """Number of digests in the arrays, of which some may be equal."""
        return sum(map(len, self._arrays))

    def __len__(self) -> int:
        if len(self._arrays) > 1:
            self._arrays = [distinct_values(np.concatenate(self._arrays))]
        return self.size

    def add(self, digests: Unsigned) -> None:
        """Add some digests."""
        while self._arrays and len(self._arrays[-1]) <= 2 * len(digests):
            digests = np.concatenate((self._arrays.pop(), digests))
        if len(digests):
            self._arrays.append(distinct_values(digests))

    def follow(self, digests: Unsigned, is_new: Bools, is_asked: Bools) -> Bools:
        """Add the new ones of some digests, in log order; which of those asked for were there before."""
        is_known = np.zeros(len(digests), dtype=np.bool_)
        rows, asked = np.flatnonzero(is_new), np.flatnonzero(is_asked)
        is_known[asked] = self._has(digests[asked])
        if len(rows) and len(asked):
            once, first = np.unique(digests[rows], return_index=True)
            index = np.minimum(np.searchsorted(once, digests[asked]), len(once) - 1)
            is_known[asked] |= (once[index] == digests[asked]) & (rows[first[index]] < asked)
        self.add(digests[rows])
        return is_known

    def _has(self, digests: Unsigned) -> Bools:
        is_known = np.zeros(len(digests), dtype=np.bool_)
        for array in self._arrays:
            is_known |= array[np.minimum(np.searchsorted(array, digests), len(array) - 1)] == digests
        return is_known
