"""Tables with MariaDB's system versioning: distinguishes changes of current rows from those of history rows.

The end of a current row is the maximum time, or transaction number. The server also logs its changes of
history: a DELETE as an update of the row's end, and with an UPDATE the old row as an insert. Statements
recreate this history, so only changes of current rows are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.log.event_rows import Change
from binlog_kaitai.render.sql.changes import Group, Side
from binlog_kaitai.values.schema import Column, Schema

#: The ends of current rows: the last second in 31 bits, in 32 bits (since 11.5), and for transactions.
_NOW = pa.array(["2038-01-19 03:14:07.999999", "2106-02-07 06:28:15.999999", "18446744073709551615"])


def row_end(schema: Schema) -> Column | None:
    """The column with the end of a row's period; None if a table is not versioned."""
    period = [column for column in schema.columns if column.is_row_period]
    return period[-1] if period else None


def without_history(group: Group, end: Column) -> Iterator[Group]:
    """The changes of current rows; those that end a row become deletes."""
    before = np.ones(len(group), dtype=np.bool_) if group.before is None else _is_current(group.before, end)
    after = np.ones(len(group), dtype=np.bool_) if group.after is None else _is_current(group.after, end)
    stays = np.flatnonzero(before & after)
    if len(stays):
        yield group.taken(stays)
    if group.change is Change.UPDATE:
        ends = np.flatnonzero(before & ~after)
        if len(ends):
            yield replace(group.taken(ends), change=Change.DELETE, after=None)


def _is_current(side: Side, end: Column) -> Any:
    if not side.has(end):
        return np.ones(len(side.values(end)), dtype=np.bool_)
    found = side.values(end).cast(pa.string())
    return pc.fill_null(pc.is_in(found, value_set=_NOW), False).to_numpy(zero_copy_only=False)
