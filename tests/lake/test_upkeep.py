"""Compaction and vacuum: readers find the same rows, and batches continue."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from binlog_kaitai.cli.app import app
from tests.follow.logs import ROTATED
from tests.lake.lakes import fill, opened, rows, table


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["lake", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def files(lake: Path, name: str) -> int:
    return len(DeltaTable(str(lake / name)).file_uris())


def contents(lake: Path) -> dict[str, Counter[str]]:
    names = ("events", "transactions", "statements", "changes/t.a")
    return {name: rows(table(opened(lake), name)) for name in names}


def test_compaction_keeps_the_rows_and_the_place(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED[:2], 1500)
    before, count = contents(tmp_path), files(tmp_path, "events")
    assert count > 3
    planned = run("compact", str(tmp_path), "--dry-run")
    assert f"events: {count} files would be joined into 1\n" in planned
    assert run("compact", str(tmp_path), "--before", "2000-01-01") == "nothing to compact\n"
    assert files(tmp_path, "events") == count
    assert f"events: {count} files joined into 1\n" in run("compact", str(tmp_path))
    assert files(tmp_path, "events") == 1
    assert contents(tmp_path) == before
    fill(tmp_path, ROTATED, 1500)
    fill(tmp_path / "whole", ROTATED, 1500)
    assert contents(tmp_path) == contents(tmp_path / "whole")


def test_tables_without_partitions_are_of_no_earlier_date(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED, 1500, has_dates=False)
    before, count = contents(tmp_path), files(tmp_path, "events")
    assert run("compact", str(tmp_path), "--before", "2100-01-01") == "nothing to compact\n"
    assert f"events: {count} files joined into 1\n" in run("compact", str(tmp_path))
    assert contents(tmp_path) == before


def test_vacuum_removes_what_no_reader_needs(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED[:2], 1500, keeps_state=True)
    before = contents(tmp_path)
    (partition,) = (tmp_path / "events").glob("log_date=*")
    failed, recent = partition / "part-0.parquet", partition / "part-1.parquet"
    merged = tmp_path / "state/t.a/part-0.parquet"
    for path in (failed, recent, merged):
        path.write_bytes(b"of a task that was killed")
    week_ago = time.time() - 8 * 24 * 3600
    for path in (failed, merged):
        os.utime(path, (week_ago, week_ago))
    assert "events: 1 files would be removed\n" in run("vacuum", str(tmp_path), "--dry-run")
    assert failed.exists()
    removed = run("vacuum", str(tmp_path))
    assert "events: 1 files removed\n" in removed
    assert "state/t.a: 1 files removed\n" in removed
    assert not failed.exists()
    assert not merged.exists()
    assert recent.exists()  # a batch that is being written may have it
    assert contents(tmp_path) == before
    assert run("vacuum", str(tmp_path)) == "nothing to remove\n"


@pytest.mark.parametrize("command", ["compact", "vacuum"])
def test_only_a_lake_is_maintained(command: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["lake", command, str(tmp_path)])
    assert done.exit_code != 0
