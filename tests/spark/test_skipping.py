"""Logs that a filter on times or GTIDs leaves out, by their heads alone."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import datasource as ds

import binlog_kaitai as bk
from binlog_kaitai.columns.splits.split import LogFile
from binlog_kaitai.follow.heads import Head, read_head
from binlog_kaitai.gtids import GtidSet
from binlog_kaitai.spark import skipping
from binlog_kaitai.spark.batch import BinlogReader, PushingReader
from binlog_kaitai.spark.options import ReadOptions
from binlog_kaitai.spark.pushdown import Pushed
from binlog_kaitai.spark.source import view_schema
from tests.corpus_files import CORPUS, case
from tests.spark.test_planning import Counting, counted

__all__ = ["counted"]

DAY = 86400
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def files(monkeypatch: pytest.MonkeyPatch, *heads: Head | None) -> list[LogFile]:
    """Logs with these heads."""
    known = {f"binlog.{number:06}": head for number, head in enumerate(heads)}
    monkeypatch.setattr(skipping, "read_head", known.__getitem__)
    return [LogFile(name, 1000, 0.0) for name in known]


def head(day: float, gtids: str | None = None, first: float | None = None) -> Head:
    begun = int(BEGUN.timestamp() + day * DAY)
    start = begun if first is None else int(BEGUN.timestamp() + first * DAY)
    return Head(1, None if gtids is None else GtidSet.parse(gtids), False, begun, start)


def chosen(logs: list[LogFile], *filters: ds.Filter, **options: Any) -> list[int]:
    pushed = [Pushed.of(one, ("timestamp", "_commit_timestamp", "gtid")) for one in filters]
    found = skipping.logs_with_rows(logs, options, [one for one in pushed if one is not None])
    return [number for number, has_rows in enumerate(found) if has_rows]


def test_times_leave_out_logs_but_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = files(monkeypatch, *(head(day) for day in (0, 10, 20, 30)))
    late, early = BEGUN + timedelta(20.5), BEGUN + timedelta(9.5)
    assert chosen(logs, ds.GreaterThan(("timestamp",), late)) == [1, 2, 3]
    assert chosen(logs, ds.GreaterThan(("timestamp",), late + timedelta(1))) == [2, 3]
    assert chosen(logs, ds.LessThanOrEqual(("_commit_timestamp",), early)) == [0, 1]
    assert chosen(logs, ds.LessThan(("timestamp",), early - timedelta(1))) == [0]
    assert chosen(logs, ds.EqualTo(("timestamp",), BEGUN + timedelta(15))) == [1]
    assert chosen(logs, start_datetime=late + timedelta(1), stop_datetime=late + timedelta(2)) == [2]


def test_a_head_that_does_not_tell_leaves_out_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = files(monkeypatch, head(0), None, head(20))
    assert chosen(logs, ds.GreaterThan(("timestamp",), BEGUN + timedelta(19.5))) == [0, 1, 2]
    assert chosen(logs, ds.LessThan(("timestamp",), BEGUN - timedelta(2))) == [1]


def test_a_replica_that_lags_has_times_of_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = files(monkeypatch, head(50, first=0), head(60, first=10))
    assert chosen(logs, ds.LessThan(("timestamp",), BEGUN + timedelta(2))) == [0]


def test_gtids_leave_out_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "6ccd780c-baba-1026-9564-5b8c656024db"
    logs = files(monkeypatch, *(head(0, gtids) for gtids in ("", f"{source}:1-10", f"{source}:1-20")))
    assert chosen(logs, include_gtids=f"{source}:11") == [1]
    assert chosen(logs, include_gtids=f"{source}:10-11") == [0, 1]
    assert chosen(logs, include_gtids=f"{source}:900") == [2]
    assert chosen(logs, include_gtids="7ccd780c-baba-1026-9564-5b8c656024db:1") == [2]


def test_sets_that_do_not_rise_leave_out_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "6ccd780c-baba-1026-9564-5b8c656024db"
    for following in (None, f"{source}:1-5"):
        logs = files(monkeypatch, head(0, f"{source}:1-10"), head(1, following))
        assert chosen(logs, include_gtids=f"{source}:12") == [0, 1]


@pytest.mark.parametrize("name", ["mysql-9.7/rotate", "mariadb-11.8/rotate", "mariadb-10.5/rotate"])
@pytest.mark.parametrize("view", ["events", "transactions", "changes"])
def test_each_transaction_is_in_the_logs_that_are_left(name: str, view: str) -> None:
    """By pushing and by option."""
    folder = CORPUS / name
    column = "_gtid" if view == "changes" else "gtid"
    expected = {}
    for path in sorted(folder.glob("*.0*")):
        for row in bk.read_transactions(path).read_all().to_pylist():
            if row["gtid"]:
                expected[row["gtid"]] = str(path)
    counts = []
    for gtid, file in expected.items():
        plain = ReadOptions.parse({"path": str(folder), "view": view})
        reader = PushingReader(plain, view_schema(plain))
        assert not list(reader.pushFilters([ds.EqualTo((column,), gtid)]))
        found: list[Any] = list(reader.partitions())
        assert file in {one.split.file.path for one in found}
        counts.append(len(found))
        optioned = ReadOptions.parse({"path": str(folder), "view": view, "includeGtids": gtid})
        again: list[Any] = list(BinlogReader(optioned, view_schema(optioned)).partitions())
        assert [one.split for one in again] == [one.split for one in found]
    assert min(counts) == 1


def test_heads_are_little_to_read(tmp_path: Path, counted: type[Counting]) -> None:
    """A head is read up to its first transaction, and no log is read where no filter asks for it."""
    logs = case("mysql-9.7", "rotate").logs
    for number in range(20):
        log = tmp_path / f"binlog.{number:06}"
        shutil.copy(logs[0], log)
        with log.open("ab") as file:
            file.truncate(8 << 20)
    options = ReadOptions.parse({"path": str(tmp_path), "startDatetime": "2030-01-01"})
    counted.total = 0
    BinlogReader(options, view_schema(options)).partitions()
    assert 0 < counted.total < 2_000_000
    plain = ReadOptions.parse({"path": str(tmp_path)})
    reader = BinlogReader(plain, view_schema(plain))
    counted.total = 0
    reader.partitions()
    assert counted.total == 0


def test_a_head_tells_when_its_log_was_begun() -> None:
    for server in ("mysql-9.7", "mariadb-11.8", "mysql-5.6"):
        one = case(server, "rotate")
        for log in one.logs:
            events = one.oracle(log)
            found = read_head(str(log))
            assert found is not None
            assert found.begun == events[0].timestamp
            assert found.first in {0, *(event.timestamp for event in events)}
