"""Renamed columns and tables of a lake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.spark.tables import LakeTables
from tests.columns.log_maker import LogMaker, events_of, statement
from tests.columns.test_rows_hostile import row_event
from tests.corpus_files import case
from tests.extent import sample
from tests.grammar.row_bytes import field, table_map_bytes
from tests.spark.lakes import make_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The number of the list of names, and of the primary key, in a table map.
_COLUMN_NAME, _PRIMARY_KEY = 4, 8


class Server:
    """Writes rows of `s.t`, with its column names, and statements."""

    def __init__(self) -> None:
        self.layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
        self.log = LogMaker(self.layout)
        self.log.add_all(groups[0])

    def insert(self, names: list[str], *values: int) -> None:
        listed = b"".join(bytes([len(name)]) + name.encode() for name in names)
        optional = field(_COLUMN_NAME, listed) + field(_PRIMARY_KEY, b"\0")
        table_map = table_map_bytes([1] * len(names), optional=optional)
        head = bytes.fromhex("070000000000 0100 0200") + bytes([len(names), 0xFF])
        self.log.add(statement(b"BEGIN", self.layout))
        self.log.add(row_event(EventType.table_map_event, table_map))
        self.log.add(row_event(EventType.write_rows_event, head + b"\0" + bytes(values)))
        self.log.add(statement(None, self.layout))

    def run(self, text: str) -> None:
        self.log.add(statement(text.encode(), self.layout))


@pytest.mark.spark
@pytest.mark.parametrize("size", sample([250, 30000], 1))
def test_renamed_columns_are_one(spark: SparkSession, size: int, tmp_path: Path) -> None:
    server = Server()
    server.insert(["id", "x", "y"], 1, 10, 11)
    server.run("ALTER TABLE s.t RENAME COLUMN x TO y, RENAME COLUMN y TO x")
    server.insert(["id", "y", "x"], 2, 20, 21)
    server.run("ALTER TABLE s.t CHANGE id `key` TINYINT, RENAME COLUMN x TO z")
    server.insert(["key", "y", "z"], 3, 30, 31)
    server.run("ALTER TABLE s.t DROP COLUMN y")
    server.run("ALTER TABLE s.t RENAME COLUMN z TO y")
    server.insert(["key", "y"], 4, 41)
    lake = make_lake(tmp_path / "lake", [server.log.write(tmp_path / "binlog.000001")], size)
    tables = LakeTables(spark, lake)
    assert tables.names() == ["s.t"]
    assert tables.keys("s.t") == ["key"]
    found = {row["key"]: row for row in tables.changes("s.t").collect()}
    # `y_` was dropped; another column has its name now.
    assert {key: (row["y"], row["y_"]) for key, row in found.items()} == {
        1: (11, 10),
        2: (21, 20),
        3: (31, 30),
        4: (41, None),
    }
    assert sorted((row["key"], row["y"]) for row in tables.current("s.t").collect()) == [
        (1, 11),
        (2, 21),
        (3, 31),
        (4, 41),
    ]
