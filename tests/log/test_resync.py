"""The search after damage takes time proportional to the bytes searched, whatever they are."""

from __future__ import annotations

import io
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.core.grammar import EventType, header_length, header_offset, masks
from binlog_kaitai.log.resync import RandomAccess, RangeCrc32s, Search
from tests.corpus_files import case
from tests.log_maker import LogMaker, events_of

LAYOUT, (HEAD, FIRST, *_) = events_of(case("mysql-9.7", "rotate").logs[0])

#: Of each byte that is searched no more than so many are summed.
_MOST = 20


def header(size: int, next_position: int) -> bytes:
    data = bytearray(header_length(4))
    data[header_offset("type_code")] = EventType.write_rows_event
    for name, value in (("len_event", size), ("next_position", next_position)):
        offset = header_offset(name)
        data[offset : offset + 4] = value.to_bytes(4, "little")
    return bytes(data)


def damaged_log(kind: str, size: int) -> tuple[bytes, int, int]:
    """Bytes that are not events, followed by complete events; both offsets."""
    rng, length = random.Random(1), header_length(4)
    log = LogMaker(LAYOUT)
    log.add_all(HEAD)
    start = len(log.data)
    end = start + size + len(b"".join(FIRST))
    for place in range(start, start + size - length, length):
        to = end if kind == "to the end" else rng.randrange(place + length, end)
        log.data += header(to - place, 0 if kind == "of no position" else to)
    log.data += bytes(start + size - len(log.data))
    log.add_all(FIRST)
    return bytes(log.data), start, start + size


@pytest.mark.parametrize("kind", ["to the end", "to anywhere", "of no position"])
@pytest.mark.parametrize("how", ["event", "relay log", "shifted"])
def test_headers_that_lie_cost_no_more_than_their_bytes(kind: str, how: str) -> None:
    data, start, after = damaged_log(kind, 200_000)
    search = Search(io.BytesIO(data))
    if how == "shifted":
        event = search.shifted_event(start, LAYOUT)
    else:
        event = search.event(start, LAYOUT, has_own_positions=how == "event")
    assert event == after
    assert search.crc32s.summed < _MOST * len(data)


def test_crc32_of_ranges_equals_that_of_zlib() -> None:
    rng = random.Random(2)
    data = rng.randbytes(20_000)
    crc32s = RangeCrc32s(RandomAccess(io.BytesIO(data)))
    for _ in range(20):
        bounds = np.sort(np.array([[rng.randrange(len(data) + 1) for _ in "ab"] for _ in range(5)]))
        starts, ends = bounds[:, 0], bounds[:, 1]
        expected = [zlib.crc32(data[a:b]) for a, b in bounds.tolist()]
        assert crc32s.of(starts, ends).tolist() == expected


def test_a_log_of_many_damages_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All positions are wrong: no event is at its stated position, which one search finds for all."""
    log = LogMaker(LAYOUT)
    log.add_all(HEAD)
    start = len(log.data)
    data = bytes(log.data) + b"x" * 100 + b"".join(200 * FIRST)
    looked: list[int] = []
    part = RandomAccess.part

    def noted(self: RandomAccess, start: int, end: int) -> Any:
        looked.append(end - start)
        return part(self, start, end)

    monkeypatch.setattr(RandomAccess, "part", noted)
    search = Search(io.BytesIO(data))
    assert {search.event(index, LAYOUT) for index in range(start, len(data), 100)} == {None}
    assert sum(looked) < 2 * len(data) + (64 << 10)


def test_a_log_that_grows_is_searched_again() -> None:
    data, start, after = damaged_log("to the end", 1000)
    stream = io.BytesIO(data[:after])
    search = Search(stream)
    assert search.event(start, LAYOUT) is None
    stream.seek(0, io.SEEK_END)
    stream.write(data[after:])
    assert search.event(start, LAYOUT) == after


def test_a_format_description_of_a_log_in_use_is_found() -> None:
    log = LogMaker(LAYOUT)
    log.add_all([*HEAD, *FIRST])
    place = len(log.data)
    log.add(HEAD[0])
    log.data[place + header_offset("flags")] |= masks.EventHeader.IS_IN_USE
    log.data += b"x"  # no next header speaks for it
    assert Search(io.BytesIO(bytes(log.data))).event(place, LAYOUT) == place


class Far(io.BufferedReader):
    """A stream that is not a local file."""

    def fileno(self) -> int:
        raise io.UnsupportedOperation


@pytest.mark.parametrize("has_own_positions", [True, False])
def test_streams_of_all_kinds_give_the_same(tmp_path: Path, *, has_own_positions: bool) -> None:
    data, start, after = damaged_log("to anywhere", 5000)
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    for stream in (io.BytesIO(data), path.open("rb"), Far(io.FileIO(path))):
        with stream:
            event = Search(stream).event(start, LAYOUT, has_own_positions=has_own_positions)
            assert event == after
