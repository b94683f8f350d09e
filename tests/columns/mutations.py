"""Logs of the corpus with a few wrong bytes, in frames that are right: positions and checksums are made anew.

So what is wrong is found by whoever reads the bodies, also inside compressed transactions.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import zstandard

import binlog_kaitai as bk
from binlog_kaitai.grammar import CHECKSUM_SIZE, EventType, Format, header_length, header_offset
from binlog_kaitai.payload import open_payload
from tests.columns.log_maker import LogMaker, placed

_VALUES = (0, 1, 2, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF)

#: Types whose bytes tell how others are to be read, and those that have values.
_WANTED = frozenset(
    kind for kind in EventType if any(word in kind.name for word in ("rows", "table_map", "gtid", "payload"))
)


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

    def mutated(self, dice: random.Random) -> bytes:
        """The bytes of the log with one to three mutations."""
        events: list[bytes] = list(self.events)
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            if events:
                self._mutate(events, dice)
        maker = LogMaker(self.layout)
        maker.add(self.head, as_is=True)
        maker.add_all(events)
        return bytes(maker.data)

    def _mutate(self, events: list[bytes], dice: random.Random) -> None:
        count = min(len(events), len(self.events))
        wanted = [at for at in range(count) if self.kinds[at] in _WANTED]
        at = dice.choice(wanted) if wanted and dice.random() < 0.8 else dice.randrange(len(events))
        match dice.randrange(12):
            case 0:
                del events[at]
            case 1:
                events.insert(dice.randrange(len(events)), events[at])
            case _ if at in self.payloads and dice.random() < 0.8:
                events[at] = self.with_payload(events[at], inner_mutated(self.payloads[at], dice))
            case _:
                events[at] = self._body_mutated(events[at], dice)

    def _body_mutated(self, raw: bytes, dice: random.Random) -> bytes:
        start, tail = self.layout.header_length, CHECKSUM_SIZE * self.layout.is_checksummed
        body = bytes_mutated(raw[start : len(raw) - tail], dice)
        return raw[:start] + body + bytes(tail)

    def with_payload(self, raw: bytes, data: bytes) -> bytes:
        """An event that holds a compressed transaction, with other bytes in it."""
        packed = zstandard.compress(data)
        fields = b"".join(
            bytes([number, 9, 0xFE]) + size.to_bytes(8, "little")
            for number, size in ((1, len(packed)), (2, 0), (3, len(data)))
        )
        tail = bytes(CHECKSUM_SIZE * self.layout.is_checksummed)
        return raw[: self.layout.header_length] + fields + b"\0" + packed + tail


def bytes_mutated(data: bytes, dice: random.Random) -> bytes:
    """Some bytes changed, taken away or put in."""
    found = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(found) + 1)
        match dice.randrange(10):
            case 0:
                del found[at : at + dice.choice((1, 2, 8, 1000))]
            case 1:
                found[at:at] = bytes(dice.choice(_VALUES) for _ in range(dice.choice((1, 2, 8))))
            case _ if at < len(found):
                found[at] = dice.choice((*_VALUES, found[at] ^ 1 << dice.randrange(8), dice.randrange(256)))
    return bytes(found)


def inner_events(data: bytes) -> list[tuple[int, int]]:
    """Where each event of a payload begins, and its type."""
    found, at = [], 0
    while at < len(data):
        found.append((at, data[at + header_offset("type_code")]))
        size_at = at + header_offset("len_event")
        at += int.from_bytes(data[size_at : size_at + 4], "little")
    return found


def inner_mutated(data: bytes, dice: random.Random) -> bytes:
    """The events of a payload, of which one has other bytes in its body."""
    start = header_length(4)
    limits = [*(at for at, _ in inner_events(data)), len(data)]
    events = [data[begin:end] for begin, end in pairwise(limits)]
    number = dice.randrange(len(events))
    raw = events[number]
    events[number] = raw[:start] + bytes_mutated(raw[start:], dice)
    layout = Format.of_version(4).without_checksums()
    return b"".join(placed(raw, 0, layout) for raw in events)
