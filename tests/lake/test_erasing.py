"""`lake erase`: rows of a person are gone from all files, and later runs go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake import delta
from binlog_kaitai.lake.upkeep import compact
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from tests.lake.lakes import OneByOne
from tests.lake.table_log import TableLog


def load(log: TableLog, folder: Path, source: str = "", size: int = 3) -> Path:
    """The changes and the state of a log, in many batches."""
    lake = folder / "lake"
    following = Following((str(log.write(folder)),), max_bytes=size)
    Pipeline(Job(following, str(lake), keeps_state=True, source=source, is_shared=bool(source))).run(
        OneByOne()
    )
    return lake


def erase(lake: Path, where: str, *options: str) -> Result:
    return CliRunner().invoke(app, ["lake", "erase", str(lake), "--table", "s.t", "--where", where, *options])


def rows(lake: Path, kind: str) -> list[tuple[Any, ...]]:
    found = DeltaTable(lake / kind / "s.t").to_pyarrow_table(columns=["a", "b"]).to_pylist()
    return sorted(tuple(row.values()) for row in found)


def values_in_files(lake: Path) -> set[Any]:
    """The values of `a` in all files of the tables, whether a version has them or not."""
    paths = [path for kind in ("changes", "state") for path in (lake / kind / "s.t").rglob("part-*.parquet")]
    return {value for path in paths for value in pq.ParquetFile(path).read(["a"])["a"].to_pylist()}


@pytest.fixture
def log() -> TableLog:
    log = TableLog("ab", "a")
    for number in range(1, 5):
        log.insert(number, 7)
    log.update((2, 7), (2, 8))
    log.update((3, 7), (9, 7))
    return log


def test_rows_are_gone_from_all_files_and_later_runs_go_on(log: TableLog, tmp_path: Path) -> None:
    lake = load(log, tmp_path)
    list(compact(str(lake), target_size=1 << 20))  # files of earlier versions have the rows, too
    planned = erase(lake, "a = 2", "--dry-run")
    assert "changes/s.t: 3 rows would be erased\n" in planned.output
    assert 2 in values_in_files(lake)
    in_flight = lake / "changes/s.t/part-0.parquet"
    in_flight.write_bytes(b"of a batch that is not committed yet")
    done = erase(lake, "a = 2")
    assert done.exit_code == 0
    assert "changes/s.t: 3 rows erased, " in done.output
    assert "state/s.t: 1 rows erased, " in done.output
    assert in_flight.exists()
    in_flight.unlink()
    assert values_in_files(lake) == {1, 3, 4, 9}
    assert rows(lake, "state") == [(1, 7), (4, 7), (9, 7)]
    assert "changes/s.t: 0 rows erased, 0 files removed\n" in erase(lake, "a = 2").output
    log.insert(5, 7)
    log.delete(1, 7)
    log.update((2, 8), (2, 9))  # what the server has is loaded as usual
    load(log, tmp_path)
    assert rows(lake, "state") == [(2, 9), (4, 7), (5, 7), (9, 7)]
    log.run("ALTER TABLE s.t DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)")
    log.alter("", "ab", "ab")
    log.delete(4, 7)
    load(log, tmp_path)  # written anew from all changes
    assert rows(lake, "state") == [(2, 9), (5, 7), (9, 7)]


@pytest.mark.parametrize(
    ("where", "left"),
    [("a IN (1, 9)", [(2, 8), (4, 7)]), ("B < 8 AND NOT a = 4", [(2, 8), (4, 7)]), ("b IS NULL", None)],
)
def test_conditions(where: str, left: list[Any] | None, log: TableLog, tmp_path: Path) -> None:
    lake = load(log, tmp_path, size=1 << 20)
    before = rows(lake, "state")
    assert erase(lake, where).exit_code == 0
    assert rows(lake, "state") == (before if left is None else left)


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("c = 1", "s.t has no column c; it has "),
        ("a = 'x'", "does not compare with"),
        ("a = ", "ends where a value is expected"),
        ("_change_type = 'INSERT'", "compare byte by byte, with BINARY"),
    ],
)
def test_a_condition_that_cannot_be_decided_erases_nothing(
    where: str, reason: str, log: TableLog, tmp_path: Path
) -> None:
    lake = load(log, tmp_path, size=1 << 20)
    before = rows(lake, "changes")
    done = erase(lake, where)
    assert isinstance(done.exception, UsageError)
    assert reason in str(done.exception)
    assert rows(lake, "changes") == before


def test_images_that_may_be_of_the_row(tmp_path: Path) -> None:
    log = TableLog("ab", "a", without="a")
    log.insert(1, 7)
    log.insert(2, 7)
    log.update((1, 7), (1, 8))
    lake = load(log, tmp_path)
    done = erase(lake, "a = 1")
    assert done.exit_code == 3
    assert "changes/s.t: 1 rows may be of them: images lack columns of the condition\n" in done.output
    assert rows(lake, "state") == [(2, 7)]


def test_values_of_an_earlier_type(log: TableLog, tmp_path: Path) -> None:
    log.run("CREATE TABLE s.u (a INT)")
    lake = load(log, tmp_path)
    table = DeltaTable(lake / "changes/s.t")
    from deltalake.schema import Field, PrimitiveType

    table.alter.add_columns([Field("b_", PrimitiveType("string"))])
    done = erase(lake, "b = 8")
    assert done.exit_code == 3
    assert "changes/s.t: older values are in b_; erase them by these columns\n" in done.output


def test_a_lake_of_several_sources(log: TableLog, tmp_path: Path) -> None:
    lake = load(log, tmp_path, "db1")
    load(log, tmp_path, "db2")
    assert len(rows(lake, "state")) == 8
    assert "changes/s.t: 6 rows erased" in erase(lake, "a = 2").output
    assert rows(lake, "state") == 2 * [(1, 7)] + 2 * [(4, 7)] + 2 * [(9, 7)]
    assert "changes/s.t: 1 rows erased" in erase(lake, "_source = BINARY 'db1' AND a = 1").output
    assert rows(lake, "state") == [(1, 7)] + 2 * [(4, 7)] + 2 * [(9, 7)]
    log.insert(5, 7)
    for source in ("db1", "db2"):
        load(log, tmp_path, source)
    assert rows(lake, "state") == [(1, 7)] + 2 * [(4, 7)] + 2 * [(5, 7)] + 2 * [(9, 7)]


def test_beside_a_pipeline(log: TableLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = load(log, tmp_path)
    rewrite, waiting = delta.DeltaTable.rewrite, [1, 2]

    def merged_meanwhile(self: delta.DeltaTable, *arguments: Any) -> None:
        if waiting:
            log.insert(10 + waiting.pop(), 7)
            load(log, tmp_path)
        rewrite(self, *arguments)

    monkeypatch.setattr(delta.DeltaTable, "rewrite", merged_meanwhile)
    assert erase(lake, "a = 2").exit_code == 0
    assert not waiting
    assert rows(lake, "state") == [(1, 7), (4, 7), (9, 7), (11, 7), (12, 7)]


def test_there_has_to_be_such_a_table(log: TableLog, tmp_path: Path) -> None:
    lake = load(log, tmp_path)
    done = CliRunner().invoke(app, ["lake", "erase", str(lake), "--table", "s.other", "--where", "a = 1"])
    assert isinstance(done.exception, UsageError)
    assert "has no table s.other" in str(done.exception)
