"""A log of the corpus as events, to be combined with others at adjusted positions."""

from __future__ import annotations

from pathlib import Path

import zstandard

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, Format, header_offset
from binlog_kaitai.core.payload import open_payload


class Sample:
    """A log of the corpus, in events."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with bk.open(path, verify_checksums=False) as log:
            events = [event for event in log if event.payload_index is None]
        self.layout: Format = events[-1].layout
        self.head, *self.events = [event.raw for event in events]
        self.kinds = [event.layout.effective_type(event.type_code) for event in events[1:]]
        self.payloads = {
            number: open_payload(event.body).read()
            for number, event in enumerate(events[1:])
            if event.type_code == EventType.transaction_payload_event
        }

    def with_payload(self, raw: bytes, data: bytes, packed: bytes | None = None) -> bytes:
        """An event that holds a compressed transaction, with other bytes in it, perhaps as certain frames."""
        packed = zstandard.compress(data) if packed is None else packed
        fields = b"".join(
            bytes([number, 9, 0xFE]) + size.to_bytes(8, "little")
            for number, size in ((1, len(packed)), (2, 0), (3, len(data)))
        )
        tail = bytes(CHECKSUM_SIZE * self.layout.is_checksummed)
        return raw[: self.layout.header_length] + fields + b"\0" + packed + tail


def inner_events(data: bytes) -> list[tuple[int, int]]:
    """Where each event of a payload begins, and its type."""
    found, at = [], 0
    while at < len(data):
        found.append((at, data[at + header_offset("type_code")]))
        size_at = at + header_offset("len_event")
        at += int.from_bytes(data[size_at : size_at + 4], "little")
    return found
