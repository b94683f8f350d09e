"""A pipeline joins small files between its batches: few files, the same rows, whatever comes between."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import SourceError
from binlog_kaitai.lake import delta, iceberg
from binlog_kaitai.lake import files as files_of_lakes
from binlog_kaitai.lake.batches import Lake, Piece
from binlog_kaitai.lake.delta import DeltaTable
from binlog_kaitai.lake.files import DataFile
from binlog_kaitai.lake.iceberg import IcebergTable
from binlog_kaitai.lake.storage import ConflictError
from binlog_kaitai.lake.upkeep import Tidying, compact
from tests.follow.logs import ROTATED
from tests.lake.lakes import KINDS, contents, fill, opened, rows, table
from tests.lake.table_log import TableLog

#: Bytes of a batch of one transaction.
_SMALL = 3


def busy_log(folder: Path, transactions: int) -> Path:
    """A log that inserts and updates rows of one table, and renames a column on the way."""
    log = TableLog("kv", "k")
    for number in range(transactions):
        if number == transactions // 2:
            log.alter("RENAME COLUMN v TO w", "kw", "k")
        if number % 2:
            log.update((number // 2, number % 100), (number // 2, 100))
        else:
            log.insert(number // 2, (number + 1) % 100)
    return log.write(folder)


def files(lake: Lake, name: str) -> int:
    stored = lake.tables.open(name)
    if isinstance(stored, DeltaTable):
        return len(stored.handle.file_uris())
    assert stored is not None
    return len([*stored.handle.scan().plan_files()])


def everything(folder: Path, kind: str) -> dict[str, Any]:
    lake = opened(folder, kind)
    found = [f"changes/{name}" for name in lake.storage.names("changes")]
    found += [f"state/{name}" for name in lake.storage.names("state")]
    return {name: rows(table(lake, name)) for name in found}


@pytest.mark.parametrize("kind", KINDS)
def test_many_small_batches_leave_few_files(kind: str, tmp_path: Path) -> None:
    number = 200 if kind == "delta" else 60  # Iceberg's commits take longer
    log, lake, whole = busy_log(tmp_path, number), tmp_path / "lake", tmp_path / "whole"
    options: dict[str, Any] = {"format": kind, "keeps_state": True, "views": ["changes"]}
    batches = fill(lake, [log], _SMALL, max_files=20, **options)
    assert len(batches) > number
    fill(whole, [log], **options)
    assert everything(lake, kind) == everything(whole, kind)
    assert sum(rows(table(opened(lake, kind), "changes/s.t")).values()) == number * 3 // 2
    for name in ("changes/s.t", "state/s.t"):
        assert files(opened(lake, kind), name) <= 21, name


@pytest.mark.iceberg
def test_iceberg_tables_say_that_their_rows_are_the_same(tmp_path: Path) -> None:
    """Streaming reads pass over snapshots of this kind."""
    fill(tmp_path / "lake", [busy_log(tmp_path, 10)], _SMALL, format="iceberg", max_files=4)
    stored = opened(tmp_path / "lake", "iceberg").tables.open("changes/s.t")
    assert stored is not None
    metadata: Any = stored.handle.metadata
    kinds = [one.summary.operation.value for one in metadata.snapshots]
    assert set(kinds) == {"append", "replace"}


@pytest.mark.parametrize("number", [0, 3])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pipeline_that_is_killed_while_it_joins_files_loses_nothing(
    kind: str, when: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the commit, when the new files are written, and after it."""
    log, lake = busy_log(tmp_path, 16), tmp_path / "lake"
    options: dict[str, Any] = {"format": kind, "keeps_state": True, "max_files": 3}
    where: Any = IcebergTable if kind == "iceberg" else DeltaTable
    written = (iceberg, "replace_files") if kind == "iceberg" else (delta, "written")
    place, name = written if when == "before" else (where, "compact")
    real, calls = getattr(place, name), itertools.count()

    def interrupted(*arguments: Any) -> Any:
        found = real(*arguments)
        if next(calls) == number:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(place, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            fill(lake, [log], _SMALL, **options)
    fill(lake, [log], _SMALL, **options)
    fill(tmp_path / "whole", [log], format=kind, keeps_state=True)
    assert everything(lake, kind) == everything(tmp_path / "whole", kind)
    assert contents(opened(lake, kind)) == contents(opened(tmp_path / "whole", kind))


@pytest.mark.parametrize("kind", KINDS)
def test_another_process_may_join_the_files_first(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, lake, conflicts = busy_log(tmp_path, 16), tmp_path / "lake", list[str]()
    where: Any = IcebergTable if kind == "iceberg" else DeltaTable
    real = where.compact

    def joined_by_another(self: Any, files: Any, partition: Any) -> None:
        other = opened(lake, kind)
        known = (other.private if self._name == "_lineage" else other.tables).open(self._name)
        real(known, files, partition)
        with pytest.raises(ConflictError):
            real(self, files, partition)
        conflicts.append(self._name)
        raise ConflictError("as it was")

    with monkeypatch.context() as patch:
        patch.setattr(where, "compact", joined_by_another)
        fill(lake, [log], _SMALL, format=kind, keeps_state=True, max_files=3)
    assert {"changes/s.t", "state/s.t", "events"} <= {*conflicts}
    fill(tmp_path / "whole", [log], format=kind, keeps_state=True)
    assert everything(lake, kind) == everything(tmp_path / "whole", kind)


def test_files_are_joined_while_others_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The joined files are committed again, not written again."""
    fill(tmp_path, ROTATED[:2], 1500)
    real, calls = files_of_lakes.written, list[str]()

    def filled(storage: Any, name: str, *others: Any) -> Any:
        calls.append(name)
        if len(calls) == 1:
            fill(tmp_path, ROTATED, 1500)
        return real(storage, name, *others)

    with monkeypatch.context() as patch:
        patch.setattr(delta, "written", filled)
        done = {one.table: one for one in compact(str(tmp_path), target_size=1 << 20)}
    assert calls.count("events") == 1
    assert done["events"].files > 1
    fill(tmp_path / "whole", ROTATED, 1500)
    assert contents(opened(tmp_path)) == contents(opened(tmp_path / "whole"))


def test_a_joined_state_keeps_the_limits_of_its_keys(tmp_path: Path) -> None:
    """By them, a merge leaves out files."""
    fill(tmp_path / "lake", [busy_log(tmp_path, 16)], _SMALL, keeps_state=True)
    (done,) = (
        one for one in compact(str(tmp_path / "lake"), target_size=1 << 20) if one.table == "state/s.t"
    )
    assert done.new_files == 1
    stored = opened(tmp_path / "lake").tables.open("state/s.t")
    assert isinstance(stored, DeltaTable)
    (file,) = pa.table(stored.handle.get_add_actions(flatten=True)).to_pylist()
    assert (file["min.k"], file["max.k"], file["null_count.k"]) == (0, 7, 0)


def test_what_fails_is_named_and_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise SourceError("access denied")

    monkeypatch.setattr(DeltaTable, "compact", fails)
    with pytest.warns(UserWarning, match="files are not joined or removed: access denied"):
        fill(tmp_path, ROTATED, 1500, max_files=3)
    monkeypatch.undo()
    fill(tmp_path / "whole", ROTATED, 1500)
    assert contents(opened(tmp_path)) == contents(opened(tmp_path / "whole"))


def test_files_that_no_version_of_the_last_week_has_are_removed_once_a_day(tmp_path: Path) -> None:
    fill(tmp_path, ROTATED, 1500, max_files=3)
    lake, before = opened(tmp_path), contents(opened(tmp_path))
    (partition,) = (tmp_path / "events").glob("log_date=*")
    joined = len([*partition.iterdir()])
    assert joined > files(lake, "events")

    def forgotten() -> Path:
        path = partition / "part-0.parquet"
        path.write_bytes(b"of a task that was killed")
        os.utime(path, (time.time() - 8 * 86400,) * 2)
        return path

    day = partition.name.partition("=")[2]
    pieces = [Piece("", 0, 0, files=[DataFile("events", "", day, 0, 0, pa.schema([]), {})])]
    path, tidying = forgotten(), Tidying(lake, 50, vacuums=True)
    tidying.after(pieces)
    assert not path.exists()
    assert len([*partition.iterdir()]) == joined  # some versions of the last week have them
    path = forgotten()
    tidying.after(pieces)
    assert path.exists()
    Tidying(lake, 50, vacuums=False).after(pieces)
    assert path.exists()
    assert contents(opened(tmp_path)) == before


def test_the_command_joins_files_unless_it_is_told_not_to(tmp_path: Path) -> None:
    def load(folder: Path, *options: str) -> int:
        begin = ["pipeline", "--engine", "local", "--batch-size", "1500", "--to", str(folder), *options]
        done = CliRunner().invoke(app, [*begin, *map(str, ROTATED)])
        assert done.exit_code == 0, done.output
        return files(opened(folder), "events")

    few, many = (
        load(tmp_path / "few", "--compact-files", "3"),
        load(tmp_path / "many", "--compact-files", "0"),
    )
    assert few <= 4 < many
    assert contents(opened(tmp_path / "few")) == contents(opened(tmp_path / "many"))
