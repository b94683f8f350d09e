"""How many rows each rows event changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.table_maps import TableMaps
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import ROWS_TYPES

#: In place of a count that is not known.
UNKNOWN = -1

_ID = "table_id.value"


def row_counts(block: Block, kind: int, tables: TableMaps, fail: Callable[[int, BinlogError], object]) -> Any:
    """Rows of each rows event of a type, int64; an update counts once.

    UNKNOWN where the table map is missing, or the rows do not follow it: MariaDB's temporal columns from
    before 5.6 do not say there how long they are. `fail` gets the events that cannot be read.
    """
    rows = block.rows_of(kind)
    counts = np.full(len(rows), UNKNOWN, dtype=np.int64)
    if kind not in ROWS_TYPES or not len(rows):
        return counts
    ids = block.body(kind).numbers(_ID).astype(np.int64)
    for index, (row, table_id) in enumerate(zip(rows.tolist(), ids.tolist(), strict=True)):
        table_map = tables.table_map(row, table_id)
        event = block.event(row, table_map)
        try:
            body = event.body
        except BinlogError as error:
            fail(row, error)
            continue
        if table_map is not None and table_map.has_known_columns:
            counts[index] = _number_of_rows(body)
    return counts


def _number_of_rows(body: Any) -> int:
    try:
        return len(body.rows) if hasattr(body, "rows") else UNKNOWN
    except Exception:  # generated code on bytes that do not follow the table map, as in the gate
        return UNKNOWN
