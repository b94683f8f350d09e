"""Logs of the corpus with events damaged, lost, repeated or moved; the same for the same seed."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from binlog_kaitai.grammar import CHECKSUM_SIZE, EventType, Format, header_length, header_offset
from binlog_kaitai.sources import MAGIC
from tests.columns.log_maker import LogMaker, placed
from tests.columns.support import all_files, blocks

#: Mutations; damage inside an event is the most common one.
_KINDS = ("body", "body", "body", "type", "flags", "length", "lose", "repeat", "move", "foreign")

#: Larger logs take too long for many of them.
_LARGEST = 12 << 10


@cache
def small_logs() -> tuple[Path, ...]:
    """The logs that can be mutated: small ones that are read to their end."""
    found = (path for path in all_files() if "damaged" not in path.parts and "encrypted" not in path.parts)
    return tuple(path for path in found if path.stat().st_size <= _LARGEST)


@cache
def _events(path: Path) -> tuple[Format, tuple[bytes, ...]]:
    """All events of a log, and the format of the last one."""
    found = []
    for block in blocks(path):
        found += [block.raw(row) for row in range(len(block))]
    return block.layout, tuple(found)


def mutated_log(seed: int) -> bytes:
    """A log with one to three mutations; most have right positions and checksums, a few are damaged there."""
    rng = random.Random(seed)
    layout, known = _events(rng.choice(small_logs()))
    events = list(known)
    for _ in range(rng.randint(1, 3)):
        _mutate(rng, events, layout)
    log = LogMaker(layout, bytearray(MAGIC))
    for raw in events:
        # Relay logs have the positions of another server.
        is_own = rng.random() > 0.02
        log.add(raw if is_own else placed(raw, rng.randrange(1 << 16), layout), as_is=not is_own)
    data = log.data
    if rng.random() < 0.1:
        data[rng.randrange(len(MAGIC), len(data))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        del data[rng.randrange(len(MAGIC), len(data)) :]
    if rng.random() < 0.05:
        at = rng.randrange(len(MAGIC), len(data) + 1)
        data[at:at] = rng.randbytes(rng.randint(1, 60))
    return bytes(data)


def _mutate(rng: random.Random, events: list[bytes], layout: Format) -> None:
    at = rng.randrange(len(events))
    match rng.choice(_KINDS):
        case "body":
            events[at] = _with_bytes(rng, events[at], layout)
        case "type":
            events[at] = _with_byte(events[at], header_offset("type_code"), rng.choice(list(EventType)).value)
        case "flags":
            events[at] = _with_byte(events[at], header_offset("flags"), rng.randrange(256))
        case "length":
            length = rng.randrange(header_length(4), len(events[at]) + 1)
            events[at] = events[at][:length] + bytes(CHECKSUM_SIZE * layout.is_checksummed)
        case "lose":
            del events[at : at + rng.randint(1, 2)]
            events[:] = events or [b""]
        case "repeat":
            events[at:at] = [events[at]] * rng.randint(1, 2)
        case "move":
            events.insert(rng.randrange(len(events)), events.pop(at))
        case _:
            _, others = _events(rng.choice(small_logs()))
            events.insert(at, rng.choice(others))


def _with_bytes(rng: random.Random, raw: bytes, layout: Format) -> bytes:
    event = bytearray(raw)
    end = len(event) - CHECKSUM_SIZE * layout.is_checksummed
    for _ in range(rng.randint(1, 3)):
        if end > header_length(4):
            value = rng.choice((0, 1, 0x7F, 0xFC, 0xFF, rng.randrange(256)))
            event[rng.randrange(header_length(4), end)] = value
    return bytes(event)


def _with_byte(raw: bytes, at: int, value: int) -> bytes:
    event = bytearray(raw)
    event[at : at + 1] = bytes([value])
    return bytes(event)
