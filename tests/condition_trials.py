"""Which rows of a log conditions select: by the kernels, and by the event reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

import binlog_kaitai as bk
from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.event_rows import Row
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import plain_value
from binlog_kaitai.rows.image_walk import LocatedRows
from binlog_kaitai.rows.row_changes import ChangeGroup, walked_groups
from binlog_kaitai.rows.row_criteria import CriteriaChoice, RowCriteria
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.schema import Column

#: The ids of the rows that each condition selects; None if it is refused.
Selected = dict[str, list[int] | None]


class _Trial:
    """Selects all rows, and notes which of them each condition selects."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = wanted
        self.selected: Selected = {}

    def of_located(self, table: Table, located: LocatedRows) -> LocatedRows:
        (group,) = walked_groups(table, located)
        assert group.after is not None
        ids = dict(
            zip(group.events.tolist(), group.after.values(table.schema.columns[0]).to_pylist(), strict=True)
        )
        for condition in self._wanted:
            with refused_as_documented(self.selected, condition):
                chosen = CriteriaChoice(RowCriteria.of(where=condition)).of_group(table, group)
                self.selected[condition] = [ids[event] for event in chosen.events.tolist()]
        return located


@contextmanager
def refused_as_documented(selected: Selected, condition: str) -> Iterator[None]:
    """Notes that a condition is refused, which has a reason and a way on."""
    try:
        yield
    except UsageError as error:
        if not re.search("(does not compare with|matches depends on).*; (use|give|compare) ", error.reason):
            raise
        selected[condition] = None


def by_kernels(log: Path, wanted: Sequence[str]) -> Selected:
    """The ids of the inserted rows that each condition selects, one row for each event."""
    trial = _Trial(wanted)
    for _ in write_rows(str(log), choice=trial):
        pass
    return trial.selected


class _ReadImage:
    """The after image of a row of the event reader, in place of `Side`."""

    def __init__(self, image: dict[str, Any]) -> None:
        self._image = image

    def has(self, column: Column) -> bool:
        return column.name in self._image

    def is_unknown(self, column: Column) -> bool:
        return False

    def values(self, column: Column) -> pa.Array:
        kind = arrow_type(column, "text")
        return pa.array([plain_value(self._image.get(column.name), column, kind, "text")], kind)

    def select(self, rows: Ints) -> _ReadImage:
        return self


def group_of(row: Row) -> ChangeGroup:
    """An inserted row."""
    image: Any = _ReadImage(row.after or {})
    return ChangeGroup(row.change, np.zeros(1, np.int64), np.array([row.index]), None, image)


def by_event_reader(log: Path, wanted: Sequence[str]) -> Selected:
    """The same, from the rows of the event reader."""
    with bk.open(log) as events:
        changed: list[tuple[Any, list[Row]]]
        changed = [(SimpleNamespace(schema=event.schema), list(event.rows())) for event in events]
    selected: Selected = {}
    for condition in wanted:
        with refused_as_documented(selected, condition):
            choice = CriteriaChoice(RowCriteria.of(where=condition))
            chosen = [
                row for table, rows in changed for row in rows if len(choice.of_group(table, group_of(row)))
            ]
            selected[condition] = [row.after["id"] for row in chosen if row.after is not None]
    return selected
