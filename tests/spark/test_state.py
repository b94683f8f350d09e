"""Table contents from their changes equal those reported by the server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.state import META, latest
from tests.corpus_files import CORPUS
from tests.spark.lakes import make_lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def test_a_table_as_of_any_transaction(spark: SparkSession, tmp_path: Path) -> None:
    from binlog_kaitai.spark.tables import LakeTables, State

    paths = sorted((CORPUS / "mysql-9.7/rotate").glob("binlog.0*"))
    lake = make_lake(tmp_path / "lake", paths)
    transactions = [
        row for path in paths for row in bk.read_transactions(path).read_all().to_pylist() if row["gtid"]
    ]
    counts, count = [], 0
    for row in transactions:
        count += (row["rows_inserted"] or 0) - (row["rows_deleted"] or 0)
        counts.append(count)
    for at in (3, len(counts) - 1):
        moment = LakeTables(spark, lake, transactions[at]["gtid"])
        assert moment.current("t.a").count() == counts[at]
    late = LakeTables(spark, lake, datetime(2100, 1, 1, tzinfo=UTC)).current("t.a")
    assert late.count() == counts[-1]
    for wrong in (datetime(1990, 1, 1, tzinfo=UTC), "6ccd780c-baba-1026-9564-5b8c656024db:1"):
        with pytest.raises(UsageError, match="no transaction"):
            LakeTables(spark, lake, wrong)
    state = State(lake)
    assert dict(state.refresh(LakeTables(spark, lake))) == {"t.a": counts[-1]}
    assert pq.read_table(lake.folder / "state" / "t.a").num_rows == counts[-1]
    assert not list(State(lake).refresh(LakeTables(spark, lake)))
    assert not list((lake.folder / "_pipeline" / "staging").iterdir())


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
