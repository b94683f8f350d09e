"""Row changes selected by operation, columns and values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from binlog_kaitai.arrow import pc
from binlog_kaitai.core.filters import several
from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.arrays import Bools
from binlog_kaitai.log.event_rows import Change
from binlog_kaitai.rows.image_walk import LocatedRows
from binlog_kaitai.rows.row_changes import ChangeGroup, Side, walked_groups
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text.output_text import first_names
from binlog_kaitai.values.schema import Column, NameSource

if TYPE_CHECKING:  # loaded for a condition
    from binlog_kaitai.values.comparisons import ColumnComparison, Comparison
    from binlog_kaitai.values.conditions import WhereCondition


@dataclass(frozen=True)
class RowCriteria:
    """The criteria for row changes.

    `operations`: only these operations; all if empty.
    `where`: only changes whose before or after image matches.
    `touching`: only updates that change one of these columns, and inserts and deletes of tables that have
    one.
    """

    operations: frozenset[Change] = frozenset()
    where: WhereCondition | None = None
    touching: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        *,
        operation: str | Iterable[str] = (),
        where: str | None = None,
        column: str | Iterable[str] = (),
    ) -> RowCriteria:
        """Parse the criteria from user input.

        Raises `UsageError`: a value is invalid.
        """
        known = {change.value: change for change in Change}
        words = [word.lower() for word in several(operation)]
        if unknown := [word for word in words if word not in known]:
            raise UsageError(f"{unknown[0]!r} is not an operation; use {', '.join(known)}")
        condition = None
        if where is not None:
            from binlog_kaitai.values.conditions import parse_where

            condition = parse_where(where)
        return cls(frozenset(known[word] for word in words), condition, frozenset(several(column)))

    @property
    def columns(self) -> frozenset[str]:
        """The columns that the criteria refer to."""
        return self.touching | (self.where.columns if self.where is not None else frozenset())

    def __bool__(self) -> bool:
        return bool(self.operations or self.where is not None or self.touching)


class CriteriaChoice:
    """Selects the wanted changes, and records which columns were found.

    Changes of tables without the wanted columns are dropped; `check` reports columns that no table has.
    """

    @classmethod
    def of(cls, **options: Any) -> CriteriaChoice | None:
        """That of user input, see `RowCriteria.of`; None if it selects all changes."""
        criteria = RowCriteria.of(**options)
        return cls(criteria) if criteria else None

    def __init__(self, criteria: RowCriteria) -> None:
        self._criteria = criteria
        self._seen: set[str] = set()
        self._nameless: set[str] = set()
        self._comparisons: dict[tuple[str, Column, Comparison], ColumnComparison] = {}

    def of_group(self, table: Table, group: ChangeGroup) -> ChangeGroup:
        """The selected ones of a group of changes."""
        criteria, columns = self._criteria, _named(table, self._criteria.columns)
        self._seen |= columns.keys()
        if table.schema.names_from is NameSource.NONE:
            self._nameless.add(table.schema.full_name)
        if criteria.operations and group.change not in criteria.operations:
            return group.select(np.zeros(0, dtype=np.int64))
        takes = np.ones(len(group), dtype=np.bool_)
        if criteria.touching:
            touched = [columns[name] for name in criteria.touching if name in columns]
            if group.change is Change.UPDATE:
                has = [column for column in touched if group.after is not None and group.after.has(column)]
                takes &= np.any([group.changed(column) for column in has], axis=0) if has else False
            elif not touched:
                takes[:] = False
        if criteria.where is not None:
            if not criteria.where.columns <= columns.keys():
                takes[:] = False
            else:
                sides = [side for side in (group.before, group.after) if side is not None]
                name, count = table.schema.full_name, len(group)
                takes &= np.any(
                    [self._holds(criteria.where, name, side, count, columns) for side in sides], axis=0
                )
        return group if takes.all() else group.select(np.flatnonzero(takes))

    def of_located(self, table: Table, located: LocatedRows) -> LocatedRows:
        """See `row_texts.RowChoice`."""
        is_wanted = np.zeros(len(located.events), dtype=np.bool_)
        for group in walked_groups(table, located):
            group = self.of_group(table, group)
            for side in (group.before, group.after):
                if side is not None:
                    is_wanted[side.rows] = True
        return located if is_wanted.all() else located.select(np.flatnonzero(is_wanted))

    def check(self) -> None:
        """Reject columns that no table had.

        Raises `UsageError`.
        """
        unseen = self._criteria.columns - self._seen
        if not unseen:
            return
        reason = f"no table in the log has a column named {', '.join(sorted(unseen))}"
        if self._nameless:
            reason += (
                f", but the log does not name the columns of {first_names(self._nameless)}: give --ddl FILE "
                "with CREATE TABLE, read the earlier log that has it, or have the server log names "
                "(binlog_row_metadata=FULL)"
            )
        raise UsageError(reason)

    def _holds(
        self, where: WhereCondition, table: str, side: Side, count: int, columns: dict[str, Column]
    ) -> Bools:
        """Which of some images match; a comparison with a column that they lack is neither true nor false."""
        present = {name: columns[name] for name in where.columns if side.has(columns[name])}
        values = {name: side.values(field) for name, field in present.items() if not side.is_unknown(field)}
        holds = where.matches(values, count, lambda term: self._prepared(table, columns[term.name], term))
        return np.asarray(pc.fill_null(holds, False))

    def _prepared(self, table: str, column: Column, comparison: Comparison) -> ColumnComparison:
        from binlog_kaitai.values.comparisons import ColumnComparison

        key = (table, column, comparison)
        if key not in self._comparisons:
            self._comparisons[key] = ColumnComparison(column, comparison, f"{table}.{column.name}")
        return self._comparisons[key]


def _named(table: Table, names: Iterable[str]) -> dict[str, Column]:
    """The columns with the given names, without regard to case unless a name is exactly right.

    Raises `UsageError`: a name fits several columns.
    """
    exact = {column.name: column for column in table.schema.columns}
    columns = {}
    for name in names:
        same = [column for column in table.schema.columns if column.name.casefold() == name.casefold()]
        if name in exact:
            columns[name] = exact[name]
        elif len(same) > 1:
            either = " and ".join(column.name for column in same)
            raise UsageError(f"{name} is ambiguous: {table.schema.full_name} has columns {either}")
        elif same:
            columns[name] = same[0]
    return columns
