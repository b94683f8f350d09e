"""The recipes of docs/spark-merge.md, and the servers' contents of the tables that they fill."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import binlog_kaitai as bk
from tests.corpus_files import CORPUS, Case
from tests.rows.truth import OracleTable
from tests.spark.oracle import server_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROOT = Path(__file__).parents[2]

#: Logs of a workload that moves keys, deletes, alters, renames and truncates.
WORKLOAD = CORPUS / "mysql-9.7/workload"

#: The columns of its table at the end, as Spark has them.
COLUMNS = "id BIGINT, customer INT, status STRING, total DECIMAL(12, 2), remark STRING, weight DOUBLE"

#: Both names of a column that was renamed; older changes have it under the second.
RENAMED = '.withColumn("remark", coalesce("remark", "note"))'


def block(words: str) -> str:
    """The one block of Python in the document that has some words."""
    text = (ROOT / "docs/spark-merge.md").read_text()
    (found,) = (one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if words in one)
    return str(found)


def recipe(words: str, names: dict[str, str]) -> str:
    """A block with other names than the document's."""
    text = block(words)
    for written, here in names.items():
        assert written in text
        text = text.replace(written, here)
    return text


def of_server(
    table: str, folder: Path = WORKLOAD, columns: Sequence[str] = ()
) -> Counter[tuple[str | None, ...]]:
    """The rows that the server had at the end; only some columns, if any are given."""
    (found,) = (one for one in map(OracleTable.of, Case(folder).tables()) if one.name[1] == table)
    chosen = [at for at, one in enumerate(found.columns) if not columns or one.name in columns]
    return Counter(tuple(row[at] for at in chosen) for row in found.rows)


def of_lake(
    frame: DataFrame, table: str, folder: Path = WORKLOAD, columns: Sequence[str] = ()
) -> Counter[tuple[str | None, ...]]:
    """The rows of a table in the lake, as the server writes them."""
    (oracle,) = (one for one in map(OracleTable.of, Case(folder).tables()) if one.name[1] == table)
    chosen = [column for column in oracle.columns if not columns or column.name in columns]
    names = [column.name for column in chosen]
    assert sorted(frame.columns) == sorted(names)
    rows: list[Any] = frame.select(*names).collect()
    return Counter(tuple(map(server_text, row, chosen)) for row in rows)


class Emptied(NamedTuple):
    """How to read the changes of `orders` since the TRUNCATE: options, and the columns of all changes."""

    options: dict[str, str]
    schema: str

    @classmethod
    def of_workload(cls) -> Emptied:
        texts = bk.read_events(WORKLOAD, event_type="QUERY_EVENT").read_all().to_pylist()
        (event,) = (text for text in texts if "TRUNCATE TABLE orders" in text["info"])
        start = {"file": Path(event["file"]).name, "position": event["end_position"]}
        # The log names no columns, and nothing before the start is read.
        ddl = (
            "CREATE TABLE t.orders (id INT PRIMARY KEY, customer SMALLINT UNSIGNED, "
            "status ENUM('new', 'paid', 'sent'), total DECIMAL(10,2), placed DATETIME, note VARCHAR(40))"
        )
        options = {"startingOffsets": json.dumps(start), "ddl": ddl}
        return cls(options, f"_change_type STRING, _sequence STRING, note STRING, {COLUMNS}")
