"""The pipeline: everything new since the last run, each transaction once."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

import binlog_kaitai as bk
from binlog_kaitai.spark.pipeline import Job, Pipeline
from binlog_kaitai.spark.stream_options import Following
from tests.corpus_files import CORPUS
from tests.follow.logs import ROTATED, ends_of_transactions, grow
from tests.lake.test_lake import expected, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def run(spark: SparkSession, folder: Path, source: Path, **following: Any) -> list[dict[str, Any]]:
    """One complete run; returns the records of its batches."""
    batches: list[dict[str, Any]] = []
    pipeline = Pipeline(Job(Following((str(source),), **following), str(folder)), on_batch=batches.append)
    try:
        pipeline.start(spark).awaitTermination()
    finally:
        pipeline.close()
    return batches


def test_each_run_takes_what_is_new(spark: SparkSession, tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    third = logs / ROTATED[2].name
    for path in ROTATED[:2]:
        shutil.copy(path, logs)
    grow(ROTATED[2], third, 3000)
    whole = max(end for end in ends_of_transactions(ROTATED[2]) if end <= 3000)

    batches = run(spark, lake, logs, max_bytes=1500, split_size=500)
    count = len(batches)
    assert [batch["batch"] for batch in batches] == list(range(count))
    assert count > 2
    events = [bk.read_events(logs / path.name).read_all() for path in ROTATED[:3]]
    taken = pc.sum(pc.less_equal(events[2]["end_position"], whole)).as_py()
    assert sum(rows(lake / "events").values()) == events[0].num_rows + events[1].num_rows + taken
    ends = [piece["source"] for batch in batches for piece in batch["pieces"]]
    assert ends[-1]["end"] == whole

    assert not run(spark, lake, logs)
    for path in ROTATED[2:]:
        shutil.copy(path, logs)
    assert [batch["batch"] for batch in run(spark, lake, logs)] == [count]
    paths = [str(logs / path.name) for path in ROTATED]
    assert rows(lake / "transactions") == expected(paths)[1]
    # The flag of a file in use is as it was when the file was read.
    found = ds.dataset(lake / "events").to_table(columns=["file", "position", "info"]).to_pylist()
    read = bk.read_events(paths).read_all().select(["file", "position", "info"]).to_pylist()
    assert Counter(map(repr, found)) == Counter(map(repr, read))
    changes = bk.read_changes(paths, table="t.a").read_all()
    assert sum(rows(lake / "changes" / "t.a").values()) == changes.num_rows


def test_a_batch_that_was_decided_is_not_made_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    source = CORPUS / "mysql-5.6" / "rotate"
    run(spark, lake, source, max_bytes=4000)
    before = {path: path.stat().st_ino for path in lake.rglob("*.parquet") if "_pipeline" not in path.parts}
    # As if it had been killed before Spark noted the end of the batch.
    commits = (lake / "_pipeline" / "checkpoint" / "commits").glob("[0-9]*")
    last = max(commits, key=lambda path: int(path.name))
    last.unlink()
    (last.parent / f".{last.name}.crc").unlink(missing_ok=True)
    assert [batch["batch"] for batch in run(spark, lake, source)] == [int(last.name)]
    after = {path: path.stat().st_ino for path in lake.rglob("*.parquet") if "_pipeline" not in path.parts}
    assert after == before


@pytest.mark.thorough
def test_columns_that_change_and_types_that_spark_reads(spark: SparkSession, tmp_path: Path) -> None:
    source = CORPUS / "mysql-9.7" / "types_full"
    run(spark, tmp_path, source)
    for table in sorted((tmp_path / "changes").iterdir())[:4]:
        frame = spark.read.option("mergeSchema", "true").parquet(str(table))
        files = list(table.rglob("*.parquet"))
        assert frame.count() == sum(pq.read_metadata(path).num_rows for path in files)
        assert "log_date" in frame.columns


@pytest.mark.thorough
def test_damage_names_file_and_position(spark: SparkSession, tmp_path: Path) -> None:
    damaged = CORPUS / "damaged" / "mysql-9.7-flipped_bit"
    with pytest.raises(PySparkException, match=r"ChecksumError: .*binlog\.\d+, position \d+"):
        run(spark, tmp_path / "lake", damaged)
    lake = tmp_path / "lake"
    assert not [path for path in lake.rglob("*.parquet") if "_pipeline" not in path.parts]


@pytest.mark.thorough
def test_damage_is_a_table_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    data = bytearray(ROTATED[0].read_bytes())
    hit = bk.read_changes(ROTATED[0]).read_all().to_pylist()[0]["_position"]
    data[hit + 30] ^= 4
    (logs / ROTATED[0].name).write_bytes(data)
    for path in ROTATED[1:]:
        shutil.copy(path, logs)
    run(spark, lake, logs, max_bytes=900, mode="PERMISSIVE")
    damage = spark.read.parquet(str(lake / "damage")).collect()
    assert [(row["file"], row["from"]) for row in damage] == [(str(logs / ROTATED[0].name), hit)]
    paths = [str(path) for path in ROTATED]
    written = ds.dataset(lake / "events").to_table(columns=["file", "position"]).to_pylist()
    found, whole = (
        Counter((Path(row["file"]).name, row["position"]) for row in rows)
        for rows in (written, bk.read_events(paths).read_all().to_pylist())
    )
    assert whole - found == Counter({(ROTATED[0].name, hit): 1})
    assert not found - whole
    assert not run(spark, lake, logs, max_bytes=900, mode="PERMISSIVE")
