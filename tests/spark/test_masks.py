"""Masked columns in Spark: batch, stream, Parquet and the lake; and what is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.progress import Progress
from binlog_kaitai.pipeline.spark_tasks import SparkTasks
from binlog_kaitai.rows.row_masks import Masks
from binlog_kaitai.spark import read, write_parquet
from binlog_kaitai.spark.reader_options import ReadOptions
from tests.corpus_files import case
from tests.lake.lakes import opened
from tests.lake.test_truth import changes_of, content

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGS = case("mysql-9.7", "rotate").logs


def digests(column: str) -> list[str]:
    rows = bk.read_changes(LOGS, table="t.a").read_all().to_pylist()
    return sorted(hashlib.sha256(str(row[column]).encode()).hexdigest() for row in rows)


@pytest.mark.spark
def test_batch_stream_and_parquet(spark: SparkSession, tmp_path: Path) -> None:
    rules = {"mask": "t.a.v=sha256", "excludeColumns": "t.a.id"}
    paths = [str(path) for path in LOGS]
    frame = read(spark, paths, table="t.a", **rules)
    assert [name for name in frame.columns if not name.startswith("_")] == ["v"]
    assert sorted(row["v"] for row in frame.select("v").collect()) == digests("v")
    write_parquet(spark, paths, tmp_path / "out", table="t.a", partition_by="v", **rules)
    assert sorted({path.parent.name for path in tmp_path.rglob("*.parquet")}) == sorted(
        {f"v={one}" for one in digests("v")}
    )
    stream = spark.readStream.format("binlog").options(table="t.a", **rules).load(str(LOGS[0].parent))
    writer = stream.writeStream.format("memory").queryName("masked").trigger(availableNow=True)
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    assert sorted(row["v"] for row in spark.table("masked").select("v").collect()) == digests("v")


@pytest.mark.spark
def test_a_lake_with_masks_and_other_names(spark: SparkSession, tmp_path: Path) -> None:
    """Its changes follow keys that are hashed, and each batch reports its progress."""
    rules = Rules.of(Masks.of(mask=["t.a.id|v=sha256"]), ["t=shop"])
    job = Job(Following(tuple(map(str, LOGS)), max_bytes=3000), str(tmp_path / "lake"), rules=rules)
    batches: list[Progress] = []
    Pipeline(job, on_progress=batches.append).run(SparkTasks(spark))
    lake = opened(tmp_path / "lake")
    assert lake.storage.names("changes") == ["shop.a"]
    tables = TableChanges(lake)
    keys = tables.lineage.keys["t", "a"]
    rows = [tuple(row.values()) for row in content(changes_of(tables, ("t", "a")), keys)]
    changes = bk.read_changes(LOGS, table="t.a").read_all().to_pylist()
    current: dict[Any, str] = {}
    for change in changes:
        current.pop(change["id"], None)
        if change["_change_type"] in ("insert", "update_postimage"):
            current[change["id"]] = change["v"]
    expected = {
        tuple(hashlib.sha256(str(value).encode()).hexdigest() for value in row) for row in current.items()
    }
    assert {*rows} == expected
    assert len(batches) > 1
    assert sum(one.rows["changes/shop.a"] for one in batches if "changes/shop.a" in one.rows) == len(changes)
    assert sum(batch.bytes for batch in batches) == sum(path.stat().st_size - 4 for path in LOGS)
    backlogs = [batch.backlog for batch in batches]
    assert [backlog.bytes for backlog in backlogs if backlog] == sorted(
        (backlog.bytes for backlog in backlogs if backlog), reverse=True
    )
    assert backlogs[-1] is not None
    assert backlogs[-1].bytes == 0
    assert "up to date" in batches[-1].line()
    assert json.loads(batches[0].as_json())["bytes_behind"] > 0
    with pytest.raises(UsageError, match=r"other renames|the lake has the mask"):
        Pipeline(Job(job.following, job.lake)).run(SparkTasks(spark))
    secrets = {str(change["v"]) for change in changes if len(str(change["v"])) > 5}
    for path in (tmp_path / "lake").rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            text = path.read_bytes().decode(errors="replace")
            assert not [secret for secret in secrets if secret in text], path
    events = ds.dataset(tmp_path / "lake" / "events").to_table().to_pylist()
    assert not [secret for secret in secrets if secret in str(events)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "changes", "table": "t.a", "mask": "t.a.v=null"}, "are for the changes of one table"),
        ({"excludeColumns": "t.a.v"}, "are for the changes of one table"),
        ({"table": "t.a", "mask": "t.b.v=null"}, r"t\.b\.v=null is not about columns of t\.a"),
        ({"table": "t.a", "mask": "t.a.v"}, "is not valid"),
    ],
)
def test_what_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ReadOptions.parse({"path": str(LOGS[0]), **options})


@pytest.mark.spark
def test_conditions_do_not_probe_masked_columns(spark: SparkSession) -> None:
    paths = [str(path) for path in LOGS]
    with pytest.raises(Exception, match="where refers to v, which is masked or left out"):
        read(spark, paths, table="t.a", mask="t.a.v=sha256", where=pc.field("v") == "first log").collect()
