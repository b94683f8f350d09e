"""Large logs made from small ones: a transaction of the corpus, again and again, as a server would write it.

Positions, GTID numbers and checksums are made anew, so that the result is a log without a fault.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.blocks import BlockReader, frame_all
from binlog_kaitai.grammar import CHECKSUM_SIZE, EventType, Format, header_offset, parse_event
from binlog_kaitai.payload import declared_size
from binlog_kaitai.sources import MAGIC
from binlog_kaitai.transactions import GTID_TYPES

#: Bytes that are written at once.
_CHUNK = 8 << 20


class Shape(NamedTuple):
    """What a large log is made of: whole events."""

    name: str
    layout: Format
    head: bytes  # all before the first transaction, with the magic
    events: tuple[bytes, ...]  # of one transaction
    packed_ratio: float  # bytes of the file for each byte of events, of which some may be compressed


def shape_of(name: str, log: Path, *, event_size: int, repeat: int = 1) -> Shape:
    """A transaction whose largest event with rows is nearest to a size, with that event `repeat` times."""
    head, transactions, layout = _split(log)
    best = min(
        transactions, key=lambda events: abs(max(map(len, _rows(events)), default=1 << 30) - event_size)
    )
    largest = max(_rows(best), key=len)
    events: list[bytes] = []
    for event in best:
        events += [event] * (repeat if event is largest else 1)
    return Shape(name, layout, head, tuple(events), _packed_ratio(events, layout))


def _packed_ratio(events: list[bytes], layout: Format) -> float:
    """Length of some events, divided by their length with the payloads among them unpacked."""
    packed = unpacked = 0
    for event in events:
        packed += len(event)
        unpacked += len(event)
        if event[header_offset("type_code")] == EventType.transaction_payload_event:
            payload: Any = parse_event(event, EventType.transaction_payload_event, layout).body.content
            unpacked += declared_size(payload)
    return packed / unpacked


def _split(log: Path) -> tuple[bytes, list[list[bytes]], Format]:
    head, transactions = MAGIC, list[list[bytes]]()
    with log.open("rb") as stream:
        reader = BlockReader.of_file(stream, str(log))
        for block in reader:
            for row, kind in enumerate(block.types.tolist()):
                if kind in GTID_TYPES:
                    transactions.append([])
                if transactions:
                    transactions[-1].append(block.raw(row))
                else:
                    head += block.raw(row)
    return head, transactions, reader.context.layout


def _rows(events: list[bytes]) -> list[bytes]:
    types = (
        EventType.write_rows_event,
        EventType.write_rows_event_v1,
        EventType.transaction_payload_event,
    )
    return [event for event in events if event[header_offset("type_code")] in types]


def write(shape: Shape, path: Path, size: int) -> int:
    """Write a log of some `size` bytes; gives the number of its events."""
    once = b"".join(shape.events)
    times = max(_CHUNK // len(once), 1)
    count, number = 0, 1
    block = frame_all(shape.name, once * times, shape.layout)
    assert block is not None
    with path.open("wb") as file:
        file.write(shape.head)
        while file.tell() < size:
            number = _renew(block, file.tell(), number)
            file.write(memoryview(block.data))
            count += len(block)
    return count


def _renew(block: Block, position: int, number: int) -> int:
    """Make positions, GTID numbers and checksums those of a place in the log; gives the next number."""
    ends = position + block.starts + block.sizes
    _put(block.data, block.starts + header_offset("next_position"), ends, 4)
    for kind, path in ((EventType.gtid_log_event, "gno"), (EventType.gtid_event, "sequence_number")):
        rows = block.rows_of(kind)
        if len(rows):
            _put(block.data, block.body(kind).places(path), number + np.arange(len(rows)), 8)
            number += len(rows)
    if block.layout.is_checksummed:
        behind = block.starts + block.sizes - CHECKSUM_SIZE
        view, pairs = memoryview(block.data), zip(block.starts.tolist(), behind.tolist(), strict=True)
        _put(
            block.data, behind, np.array([zlib.crc32(view[start:end]) for start, end in pairs]), CHECKSUM_SIZE
        )
    return number


def _put(data: Any, places: Any, values: Any, width: int) -> None:
    for step in range(width):
        data[places + step] = (values >> (8 * step)) & 0xFF
