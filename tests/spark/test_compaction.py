"""A compacted lake in Spark: the same changes and tables, and a pipeline that continues."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import binlog_kaitai as bk
from binlog_kaitai.lake.commits import Lake
from binlog_kaitai.lake.compaction import compact
from binlog_kaitai.lake.lineage import Lineage
from binlog_kaitai.spark.tables import LakeTables
from tests.follow.logs import ROTATED
from tests.lake.test_lake import expected, rows
from tests.spark.lakes import make_lake
from tests.spark.test_lake_renames import Server
from tests.spark.test_pipeline import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_tables_of_a_compacted_lake(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRUNCATE and renames depend on the batch of each row, and so does the order of changes of a key."""
    server = Server()
    server.insert(["id", "x"], 1, 10)
    server.run("TRUNCATE s.t")
    server.insert(["id", "x"], 1, 11)
    server.insert(["id", "x"], 2, 20)
    server.run("ALTER TABLE s.t RENAME COLUMN x TO y")
    for value in range(30, 36):
        server.insert(["id", "y"], 3, value)  # the last one counts
    lake = make_lake(tmp_path / "lake", [server.log.write(tmp_path / "binlog.000001")], 250)
    before = len(list(lake.folder.rglob("part-*")))

    def content() -> tuple[list[tuple[int, int]], list[str], list[str]]:
        tables = LakeTables(spark, lake)
        current = tables.current("s.t").select("id", "y").collect()
        plain = spark.read.option("mergeSchema", "true").parquet(str(lake.folder / "changes/s.t"))
        changes, rows_of_files = (
            sorted(map(str, frame.collect())) for frame in (tables.changes("s.t"), plain)
        )
        return sorted(map(tuple, current)), changes, rows_of_files

    (segment,) = Lineage.of(lake.records()).segments("s.t")
    assert segment.after is not None
    emptied_in = segment.after.batch

    def check_changes_since() -> None:
        tables = LakeTables(spark, lake)
        assert tables.changes_since("s.t", emptied_in - 1) is None
        for batch in (emptied_in, emptied_in + 3):
            files = [file for one in lake.records() if one["batch"] > batch for file in one["files"]]
            later = tables.changes_since("s.t", batch)
            assert later is not None
            assert later.count() == sum(file["rows"] for file in files if file["to"].startswith("changes/"))

    check_changes_since()
    found = content()
    assert found[0] == [(1, 11), (2, 20), (3, 35)]
    newest = lake.newest()
    assert newest is not None
    monkeypatch.setattr(Lake, "completed", lambda self: set(range(newest)))  # its file remains
    list(compact(lake.folder, min_files=2))
    assert len(list(lake.folder.rglob("part-*"))) < before
    assert content() == found
    check_changes_since()


def test_a_pipeline_continues_with_a_compacted_lake(spark: SparkSession, tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    shutil.copy(ROTATED[0], logs)
    count = len(run(spark, lake, logs, max_bytes=1500, split_size=500))
    assert list(compact(lake, min_files=2))
    for path in ROTATED[1:]:
        shutil.copy(path, logs)
    assert [one["batch"] for one in run(spark, lake, logs)] == [count]
    paths = [str(logs / path.name) for path in ROTATED]
    assert rows(lake / "transactions") == expected(paths)[1]
    changes = bk.read_changes(paths, table="t.a").read_all()
    assert sum(rows(lake / "changes" / "t.a").values()) == changes.num_rows
