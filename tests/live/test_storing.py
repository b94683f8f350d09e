"""Closed logs in an object store: complete, never overwritten, and read from there in order."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import ConnectionLostError, SourceError, UsageError
from binlog_kaitai.live import closed_logs, fetch, fetching
from binlog_kaitai.live.log_spool import LogSpool
from binlog_kaitai.sources import remote
from tests.corpus_files import case
from tests.live.fake_source import FakeFetch, Source
from tests.live.test_archive import same
from tests.live.test_eras import A, B, Session, Topology, begun, everything
from tests.live.test_packing import plain


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fetching, closed_logs):
        monkeypatch.setattr(module, "pause_after", lambda failures: 0.0)


@pytest.fixture
def source() -> Source:
    return Source.of(case("mysql-9.7", "rotate").folder)


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "store" / "db1"


def url(there: Path) -> str:
    return f"file://{there}"


def logs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.0*")}


def events(source: Any) -> list[tuple[int, bytes]]:
    return [(event.position, event.raw) for event in bk.open(source)]


def last(folder: Path) -> str:
    found: str = json.loads((folder / "store.json").read_text())["last"]
    return found


def test_closed_logs_are_stored_and_read_from_there(source: Source, tmp_path: Path, there: Path) -> None:
    reports: list[tuple[str, Any]] = []
    folder, *closed, newest = tmp_path / "a", *sorted(source.logs)
    FakeFetch(source, folder, store=url(there), report=lambda *found: reports.append(found)).run()
    assert logs(there) == {name: logs(folder)[name] for name in closed}
    assert last(folder) == closed[-1]
    stored = [facts for what, facts in reports if what == "stored"]
    assert stored == [{"log": name, "url": f"{url(there)}/{name}"} for name in closed]
    assert events(url(there)) == events([str(folder / name) for name in closed])
    assert events([url(there), str(folder / newest)]) == events(folder)
    assert not list(there.glob(".*"))


def test_local_copies_go_once_they_are_recorded(source: Source, tmp_path: Path, there: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "a"
    FakeFetch(source, whole).run()
    *_, kept, newest = sorted(source.logs)
    for count, left in ((1, {kept, newest}), (0, {newest})):
        FakeFetch(source, folder, store=url(there), keep_local=count).run()
        assert set(logs(folder)) == left
        assert [f"./{name}" for name in sorted(left)] == (folder / "binlog.index").read_text().split()
    assert events([url(there), str(folder)]) == events(whole)
    with pytest.raises(UsageError, match="--keep-local"):
        LogSpool("mysql://a/", folder)
    FakeFetch(source, folder, store=url(there)).run()
    assert same(logs(folder), {newest: source.logs[newest]})


def test_compressed_logs_are_stored_compressed(source: Source, tmp_path: Path, there: Path) -> None:
    closed = sorted(source.logs)[:-1]
    FakeFetch(source, tmp_path / "whole").run()
    FakeFetch(source, tmp_path / "a", compresses=True, store=url(there), keep_local=0).run()
    assert set(logs(there)) == {f"{name}.zst" for name in closed}
    assert {name: plain(there / f"{name}.zst") for name in closed} == {
        name: (tmp_path / "whole" / name).read_bytes() for name in closed
    }
    assert events([url(there), str(tmp_path / "a")]) == events(tmp_path / "whole")
    # Another directory finds the same logs there, though not as the same bytes.
    FakeFetch(source, tmp_path / "b", store=url(there)).run()
    assert set(logs(there)) == {f"{name}.zst" for name in closed}
    assert last(tmp_path / "b") == closed[-1]


def test_a_log_that_was_uploaded_and_not_recorded(source: Source, tmp_path: Path, there: Path) -> None:
    folder = tmp_path / "a"
    FakeFetch(source, folder, store=url(there)).run()
    before = logs(there)
    record = json.loads((folder / "store.json").read_text())
    (folder / "store.json").write_text(json.dumps(record | {"last": min(source.logs)}))
    FakeFetch(source, folder, store=url(there), keep_local=0).run()
    assert logs(there) == before
    assert set(logs(folder)) == {max(source.logs)}


def test_nothing_is_overwritten(source: Source, tmp_path: Path, there: Path) -> None:
    FakeFetch(source, tmp_path / "a", store=url(there)).run()
    first, second, *_ = sorted(source.logs)
    for name, content in ((first, b"else"), (f"{first}.zst", b"\x28\xb5\x2f\xfd broken")):
        (there / first).unlink(missing_ok=True)
        (there / name).write_bytes(content)
        (tmp_path / "a" / "store.json").unlink(missing_ok=True)
        with pytest.raises(
            SourceError, match=rf"{name}.* differs from .*{first}; nothing there is overwritten"
        ):
            FakeFetch(source, tmp_path / "a", store=url(there), keep_local=0).run()
        assert (there / name).read_bytes() == content
        assert second in logs(tmp_path / "a")
    elsewhere = there.with_name("db2")
    elsewhere.mkdir()
    (elsewhere / first).write_bytes(source.logs[first])
    (tmp_path / "a" / "store.json").unlink()
    with pytest.raises(SourceError, match=r"db2: has binlog.000001 in it, and no fetch.json"):
        FakeFetch(source, tmp_path / "a", store=url(elsewhere)).run()


def test_stores_that_are_not_of_this_archive(source: Source, tmp_path: Path, there: Path) -> None:
    FakeFetch(source, tmp_path / "a", store=url(there)).run()
    with pytest.raises(SourceError, match="logs are in file://"):
        FakeFetch(source, tmp_path / "a", store=url(there) + "2").run()
    source.uuid = source.uuid.replace("6", "7")
    with pytest.raises(SourceError, match="has the logs of another server"):
        FakeFetch(source, tmp_path / "b", store=url(there)).run()
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "spool.json").write_text("{}")
    with pytest.raises(UsageError, match="is a spool"):
        FakeFetch(source, tmp_path / "spool", store=url(there)).run()
    for options in ({"store": "/a/path"}, {"keep_local": 1}, {"store": url(there), "keep_local": -1}):
        with pytest.raises(UsageError, match="store"):
            fetch("mysql://a/", tmp_path / "c", **options)


def test_logs_whose_names_do_not_sort_in_their_order(tmp_path: Path, there: Path) -> None:
    (tmp_path / "a").mkdir()
    closed = closed_logs.ClosedLogs(tmp_path / "a", store=url(there))
    closed._stop.set()

    def add(*names: str) -> None:
        archive: Any = SimpleNamespace(folder=tmp_path / "a", names=(*names, "newest"))
        closed.add(archive)

    add("mysql-bin.000009")
    add("mysql-bin.000009", "mysql-bin.1000000")
    with pytest.raises(SourceError, match=r"binlog.000001 sorts before mysql-bin.1000000"):
        add("mysql-bin.1000000", "binlog.000001")
    closed.close()


class Failing:
    """A store whose calls fail now and then, before they do something or after."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
        self.left, self._place = failures, remote._place
        monkeypatch.setattr(remote, "_place", self.place)

    def place(self, url: str) -> Any:
        found = self._place(url)
        return found._replace(system=_FailingSystem(found.system, self))


class _FailingSystem:
    def __init__(self, system: Any, failing: Failing) -> None:
        self._system, self._failing = system, failing

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._system, name)
        if not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            result = found(*given, **named) if self._failing.left % 2 else None
            if self._failing.left > 0 and name != "delete_file":
                self._failing.left -= 1
                raise OSError(5, f"{name} failed")
            return found(*given, **named) if result is None else result

        return call


def test_a_store_that_fails(
    source: Source, tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, closed = tmp_path / "a", sorted(source.logs)[:-1]
    newest = max(source.logs)
    one = Source({min(source.logs): source.logs[min(source.logs)]})
    FakeFetch(one, folder, store=url(there)).run()  # from now on the store is known
    reports: list[str] = []
    failing = Failing(monkeypatch, 1 << 30)
    with pytest.raises(
        SourceError, match=rf"db1: .* failed; {len(closed)} logs, from {closed[0]} on, are not"
    ):
        FakeFetch(
            source, folder, store=url(there), keep_local=0, report=lambda what, _: reports.append(what)
        ).run()
    assert reports.count("store retry") >= 7
    assert same(logs(folder), source.logs)  # all the same
    assert newest in logs(folder)
    assert logs(there) == {}
    failing.left = 7  # one less than it gives up after
    metrics = tmp_path / "fetch.prom"
    FakeFetch(source, folder, store=url(there), keep_local=0, metrics_file=metrics).run()
    assert set(logs(folder)) == {newest}
    assert sorted(logs(there)) == closed
    assert "fetch_unstored_logs 0.0\n" in metrics.read_text()
    assert "fetch_store_failures_total 0.0\n" not in metrics.read_text()


def test_a_store_that_fails_does_not_hold_compression_up(
    source: Source, tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, (*closed, newest) = tmp_path / "a", sorted(source.logs)
    FakeFetch(Source({closed[0]: source.logs[closed[0]]}), folder, store=url(there)).run()
    failing = Failing(monkeypatch, 1 << 30)
    with pytest.raises(SourceError, match=rf"{len(closed)} logs, from {closed[0]} on, are not stored"):
        FakeFetch(source, folder, store=url(there), compresses=True).run()
    compressed = {f"{name}.zst" for name in closed}
    assert set(logs(folder)) == compressed | {newest}
    failing.left = 0
    FakeFetch(source, folder, store=url(there), compresses=True).run()
    assert set(logs(there)) == compressed


def test_the_last_attempt_to_store_waits_for_compression(
    source: Source, tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs rotate, and the archive ends, while a store that fails is asked for the first one."""
    asked, is_ending = threading.Event(), threading.Event()
    add, finish = closed_logs.ClosedLogs.add, closed_logs.ClosedLogs.finish

    def add_and_wait(logs: closed_logs.ClosedLogs, archive: Any) -> None:
        add(logs, archive)
        assert not logs._seen or asked.wait(10)

    def finish_meanwhile(logs: closed_logs.ClosedLogs, archive: Any) -> None:
        threading.Timer(0.2, is_ending.set).start()
        finish(logs, archive)

    def fail(store: object, log: str) -> str:
        asked.set()
        assert is_ending.wait(10)
        raise OSError("down")

    monkeypatch.setattr(closed_logs, "_TRIES", 1)
    monkeypatch.setattr(closed_logs._LogStore, "put", fail)
    monkeypatch.setattr(closed_logs.ClosedLogs, "add", add_and_wait)
    monkeypatch.setattr(closed_logs.ClosedLogs, "finish", finish_meanwhile)
    with pytest.raises(SourceError, match="down; 4 logs, from"):
        FakeFetch(source, tmp_path / "a", store=url(there), compresses=True).run()
    *closed, newest = sorted(source.logs)
    assert set(logs(tmp_path / "a")) == {*(f"{name}.zst" for name in closed), newest}


def test_a_new_store_has_to_be_there(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match=r"^nowhere://logs: .*(fsspec|Protocol)"):
        FakeFetch(source, tmp_path / "a", store="nowhere://logs").run()
    assert source.asked == []


def test_bytes_that_the_store_changes_do_not_stay(
    source: Source, tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, changed = remote.open_url, [False, True, True]

    def open_url(path: str) -> Any:
        file = read(path)
        if "binlog.0" in path and changed.pop():
            file.seek(0, 2)
        return file

    monkeypatch.setattr(remote, "open_url", open_url)
    one = Source({name: source.logs[name] for name in sorted(source.logs)[:2]})
    reports: list[Any] = []
    FakeFetch(one, tmp_path / "a", store=url(there), report=lambda *found: reports.append(found)).run()
    reasons = [facts["reason"] for what, facts in reports if what == "store retry"]
    assert reasons == ["the store returned other bytes than were written"] * 2
    assert same(logs(there), {min(one.logs): one.logs[min(one.logs)]})


def test_eras_are_one_series_in_the_store(source: Source, tmp_path: Path, there: Path) -> None:
    whole = source.logs
    one, two = sorted(whole)[:2]
    ends = [event.position for event in bk.open(whole[two]) if event.type == "GTID_LOG_EVENT"]
    first = Source({one: whole[one], two: whole[two][: ends[len(ends) // 2]]})
    second = Source({name.replace(".0000", ".0004"): data for name, data in whole.items()})
    second.uuid = first.uuid.replace("6", "7")
    folder = tmp_path / "a"
    options = {"store": url(there), "compresses": True, "keep_local": 1}
    topology = Topology(a=Session(first, everything(first)), b=Session(second, everything(second)))
    topology.fetch(folder, A, **options)
    topology.servers[A] = None
    topology.fetch(folder, A, B, **options)
    *closed, newest = sorted(second.logs)[1:]
    assert set(logs(there)) == {f"{one}.zst", f"{two}.zst"}
    assert set(logs(there / "era-1")) == {f"{name}.zst" for name in closed}
    assert last(folder) == f"era-1/{closed[-1]}"
    assert not logs(folder)
    assert set(logs(folder / "era-1")) == {f"{closed[-1]}.zst", newest}
    wanted = Counter(name for data in second.logs.values() for name in begun(bk.open(data)))
    wanted -= Counter(begun(bk.open(second.logs[newest])))
    assert Counter(begun(bk.open(url(there)))) == wanted
    assert Counter(begun(bk.open(f"{url(there)}/era-1"))) != wanted
    assert bk.stats(url(there)).totals["transactions"] == sum(wanted.values())
    topology.servers[B] = None
    with pytest.raises(ConnectionLostError):
        topology.fetch(folder, A, B, **options)
