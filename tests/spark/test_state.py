"""The content of tables from their changes is what the server says is in them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.columns.lake import folder_name
from binlog_kaitai.ddl.saved import restore
from binlog_kaitai.errors import UsageError
from binlog_kaitai.follow import Follower
from binlog_kaitai.follow.read import source_of
from binlog_kaitai.lake.commits import Lake
from binlog_kaitai.lake.write import write_lake
from binlog_kaitai.spark.state import META, latest
from tests.corpus_files import CORPUS, Case
from tests.lake.test_lake import opened
from tests.rows.truth import OracleTable
from tests.spark.oracle import texts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

def make_lake(folder: Path, paths: list[Path]) -> Lake:
    """A lake of several batches and pieces, with dates as text."""
    lake = opened(folder)
    follower = Follower([str(path) for path in paths], follows_definitions=True, split_size=10000)
    mark, batch = follower.earliest(), 0
    while (end := follower.advance(mark, max_bytes=30000)) != mark:
        pieces = []
        for span in follower.spans(mark, end):
            staging = lake.new_staging()
            views = ["transactions", "changes"]
            definitions = restore(span.definitions)
            written = write_lake(
                source_of(span), staging, views=views, definitions=definitions, zero_dates="text"
            )
            upheavals = [vars(one) for one in span.upheavals]
            found: dict[str, Any] = {"files": written.files, "keys": written.keys}
            found |= {"partial": sorted(written.partial), "upheavals": upheavals, "staging": str(staging)}
            pieces.append(found)
        lake.commit(batch, pieces)
        mark, batch = end, batch + 1
    return lake


@pytest.mark.parametrize(
    ("case", "untold"), [("mysql-9.7/types_full", {}), ("mysql-9.7/ddl", {"t.p", "t.c"})], ids=str
)
def test_current_rows_are_the_servers(
    spark: SparkSession, case: str, untold: set[str], tmp_path: Path
) -> None:
    from binlog_kaitai.spark.tables import LakeTables

    found = Case(CORPUS / case)
    tables = LakeTables(spark, make_lake(tmp_path / "lake", list(found.logs)))
    oracle = {folder_name(one.name): one for one in map(OracleTable.of, found.tables())}
    # A table without any change has none at the end; t.p had partitions exchanged, t.c has a new column.
    assert not any(table.rows for name, table in oracle.items() if name not in tables.names())
    for name in oracle.keys() & set(tables.names()) - set(untold):
        assert texts_of(tables.current(name).collect(), oracle[name]) == Counter(oracle[name].rows), name
    if "t.p" in untold:
        with pytest.raises(UsageError, match="partitions"):
            tables.current("t.p")


def test_images_that_lack_columns_tell_no_content(spark: SparkSession, tmp_path: Path) -> None:
    from binlog_kaitai.spark.tables import LakeTables

    logs = Case(CORPUS / "mysql-9.7/types_minimal").logs
    with pytest.raises(UsageError, match="binlog_row_image"):
        LakeTables(spark, make_lake(tmp_path, list(logs))).current("t.ints")


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
    """Changes that go on from log 999999 to log 1000000."""
    rows, row = [], 0
    for at, (change, key, value) in enumerate(CHANGES):
        row += change != "update_postimage"
        file = "/logs/binlog.999999" if at < 6 else "/logs/binlog.1000000"
        time = datetime(2026, 1, 1, at, tzinfo=UTC)
        rows.append((change, time, file, 100, row, f"0-1-{at}", 1, time, key, value))
    types = ["string", "timestamp", "string", "long", "long", "string", "long", "timestamp", "int", "string"]
    names = (*META, "id", "the value`s")
    listed = ", ".join(
        f"`{name.replace('`', '``')}` {kind}" for name, kind in zip(names, types, strict=True)
    )
    return spark.createDataFrame(rows, listed)


@pytest.mark.parametrize("keys", [["id"], []], ids=["by keys", "by content"])
def test_latest_of_a_frame(spark: SparkSession, keys: list[str]) -> None:
    frame = changes(spark)
    found = latest(frame, keys)
    assert found.columns == ["id", "the value`s"]
    assert sorted(map(tuple, found.collect())) == [(1, "c"), (3, "b"), (4, "c")]
    early = latest(frame, keys, as_of=datetime(2026, 1, 1, 1, tzinfo=UTC))
    assert sorted(map(tuple, early.collect())) == [(1, "a"), (2, "b")]
    assert sorted(map(tuple, latest(frame, keys, as_of="0-1-7").collect())) == [(1, "c"), (3, "b")]


def test_rows_that_are_equal_are_counted(spark: SparkSession) -> None:
    frame = changes(spark)
    twice = frame.unionByName(frame.where("id = 3"))
    assert sorted(map(tuple, latest(twice).collect())) == [(1, "c"), (3, "b"), (3, "b"), (4, "c")]


def test_latest_says_what_is_wrong(spark: SparkSession) -> None:
    frame = changes(spark)
    with pytest.raises(UsageError, match="no column nr; the columns are id, the value"):
        latest(frame, ["nr"])
    with pytest.raises(UsageError, match="no change has the GTID"):
        latest(frame, ["id"], as_of="0-1-99")
