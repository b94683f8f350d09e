"""The recipe for a cluster in docs/spark.md, run unchanged, with executors that are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cluster.recipe import HOST, ROOT, TABLE, commands, replaced, same
from tests.cluster.standalone import LIFE, SPARK, Cluster, wait
from tests.lake.lakes import opened, table

pytestmark = pytest.mark.cluster


def test_batch_and_stream_of_a_submitted_job(
    workplace: Path, cluster: Cluster, log: Path, expected: pa.Table, tmp_path: Path
) -> None:
    (workplace / "job.py").write_bytes(Path(__file__).with_name("job.py").read_bytes())
    here = {"spark-submit": str(SPARK / "bin/spark-submit"), HOST: cluster.master}
    line = replaced(commands("venv-pack")[-1], here)
    job = cluster.start("job", ["bash", "-c", f"{line} {log} {TABLE} {tmp_path}"], workplace)
    end_with_a_killed_executor(cluster, job, "job", tmp_path / "first-task")
    same(pq.read_table(tmp_path / "batch.parquet"), expected)
    same(pq.read_table(tmp_path / "stream"), expected)


def test_pipeline(workplace: Path, cluster: Cluster, log: Path, expected: pa.Table) -> None:
    lake = cluster.writable / "lake"
    here = {
        HOST: cluster.master,
        "/mnt/lake": f"{lake} --split-size 256k",
        "/mnt/logs/binlog.index": str(log),
        "binlog-kaitai pipeline": f"{sys.executable} -m binlog_kaitai pipeline",
    }
    line = replaced(commands("--conf spark.archives")[-1], here)
    path = f"{ROOT}:{ROOT / 'generated'}"
    job = cluster.start("pipeline", ["bash", "-c", line], workplace, PYTHONPATH=path)
    end_with_a_killed_executor(cluster, job, "pipeline", lake / "events")
    same(table(opened(lake), f"changes/{TABLE}"), expected)


def end_with_a_killed_executor(
    cluster: Cluster, job: subprocess.Popen[bytes], name: str, begun: Path
) -> None:
    """Wait for the end of a job, one of whose executors is killed when a path is there."""
    before = cluster.executors()
    wait(f"{name} is in its midst", lambda: begun.exists() or job.poll() is not None)
    assert job.poll() is None, cluster.log(name)
    cluster.kill_executor()
    assert job.wait(LIFE) == 0, cluster.log(name)
    assert cluster.executors() - before > 2, "no executor took the place of the one that was killed"
