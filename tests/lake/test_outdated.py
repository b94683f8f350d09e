"""A state table that is refused does not look current; tasks write files where the driver commits them."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import SourceError
from binlog_kaitai.lake import delta
from binlog_kaitai.lake.storage import ConflictError
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.pipeline_reports import Reports
from binlog_kaitai.pipeline.progress import ProgressFiles
from binlog_kaitai.pipeline.tasks import Result
from tests.lake.lakes import KINDS, OneByOne, catalog, opened, table
from tests.lake.table_log import TableLog

#: Statements that make the contents of a table unknown: as the driver sees, and as a task finds in its rows.
REFUSALS = {"driver": "DELETE FROM s.t WHERE a > 1", "task": "ALTER TABLE s.t MODIFY b SMALLINT UNSIGNED"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("who", REFUSALS)
def test_a_refused_state_is_said_wherever_someone_may_look(who: str, kind: str, tmp_path: Path) -> None:
    lake, lines, metrics = tmp_path / "lake", tmp_path / "lines", tmp_path / "metrics"

    def load(log: TableLog) -> Reports:
        job = Job(Following((str(log.write(tmp_path)),)), str(lake), keeps_state=True, format=kind)
        reports = Reports(job, ProgressFiles(lines, metrics))
        Pipeline(job, reports.take, on_state=reports.take_state).run(OneByOne())
        return reports

    def last() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(lines.read_text().splitlines()[-1])
        return found

    def description() -> str:
        if kind == "iceberg":
            return str(catalog(lake).load_table("s_state.t").properties.get("comment", ""))
        return DeltaTable(lake / "state/s.t").metadata().description or ""

    log = TableLog("ab", "a")
    log.run("CREATE TABLE s.t (a TINYINT PRIMARY KEY, b SMALLINT)")
    log.insert(1, 7)
    log.insert(2, 7)
    assert not load(log).outdated
    assert (last()["state_refused"], last()["warnings"], description()) == ({}, [], "")

    log.run(REFUSALS[who])
    log.insert(3, 7)
    assert load(log).outdated == {"state/s.t"}
    reason = last()["state_refused"]["s.t"]
    assert f"state/s.t: {reason}" in last()["warnings"]
    assert 'binlog_kaitai_pipeline_state_refused{table="s.t"} 1.0' in metrics.read_text()
    since = last()["state_refused_since"]["s.t"]
    (value,) = re.findall(r'_state_refused_timestamp_seconds{table="s.t"} (.+)', metrics.read_text())
    assert float(value) == datetime.fromisoformat(since).timestamp()
    assert description() == f"outdated: {reason}; since {since}"
    assert load(log).outdated == {"state/s.t"}  # a later run with nothing new says it again

    long_ago = f"outdated: another reason; since {since.replace('20', '19', 1)}"
    kept = opened(lake, kind).tables.open("state/s.t")
    assert kept is not None
    kept.describe(long_ago)
    log.insert(9, 7)
    assert load(log).outdated == {"state/s.t"}
    assert description() == f"outdated: {reason}; since {last()['state_refused_since']['s.t']}"
    assert last()["state_refused_since"]["s.t"][:2] == "19"

    log.run("TRUNCATE TABLE s.t")
    log.insert(4, 7)
    assert not load(log).outdated
    assert (last()["state_refused"], description()) == ({}, "")
    assert 'state_refused{table="s.t"}' not in metrics.read_text()


@pytest.mark.parametrize("who", REFUSALS)
@pytest.mark.parametrize(
    ("kind", "source"),
    [("delta", ""), ("delta", "db1"), pytest.param("iceberg", "", marks=pytest.mark.iceberg)],
)
def test_a_refused_state_without_rows_until_its_contents_are_known(
    who: str, kind: str, source: str, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"

    def load(log: TableLog, **options: Any) -> list[dict[str, Any]]:
        following = Following((str(log.write(tmp_path)),))
        of_source: dict[str, Any] = {"source": source, "is_shared": bool(source), "format": kind}
        Pipeline(Job(following, str(lake), keeps_state=True, **of_source, **options)).run(OneByOne())
        rows = table(opened(lake, kind, source), "state/s.t").select(["a", "b"]).to_pylist()
        return sorted(rows, key=lambda row: int(row["a"]))

    log = TableLog("ab", "a")
    log.run("CREATE TABLE s.t (a TINYINT PRIMARY KEY, b SMALLINT)")
    log.insert(1, 7)
    log.insert(2, 7)
    assert load(log) == [{"a": 1, "b": 7}, {"a": 2, "b": 7}]
    log.run(REFUSALS[who])
    log.insert(3, 7)
    assert len(load(log)) == 2
    log.insert(4, 7)
    assert load(log, drops_refused=True) == []
    if who == "task":  # rows from before the ALTER are gone
        log.delete(1, 7)
        log.delete(2, 7)
        assert load(log, drops_refused=True) == [{"a": 3, "b": 7}, {"a": 4, "b": 7}]
    log.run("TRUNCATE TABLE s.t")
    log.insert(5, 7)
    assert load(log, drops_refused=True) == [{"a": 5, "b": 7}]
    log.insert(6, 7)
    assert load(log) == [{"a": 5, "b": 7}, {"a": 6, "b": 7}]


def test_the_mark_of_one_source_stays_whatever_another_one_says(tmp_path: Path) -> None:
    lake, logs = tmp_path / "lake", {one: TableLog("ab", "a") for one in ("db1", "db2")}

    def load(source: str) -> str:
        (tmp_path / source).mkdir(exist_ok=True)
        following = Following((str(logs[source].write(tmp_path / source)),))
        Pipeline(Job(following, str(lake), keeps_state=True, source=source, is_shared=True)).run(OneByOne())
        return DeltaTable(lake / "state/s.t").metadata().description or ""

    for source, log in logs.items():
        log.insert(1, 7)
        assert load(source) == ""
    logs["db1"].run(REFUSALS["driver"])
    assert load("db1").startswith("outdated: db1: statements")
    logs["db2"].insert(2, 7)
    assert load("db2").startswith("outdated: db1: statements")
    logs["db2"].run(REFUSALS["driver"])
    both = load("db2").splitlines()
    assert [line[:13] for line in both] == ["outdated: db2", "outdated: db1"]
    logs["db1"].insert(3, 7)
    assert load("db1").splitlines() == both
    logs["db2"].run("TRUNCATE TABLE s.t")
    assert load("db2") == both[1]
    logs["db1"].run("TRUNCATE TABLE s.t")
    assert load("db1") == ""


@pytest.mark.parametrize("conflicts", [9, 10])
def test_a_table_that_cannot_be_marked_ends_the_run(
    conflicts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may change it first, so that the mark is set anew, but not for ever."""
    log, tries = TableLog("ab", "a"), iter(range(conflicts))
    log.insert(1, 7)
    job = Job(Following((str(log.write(tmp_path)),)), str(tmp_path / "lake"), keeps_state=True)
    Pipeline(job).run(OneByOne())
    log.run(REFUSALS["driver"])
    log.write(tmp_path)
    describe = delta.DeltaTable.describe

    def changed_first(self: delta.DeltaTable, text: str) -> None:
        if next(tries, None) is not None:
            raise ConflictError("changed")
        describe(self, text)

    monkeypatch.setattr(delta.DeltaTable, "describe", changed_first)
    if conflicts == 10:
        with pytest.raises(SourceError, match="changed"):
            Pipeline(job).run(OneByOne())
    Pipeline(job).run(OneByOne())
    assert (DeltaTable(tmp_path / "lake/state/s.t").metadata().description or "").startswith("outdated: ")


def test_a_run_that_leaves_a_refused_state_ends_with_3(tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 7)
    for statement, code in (("", 0), (REFUSALS["driver"], 3), ("TRUNCATE TABLE s.t", 0)):
        if statement:
            log.run(statement)
            log.insert(2, 7)
        options = ["--engine", "local", "--state", "--to", str(tmp_path / "lake")]
        done = CliRunner().invoke(app, ["pipeline", *options, str(log.write(tmp_path))])
        assert done.exit_code == code, done.output


class _Elsewhere(OneByOne):
    """Tasks of a machine with other folders: they have another current directory, and maybe other disks."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._patch = folder, monkeypatch

    def run(self, task: Any, inputs: Any) -> list[Result]:
        with self._patch.context() as patch:
            patch.chdir(self._folder)
            return super().run(task, inputs)


def test_tasks_write_where_the_driver_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "worker").mkdir()
    log = TableLog("ab", "a")
    log.insert(1, 7)
    job = Job(Following((str(log.write(tmp_path)),)), "lake", keeps_state=True)
    Pipeline(job).run(_Elsewhere(tmp_path / "worker", monkeypatch))
    assert not [*(tmp_path / "worker").iterdir()]
    assert DeltaTable(tmp_path / "lake/state/s.t").to_pyarrow_table().num_rows == 1


def test_files_that_the_driver_does_not_see_are_not_committed(tmp_path: Path) -> None:
    """Two machines have a folder of this name each."""

    class Others(OneByOne):
        def run(self, task: Any, inputs: Any) -> list[Result]:
            results: list[Any] = super().run(task, inputs)
            for file in (file for piece in results for file in piece.files):
                (tmp_path / "lake" / file.table / file.path).unlink()
            return results

    log = TableLog("ab", "a")
    log.insert(1, 7)
    job = Job(Following((str(log.write(tmp_path)),)), str(tmp_path / "lake"))
    with pytest.raises(SourceError, match="a task wrote a file that the driver does not see"):
        Pipeline(job).run(Others())
    assert not [*(tmp_path / "lake/changes").glob("**/_delta_log")]
    Pipeline(job).run(OneByOne())
    assert DeltaTable(tmp_path / "lake/changes/s.t").to_pyarrow_table().num_rows == 1
