"""An archive that continues at other servers: which of them is used, and how it is read as a whole."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import ConnectionLostError, ServerError, SourceError
from binlog_kaitai.live import fetching
from binlog_kaitai.live.archive import Archive
from binlog_kaitai.live.archive_eras import newest_era
from binlog_kaitai.live.log_spool import LogSpool
from binlog_kaitai.live.server_session import Server
from binlog_kaitai.log.gtid_runs import gtids as logged_gtids
from binlog_kaitai.sources.source import resolve
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.live.fake_source import FakeSession, Source
from tests.live.test_archive import contents, same

A, B = "mysql://a/", "mysql://b/"


class Session(FakeSession):
    """A server of a topology: what it has executed, and purged."""

    def __init__(self, source: Source, executed: str, purged: str = "") -> None:
        super().__init__(source)
        self.server = Server("9.7.4", source.uuid, 97, is_mariadb=False)
        self._executed, self._purged = executed, purged
        self.name = ""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Errors name the server, as those of a session do."""
        if isinstance(error, ServerError):
            error.at(file=self.name, position=None)

    def variable(self, name: str) -> str | None:
        return {"global.gtid_executed": self._executed, "global.gtid_purged": self._purged}.get(name)

    def log_after(self, gtids: GtidSet) -> str:
        """The last log whose previous GTIDs are in the set, as servers choose it."""
        logs = sorted(self._source.logs.items())
        return [name for name, data in logs if GtidSet.parse(before(data)) in gtids][-1]


def before(data: bytes) -> str:
    return str(logged_gtids(data) - GtidSet.parse(",".join(begun(bk.open(data)))))


def begun(events: Any) -> list[str]:
    return [event.gtid for event in events if event.type_code in GTID_TYPES and event.gtid]


class Topology:
    """The servers at two addresses; None for one that cannot be reached."""

    def __init__(self, **servers: Session | None) -> None:
        self.servers = {f"mysql://{name}/": server for name, server in servers.items()}

    def fetch(self, folder: Path, *names: str, **options: Any) -> list[str]:
        reports: list[str] = []
        addresses: Any = [type("Place", (), {"name": name})() for name in names]
        fetch = fetching.Fetch(addresses, folder, report=lambda what, _: reports.append(what), **options)
        fetch._session = self._session  # type: ignore[method-assign]
        fetch.run()
        return reports

    def _session(self, address: Any) -> Any:
        found = self.servers[address.name]
        if found is None:
            raise ConnectionLostError("no answer", file=address.name)
        found.name = address.name
        return found


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "pause_after", lambda failures: 0.0)


@pytest.fixture
def logs() -> dict[str, bytes]:
    return Source.of(case("mysql-9.7", "rotate").folder).logs


@pytest.fixture
def first(logs: dict[str, bytes]) -> Source:
    """A server that was lost in the middle of its second log."""
    one, two = sorted(logs)[:2]
    ends = [event.position for event in bk.open(logs[two]) if event.type_code in GTID_TYPES]
    return Source({one: logs[one], two: logs[two][: ends[len(ends) // 2]]})


@pytest.fixture
def second(logs: dict[str, bytes]) -> Source:
    """A replica, which logged the same and more, under names of its own."""
    found = Source({name.replace(".0000", ".0004"): data for name, data in logs.items()})
    found.uuid = found.uuid.replace("6", "7")
    return found


def everything(source: Source) -> str:
    return str(logged_gtids(list(source.logs.values())))


def test_an_archive_continues_where_it_was_lost(first: Source, second: Source, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    there, other = Session(first, everything(first)), Session(second, everything(second))
    Topology(a=there, b=other).fetch(folder, B, A)  # a new archive: the first that answers
    assert same(contents(folder), second.logs)
    folder = tmp_path / "b"
    Topology(a=there, b=other).fetch(folder, A)
    assert "failover" not in Topology(a=there, b=other).fetch(folder, B, A)  # it has its server
    reports = Topology(a=None, b=other).fetch(folder, A, B)
    assert reports.index("failover") == 3
    assert reports.count("retry") == 3
    assert same(contents(folder), first.logs)
    newer = sorted(second.logs)[1:]
    assert same(contents(folder / "era-1"), {name: second.logs[name] for name in newer})
    wanted = Counter(one for data in second.logs.values() for one in begun(bk.open(data)))
    changes = bk.read_changes(list(second.logs.values())).read_all().num_rows
    for _ in range(2):
        assert Counter(begun(bk.open(folder))) == wanted
        assert Counter(begun(bk.follow(folder, idle_timeout=0))) == wanted
        assert Counter(filter(None, bk.read_transactions(folder).read_all()["gtid"].to_pylist())) == wanted
        assert bk.read_changes(folder).read_all().num_rows == changes
        splits = plan(str(folder), 1000)
        assert sum(batch.num_rows for one in splits for batch in read_split(one)) == changes
        assert bk.stats(folder).totals["transactions"] == sum(wanted.values())
        Topology(a=None, b=other).fetch(folder, A, B)  # the era is resumed
        there = Session(first, everything(second))
        Topology(a=there, b=other).fetch(folder, A, B)  # and not left while its server is there
        assert not (folder / "era-2").exists()
    first.logs = {name: second.logs[name.replace(".0000", ".0004")] for name in first.logs}
    Topology(a=there, b=None).fetch(folder, A, B)  # back again
    assert (folder / "era-2").exists()
    assert Counter(begun(bk.open(folder))) == wanted


def test_a_server_that_does_not_continue_the_archive_is_refused(
    first: Source, second: Source, tmp_path: Path
) -> None:
    read = everything(first)
    Topology(a=Session(first, read)).fetch(tmp_path, A)
    uuid, _, last = read.partition(":")
    lags = Session(second, f"{uuid}:1-2")
    with pytest.raises(ConnectionLostError, match=rf"b/: the server lacks the transactions {uuid}:3,"):
        Topology(a=None, b=lags).fetch(tmp_path, A, B)
    with pytest.raises(ServerError, match="lacks the transactions") as caught:
        Topology(b=lags).fetch(tmp_path, B, B)
    assert not isinstance(caught.value, ConnectionLostError)  # nobody is left to wait for
    purged = Session(second, f"{uuid}:1-900", f"{uuid}:1-{int(last.rpartition('-')[2]) + 2}")
    with pytest.raises(ServerError, match=r"has purged the transactions .*, which were never read"):
        Topology(b=purged).fetch(tmp_path, B, B)
    with pytest.raises(ServerError, match="another directory"):
        Topology(b=Session(second, f"{uuid}:1-900")).fetch(tmp_path, B)
    assert not (tmp_path / "era-1").exists()


def test_a_spool_loses_the_logs_of_eras_that_were_read(first: Source, second: Source, tmp_path: Path) -> None:
    spool = LogSpool("mysql://a,b/", tmp_path / "spool")
    Topology(a=Session(first, everything(first))).fetch(spool.folder, A)
    last = max(first.logs)
    assert spool.reaches(last, len(first.logs[last]))
    other = Session(second, everything(second))
    Topology(a=None, b=other).fetch(spool.folder, A, B)
    newest = max(second.logs)
    assert spool.end() == (f"{spool.folder}/era-1/./{newest}", len(second.logs[newest]))
    assert spool.reaches(last, 1 << 40)  # an earlier era
    assert not spool.reaches(newest, len(second.logs[newest]) + 1, era=1)
    assert not spool.reaches(newest, 0, era=2)
    oldest, *_, kept = sorted(second.logs)[1:]
    for log, left in (
        (last, {last, *(f"era-1/{name}" for name in sorted(second.logs)[1:])}),
        (f"/elsewhere/era-1/./{oldest}", {f"era-1/{name}" for name in sorted(second.logs)[1:]}),
        (f"era-1/{kept}", {f"era-1/{name}" for name in sorted(second.logs) if name >= kept}),
    ):
        spool.note("one", log)
        assert trim(spool) == left
        paths = [log.path or "" for log in resolve(str(spool.folder))]
        assert {os.path.relpath(path, spool.folder) for path in paths} == left


def trim(spool: LogSpool) -> set[str]:
    spool._trimmed_at = float("-inf")
    archive = Archive(newest_era(spool.folder))
    spool._trim(archive)
    archive.close()
    return {str(path.relative_to(spool.folder)) for path in spool.folder.rglob("*.0*")}


def test_eras_are_locked_together(first: Source, second: Source, tmp_path: Path) -> None:
    Topology(a=Session(first, everything(first))).fetch(tmp_path, A)
    other = Session(second, everything(second))
    Topology(b=other).fetch(tmp_path, B, B)
    archive = Archive(tmp_path)
    with pytest.raises(SourceError, match="another fetch"):
        Topology(b=other).fetch(tmp_path, B)
    archive.close()
    Topology(b=other).fetch(tmp_path, B)
