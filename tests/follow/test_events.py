"""`bk.follow`: the events of growing logs, each once and in whole transactions."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from tests.corpus_files import case
from tests.follow.logs import ROTATED, ends_of_transactions, grow

Place = tuple[str, int, int | None]


def offsets(events: Iterable[bk.Event]) -> list[Place]:
    return [(Path(event.file).name, event.position, event.payload_index) for event in events]


def test_closed_logs_are_read_as_open_reads_them(tmp_path: Path) -> None:
    for path in ROTATED:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with bk.follow(tmp_path, idle_timeout=0) as events:
        assert offsets(events) == offsets(bk.open(tmp_path))
    # One log alone is followed into those that its server wrote after it.
    with bk.follow(tmp_path / ROTATED[0].name, idle_timeout=0) as events:
        assert offsets(events) == offsets(bk.open(tmp_path))


def test_what_a_server_writes_comes_in_whole_transactions(tmp_path: Path) -> None:
    """However much of a log exists, its whole transactions are yielded, each once; then reading continues."""
    source = case("mysql-9.7", "mixed").logs[0]
    target, size = tmp_path / source.name, source.stat().st_size
    ends = ends_of_transactions(source)
    found: list[Place] = []
    checkpoint: dict[str, Any] | None = None
    for share in (0.2, 0.21, 0.5, 1.0):
        grow(source, target, int(size * share))
        start: Any = "earliest" if checkpoint is None else json.loads(json.dumps(checkpoint))
        with bk.follow(target, start=start, idle_timeout=0) as events:
            found += offsets(events)
            checkpoint = events.checkpoint
        assert checkpoint["position"] in ends
        assert found[-1][1] < checkpoint["position"] <= int(size * share)
    assert found == offsets(bk.open(source))


def test_tasks_wait_for_more(tmp_path: Path) -> None:
    """A task that is cancelled loses no event; errors of the reader are raised in the task."""
    source = case("mysql-9.7", "mixed").logs[0]
    target, whole = tmp_path / source.name, source.read_bytes()
    grow(source, target, len(whole) // 3)
    found: list[bk.Event] = []

    async def read(events: bk.EventFollower) -> None:
        async for event in events:
            found.append(event)

    async def read_more(events: bk.EventFollower, count: int) -> None:
        """Read until nothing has come for a while, and there are more than so many."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(read(events), 0.5)
            if len(found) > count:
                return
        raise AssertionError(f"no more than {count} events")

    async def run() -> None:
        with bk.follow(target, interval=0.02) as events:
            await read_more(events, 10)
            grow(source, target, len(whole))
            await read_more(events, len(found))
        with pytest.raises(StopAsyncIteration):
            await anext(events)
        target.write_bytes(whole[:-60] + bytes(30) + whole[-30:])
        with bk.follow(target) as events, pytest.raises(bk.BinlogError, match=source.name):
            await read(events)

    asyncio.run(run())
    expected = offsets(bk.open(source))
    assert offsets(found)[: len(expected)] == expected


def test_it_waits_for_more(tmp_path: Path) -> None:
    source = case("mysql-9.7", "mixed").logs[0]
    target = tmp_path / source.name
    grow(source, target, source.stat().st_size // 3)

    def write() -> None:
        time.sleep(0.3)
        grow(source, target, source.stat().st_size)

    writer = threading.Thread(target=write)
    writer.start()
    events = bk.follow(target, interval=0.05, idle_timeout=20)
    expected = offsets(bk.open(source))
    found = offsets(next(events) for _ in expected)
    writer.join()
    events.close()
    assert found == expected
    assert next(events, None) is None


def test_from_the_latest_on_names_are_known(tmp_path: Path) -> None:
    """Names come from statements before the start position."""
    source = case("mysql-9.7", "ddl").logs[0]
    target, size = tmp_path / source.name, source.stat().st_size
    grow(source, target, size // 2)
    events = bk.follow(target, start="latest", interval=0.01, idle_timeout=5)
    begin = int(events.checkpoint["position"])
    assert size // 4 < begin <= size // 2
    target.write_bytes(source.read_bytes())
    expected = [
        (event.position, list(event.schema.columns if event.schema else ()))
        for event in bk.open(source)
        if event.position >= begin
    ]
    found = [next(events) for _ in expected]
    assert [(one.position, list(one.schema.columns if one.schema else ())) for one in found] == expected
    assert any(columns for _, columns in expected)


def test_stop_and_positions(tmp_path: Path) -> None:
    for path in ROTATED:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    calls = iter([False, False, True])
    assert len(offsets(bk.follow(tmp_path, interval=0.01, stop=lambda: next(calls))))
    second = {"file": ROTATED[1].name, "position": 4}
    expected = offsets(bk.open([tmp_path / path.name for path in ROTATED[1:]]))
    assert offsets(bk.follow(tmp_path, start=second, idle_timeout=0)) == expected
    with pytest.raises(bk.UsageError, match="start must be earliest, latest or a position"):
        bk.follow(tmp_path, start="newest")
    with pytest.raises(bk.UsageError, match="interval"):
        bk.follow(tmp_path, interval=0)
    with pytest.raises(bk.SourceError):
        bk.follow(tmp_path / "nosuch.000001")


def test_lost_logs(tmp_path: Path) -> None:
    for path in ROTATED:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with bk.follow(tmp_path / ROTATED[0].name, idle_timeout=0) as events:
        next(events)
        checkpoint = events.checkpoint
    for path in ROTATED[:2]:
        (tmp_path / path.name).unlink()
    checkpoint = {name: value for name, value in checkpoint.items() if name != "gtids"}
    with pytest.raises(bk.SourceError, match="set fails_on_loss=False"):
        next(bk.follow(tmp_path, start=checkpoint, idle_timeout=0))
    events = bk.follow(tmp_path, start=checkpoint, idle_timeout=0, fails_on_loss=False)
    with pytest.warns(bk.DataLossWarning):
        found = offsets(events)
    assert found == offsets(bk.open(tmp_path))
