"""Logs that a filter on times or GTIDs skips, judging by their headers."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.following.log_headers import closed_at, header_of
from binlog_kaitai.sources.source import Source
from binlog_kaitai.spark import skipping
from binlog_kaitai.spark.batch import BinlogReader
from binlog_kaitai.spark.data_source import view_schema
from binlog_kaitai.spark.reader_options import ReadOptions
from tests.corpus_files import CORPUS, case, cases
from tests.extent import rounds, sample
from tests.spark.test_planning import Counting, counted

__all__ = ["counted"]

SERVERS = ("mysql-9.7", "mariadb-11.8", "mariadb-10.5")
DAY = 86400
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
SOURCE = "6ccd780c-baba-1026-9564-5b8c656024db"


def files(
    monkeypatch: pytest.MonkeyPatch, *headers: LogHeader | None, closed: list[int | None] | None = None
) -> list[Source]:
    """Logs with these headers; by default, each is closed when the next one is opened."""
    known = {f"binlog.{number:06}": head for number, head in enumerate(headers)}
    ends = [None if one is None else one.begun for one in (*headers[1:], None)]
    monkeypatch.setattr(skipping, "header_of", known.__getitem__)
    monkeypatch.setattr(skipping, "closed_at", dict(zip(known, ends, strict=True)).__getitem__)
    return [Source.of_path(name) for name in known]


def head(
    day: float,
    gtids: str | None = None,
    first: float | None = None,
    first_gtid: str | None = None,
    server_id: int = 1,
) -> LogHeader:
    begun = int(BEGUN.timestamp() + day * DAY)
    start = begun if first is None else int(BEGUN.timestamp() + first * DAY)
    previous = None if gtids is None else GtidSet.parse(gtids)
    return LogHeader(
        log_id=1, previous=previous, begun=begun, first=start, server_id=server_id, first_gtid=first_gtid
    )


def chosen(logs: list[Source], **options: Any) -> list[int]:
    return [number for number, has_rows in enumerate(skipping.logs_with_rows(logs, options)) if has_rows]


def test_times_leave_out_logs_but_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = files(monkeypatch, *(head(day) for day in (0, 10, 20, 30)))
    late, early = BEGUN + timedelta(20.5), BEGUN + timedelta(9.5)
    assert chosen(logs, start_datetime=late) == [1, 2, 3]
    assert chosen(logs, start_datetime=late + timedelta(1)) == [2, 3]
    assert chosen(logs, stop_datetime=early) == [0, 1]
    assert chosen(logs, stop_datetime=early - timedelta(1)) == [0]
    assert chosen(logs, start_datetime=late + timedelta(1), stop_datetime=late + timedelta(2)) == [2]


def test_a_log_that_says_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = files(monkeypatch, head(0), None, head(20))
    assert chosen(logs, start_datetime=BEGUN + timedelta(19.5)) == [0, 1, 2]
    assert chosen(logs, stop_datetime=BEGUN - timedelta(2)) == [1]


def test_a_replica_that_lags_has_times_of_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = files(monkeypatch, head(50, first=0), head(60, first=10))
    assert chosen(logs, stop_datetime=BEGUN + timedelta(2)) == [0]


def test_gtids_leave_out_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = (("", 1), (f"{SOURCE}:1-10", 11), (f"{SOURCE}:1-20", 21))
    logs = files(monkeypatch, *(head(0, gtids, first_gtid=f"{SOURCE}:{number}") for gtids, number in starts))
    assert chosen(logs, include_gtids=f"{SOURCE}:11") == [1]
    assert chosen(logs, include_gtids=f"{SOURCE}:10-11") == [0, 1]
    assert chosen(logs, include_gtids=f"{SOURCE}:900") == [2]
    assert chosen(logs, include_gtids="7ccd780c-baba-1026-9564-5b8c656024db:1") == [2]


@pytest.mark.parametrize(
    ("following", "server_id"),
    [(None, 1), (f"{SOURCE}:1-5", 1), (f"{SOURCE}:1-10", 1), (f"{SOURCE}:1-30", 2)],
    ids=["no GTIDs", "fewer GTIDs", "without the first transaction", "another server"],
)
def test_only_a_log_that_follows_says_what_is_in_another(
    monkeypatch: pytest.MonkeyPatch, following: str | None, server_id: int
) -> None:
    headers = head(0, f"{SOURCE}:1-10", first_gtid=f"{SOURCE}:11"), head(1, following, server_id=server_id)
    logs = files(monkeypatch, *headers)
    assert chosen(logs, include_gtids=f"{SOURCE}:40") == [0, 1]


def mixtures() -> list[tuple[str, list[Path]]]:
    """Logs of several servers, in any order."""
    rng = random.Random(7)
    found = []
    for number in range(rounds(12, 3)):
        logs = [path for one in rng.sample(cases(), 4) for path in one.logs]
        rng.shuffle(logs)
        found.append((str(number), logs[:12]))
    return found


def filters_of(logs: list[Path], rng: random.Random) -> Iterator[dict[str, str]]:
    """Filters on GTIDs and times that are in some of the logs."""
    rows = [row for path in logs for row in bk.read_transactions(path).read_all().to_pylist()]
    gtids = sorted({row["gtid"] for row in rows if row["gtid"]})
    for gtid in rng.sample(gtids, min(4, len(gtids))):
        yield {"includeGtids": gtid}
    times = sorted({row["start"] for row in rows})
    for name in ("startDatetime", "stopDatetime"):
        for time in (times[0], times[-1], rng.choice(times)):
            for days in (0, -2, 2):
                yield {name: (time + timedelta(days)).isoformat()}


@pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")
@pytest.mark.parametrize("logs", [logs for _, logs in mixtures()], ids=[name for name, _ in mixtures()])
def test_any_mixture_of_logs_gives_the_rows_that_a_filter_leaves_of_all(logs: list[Path]) -> None:
    for options in filters_of(logs, random.Random(str(logs[0]))):
        everything = {"paths": json.dumps([str(path) for path in logs]), **options}
        read = ReadOptions.parse(everything)
        reader = BinlogReader(read, view_schema(read))
        found = {one.number for one in reader.partitions()}  # type: ignore[attr-defined]
        for number, path in enumerate(logs):
            if number not in found:
                left = bk.read_events(path, **read.filters).read_all()
                assert not left.num_rows, (options, path)


@pytest.mark.parametrize(
    "name", sample(["mysql-9.7/rotate", "mariadb-11.8/rotate", "mariadb-10.5/rotate"], 2)
)
@pytest.mark.parametrize("view", ["events", "transactions", "changes"])
def test_each_transaction_is_in_the_logs_that_are_left(name: str, view: str) -> None:
    folder = CORPUS / name
    expected = {}
    for path in sorted(folder.glob("*.0*")):
        for row in bk.read_transactions(path).read_all().to_pylist():
            if row["gtid"]:
                expected[row["gtid"]] = str(path)
    counts = []
    for gtid, file in expected.items():
        read = ReadOptions.parse({"path": str(folder), "view": view, "includeGtids": gtid})
        found: list[Any] = list(BinlogReader(read, view_schema(read)).partitions())
        assert file in {one.source.path for one in found}
        counts.append(len(found))
    assert min(counts) == 1


def test_a_log_is_closed_when_its_last_event_was_written() -> None:
    for server in ("mysql-9.7", "mariadb-11.8", "mysql-5.6"):
        one = case(server, "rotate")
        for log in one.logs:
            assert closed_at(str(log)) == one.oracle(log)[-1].timestamp
    assert closed_at(str(case("mysql-9.7", "crash").logs[0])) is None


def test_reading_log_headers_reads_little(tmp_path: Path, counted: type[Counting]) -> None:
    """A header is read up to the first transaction, and only if a filter needs it."""
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


def test_a_log_header_has_the_time_when_the_log_was_begun() -> None:
    for server in ("mysql-9.7", "mariadb-11.8", "mysql-5.6"):
        one = case(server, "rotate")
        for log in one.logs:
            events = one.oracle(log)
            found = header_of(str(log))
            assert found is not None
            assert found.begun == events[0].timestamp
            assert found.first in {0, *(event.timestamp for event in events)}
