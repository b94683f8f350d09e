"""Blocks: complete events at the right offsets, whatever the stream returns, and the ends of files."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.framing import TailKind
from binlog_kaitai.core.spans import Span
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.log import block_reader as blocks
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.span_reader import blocks_of
from binlog_kaitai.sources.source import Source
from tests.corpus_files import case

LOG = case("mysql-9.7", "types_full").logs[0]


class Dribble(io.RawIOBase):
    """A stream that returns a few bytes at a time, and only supports `read`."""

    def __init__(self, data: bytes) -> None:
        self._stream = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(min(size, 777) if size >= 0 else 777)

    readinto = None  # type: ignore[assignment]


def positions(reader: BlockReader) -> list[int]:
    return [position for block in reader for position in block.positions.tolist()]


def of(data: bytes, **options: Any) -> BlockReader:
    return BlockReader.of_file(io.BytesIO(data), "log", **options)


def by_reader(data: bytes) -> list[int]:
    return [event.position for event in bk.open(data)]


def test_positions_are_offsets_in_the_file() -> None:
    data = LOG.read_bytes()
    assert positions(of(data)) == by_reader(data)


def test_blocks_have_no_more_events_than_asked_for() -> None:
    data = LOG.read_bytes()
    counts = [len(block) for block in of(data, max_events=7)]
    assert max(counts) == 7
    assert sum(counts) == len(by_reader(data))
    assert positions(of(data, max_events=7)) == by_reader(data)


@pytest.mark.parametrize("block_size", [256, 1021, 8192])
def test_events_longer_than_a_block_make_it_grow(block_size: int) -> None:
    data = LOG.read_bytes()
    reader = of(data, block_size=block_size)
    assert positions(reader) == by_reader(data)
    assert reader.tail is not None
    assert reader.tail.kind is TailKind.NOTHING
    assert reader._buffer.size < 2 * max(len(data), block_size)


@pytest.mark.parametrize("span", [None, Span()])
@pytest.mark.parametrize("prefetches", [False, True])
def test_blocks_are_prefetched_if_that_is_requested(
    span: Span | None, prefetches: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def counted(items: Any) -> Any:
        begun.append(items)
        return items

    monkeypatch.setattr(blocks, "prefetch", counted)
    monkeypatch.setattr(blocks, "_PREFETCH_FROM", 0)
    source = replace(Source.of_path(str(LOG)), span=span)
    with source.open() as stream:
        found = [
            at
            for block in blocks_of(source, stream, block_size=1021, prefetches=prefetches)
            for at in block.positions.tolist()
        ]
    assert found == by_reader(LOG.read_bytes())
    assert len(begun) == prefetches


def test_a_stream_may_give_little_at_a_time() -> None:
    data = LOG.read_bytes()
    stream: Any = Dribble(data)
    assert positions(BlockReader.of_file(stream, "log")) == by_reader(data)


def test_a_long_event_that_is_not_there_takes_no_memory() -> None:
    data = bytearray(LOG.read_bytes())
    last = by_reader(bytes(data))[-1]
    data[last + 9 : last + 13] = (0xFFFFFFF0).to_bytes(4, "little")
    reader = of(bytes(data), block_size=4096)
    assert positions(reader) == by_reader(LOG.read_bytes())[:-1]
    assert reader.tail is not None
    assert (reader.tail.kind, reader.tail.position) == (TailKind.PART, last)
    assert reader._buffer.size < 2 * len(data)


def test_positions_past_4_gib() -> None:
    data = LOG.read_bytes()
    plain = of(data)
    first = next(iter(plain))  # the format description event
    after = 5 << 30
    stream = io.BytesIO(data[int(first.end_positions[0]) :])
    moved = BlockReader(stream, plain.context, after)
    distance = after - int(first.end_positions[0])
    assert positions(moved) == [position + distance for position in by_reader(data)[1:]]


def test_a_format_in_the_middle_counts_from_there() -> None:
    log = case("mysql-5.6", "relay-of-mysql-5.6").logs[-1]
    with log.open("rb") as stream:
        found = [(block.is_special, len(block)) for block in BlockReader.of_file(stream, str(log))]
    assert sum(is_special for is_special, _ in found) > 1
    assert all(count == 1 for is_special, count in found if is_special)


@pytest.mark.parametrize("cut", [1, 18, 19, 30])
def test_tails(cut: int) -> None:
    data = LOG.read_bytes()
    last = by_reader(data)[-1]
    for rest, kind in ((data[last : last + cut], TailKind.PART), (bytes(cut), TailKind.ZEROS)):
        reader = of(data[:last] + rest)
        assert positions(reader) == by_reader(data)[:-1]
        assert reader.tail is not None
        assert (reader.tail.kind, reader.tail.position, reader.tail.size) == (kind, last, cut)


def test_headers_that_cannot_be_are_framing_errors() -> None:
    data = bytearray(LOG.read_bytes())
    place = by_reader(bytes(data))[3]
    data[place + 9 : place + 13] = (7).to_bytes(4, "little")
    with pytest.raises(bk.FramingError):
        positions(of(bytes(data)))


def test_arrays_of_a_block_lie_inside_it() -> None:
    for block in of(LOG.read_bytes(), block_size=5000):
        assert (block.starts >= 0).all()
        assert (block.starts + block.sizes <= len(block.data)).all()
        assert (np.diff(block.starts) == block.sizes[:-1]).all()


@pytest.mark.parametrize("block_size", [1021, 8192, 1 << 20])
@pytest.mark.parametrize("log", ["mysql-9.7/mixed", "mariadb-11.8/mixed", "mysql-5.6/mixed"])
def test_blocks_may_end_in_front_of_gtid_events(log: str, block_size: int) -> None:
    data = case(*log.split("/")).logs[0].read_bytes()
    events = list(bk.open(data))
    follower = dict(pairwise(event.position for event in events))
    types = {event.position: event.header.type_code for event in events}
    found, ended = list[int](), 0
    for block in of(data, block_size=block_size, ends_at_gtids=True):
        found += block.positions.tolist()
        if block.is_before_gtid:
            ended += 1
            assert types[follower[found[-1]]] in GTID_TYPES
    assert found == [event.position for event in events]
    assert bool(ended) == bool(GTID_TYPES.intersection(types.values()) and len(data) > block_size)
