"""Many payloads opened together give the same as each opened alone."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
import zstandard

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.payload import SmallPayloads, declared_size
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log import payloads as module
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader, frame_all
from binlog_kaitai.log.payloads import expand, payload_headers
from tests.corpus_files import case

LOG = case("mysql-9.7", "payloads").logs[0]
KIND = EventType.transaction_payload_event


def payloads(times: int) -> Block:
    """All payload events of a log, so many times."""
    with LOG.open("rb") as stream:
        blocks = list(BlockReader.of_file(stream, "log"))
    raws = [block.raw(row) for block in blocks for row in block.rows_of(KIND).tolist()]
    block = frame_all("log", b"".join(raws) * times, blocks[-1].layout)
    assert block is not None
    return block


def events_of(block: Block) -> list[tuple[int, bytes]]:
    """What a block has with its payloads opened, and where."""
    return [(int(one.positions[row]), one.raw(row)) for one in expand(block) for row in range(len(one))]


def test_headers_of_payloads_are_read_as_by_the_grammar() -> None:
    block = payloads(3)
    rows = block.rows_of(KIND)
    headers = payload_headers(block, rows)
    assert headers.matches.any()
    for index in np.flatnonzero(headers.matches).tolist():
        body: Any = block.event(int(rows[index])).body
        assert bytes(block.data[headers.starts[index] : headers.ends[index]]) == body.payload
        assert headers.payload_sizes[index] == body.len_payload
        assert headers.uncompressed_sizes[index] == declared_size(body)


def test_payloads_opened_together_hold_the_same_events(monkeypatch: pytest.MonkeyPatch) -> None:
    together = events_of(payloads(3))
    monkeypatch.setattr(module, "_number_of_small", lambda headers, begin: 0)
    assert events_of(payloads(3)) == together
    assert len(together) > len(payloads(3))


def test_a_damaged_payload_among_others_is_reported_after_earlier_events() -> None:
    block = payloads(3)
    row = len(block) // 2
    sound = events_of(block)
    block.data[block.starts[row] + block.sizes[row] // 2 :][:9] ^= 0x55
    found: list[tuple[int, bytes]] = []

    def read() -> None:
        for one in expand(block):
            found.extend((int(one.positions[index]), one.raw(index)) for index in range(len(one)))

    with pytest.raises(BinlogError) as caught:
        read()
    assert caught.value.position == block.positions[row]
    before = [one for one in sound if one[0] < block.positions[row]]
    assert found[: len(before)] == before


@pytest.mark.parametrize("packed", [
    zstandard.compress(bytes(100)) + b"more",
    zstandard.compress(bytes(99)),
    zstandard.compress(bytes(101)),
    zstandard.compress(bytes(100))[:-1],
    b"",
    zlib.compress(bytes(100)),
], ids=["more", "short", "long", "cut", "nothing", "other"])  # fmt: skip
def test_what_does_not_fill_its_room_is_not_unpacked(packed: bytes) -> None:
    assert not SmallPayloads().unpack(packed, memoryview(bytearray(100)))


def test_a_frame_may_leave_out_its_size() -> None:
    room = bytearray(100)
    packed = zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 100)
    assert SmallPayloads().unpack(packed, memoryview(room))
    assert room == b"x" * 100
