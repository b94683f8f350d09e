"""The archive and its state, without a server: it continues correctly after any interruption."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import ConnectionLostError, ServerError, SourceError, UsageError
from binlog_kaitai.live import archive as archives
from binlog_kaitai.live import fetching
from binlog_kaitai.live.archive import Archive, ArchiveState, InUseError, SafePosition
from binlog_kaitai.sources import disk
from tests.corpus_files import case
from tests.live.fake_source import FakeFetch, Source
from tests.live.test_packets import FLAGS_AT, not_in_use

CASES = [
    ("mysql-9.7", "rotate"),
    ("mysql-9.7", "gtid_modes"),
    ("mysql-9.7", "payloads"),
    ("mysql-9.7", "no_checksum"),
    ("mysql-5.6", "rotate"),
    ("mariadb-11.8", "rotate"),
    ("mariadb-11.8", "domains"),
]


ANONYMOUS = "ANONYMOUS_GTID_LOG_EVENT"


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "pause_after", lambda failures: 0.0)


@pytest.fixture
def source() -> Source:
    return Source.of(case("mysql-9.7", "rotate").folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.0*"))}


def same(mine: dict[str, bytes], theirs: dict[str, bytes]) -> bool:
    """Whether logs are equal; the in-use flag of the newest may differ, as the server may have closed it."""
    return {name: not_in_use(data) for name, data in mine.items()} == {
        name: not_in_use(data) for name, data in theirs.items()
    }


@pytest.mark.parametrize("one", CASES, ids="/".join)
def test_logs_index_and_state(one: tuple[str, str], tmp_path: Path) -> None:
    source = Source.of(case(*one).folder)
    FakeFetch(source, tmp_path / "a").run()
    assert same(contents(tmp_path / "a"), source.logs)
    index = next((tmp_path / "a").glob("*.index"))
    assert index.read_text().split() == [f"./{name}" for name in sorted(source.logs)]
    place = json.loads((tmp_path / "a" / "fetch.json").read_text())["place"]
    newest = max(source.logs)
    assert (place["name"], place["position"]) == (newest, len(source.logs[newest]))
    assert len(list(bk.open(tmp_path / "a"))) == len(list(bk.open(case(*one).folder / "*.0*")))


@pytest.mark.parametrize("one", CASES, ids="/".join)
@pytest.mark.parametrize("seed", range(3))
def test_connections_that_break_anywhere(one: tuple[str, str], seed: int, tmp_path: Path) -> None:
    source, choose = Source.of(case(*one).folder), random.Random(seed)
    size = sum(map(len, source.logs.values()))
    tries = 0
    while True:
        source.breaks = [choose.randrange(200, size)]
        try:
            FakeFetch(source, tmp_path / "a", start="earliest").run()
            break
        except ConnectionLostError:
            tries += 1
            assert tries < 100
        mine = contents(tmp_path / "a")
        for name, data in mine.items():
            assert not_in_use(data) == not_in_use(source.logs[name])[: len(data)]
    assert same(contents(tmp_path / "a"), source.logs)


@pytest.mark.parametrize("seed", range(12))
def test_a_process_that_is_killed_anywhere(source: Source, seed: int, tmp_path: Path) -> None:
    """The newest log has any amount of data, or other bytes, after the recorded position."""
    choose = random.Random(seed)
    FakeFetch(source, tmp_path / "a").run()
    folder, names = tmp_path / "a", sorted(source.logs)
    name = choose.choice(names)
    for later in names[names.index(name) + 1 :]:
        (folder / later).unlink()
    offsets = [event.position for event in bk.open(source.logs[name]) if event.type == "GTID_LOG_EVENT"]
    position = choose.choice([0, *offsets])
    state = json.loads((folder / "fetch.json").read_text())
    state["place"] = {"name": name, "position": position, "again": max(4, position)}
    (folder / "fetch.json").write_text(json.dumps(state))
    size = choose.randrange(position, len(source.logs[name]))
    os.truncate(folder / name, size)
    if choose.random() < 0.5:
        with (folder / name).open("ab") as file:
            file.write(choose.choice((bytes(5000), choose.randbytes(300))))
    FakeFetch(source, folder).run()
    assert same(contents(folder), source.logs)
    asked = source.asked[-1]
    assert asked[0] == name
    if size - position > 4000 and position:
        assert asked[1] >= position  # whole transactions beyond what was safe have been kept


def test_whole_transactions_are_kept_and_the_last_one_is_compared(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "a").run()
    FakeFetch(source, tmp_path / "a").run()
    newest = max(source.logs)
    name, position = source.asked[-1]
    assert name == newest
    assert 4 <= position < len(source.logs[newest])


def test_a_server_that_was_reset_is_found_out(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "a").run()
    before = contents(tmp_path / "a")
    newest, position = source.asked[-1][0] or max(source.logs), len(before[max(source.logs)])
    data = bytearray(source.logs[max(source.logs)])
    data[position - 5] ^= 1
    source.logs[max(source.logs)] = bytes(data)
    with pytest.raises((ServerError, bk.ChecksumError)):
        FakeFetch(source, tmp_path / "a").run()
    assert contents(tmp_path / "a") == before
    assert newest


def types_of(data: bytes) -> set[str]:
    return {event.type for event in bk.open(data)}


def without_end(data: bytes, count: int) -> bytes:
    """A log without its last events."""
    return data[: [event.position for event in bk.open(data)][-count]]


@pytest.mark.parametrize("one", [("mysql-9.7", "rotate"), ("mariadb-11.8", "rotate")], ids="/".join)
def test_a_torn_log_is_passed_if_the_next_one_continues_it(one: tuple[str, str], tmp_path: Path) -> None:
    source = Source.of(case(*one).folder)
    first, second, *_ = sorted(source.logs)
    source.tears.add(first)
    whole, source.logs[first] = source.logs[first], without_end(source.logs[first], 1)
    found: list[str] = []
    FakeFetch(source, tmp_path / "a", report=lambda what, facts: found.append(what)).run()
    assert found.count("torn") == 1
    assert same(contents(tmp_path / "a"), source.logs)
    source.logs[first] = without_end(whole, 3)  # the last transaction is not complete any more
    with pytest.raises(ServerError, match=f"is torn: .*, which {second} continues, are missing"):
        FakeFetch(source, tmp_path / "b").run()
    source.logs = {first: source.logs[first]}
    with pytest.raises(ServerError, match=r"is torn: .* it is the server's newest"):
        FakeFetch(source, tmp_path / "c").run()


def test_without_gtids_a_torn_log_is_not_passed(tmp_path: Path) -> None:
    source = Source.of(case("mysql-9.7", "gtid_modes").folder)
    names = sorted(source.logs)
    torn = next(name for name in names if ANONYMOUS in types_of(source.logs[name]))
    second = names[names.index(torn) + 1]
    source.logs[torn] = without_end(source.logs[torn], 1)
    source.tears.add(torn)
    with pytest.raises(ServerError, match=f"nothing shows that {second} continues it"):
        FakeFetch(source, tmp_path / "a").run()


def test_another_server_is_refused(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "a").run()
    source.uuid = source.uuid.replace("6", "7")
    with pytest.raises(ServerError, match="another directory"):
        FakeFetch(source, tmp_path / "a").run()


def test_a_log_of_a_name_that_is_there_is_not_overwritten(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "a").run()
    newest = max(source.logs)
    later = newest[:-6] + f"{int(newest[-6:]) + 1:06}"
    (tmp_path / "a" / later).write_bytes(b"mine")
    source.logs[later] = source.logs[newest]
    with pytest.raises(ServerError, match="nothing is overwritten"):
        FakeFetch(source, tmp_path / "a").run()
    assert (tmp_path / "a" / later).read_bytes() == b"mine"


def test_a_log_being_fetched_counts_as_in_use(source: Source, tmp_path: Path) -> None:
    newest = max(source.logs)
    source.logs[newest] = source.logs[newest][: bk_position_of_last(source.logs[newest])]
    FakeFetch(source, tmp_path / "a").run()
    flags = {name: data[FLAGS_AT] for name, data in contents(tmp_path / "a").items()}
    assert flags.pop(newest) == 1
    assert set(flags.values()) <= {0}


def bk_position_of_last(data: bytes) -> int:
    return [event.position for event in bk.open(data)][-1]


def test_damage_on_the_wire_gets_nowhere(source: Source, tmp_path: Path) -> None:
    name = min(source.logs)
    data = bytearray(source.logs[name])
    data[len(data) // 2] ^= 0x10
    source.logs[name] = bytes(data)
    with pytest.raises(bk.DamagedError):
        FakeFetch(source, tmp_path / "a").run()
    mine = contents(tmp_path / "a")[name]
    assert len(mine) <= len(data) // 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "fetch.json").write_text("{"), "not the state"),
        (lambda folder: (folder / "fetch.json").unlink(), "fetch did not make it"),
        (lambda folder: os.truncate(sorted(folder.glob("*.0*"))[-1], 100), "damaged"),
    ],
)
def test_directories_that_are_no_archive(source: Source, tmp_path: Path, change: Any, words: str) -> None:
    FakeFetch(source, tmp_path / "a").run()
    change(tmp_path / "a")
    with pytest.raises(SourceError, match=words):
        FakeFetch(source, tmp_path / "a").run()


def test_one_at_a_time(source: Source, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a")
    with pytest.raises(SourceError, match="another fetch"):
        FakeFetch(source, tmp_path / "a").run()
    archive.close()
    FakeFetch(source, tmp_path / "a").run()


def test_a_file_system_without_locks_is_not_another_fetch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spool would wait for the other one to end."""

    def fail(number: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    with pytest.raises(SourceError, match="No locks available") as caught:
        Archive(tmp_path / "a")
    assert not isinstance(caught.value, InUseError)


def test_past_4_gib_the_log_comes_again_and_is_compared(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeFetch(source, tmp_path / "a").run()
    monkeypatch.setattr(fetching, "MAX_SHORT_POSITION", 100)
    FakeFetch(source, tmp_path / "a").run()
    assert source.asked[-1] == (max(source.logs), 4)
    assert same(contents(tmp_path / "a"), source.logs)


def test_metrics(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "a", metrics_file=tmp_path / "fetch.prom").run()
    lines = [line.split() for line in (tmp_path / "fetch.prom").read_text().splitlines() if line[0] != "#"]
    values = {name.removeprefix("binlog_kaitai_fetch_"): float(value) for name, value in lines}
    newest = max(source.logs)
    assert (values["log_number"], values["position_bytes"]) == (int(newest[-6:]), len(source.logs[newest]))
    assert values["bytes_total"] == sum(map(len, source.logs.values())) - 4 * len(source.logs)
    assert (values["caught_up"], values["connected"], values["lag_seconds"]) == (1, 0, 0)
    assert values["last_event_timestamp_seconds"] > 1.7e9


def test_metrics_need_a_package(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its absence is noticed before anything is fetched."""
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(UsageError, match=r'prometheus_client: pip install "prometheus-client>='):
        FakeFetch(source, tmp_path / "a", metrics_file=tmp_path / "fetch.prom")
    assert source.asked == []


@pytest.mark.parametrize("seed", range(4))
def test_a_disk_that_is_full(
    source: Source, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, choose = disk.write_at, random.Random(seed)
    room = choose.randrange(sum(map(len, source.logs.values())))

    def write_what_matches(file: int, data: Any, at: int) -> int:
        nonlocal room
        count = min(len(data), room)
        if not count:
            raise OSError(errno.ENOSPC, "No space left on device")
        room -= count
        return write(file, bytes(data[:count]), at)

    monkeypatch.setattr(archives, "write_at", write_what_matches)
    with pytest.raises(SourceError, match="No space left"):
        FakeFetch(source, tmp_path / "a").run()
    monkeypatch.setattr(archives, "write_at", write)
    FakeFetch(source, tmp_path / "a").run()
    assert same(contents(tmp_path / "a"), source.logs)


def test_bytes_count_once_their_sync_has_ended(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More is received during a sync, which then makes nothing safe but what was written before it began."""
    fsync, allowed = os.fsync, threading.Event()
    folder = tmp_path / "a"
    FakeFetch(source, folder).run()
    archive = Archive(folder)
    newest = archive.place
    assert newest is not None
    safe, later = (SafePosition(newest.name, newest.position + count, newest.position) for count in (10, 30))
    path = folder / newest.name
    with path.open("ab") as file:
        file.write(bytes(30))

    def sync_when_allowed(file: int) -> None:
        assert allowed.wait(30)
        fsync(file)

    monkeypatch.setattr(os, "fsync", sync_when_allowed)
    archive._complete = safe
    archive.begin_sync()
    archive._complete = later
    assert (archive.place, archive.is_synced) == (newest, False)
    assert ArchiveState.load(folder).place == newest  # type: ignore[union-attr]
    allowed.set()
    archive.settle()
    assert archive.place == ArchiveState.load(folder).place == safe  # type: ignore[union-attr]
    archive.sync()
    assert archive.place == later
    archive.close()


@pytest.mark.parametrize("how", ["sync", "begin_sync"])
def test_a_sync_that_fails_makes_nothing_safe(
    how: str, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems report a failed write once; the next sync of the same bytes succeeds without having them."""
    folder = tmp_path / "a"
    FakeFetch(source, folder).run()
    archive = Archive(folder)
    newest = archive.place
    assert newest is not None
    with (folder / newest.name).open("ab") as file:
        file.write(bytes(30))

    def fail(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    archive._complete = SafePosition(newest.name, newest.position + 30, newest.position)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(SourceError, match="Input/output error"):  # noqa: PT012
            getattr(archive, how)()
            archive.settle()
    archive.cut()
    assert archive.place == newest
    assert (folder / newest.name).stat().st_size == newest.position
    archive.close()
