"""What a server sends to a replica, saved after the magic: a ROTATE_EVENT precedes the format description."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import verify
from binlog_kaitai.check.repair import repair
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.errors import DamagedStartError
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.log import split_points
from binlog_kaitai.sources.source import resolve
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.earlier_logs import files_before
from tests.extent import sample
from tests.refusals import ENTRIES, events_in, refusal
from tests.sources.test_encrypted import Pipe

LOGS = {
    "mysql": case("mysql-9.7", "orders").logs[0],
    "mariadb": case("mariadb-11.8", "types_full").logs[0],
    "without checksums": case("mysql-9.7", "no_checksum").logs[0],
}
ARTIFICIAL = 0x20
READERS: dict[str, Callable[[Path], pa.RecordBatchReader]] = {
    "events": bk.read_events,
    "transactions": bk.read_transactions,
    "changes": bk.read_changes,
}
#: The server id of the ROTATE_EVENTs here.
ROTATES = 1


def rotate(*, is_checksummed: bool, timestamp: int = 0) -> bytes:
    body = (4).to_bytes(8, "little") + b"binlog.000010"
    size = 19 + len(body) + 4 * is_checksummed
    raw = struct.pack("<IBIIIH", timestamp, 4, ROTATES, size, 0, ARTIFICIAL) + body
    return raw + zlib.crc32(raw).to_bytes(4, "little") * is_checksummed


def as_artificial(description: bytes) -> bytes:
    """A format description as a server sends it to a replica that does not begin at the start of a log."""
    raw = bytearray(description)
    raw[13:17], raw[17:19] = bytes(4), ARTIFICIAL.to_bytes(2, "little")
    return bytes(raw[:-4]) + zlib.crc32(raw[:-4]).to_bytes(4, "little")


#: A log, whether the ROTATE_EVENT has a checksum, and whether the format description is artificial.
WAYS = list(product(LOGS, (True, False), (False, True)))


def written(way: tuple[str, bool, bool], folder: Path) -> tuple[Path, Path]:
    """A log without the ROTATE_EVENT, and with it."""
    name, is_checksummed, is_artificial = way
    description, *others = events_in(LOGS[name].read_bytes())
    first = as_artificial(description) if is_artificial else description
    log, stream = folder / "log.000001", folder / "stream.000001"
    log.write_bytes(MAGIC + first + b"".join(others))
    stream.write_bytes(MAGIC + rotate(is_checksummed=is_checksummed) + log.read_bytes()[len(MAGIC) :])
    return log, stream


@pytest.fixture(params=[WAYS[0], *sample(WAYS[1:], 3)], ids=str)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A log without the ROTATE_EVENT."""
    return written(request.param, tmp_path)[0]


@pytest.fixture
def stream(log: Path) -> Path:
    """The same after the ROTATE_EVENT."""
    return log.with_name("stream.000001")


def test_every_reader_reads_it(stream: Path, log: Path) -> None:
    assert {entry: refusal(entry, str(stream)) for entry in ENTRIES} == dict.fromkeys(ENTRIES)
    (report,) = verify(stream, thorough=True)
    assert report.is_ok
    first, *others = bk.open(stream)
    assert (first.position, first.type, first.body.next_log) == (4, "ROTATE_EVENT", "binlog.000010")
    expected = list(bk.open(log))
    assert [event.type for event in others] == [event.type for event in expected]
    assert [event.raw for event in others] == [event.raw for event in expected]
    assert {event.position - one.position for event, one in zip(others, expected, strict=True)} == {
        len(first.raw)
    }
    assert rows(stream) == rows(log) != []


def rows(source: object) -> list[object]:
    return [(row.schema.full_name, row.before, row.after) for row in bk.read_rows(source)]  # type: ignore[arg-type]


def test_from_a_pipe(stream: Path, log: Path) -> None:
    assert rows(Pipe(stream.read_bytes())) == rows(log)


def test_from_a_position(stream: Path) -> None:
    everything = list(bk.open(stream))
    start = everything[len(everything) // 2].position
    expected = [event.raw for event in everything if event.position >= start]
    assert [event.raw for event in bk.open(stream, start_position=start)] == expected
    positions = bk.read_events(stream, start_position=start).read_all().column("position").to_pylist()
    assert positions == [event.position for event in everything if event.position >= start]


def test_in_splits_and_followed(stream: Path) -> None:
    whole = bk.read_events(stream).read_all().to_pylist()
    splits = plan([str(stream)], 1000)
    parts = (
        row
        for split in splits
        for batch in read_split(split, "events", earlier=files_before(splits, split))
        for row in batch.to_pylist()
    )
    assert list(parts) == whole
    follower = Follower([str(stream)])
    mark = follower.advance(follower.earliest(), max_bytes=300)
    assert follower.advance(mark).position == whole[-1]["end_position"]


@pytest.mark.parametrize("view", READERS)
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_streams_saved_one_after_the_other_are_read_whole_and_in_splits(
    server: str, view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second ROTATE_EVENT and format description follow in mid-stream; positions in headers start again."""
    logs = case(server, "rotate").logs[:2]
    path = tmp_path / "stream.000001"
    path.write_bytes(
        MAGIC + b"".join(rotate(is_checksummed=True) + log.read_bytes()[len(MAGIC) :] for log in logs)
    )
    expected = [event for log in logs for event in bk.open(log)]
    events = [event for event in bk.open(path) if event.fixed_header.server_id != ROTATES]
    assert [event.raw for event in events] == [event.raw for event in expected]
    assert [event.gtid for event in events] == [event.gtid for event in expected]
    assert [report.damages for report in verify(path)] == [[]]
    whole = READERS[view](path).read_all().to_pylist()
    monkeypatch.setattr(split_points, "NEAR", 300)
    monkeypatch.setattr(split_points, "LOOK_BACK", 200)
    for size in range(150, 1200, 97):
        parts = (batch.to_pylist() for split in plan(str(path), size) for batch in read_split(split, view))
        assert [row for rows in parts for row in rows] == whole


def test_nothing_is_repaired(stream: Path, tmp_path: Path) -> None:
    (source,) = resolve(stream)
    done = repair(source, str(tmp_path / "repaired"))
    assert (done.damage_count, done.dropped) == (0, [])
    assert rows(tmp_path / "repaired") == rows(stream)


@pytest.mark.parametrize("timestamp", [0, 1])
def test_another_event_after_it_is_damage(timestamp: int, tmp_path: Path) -> None:
    _, *others = events_in(LOGS["mysql"].read_bytes())
    path = tmp_path / "binlog.000001"
    path.write_bytes(MAGIC + rotate(is_checksummed=True, timestamp=timestamp) + b"".join(others))
    with pytest.raises(DamagedStartError, match="unknown version"):
        list(bk.open(path))


def test_no_event_after_it(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(MAGIC + rotate(is_checksummed=True))
    assert [event.type for event in bk.open(path)] == ["ROTATE_EVENT"]
    (source,) = resolve(path)
    assert "ends inside its first event" in str(repair(source, str(tmp_path / "repaired")).damages[0])
