"""The pipeline: everything new since the last run, each transaction once."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import SourceError
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.pipeline_reports import Reports
from binlog_kaitai.pipeline.progress import Progress, ProgressFiles
from binlog_kaitai.pipeline.spark_tasks import SparkTasks
from tests.corpus_files import CORPUS
from tests.follow.logs import ROTATED, ends_of_transactions, grow
from tests.lake.lakes import opened, rows, table
from tests.object_store import serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def run(spark: SparkSession, lake: Path, source: Path, **following: Any) -> list[Progress]:
    """One complete run; returns the progress of its batches."""
    batches: list[Progress] = []
    job = Job(Following((str(source),), **following), str(lake))
    Pipeline(job, on_progress=batches.append).run(SparkTasks(spark))
    return batches


def test_each_run_takes_what_is_new(spark: SparkSession, tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    third = logs / ROTATED[2].name
    for path in ROTATED[:2]:
        shutil.copy(path, logs)
    grow(ROTATED[2], third, 3000)
    whole = max(end for end in ends_of_transactions(ROTATED[2]) if end <= 3000)

    batches = run(spark, folder, logs, max_bytes=1500, split_size=500)
    count = len(batches)
    assert [batch.batch for batch in batches] == list(range(count))
    assert count > 2
    events = [bk.read_events(logs / path.name).read_all() for path in ROTATED[:3]]
    taken = pc.sum(pc.less_equal(events[2]["end_position"], whole)).as_py()
    expected = events[0].num_rows + events[1].num_rows + taken
    assert sum(batch.rows["events"] for batch in batches) == expected
    assert table(opened(folder), "events").num_rows == expected
    lake = opened(folder)
    assert lake.plan is not None
    assert lake.plan.end is not None
    assert (lake.plan.end["file"], lake.plan.end["position"]) == (str(third), whole)

    assert not run(spark, folder, logs)
    for path in ROTATED[2:]:
        shutil.copy(path, logs)
    assert [batch.batch for batch in run(spark, folder, logs)] == [count]
    paths = [str(logs / path.name) for path in ROTATED]
    # The flag of a file in use is as it was when the file was read.
    columns = ["file", "position", "info"]
    found = table(opened(folder), "events").select(columns)
    assert rows(found) == rows(bk.read_events(paths).read_all().select(columns))
    changes = bk.read_changes(paths, table="t.a").read_all()
    assert rows(table(opened(folder), "changes/t.a")) == rows(changes)


def test_interrupted_tasks_are_repeated(spark: SparkSession, tmp_path: Path) -> None:
    """As if the driver had been killed before it committed anything but the plan."""
    source = CORPUS / "mysql-5.6" / "rotate"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lake, "commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(spark, tmp_path, source, max_bytes=4000)
    first, *others = run(spark, tmp_path, source, max_bytes=4000)
    assert (first.batch, first.is_recovered) == (0, True)
    assert others
    assert rows(table(opened(tmp_path), "events")) == rows(bk.read_events(source).read_all())


@pytest.mark.thorough
def test_damage_names_file_and_position(spark: SparkSession, tmp_path: Path) -> None:
    damaged = CORPUS / "damaged" / "mysql-9.7-flipped_bit"
    with pytest.raises(SourceError, match=r"binlog\.\d+, position \d+"):
        run(spark, tmp_path / "lake", damaged)
    assert opened(tmp_path / "lake").tables.open("events") is None


@pytest.mark.thorough
def test_damage_is_a_table_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    data = bytearray(ROTATED[0].read_bytes())
    hit = bk.read_changes(ROTATED[0]).read_all().to_pylist()[0]["_position"]
    data[hit + 30] ^= 4
    (logs / ROTATED[0].name).write_bytes(data)
    for path in ROTATED[1:]:
        shutil.copy(path, logs)
    run(spark, folder, logs, max_bytes=900, mode="PERMISSIVE")
    damage = table(opened(folder), "damage").to_pylist()
    assert [(row["file"], row["from"]) for row in damage] == [(str(logs / ROTATED[0].name), hit)]
    paths = [str(path) for path in ROTATED]
    written = table(opened(folder), "events").to_pylist()
    found, whole = (
        Counter((Path(row["file"]).name, row["position"]) for row in rows)
        for rows in (written, bk.read_events(paths).read_all().to_pylist())
    )
    assert whole - found == Counter({(ROTATED[0].name, hit): 1})
    assert not found - whole
    assert not run(spark, folder, logs, max_bytes=900, mode="PERMISSIVE")


def test_a_lake_in_an_object_store(spark: SparkSession) -> None:
    """The tasks write there, too; workers that Spark has already started do not know the store."""
    with serving() as (_, port):
        url = (
            f"s3://somebody:secret@logs/spark?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
        )
        source = CORPUS / "mysql-5.6" / "rotate"
        batches: list[Progress] = []
        job = Job(Following((str(source),), max_bytes=4000), url)
        Pipeline(job, on_progress=batches.append).run(SparkTasks(spark))
        assert len(batches) > 2
        assert rows(table(opened(url), "events")) == rows(bk.read_events(source).read_all())


def test_credentials_reach_tasks_and_nothing_else(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, url = CORPUS / "mysql-5.6" / "rotate", "s3://logs/guarded-by-spark"
    secrets = {"AWS_ACCESS_KEY_ID": "key-of-the-lake", "AWS_SECRET_ACCESS_KEY": "secret-of-the-lake"}
    with serving() as (_, port):
        options = {**secrets, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        job = Job(Following((str(source),)), url, keeps_state=True, storage_options=options)
        files = tmp_path / "progress.json", tmp_path / "metrics.prom"
        reports = Reports(job, ProgressFiles(*files))
        pipeline = Pipeline(job, reports.take, reports.take_snapshot, reports.take_state)
        pipeline.run(SparkTasks(spark))
        assert rows(table(opened(url), "events")) == rows(bk.read_events(source).read_all())
    printed = capfd.readouterr()
    assert "batch 0: " in printed.out
    texts = [printed.out, printed.err, repr(job), repr(pipeline), *(file.read_text() for file in files)]
    assert all(texts[4:])
    assert not [text for text in texts for secret in secrets.values() if secret in text]
