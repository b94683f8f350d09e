"""The recipe for a cluster in docs/spark.md, run unchanged, with executors that are killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import binlog_kaitai as bk
from tests.cluster.recipe import HOST, ROOT, TABLE, commands, replaced, same
from tests.cluster.standalone import LIFE, SPARK, Cluster, wait
from tests.lake.lakes import opened, table
from tests.object_store import serving

pytestmark = pytest.mark.cluster


def test_batch_and_stream_of_a_submitted_job(
    workplace: Path, cluster: Cluster, log: Path, expected: pa.Table, tmp_path: Path
) -> None:
    (workplace / "job.py").write_bytes(Path(__file__).with_name("job.py").read_bytes())
    here = {"spark-submit": str(SPARK / "bin/spark-submit"), HOST: cluster.master}
    line = replaced(commands("venv-pack")[-1], here)
    job = cluster.start("job", ["bash", "-c", f"{line} {log} {TABLE} {tmp_path}"], workplace)
    end_with_a_killed_executor(cluster, job, "job", (tmp_path / "first-task").exists)
    same(pq.read_table(tmp_path / "batch.parquet"), expected)
    same(pq.read_table(tmp_path / "stream"), expected)


def test_pipeline(workplace: Path, cluster: Cluster, log: Path, expected: pa.Table) -> None:
    lake = cluster.writable / "lake"
    job = start_pipeline(cluster, "pipeline", workplace, [log], str(lake))
    end_with_a_killed_executor(cluster, job, "pipeline", (lake / "events").exists)
    same(table(opened(lake), f"changes/{TABLE}"), expected)


def test_pipeline_to_an_object_store(
    workplace: Path, cluster: Cluster, log: Path, expected: pa.Table, tmp_path: Path
) -> None:
    """The machines have no credentials but those that tasks bring."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL")
    with serving() as (system, _):
        (tmp_path / "s3.toml").write_text("".join(f'{name} = "{os.environ[name]}"\n' for name in names))
        lake_options = f"s3://logs/lake --storage-options {tmp_path / 's3.toml'}"
        job = start_pipeline(cluster, "store", workplace, [log], lake_options)
        files = fs.FileSelector("logs/lake/events", allow_not_found=True)
        end_with_a_killed_executor(cluster, job, "store", lambda: bool(system.get_file_info(files)))
        lake = opened("s3://logs/lake")
        same(table(lake, f"changes/{TABLE}"), expected)
        assert table(lake, "events").num_rows == bk.read_events(log).read_all().num_rows


def start_pipeline(
    cluster: Cluster, name: str, workplace: Path, logs: list[Path], lake: str
) -> subprocess.Popen[bytes]:
    """Run the documented command; `lake`: the lake, with options."""
    here = {
        HOST: cluster.master,
        "/mnt/lake": f"{lake} --split-size 256k",
        "/mnt/logs/binlog.index": " ".join(map(str, logs)),
        "binlog-kaitai pipeline": f"{sys.executable} -m binlog_kaitai pipeline",
    }
    line = replaced(commands("--conf spark.archives")[-1], here)
    path = f"{ROOT}:{ROOT / 'generated'}:{SPARK.parent}"
    return cluster.start(name, ["bash", "-c", line], workplace, PYTHONPATH=path)


def end_with_a_killed_executor(
    cluster: Cluster, job: subprocess.Popen[bytes], name: str, has_begun: Callable[[], bool]
) -> None:
    """Wait for the end of a job, one of whose executors is killed once the job has begun to write."""
    before = cluster.executors()
    wait(f"{name} is in its midst", lambda: has_begun() or job.poll() is not None)
    assert job.poll() is None, cluster.log(name)
    cluster.kill_executor()
    assert job.wait(LIFE) == 0, cluster.log(name)
    assert cluster.executors() - before > 2, "no executor took the place of the one that was killed"
