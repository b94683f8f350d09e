"""The pipeline into Iceberg tables, started by a user; see also `tests.lake.test_iceberg`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import binlog_kaitai as bk
from tests.follow.logs import ROTATED
from tests.lake.test_iceberg import catalog

pytestmark = [pytest.mark.iceberg, pytest.mark.spark]


def run(lake: Path, logs: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "binlog_kaitai", "pipeline", "--to", str(lake), *options]
    settings = ["--master", "local[1]", "--batch-size", "4000"]
    return subprocess.run([*command, *settings, str(logs)], capture_output=True, text=True)


def test_each_run_adds_what_is_new(tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    for paths in (ROTATED[:2], ROTATED[2:]):
        for path in paths:
            shutil.copy(path, logs)
        done = run(lake, logs, "--format", "iceberg")
        assert done.returncode == 0, done.stderr
        assert "up to date" in done.stdout
        known = catalog(lake)
        events = bk.read_events(logs).read_all()
        assert known.load_table("binlog.events").scan().count() == events.num_rows
        found = known.load_table("t.a").scan().to_arrow()
        changes = bk.read_changes(logs, table="t.a").read_all()
        changes = changes.rename_columns({"_file": "_file_"})
        assert found.column_names == changes.column_names
        assert Counter(map(repr, found.to_pylist())) == Counter(map(repr, changes.to_pylist()))
    # As if it had been killed before Spark noted the end of the batch.
    commits = lake / "_pipeline" / "checkpoint" / "commits"
    last = max(commits.glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    (commits / f".{last.name}.crc").unlink(missing_ok=True)
    assert f"batch {last.name}: " in run(lake, logs, "--format", "iceberg").stdout
    assert catalog(lake).load_table("t.a").scan().count() == changes.num_rows
    done = run(lake, logs)
    assert done.returncode == 2
    assert "is a lake in iceberg format" in done.stderr
