"""A table for each column type, with keys of that type, some of which differ in their last digit only.

Each table has the key `k`, a nullable column `v` of the same type, and `x`, which an ALTER has added before
the last batch. The logs are of MySQL 9.7: three rows, an UPDATE, then a DELETE, the ALTER and another UPDATE.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

import binlog_kaitai as bk
from binlog_kaitai.lake.upkeep import compact
from tests.lake.lakes import opened, table
from tests.lake.test_state import run

LOGS = sorted((Path(__file__).parent / "logs").glob("typed-keys-mysql-9.7.*"))

TABLES = sorted({str(value) for value in bk.read_changes(LOGS).read_all()["table"].to_pylist()})

#: Counts the rows of a table that a reader finds by a value of a column; None for NULL.
Reader = Callable[[DeltaTable, str, Any, pa.DataType], int]


def lakes(folder: Path) -> Iterator[Path]:
    """The lake after the last batch, whose states were merged into compacted ones, and compacted again."""
    for count in range(1, len(LOGS) + 1):
        assert not run(folder, LOGS[:count], 1 << 20)
        if count == len(LOGS):
            yield folder
        list(compact(str(folder), target_size=1 << 30))
    yield folder


def misses(lake: Path, name: str, reader: Reader, columns: str = "kvwx") -> dict[str, tuple[int, int]]:
    """What a reader does not find as often as it is there, in a table of the lake."""
    rows, handle = table(opened(lake), name), DeltaTable(lake / name)
    wrong = {}
    for column in set(columns).intersection(rows.column_names):
        values = rows[column].to_pylist()
        for value, count in Counter(values).items():
            if (found := reader(handle, column, value, rows[column].type)) != count:
                wrong[f"{name}.{column}={value}"] = found, count
    return wrong
