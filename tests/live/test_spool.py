"""A spool, without a server: which readers keep logs, and what is removed."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from binlog_kaitai.errors import ConnectionLostError, SourceError, UsageError
from binlog_kaitai.following.log_headers import header_of
from binlog_kaitai.live import log_spool as spools
from binlog_kaitai.live.archive import Archive
from binlog_kaitai.live.fetching import TRIES
from binlog_kaitai.live.log_spool import LogSpool, default_folder
from tests.corpus_files import case
from tests.live.fake_source import FakeFetch, FakeSession, Source

URL = "mysql://repl@127.0.0.1:3306/"


@pytest.fixture
def source() -> Source:
    return Source.of(case("mysql-9.7", "rotate").folder)


def trim(spool: LogSpool) -> list[str]:
    """Remove logs that no reader needs; returns the remaining ones."""
    spool._trimmed_at = float("-inf")
    archive = Archive(spool.folder)
    spool._trim(archive)
    archive.close()
    left = sorted(path.name for path in spool.folder.glob("*.0*"))
    (index,) = spool.folder.glob("*.index")
    assert index.read_text().split() == [f"./{name}" for name in left]
    return left


def test_the_slowest_reader_holds_logs_back(source: Source, tmp_path: Path) -> None:
    spool = LogSpool(URL, tmp_path / "spool")
    assert spool.end() is None
    FakeFetch(source, spool.folder).run()
    names = sorted(source.logs)
    assert trim(spool) == names  # nobody has read anything
    spool.note("one", names[1])
    spool.note("two", names[2])
    left = (spool.folder / names[0]).read_bytes()
    assert trim(spool) == names[1:]
    # Left by a process that was killed after it wrote the index.
    (spool.folder / names[0]).write_bytes(left)
    assert trim(spool) == names[1:]
    spool.forget("one")
    assert trim(spool) == names[2:]
    FakeFetch(source, spool.folder).run()
    assert trim(spool) == names[2:]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_archives_and_spools_are_not_for_everybody(umask: int, source: Source, tmp_path: Path) -> None:
    """Logs, compressed or stored, index, state, readers and locks, under the umask that commands set."""
    before = os.umask(umask | 0o027)
    try:
        store = f"file://{tmp_path / 'store'}"
        FakeFetch(source, tmp_path / "archive", compresses=True, store=store).run()
        spool = LogSpool(URL, tmp_path / "spool")
        FakeFetch(source, spool.folder).run()
        spool.note("one", max(source.logs))
        trim(spool)
    finally:
        os.umask(before)
    modes: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for path in tmp_path.rglob("*"):
        modes[path.is_dir()][path.name] = stat.S_IMODE(path.stat().st_mode)
    assert (tmp_path / "store" / f"{min(source.logs)}.zst").exists()
    first, newest = f"{min(source.logs)}.zst", max(source.logs)
    assert {"fetch.json", "store.json", first, newest, "one"} <= modes[False].keys()
    assert set(modes[False].values()) == {0o640 & ~umask}
    assert set(modes[True].values()) == {0o750 & ~umask}


def test_a_reader_that_is_long_gone_holds_nothing_back(source: Source, tmp_path: Path) -> None:
    spool = LogSpool(URL, tmp_path / "spool")
    FakeFetch(source, spool.folder).run()
    names = sorted(source.logs)
    spool.note("gone", names[0])
    spool.note("here", names[1])
    then = time.time() - spools.READER_LIFETIME - 1
    os.utime(spool.folder / "readers" / "gone", (then, then))
    assert trim(spool) == names[1:]
    assert not (spool.folder / "readers" / "gone").exists()


def test_a_checkpoint_of_another_server_holds_everything_back(source: Source, tmp_path: Path) -> None:
    spool = LogSpool(URL, tmp_path / "spool")
    FakeFetch(source, spool.folder).run()
    names = sorted(source.logs)
    spool.note("one", names[2], 12345)  # a log of the same name
    assert trim(spool) == names
    spool.note("one", "other.000002", 12345)
    assert trim(spool) == names
    header = header_of(str(spool.folder / names[1]))
    assert header is not None
    spool.note("one", f"/elsewhere/{names[1]}", header.log_id)
    assert trim(spool) == names[1:]


def test_nothing_is_removed_from_an_archive(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "archive").run()
    spool = LogSpool(URL, tmp_path / "archive")
    spool.note("one", max(source.logs))
    assert trim(spool) == sorted(source.logs)


def test_only_what_is_on_disk_is_read(source: Source, tmp_path: Path) -> None:
    """The newest log has bytes that the state does not count."""
    FakeFetch(source, tmp_path / "spool").run()
    spool = LogSpool(URL, tmp_path / "spool")
    newest = max(source.logs)
    size = len(source.logs[newest])
    with (spool.folder / newest).open("ab") as file:
        file.write(b"more")
    path, position = spool.end() or ("", 0)
    assert (os.path.basename(path), position) == (newest, size)
    assert spool.reaches(newest, size)
    assert not spool.reaches(newest, size + 1)
    assert spool.reaches(min(source.logs), 1 << 40)


def test_a_directory_with_other_logs_is_refused(source: Source, tmp_path: Path) -> None:
    for name, data in source.logs.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match="choose another directory"):
        LogSpool(URL, tmp_path)


def test_a_connection_that_breaks_at_a_question(
    source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spool = LogSpool(URL, tmp_path / "spool")
    FakeFetch(source, spool.folder).run()
    monkeypatch.setattr(spools, "ServerSession", lambda address, replica: FakeSession(source))
    monkeypatch.setattr(spools, "pause_after", lambda failures: 0)
    source.breaks, source.asked = [0, 10, 20], []
    spool._check_start()
    assert source.asked == [("", 4)] * 4
    source.breaks = [10] * TRIES
    with pytest.raises(ConnectionLostError):
        spool._check_start()


def test_folders_of_servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    base = tmp_path / "binlog-kaitai" / "spool"
    assert default_folder(URL) == base / "127.0.0.1_3306"
    assert default_folder("mariadb://me:secret@db/?ssl-mode=REQUIRED") == base / "db_3306"
    assert default_folder("mysql://me@[::1]:3307/") == base / "1_3307"


def test_options_of_a_stream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from binlog_kaitai.spark.stream_options import parse_stream

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _, following = parse_stream({"path": URL})
    assert following.server == URL
    assert following.paths == (str(default_folder(URL)),)
    _, following = parse_stream({"path": URL, "spool": "here"})
    assert following.paths == (os.path.abspath("here"),)
    with pytest.raises(UsageError, match="a spool is for a server"):
        parse_stream({"path": "/var/lib/mysql", "spool": "here"})
    with pytest.raises(UsageError, match="together with other sources"):
        parse_stream({"paths": f'["{URL}", "/var/lib/mysql"]'})
