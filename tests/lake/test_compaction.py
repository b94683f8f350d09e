"""Compaction: readers find the same rows before and after, also if it was killed, and batches continue."""

from __future__ import annotations

import itertools
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import compaction
from binlog_kaitai.lake.commits import Lake
from binlog_kaitai.lake.compaction import compact
from binlog_kaitai.lake.origins import ORIGINS, origins_of
from binlog_kaitai.sources import disk
from binlog_kaitai.sources.disk import try_lock
from tests.corpus_files import CORPUS
from tests.lake.test_lake import KilledError, fill, opened, rows

LOGS = [str(path) for path in sorted((CORPUS / "mysql-9.7/rotate").glob("binlog.0*"))]

#: Small enough that every table has several files per batch or batches per file.
BATCH_SIZE = 900


@pytest.fixture(scope="module")
def lake_of_many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = opened(tmp_path_factory.mktemp("lakes") / "many")
    fill(lake, LOGS, BATCH_SIZE)
    lake.close()
    return lake.folder


@pytest.fixture
def folder(lake_of_many: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lake_of_many, tmp_path / "lake"))


def files(folder: Path) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*.parquet"))
    return sorted(path.as_posix() for path in found)


def all_rows(folder: Path) -> Counter[str]:
    return rows(folder)


def placed(folder: Path) -> list[tuple[str, int, int, str]]:
    """Every row with its table, batch and piece."""
    found = []
    for path in folder.rglob("*.parquet"):
        table = path.parents[1].relative_to(folder).as_posix()
        read = ds.dataset(path).to_table().to_pylist()
        origins = origins_of(path, pq.read_metadata(path))
        batches = [(one.batch, one.piece) for one in origins for _ in range(one.rows)]
        found += [(table, *place, repr(row)) for place, row in zip(batches, read, strict=True)]
    return sorted(found)


def test_all_readers_find_the_same(folder: Path) -> None:
    before, placed_rows, count = all_rows(folder), placed(folder), len(files(folder))
    tables = ["events", "transactions", "changes/t.a"]
    read = [ds.dataset(folder / table, partitioning="hive").to_table() for table in tables]
    planned = list(compact(folder, dry_run=True))
    assert len(files(folder)) == count
    assert list(compact(folder)) == planned
    assert sum(one.files - one.new_files for one in planned) == count - len(files(folder)) > 20
    assert len(files(folder)) == len(tables)
    assert all_rows(folder) == before
    assert placed(folder) == placed_rows
    for table, old in zip(tables, read, strict=True):
        # The footer's own entry is the only difference: even the rows are in the same order.
        new = ds.dataset(folder / table, partitioning="hive").to_table()
        assert new.schema.equals(old.schema)
        assert new.to_pylist() == old.to_pylist()
        assert set(new.schema.metadata or {}) <= {ORIGINS}
    assert not list(compact(folder))


def test_files_are_filled_up_to_the_target_size(folder: Path) -> None:
    before, placed_rows = all_rows(folder), placed(folder)
    list(compact(folder, target_size=16_000, min_files=2))
    assert len(files(folder)) > 3
    again = list(compact(folder, min_files=2))
    assert all_rows(folder) == before
    assert placed(folder) == placed_rows
    assert len(files(folder)) == 3 >= len(again) > 0


def test_files_with_other_columns_are_not_joined(tmp_path: Path) -> None:
    """And the first one by name stays so, since some readers take the columns from it."""
    lake, name = opened(tmp_path / "lake"), "changes/s.t/log_date=2026-11-20"
    for batch, columns in enumerate(("b", "a", "ab", "a", "a", "ab")):
        staging, table = lake.new_staging(), pa.table({column: [batch] for column in columns})
        (staging / name).mkdir(parents=True)
        pq.write_table(table, staging / name / "part.parquet")
        lake.commit(batch, [{"staging": str(staging), "files": {f"{name}/part.parquet": 1}}])
    (done,) = compact(lake.folder, min_files=2)
    assert (done.files, done.new_files, done.rows) == (5, 2, 5)
    found = [pq.ParquetFile(path).read() for path in sorted((lake.folder / name).iterdir())]
    assert [one.to_pydict() for one in found] == [{"b": [0]}, {"a": [1, 3, 4]}, {"a": [2, 5], "b": [2, 5]}]


#: Every call that changes something on disk, in the process of compaction.
STEPS: list[tuple[Any, str]] = [
    (compaction, "exchange"),
    (compaction, "sync"),
    (os, "link"),
    (shutil, "rmtree"),
    (Path, "mkdir"),
    (Path, "rename"),
    (Path, "rmdir"),
    (pq.ParquetWriter, "close"),
]


def killed_at(monkeypatch: pytest.MonkeyPatch, left: int) -> None:
    """From the given step on, none is done: a killed process does not clean up."""
    steps = itertools.count()

    def or_die(call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **more: Any) -> Any:
            if next(steps) >= left:
                raise KilledError
            return call(*given, **more)

        return step

    for owner, name in STEPS:
        monkeypatch.setattr(owner, name, or_die(getattr(owner, name)))


def test_killed_at_any_step(lake_of_many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(lake_of_many, tmp_path / "lake"))
    for view in ("events", "transactions"):
        shutil.rmtree(folder / view)
    kept = next((folder / "changes").rglob("part-*"))
    kept.rename(kept.with_name("others.parquet"))  # one that is linked
    before, counts, is_whole, left = all_rows(folder / "changes"), set(), False, 0
    while not is_whole:
        case = Path(shutil.copytree(folder, tmp_path / str(left)))
        with monkeypatch.context() as patch:
            killed_at(patch, left)
            try:
                list(compact(case, min_files=2))
                is_whole = True
            except KilledError:
                pass
        assert all_rows(case / "changes") == before
        counts.add(len(files(case / "changes")))
        if left % 2:
            opened(case).close()
        else:
            list(compact(case, min_files=2))
            assert len(files(case / "changes")) == 2
        assert not list((case / "_pipeline/compaction").glob("*"))
        assert all_rows(case / "changes") == before
        shutil.rmtree(case)
        left += 1
    assert left > 10
    assert len(counts) == 2


def test_batches_continue(lake_of_many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a batch that was killed while they were moved are left to the pipeline."""
    lake = opened(tmp_path / "lake")
    moved, rename = itertools.count(), Path.rename

    def rename_or_die(self: Path, target: Path) -> Path:
        if target.suffix == ".parquet" and next(moved) == 21:
            raise KilledError
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename_or_die)
        with pytest.raises(KilledError):
            fill(lake, LOGS, BATCH_SIZE)
    lake.close()
    newest = lake.newest()
    assert newest not in lake.completed()
    incomplete = [path for path in files(lake.folder) if f"part-{newest:08}-" in path]
    assert any(not path.startswith("_pipeline") for path in incomplete)
    assert list(compact(lake.folder, min_files=2))
    assert set(incomplete) <= set(files(lake.folder))
    lake = opened(tmp_path / "lake")
    fill(lake, LOGS, BATCH_SIZE)
    assert list(compact(lake.folder, min_files=2))
    fill(lake, LOGS, BATCH_SIZE)
    assert all_rows(lake.folder) == all_rows(lake_of_many)
    assert placed(lake.folder) == placed(lake_of_many)


def test_a_pipeline_may_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It adds no files while folders are exchanged, which they are not while it adds or reads files."""
    lake = opened(folder)
    lock, done = folder / "_pipeline/files.lock", []

    def is_locked() -> bool:
        number = try_lock(lock)
        if number is not None:
            os.close(number)
        return number is None

    exchange, rename = disk.exchange, Path.rename

    def checked_exchange(one: Path, other: Path) -> None:
        done.append(("exchange", is_locked()))
        exchange(one, other)

    def checked_rename(self: Path, target: Path) -> Path:
        if target.suffix == ".parquet":
            done.append(("rename", is_locked()))
        return rename(self, target)

    monkeypatch.setattr(compaction, "exchange", checked_exchange)
    list(compact(folder))
    # Only the first one is a trial.
    assert done == [("exchange", False), *[("exchange", True)] * 3]
    done.clear()
    monkeypatch.setattr(Path, "rename", checked_rename)
    staged = lake.new_staging() / "events/log_date=2026-11-20"
    staged.mkdir(parents=True)
    shutil.copy(next((folder / "events").rglob("*.parquet")), staged / "part.parquet")
    newest = lake.newest()
    assert newest is not None
    path = "events/log_date=2026-11-20/part.parquet"
    lake.commit(newest + 1, [{"staging": str(staged.parents[1]), "files": {path: 1}}])
    assert done == [("rename", True)]
    with lake.keeping_files():
        assert is_locked()
    assert not is_locked()


def test_a_reader_with_an_outdated_list_fails(folder: Path) -> None:
    data = ds.dataset(folder / "events")
    list(compact(folder))
    with pytest.raises(FileNotFoundError):
        data.to_table()


def test_one_compaction_at_a_time(folder: Path) -> None:
    with Lake(folder).compacting(), pytest.raises(UsageError, match="another process is compacting"):
        list(compact(folder))
    assert list(compact(folder))


def test_what_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is not a pipeline's lake"):
        list(compact(tmp_path))
    before = files(folder)

    def refuse(one: Path, other: Path) -> None:
        raise OSError(22, "Invalid argument")

    with monkeypatch.context() as patch:
        patch.setattr(compaction, "exchange", refuse)
        with pytest.raises(UsageError, match=r"needs a file system with .*: Invalid argument"):
            list(compact(folder))
    assert files(folder) == before
    record = max((folder / "_pipeline/batches").iterdir())
    for kind, tool in (("delta", "OPTIMIZE"), ("iceberg", "rewrite_data_files")):
        record.write_text(record.read_text().replace('"format": "parquet"', f'"format": "{kind}"'))
        with pytest.raises(UsageError, match=f"in {kind} format; use {tool}"):
            list(compact(folder))
        record.write_text(record.read_text().replace(f'"format": "{kind}"', '"format": "parquet"'))


def test_files_that_disappear_or_are_damaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    join = compaction._join
    path = next((folder / "events").rglob("*.parquet"))

    def join_and_remove(*given: Any) -> None:
        join(*given)
        path.unlink(missing_ok=True)

    with monkeypatch.context() as patch:
        patch.setattr(compaction, "_join", join_and_remove)
        with pytest.raises(SourceError, match="files disappeared"):
            list(compact(folder))
    assert not [one for one in files(folder) if "-to-" in one]
    path.write_bytes(b"PAR1")
    with pytest.raises(SourceError, match=r"part-.*cannot be read as Parquet"):
        list(compact(folder))


def test_the_command(folder: Path) -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["lake", "compact", str(folder), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    first, *_, last = run("--dry-run").splitlines()
    assert first.startswith("events/log_date=2026-11-20: 16 files (55 rows, ")
    assert first.endswith(" would be joined into 1")
    assert last == "30 files would be joined into 3"
    assert run("--before", "2026-11-20") == "nothing to compact\n"
    assert run("--before", "2026-11-21", "--target-size", "1g").splitlines()[-1] == "30 files joined into 3"
    assert run("--min-files", "2") == "nothing to compact\n"
