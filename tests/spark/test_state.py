"""The contents of a table from a DataFrame of its changes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import coalesce

from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.state import META, latest
from tests.lake.table_log import TableLog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


CHANGES = [
    ("insert", 1, "a"), ("insert", 2, "b"), ("update_preimage", 1, "a"), ("update_postimage", 1, "c"),
    ("update_preimage", 2, "b"), ("update_postimage", 3, "b"), ("insert", 4, "c"), ("delete", 4, "c"),
    ("insert", 4, "c"),
]  # fmt: skip


def changes(spark: SparkSession) -> DataFrame:
    """Changes that continue from log 999999 to log 1000000."""
    rows, row = [], 0
    for at, (change, key, value) in enumerate(CHANGES):
        row += change != "update_postimage"
        file = "/logs/binlog.999999" if at < 6 else "/logs/binlog.1000000"
        time = datetime(2026, 1, 1, at, tzinfo=UTC)
        image = int(change in ("insert", "update_postimage"))
        sequence = f"10.{len(file) - 13}{file[13:]}.3100.{len(str(row))}{row}.{image}"
        rows.append((change, time, file, 100, row, f"0-1-{at}", 1, time, sequence, key, value))
    types = ["string", "timestamp", "string", "long", "long", "string", "long", "timestamp", "string"]
    types += ["int", "string"]
    names = (*META, "id", "the value`s")
    listed = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in zip(names, types, strict=True))
    return spark.createDataFrame(rows, listed)


@pytest.mark.thorough
@pytest.mark.parametrize("keys", [["id"], []], ids=["by keys", "by content"])
def test_latest_of_a_frame(spark: SparkSession, keys: list[str]) -> None:
    frame = changes(spark)
    found = latest(frame, keys)
    assert found.columns == ["id", "the value`s"]
    assert sorted(map(tuple, found.collect())) == [(1, "c"), (3, "b"), (4, "c")]
    early = latest(frame, keys, as_of=datetime(2026, 1, 1, 1, tzinfo=UTC))
    assert sorted(map(tuple, early.collect())) == [(1, "a"), (2, "b")]
    assert sorted(map(tuple, latest(frame, keys, as_of="0-1-7").collect())) == [(1, "c"), (3, "b")]
    of_snapshot = frame.replace("insert", "snapshot", ["_change_type"])
    assert sorted(map(tuple, latest(of_snapshot, keys).collect())) == [(1, "c"), (3, "b"), (4, "c")]


@pytest.mark.thorough
def test_rows_that_are_equal_are_counted(spark: SparkSession) -> None:
    frame = changes(spark)
    twice = frame.unionByName(frame.where("id = 3"))
    assert sorted(map(tuple, latest(twice).collect())) == [(1, "c"), (3, "b"), (3, "b"), (4, "c")]


def test_latest_says_what_is_wrong(spark: SparkSession) -> None:
    frame = changes(spark)
    with pytest.raises(UsageError, match="column nr not found; available: id, the value"):
        latest(frame, ["nr"])
    with pytest.raises(UsageError, match="no change has the GTID"):
        latest(frame, ["id"], as_of="0-1-99")


def test_a_key_that_was_replaced(spark: SparkSession, tmp_path: Path) -> None:
    log = TableLog("abc", "a")
    log.insert(1, 7, 0)
    log.insert(2, 7, 0)
    log.alter("RENAME COLUMN a TO d", "dbc", "d")
    log.delete(1, 7, 0)
    renamed = spark.read.format("binlog").option("table", "s.t").load(str(log.write(tmp_path)))
    assert latest(renamed.withColumn("d", coalesce("d", "a")).drop("a"), ["d"]).count() == 1
    log.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b)", "dbc", "b")
    log.insert(3, 8, 0)
    changes = spark.read.format("binlog").option("table", "s.t").load(str(log.write(tmp_path)))
    with pytest.raises(UsageError, match=r"s\.t: its primary key was d once, so b need not identify rows"):
        latest(changes, ["b"])
    log.run("TRUNCATE TABLE s.t")
    log.insert(4, 9, 0)
    changes = spark.read.format("binlog").option("table", "s.t").load(str(log.write(tmp_path)))
    assert latest(changes, ["b"]).select("d", "b").collect() == [(4, 9)]


def test_values_that_an_alter_converted(spark: SparkSession, tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.run("CREATE TABLE s.t (a TINYINT PRIMARY KEY, b SMALLINT)")
    log.alter("MODIFY b TINYINT", "ab", "a")
    log.insert(1, 7)
    changes = spark.read.format("binlog").option("table", "s.t").load(str(log.write(tmp_path)))
    assert latest(changes, ["a"]).count() == 1
    log.alter("MODIFY b TINYINT UNSIGNED", "ab", "a")
    changes = spark.read.format("binlog").option("table", "s.t").load(str(log.write(tmp_path)))
    with pytest.raises(UsageError, match=r"s\.t: an ALTER TABLE converts values of b"):
        latest(changes, ["a"])
