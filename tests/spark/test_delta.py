"""The pipeline into tables of Delta: each batch once.

Needs jars of Delta that fit the PySpark of this environment; Delta follows Spark by some months.

DELTA_JARS=delta-spark_2.13-4.4.0.jar,delta-storage-4.4.0.jar pytest -m delta
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import binlog_kaitai as bk
from tests.corpus_files import CORPUS

pytestmark = pytest.mark.delta

SOURCE = CORPUS / "mysql-5.6" / "rotate"


def run(lake: Path) -> str:
    jars = os.environ.get("DELTA_JARS")
    if not jars:
        pytest.skip("DELTA_JARS does not name the jars")
    command = [sys.executable, "-m", "binlog_kaitai", "pipeline", "--format", "delta", "--to", str(lake)]
    settings = ["--conf", f"spark.jars={jars}", "--master", "local[1]", "--batch-size", "4000"]
    done = subprocess.run([*command, *settings, str(SOURCE)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(table: Path) -> int:
    """The rows of a table by its log; nothing is ever removed from it."""
    logs = [json.loads(line) for path in table.glob("_delta_log/*.json") for line in path.open()]
    return sum(json.loads(one["add"]["stats"])["numRecords"] for one in logs if "add" in one)


def test_each_batch_is_appended_once(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert "changes/t.a" in run(lake)
    expected = bk.read_events(SOURCE).read_all().num_rows, bk.read_changes(SOURCE).read_all().num_rows
    assert (rows(lake / "events"), rows(lake / "changes" / "t.a")) == expected
    # As if it had been killed when the last batch was in the tables, and not yet decided.
    last = max((lake / "_pipeline" / "batches").iterdir())
    commits = lake / "_pipeline" / "checkpoint" / "commits"
    (commits / str(int(last.stem))).unlink()
    (commits / f".{int(last.stem)}.crc").unlink(missing_ok=True)
    last.unlink()
    assert f"batch {int(last.stem)}: " in run(lake)
    assert (rows(lake / "events"), rows(lake / "changes" / "t.a")) == expected
