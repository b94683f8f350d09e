"""Compaction and vacuum: readers find the same rows, and batches continue."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from binlog_kaitai.cli.app import app
from binlog_kaitai.lake import delta
from binlog_kaitai.lake.state_tables import Update
from binlog_kaitai.lake.storage import ConflictError
from binlog_kaitai.lake.upkeep import Upkeep, compact
from tests.follow.logs import ROTATED
from tests.lake.lakes import contents, fill, opened, rows, table


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["lake", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def files(lake: Path, name: str) -> int:
    return len(DeltaTable(str(lake / name)).file_uris())


def test_compaction_keeps_the_rows_and_the_place(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED[:2], 1500)
    before, count = contents(opened(tmp_path)), files(tmp_path, "events")
    assert count > 3
    planned = run("compact", str(tmp_path), "--dry-run")
    assert f"events: {count} files would be joined into 1\n" in planned
    assert run("compact", str(tmp_path), "--before", "2000-01-01") == "nothing to compact\n"
    assert files(tmp_path, "events") == count
    assert f"events: {count} files joined into 1\n" in run("compact", str(tmp_path))
    assert files(tmp_path, "events") == 1
    assert contents(opened(tmp_path)) == before
    fill(tmp_path, ROTATED, 1500)
    fill(tmp_path / "whole", ROTATED, 1500)
    assert contents(opened(tmp_path)) == contents(opened(tmp_path / "whole"))


def test_tables_without_partitions_are_of_no_earlier_date(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED, 1500, has_dates=False)
    before, count = contents(opened(tmp_path)), files(tmp_path, "events")
    assert run("compact", str(tmp_path), "--before", "2100-01-01") == "nothing to compact\n"
    assert f"events: {count} files joined into 1\n" in run("compact", str(tmp_path))
    assert contents(opened(tmp_path)) == before


def test_vacuum_removes_what_no_reader_needs(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED[:2], 1500, keeps_state=True)
    before = contents(opened(tmp_path))
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
    assert contents(opened(tmp_path)) == before
    assert run("vacuum", str(tmp_path)) == "nothing to remove\n"


def test_merges_and_compaction_go_on_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "whole", ROTATED, 1500, keeps_state=True)
    lake, conflicts, joined = tmp_path / "lake", [], Counter[str]()
    properties, update = delta._numbered, Update._run

    def compacting(application: str, batch: int, numbers: Any = None, **others: Any) -> Any:
        if numbers is not None:  # a state table was opened, and rows are about to be merged into it
            joined.update({one.table: one.files for one in compact(str(lake), target_size=1 << 20)})
        return properties(application, batch, numbers, **others)

    def counting(self: Update, *arguments: Any) -> None:
        try:
            update(self, *arguments)
        except ConflictError:
            conflicts.append(self.name)
            raise

    with monkeypatch.context() as patch:
        patch.setattr(delta, "_numbered", compacting)
        patch.setattr(Update, "_run", counting)
        fill(lake, ROTATED, 1500, keeps_state=True)
    assert conflicts
    assert joined["state/t.a"]
    assert files(lake, "state/t.a") < files(tmp_path / "whole", "state/t.a")
    state, whole = (rows(table(opened(one), "state/t.a")) for one in (lake, tmp_path / "whole"))
    assert state == whole


def test_a_table_that_is_compacted_while_it_is_overwritten_keeps_no_old_row(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED, 1500, keeps_state=True)
    before, private = rows(table(opened(tmp_path), "state/t.a")), opened(tmp_path).private
    old, joined = private.open("state/t.a"), list[Upkeep]()
    assert old is not None

    def new_rows() -> Iterator[pa.RecordBatch]:
        joining = Thread(target=lambda: joined.extend(compact(str(tmp_path), target_size=1 << 20)))
        joining.start()
        joining.join()
        yield from old.batches()

    reader = pa.RecordBatchReader.from_batches(pa.schema(list(old.columns.items())), new_rows())
    with pytest.raises(ConflictError):
        private.replace("state/t.a", old, reader, 1000, {"era": 0})
    assert "state/t.a" in [one.table for one in joined]
    assert rows(table(opened(tmp_path), "state/t.a")) == before


def test_compaction_leaves_a_table_that_changes_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, ROTATED, 1500, keeps_state=True)

    def conflict(*_: object, **__: object) -> None:
        raise ConflictError("changed")

    monkeypatch.setattr(delta.DeltaTable, "compact", conflict)
    assert "state/t.a: a pipeline changed it in the meantime; run again\n" in run("compact", str(tmp_path))


def test_a_folder_of_lakes_is_maintained_lake_by_lake(tmp_path: Path) -> None:
    fill(tmp_path / "db1", ROTATED[:2], 1500)
    fill(tmp_path / "db2", ROTATED, 1500)
    (tmp_path / "README").write_text("not a lake")
    counts = {name: files(tmp_path, f"{name}/events") for name in ("db1", "db2")}
    assert all(count > 1 for count in counts.values())
    done = run("compact", str(tmp_path))
    for name, count in counts.items():
        assert f"{name}/events: {count} files joined into 1\n" in done
        assert files(tmp_path, f"{name}/events") == 1


@pytest.mark.parametrize("command", ["compact", "vacuum"])
def test_only_a_lake_is_maintained(command: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["lake", command, str(tmp_path)])
    assert done.exit_code != 0
