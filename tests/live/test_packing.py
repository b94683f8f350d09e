"""Closed logs of an archive, compressed: readers get the same logs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import zstandard

import binlog_kaitai as bk
from binlog_kaitai.errors import ServerError, SourceError
from binlog_kaitai.live import closed_logs
from binlog_kaitai.sources.packed import seek_table
from tests.corpus_files import case
from tests.live.fake_source import FakeFetch, Source


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setattr(closed_logs, "_FRAME", 300)
    return Source.of(case("mysql-9.7", "rotate").folder)


def logs(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("binlog.0"))


def plain(path: Path) -> bytes:
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()


def test_closed_logs_are_compressed(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "plain").run()
    FakeFetch(source, tmp_path / "a", compresses=True).run()
    *closed, newest = sorted(source.logs)
    assert logs(tmp_path / "a") == [*(f"{name}.zst" for name in closed), newest]
    for name in closed:
        path = tmp_path / "a" / f"{name}.zst"
        assert plain(path) == (tmp_path / "plain" / name).read_bytes()
        assert path.stat().st_mode == (tmp_path / "plain" / name).stat().st_mode
        with path.open("rb") as file:
            frames, size = seek_table(file) or ([], 0)
        assert (len(frames), size) == (-(-len(source.logs[name]) // 300), len(source.logs[name]))
    index = "binlog.index"
    assert (tmp_path / "a" / index).read_text() == (tmp_path / "plain" / index).read_text()
    found = [[(one.position, one.raw) for one in bk.open(tmp_path / folder)] for folder in ("a", "plain")]
    assert found[0] == found[1]


def test_a_later_run_compresses_what_an_earlier_one_left(source: Source, tmp_path: Path) -> None:
    first, *later = sorted(source.logs)
    FakeFetch(Source({first: source.logs[first]}), tmp_path / "a", compresses=True).run()
    assert logs(tmp_path / "a") == [first]
    FakeFetch(source, tmp_path / "a").run()
    assert logs(tmp_path / "a") == [first, *later]
    # Of one the process was killed before it removed the log; of the others, while it wrote.
    data = (tmp_path / "a" / first).read_bytes()
    closed_logs.compress(tmp_path / "a" / first, threading.Event())
    (tmp_path / "a" / first).write_bytes(data)
    (tmp_path / "a" / f".{'0123456789abcdef'}.new").write_bytes(b"half")
    FakeFetch(source, tmp_path / "a", compresses=True).run()
    assert logs(tmp_path / "a") == [*(f"{name}.zst" for name in [first, *later][:-1]), later[-1]]
    assert plain(tmp_path / "a" / f"{first}.zst") == data
    assert not list((tmp_path / "a").glob(".*.new"))
    FakeFetch(source, tmp_path / "a", compresses=True).run()


def test_a_stopped_run_leaves_the_log(tmp_path: Path) -> None:
    log, stop = tmp_path / "binlog.000001", threading.Event()
    log.write_bytes(b"x")
    stop.set()
    with pytest.raises(closed_logs.StoppedError):
        closed_logs.compress(log, stop)
    assert [path.name for path in tmp_path.iterdir()] == [log.name]


def test_a_compressed_log_is_not_fetched_again(source: Source, tmp_path: Path) -> None:
    FakeFetch(source, tmp_path / "a", compresses=True).run()
    first, newest = min(source.logs), max(source.logs)
    source.logs = {newest: source.logs[newest], "binlog.999999": source.logs[first]}
    (tmp_path / "a" / "binlog.999999.zst").write_bytes(b"")
    with pytest.raises(ServerError, match="nothing is overwritten"):
        FakeFetch(source, tmp_path / "a").run()


def test_a_log_that_cannot_be_compressed(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(entries: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(closed_logs, "seek_table", fail)
    with pytest.raises(SourceError, match=r"\.zst.*No space left"):
        FakeFetch(source, tmp_path / "a", compresses=True).run()
    assert min(source.logs) in logs(tmp_path / "a")
    assert not list((tmp_path / "a").glob(".*.new"))
