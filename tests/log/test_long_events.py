"""Events too long for memory are read from their file, with equal results."""

from __future__ import annotations

import gzip
import json
import mmap
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check import log_writer as writer
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.repair import repair
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.core.framing import TailKind
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.spans import Span
from binlog_kaitai.log import block_reader as reader
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.sources.source import Source
from tests.corpus_files import LogFile, case, logs
from tests.extent import sample
from tests.long_logs import log_of_statement, log_of_value
from tests.support import by_columns, by_reader

#: Longer than the bounds below; no more of it than a piece is ever in memory.
_LONG = 320 << 20

#: What a process takes with its libraries, and where it compiles kernels.
_BOUND = 300 << 20

LOG = case("mysql-9.7", "types_full").logs[0]


def peak(task: str, path: Path) -> int:
    """Most memory, in bytes, of a process that does one of the tasks of `tools.bench.measure`."""
    command = [sys.executable, "-m", "tools.bench.measure", task, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: int = json.loads(done.stdout)["peak"]
    return found


@pytest.fixture
def long_from_200(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every event of more than 200 bytes is a long one, if it does not fit a block."""
    monkeypatch.setattr(reader, "LONG", 200)
    monkeypatch.setattr(writer, "LONG", 200)


def is_mapped(path: Path) -> list[bool]:
    """Of each block, whether its array is mapped."""
    with path.open("rb") as stream:
        blocks = BlockReader.of_file(stream, str(path), block_size=256)
        return [isinstance(getattr(block.data.base, "obj", None), mmap.mmap) for block in blocks]


def test_a_packed_event_is_not_held(tmp_path: Path) -> None:
    log, size = tmp_path / "binlog.000001", (256 << 20) + 100
    log_of_statement(log, size)
    packed = tmp_path / "binlog.000001.gz"
    with log.open("rb") as plain, gzip.open(packed, "wb", compresslevel=1) as file:
        shutil.copyfileobj(plain, file)
    assert peak("verify", packed) < _BOUND


@pytest.mark.usefixtures("long_from_200")
def test_long_events_are_blocks_of_their_own() -> None:
    assert sum(is_mapped(LOG)) > 10


@pytest.mark.usefixtures("long_from_200")
@pytest.mark.parametrize("log", sample(logs("mysql-9.7") + logs("mariadb-11.8"), 8), ids=lambda log: log.id)
def test_they_say_what_the_reader_says(log: LogFile) -> None:
    lines, error = by_columns(log.path, block_size=256)
    assert (lines, error) == by_reader(log.path)


@pytest.mark.usefixtures("long_from_200")
def test_they_are_found_in_parts_of_a_log() -> None:
    whole, _ = by_columns(LOG)
    cut = json.loads(whole[len(whole) // 2])["position"]
    size = LOG.stat().st_size
    part = Source(str(LOG), lambda: LOG.open("rb"), str(LOG), Span(0, size, gaps=((cut, cut),)))
    assert by_columns(part, block_size=256)[0] == whole


def test_a_damaged_one_is_found(tmp_path: Path) -> None:
    path = log_of_value(tmp_path / "binlog.000001", 40 << 20)
    with path.open("r+b") as file:
        file.seek(30 << 20)
        file.write(b"x")
    (damage,) = scan(Source.of_path(str(path))).damages
    assert isinstance(damage, bk.ChecksumError)


def test_a_truncated_event_is_recognized_by_its_size(tmp_path: Path) -> None:
    path = log_of_value(tmp_path / "binlog.000001", 600 << 20, after=100 << 20)
    with path.open("rb") as stream:
        blocks = BlockReader.of_file(stream, str(path))
        last = list(blocks)[-1]
    tail = blocks.tail
    assert tail is not None
    assert tail.kind is TailKind.PART
    assert (tail.position, tail.position + tail.size) == (last.end_positions[-1], path.stat().st_size)


@pytest.mark.usefixtures("long_from_200")
@pytest.mark.parametrize("moves", [False, True])
def test_copies_of_a_long_one(tmp_path: Path, *, moves: bool) -> None:
    """After omitted bytes it has another position, and so another checksum."""
    path = log_of_value(tmp_path / "binlog.000001", 6 << 20)
    if moves:
        first = (event for event in bk.open(path) if event.type_code == EventType.gtid_log_event)
        start = next(first).position
        data = path.read_bytes()
        path.write_bytes(data[:start] + b"x" * 1000 + data[start:])
    done = repair(Source.of_path(str(path)), str(tmp_path / "repaired"))
    assert bool(done.lost) is moves
    assert scan(Source.of_path(done.target)).damage_count == 0
    (cut,) = slice_log(Source.of_path(done.target), str(tmp_path / "slice"))
    assert cut.transactions == 1
    assert Path(cut.target).read_bytes() == Path(done.target).read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["verify", "batches", "stats"])
def test_a_long_value_is_not_held(task: str, tmp_path: Path) -> None:
    assert peak(task, log_of_value(tmp_path / "binlog.000001", _LONG)) < _BOUND


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["verify", "stats"])
def test_a_long_statement_is_not_held(task: str, tmp_path: Path) -> None:
    assert peak(task, log_of_statement(tmp_path / "binlog.000001", _LONG)) < _BOUND
