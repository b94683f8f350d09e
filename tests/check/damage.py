"""Random damage to logs, and what their repair must keep."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, header_offset
from binlog_kaitai.views.transactions_view import read_transactions

#: The bytes of a transaction's events, without what depends on their place in a file.
Content = tuple[bytes, ...]


@dataclass(frozen=True)
class Transaction:
    """A transaction of an undamaged log."""

    start: int
    end: int
    content: Content


@dataclass(frozen=True)
class Damage:
    """A damaged log, and which bytes of the good one were changed or taken out."""

    what: str
    data: bytes
    start: int
    end: int


def transactions_of(path: Path) -> tuple[Transaction, ...]:
    """The transactions of a log that have an end, in order."""
    table = read_transactions(str(path)).read_all()
    ranges = zip(
        *(table.column(name).to_pylist() for name in ("position", "end_position", "kind")), strict=True
    )
    found = []
    events = [event for event in bk.open(path) if event.payload_index is None]
    for start, end, kind in ranges:
        if kind != "open":
            parts = (_placeless(event) for event in events if start <= event.position < end)
            found.append(Transaction(start, end, tuple(parts)))
    return tuple(found)


def _placeless(event: bk.Event) -> bytes:
    data = bytearray(event.raw)
    offset = header_offset("next_position")
    data[offset : offset + 4] = bytes(4)
    return bytes(data[:-CHECKSUM_SIZE] if event.checksum_status != "none" else data)


def random_damage(good: bytes, chance: random.Random, first: int) -> Damage:
    """One damage at a random offset from `first` on."""
    start = chance.randrange(first, len(good))
    end = min(start + int(2 ** chance.uniform(0, 12)), len(good))
    what: Callable[[bytes, int, int, random.Random], bytes] = chance.choice(_DAMAGES)
    if what is _cut:
        end = len(good)
    return Damage(f"{what.__name__} of {start} to {end}", what(good, start, end, chance), start, end)


def _flip(good: bytes, start: int, end: int, chance: random.Random) -> bytes:
    data = bytearray(good)
    for _ in range(chance.randint(1, 3)):
        data[chance.randrange(start, end)] ^= 1 << chance.randrange(8)
    return bytes(data)


def _zero(good: bytes, start: int, end: int, chance: random.Random) -> bytes:
    return good[:start] + bytes(end - start) + good[end:]


def _scramble(good: bytes, start: int, end: int, chance: random.Random) -> bytes:
    return good[:start] + chance.randbytes(end - start) + good[end:]


def _take_out(good: bytes, start: int, end: int, chance: random.Random) -> bytes:
    return good[:start] + good[end:]


def _put_in(good: bytes, start: int, end: int, chance: random.Random) -> bytes:
    return good[:start] + chance.randbytes(end - start) + good[start:]


def _cut(good: bytes, start: int, end: int, chance: random.Random) -> bytes:
    return good[:start]


_DAMAGES = (_flip, _flip, _flip, _zero, _scramble, _take_out, _put_in, _cut)
