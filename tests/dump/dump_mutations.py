"""Logs with mutated events for both ways of printing: `python -m tests.dump.dump_mutations COUNT [SEED]`.

A log is a few transactions of a corpus log. One to three of its events are changed; sizes, positions and
checksums fit again, so that what is wrong is inside an event.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import zstandard

from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    EventType,
    Format,
    header_length,
    header_offset,
    parse_event,
)
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.payload import read_payload
from binlog_kaitai.dump import printer
from binlog_kaitai.dump.dump_options import Base64Output
from binlog_kaitai.errors import BinlogError
from tests import corpus_files
from tests.dump.dump_cases import normalised
from tests.dump.dump_ways import make_quick, make_slow, printed
from tests.log_maker import LogMaker, events_of

_LONGEST = 1 << 13
_HEADER = header_length(4)
_NUMBERS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 19, 63, 127, 128, 200, 250, 251, 252, 253, 254, 255)
_DECODED = {"base64_output": Base64Output.DECODE_ROWS}
_UUID = "a40b4242-e518-11f1-9090-02fc00000001"
MODES: tuple[dict[str, Any], ...] = (
    {},
    {"verbose": 1},
    {"verbose": 2},
    {"verbose": 2, **_DECODED},
    {"hexdump": True, "verbose": 1},
    {"short_form": True},
    {"print_table_metadata": True, **_DECODED},
    {"database": "t"},
    {"rewrite_databases": {"t": "other"}, "verbose": 1},
    {"skip_gtids": True},
    {"include_gtids": GtidSet.parse(f"{_UUID}:1-3")},
    {"exclude_gtids": GtidSet.parse(f"{_UUID}:2"), "verbose": 1},
    {"offset": 4},
    {"skip_annotate_row_events": True, "verbose": 1},
    {"base64_output": Base64Output.NEVER, "verbose": 1},
    {"verify_checksums": True},
    {"force_read": True, "verbose": 2},
    {"server_ids": frozenset((97, 118)), "verbose": 1},
    {"ignored_server_ids": frozenset((110, 56))},
    {"start_position": 300, "verbose": 1},
    {"stop_position": 700},
    {"start_timestamp": 1795202990, "stop_timestamp": 1795203040, "force_read": True},
    {"require_row_format": True},
)
#: Of MariaDB's logs alone.
MARIADB_MODES: tuple[dict[str, Any], ...] = (
    {"flashback": True, "verbose": 1},
    {"table": "a"},
    {"domain_ids": frozenset((0,)), "prints_row_count": False},
    {"start_gtids": {0: 2}, "stop_gtids": {0: 5}, "prints_row_positions": False, "verbose": 1},
    {"include_gtids": GtidSet.parse("0-110-1..3,0-118-1..3,0-105-1..3")},
)


@cache
def _material() -> list[tuple[str, Format, list[list[bytes]]]]:
    """The corpus logs by transaction, long events left out."""
    found = []
    for log in corpus_files.logs():
        layout, groups = events_of(log.path)
        if layout.binlog_version == 4 and not layout.has_permuted_types:
            groups = [groups[0], *(one for one in groups[1:] if all(len(raw) <= _LONGEST for raw in one))]
            found.append((log.id, layout, groups))
    return found


def mutated_log(chance: random.Random) -> tuple[str, bytes]:
    """Where a log comes from, and its bytes."""
    name, layout, groups = chance.choice(_material())
    first = chance.randrange(1, max(2, len(groups)))
    head = groups[0][: chance.choice((1, 4, 12)) if len(groups) > 1 else 40]
    events = [*head, *(raw for group in groups[first : first + chance.randint(1, 4)] for raw in group)][:60]
    for _ in range(chance.randint(1, 3)):
        _mutate(chance, events, layout)
    log = LogMaker(layout)
    log.add_all(events)
    return name, bytes(log.data)


def _mutate(chance: random.Random, events: list[bytes], layout: Format) -> None:
    """Change one of the events, but the first, or their order."""
    if len(events) < 2:
        return
    place = chance.randrange(1, len(events))
    what = chance.random()
    if what < 0.03:
        del events[place]
    elif what < 0.06:
        events.insert(place, events[chance.randrange(1, len(events))])
    elif what < 0.10:
        events[place] = _with_header(chance, events[place])
    elif events[place][header_offset("type_code")] == EventType.transaction_payload_event and what < 0.85:
        events[place] = _with_inner(chance, events[place], layout)
    else:
        end = len(events[place]) - CHECKSUM_SIZE * layout.is_checksummed
        body = bytearray(events[place][_HEADER:end])
        for _ in range(chance.randint(1, 3)):
            _mutate_body(chance, body)
        events[place] = events[place][:_HEADER] + bytes(body) + bytes(CHECKSUM_SIZE * layout.is_checksummed)


def _with_inner(chance: random.Random, raw: bytes, layout: Format) -> bytes:
    """A payload with changed events inside, which unpacks as it says."""
    try:
        body: Any = parse_event(raw, EventType.transaction_payload_event, layout).body.content
        inner = [frame.raw for frame in read_payload(body, layout)]
    except BinlogError:
        return raw  # a mutation before has seen to it
    plain = layout.without_checksums()
    for _ in range(chance.randint(1, 2)):
        _mutate(chance, inner, plain)
    offset = header_offset("len_event")
    content = b"".join(one[:offset] + len(one).to_bytes(4, "little") + one[offset + 4 :] for one in inner)
    packed = zstandard.ZstdCompressor().compress(content)
    fields = [_field(2, _packed(0)), _field(3, _packed(len(content))), _field(1, _packed(len(packed)))]
    return raw[:_HEADER] + b"".join(fields) + b"\0" + packed + bytes(CHECKSUM_SIZE * layout.is_checksummed)


def _field(number: int, value: bytes) -> bytes:
    return bytes([number, len(value)]) + value


def _packed(number: int) -> bytes:
    return bytes([number]) if number < 251 else b"\xfd" + number.to_bytes(3, "little")


def _with_header(chance: random.Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    name = chance.choice(("type_code", "flags", "server_id", "timestamp"))
    offset = header_offset(name)
    if name == "type_code":
        kinds = [*(int(kind) for kind in EventType), 99]
        kinds.remove(EventType.format_description_event)
        changed[offset] = chance.choice(kinds)
    elif name == "flags":
        changed[offset + chance.randrange(2)] ^= 1 << chance.randrange(8)
    else:
        changed[offset + chance.randrange(4)] = chance.choice(_NUMBERS)
    return bytes(changed)


def _mutate_body(chance: random.Random, body: bytearray) -> None:
    if not body:
        body.append(0)
    # Lengths and counts are mostly at the beginning.
    limit = len(body) if chance.random() < 0.6 else min(len(body), 40)
    at, what = chance.randrange(limit), chance.random()
    if what < 0.35:
        body[at] = chance.choice(_NUMBERS)
    elif what < 0.60:
        body[at] ^= 1 << chance.randrange(8)
    elif what < 0.75:
        body[at] = (body[at] + chance.choice((-2, -1, 1, 2))) % 256
    elif what < 0.83:
        del body[at : at + chance.randint(1, 6)]
    elif what < 0.91:
        body[at:at] = chance.randbytes(chance.randint(1, 6))
    elif what < 0.95:
        del body[at:]
    else:
        body += chance.randbytes(chance.randint(1, 12))


def modes_of(name: str) -> tuple[dict[str, Any], ...]:
    """The options that a log is printed with."""
    return (*MODES, *MARIADB_MODES) if name.startswith("mariadb") else MODES


def difference(path: Path, folder: Path, options: dict[str, Any]) -> str | None:
    """What is not printed alike one by one and by shapes; None where they agree."""
    with pytest.MonkeyPatch.context() as patch:
        # What these would catch is what the test is looking for.
        patch.setattr(printer, "UNREADABLE", ())
        make_slow(patch)
        text, error = printed(path, folder, **options)
        make_quick(patch)
        quick_text, quick_error = printed(path, folder, **options)
    if quick_error != error:
        return f"errors: {error or 'none'} / {quick_error or 'none'}"
    text, quick_text = normalised(text), normalised(quick_text)
    if text == quick_text:
        return None
    at = next(
        (at for at, (one, other) in enumerate(zip(text, quick_text, strict=False)) if one != other), None
    )
    at = min(len(text), len(quick_text)) if at is None else at
    return f"text from {at}: {text[at - 60 : at + 60]!r} / {quick_text[at - 60 : at + 60]!r}"


def check(chance: random.Random, folder: Path) -> str | None:
    """Print one mutated log in both ways, with some options."""
    name, data = mutated_log(chance)
    path = folder / "binlog.000001"
    path.write_bytes(data)
    options = chance.choice(modes_of(name))
    found = difference(path, folder, options)
    return None if found is None else f"{name} {options}: {found}"


def main(count: int, seed: int, kept: Path) -> None:
    """Check many logs; keep those that are printed differently."""
    kept.mkdir(parents=True, exist_ok=True)
    start, bad = time.time(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + count):
            chance = random.Random(number)
            try:
                found = check(chance, Path(folder))
            except Exception as error:  # what the test is looking for
                found = f"{type(error).__name__}: {error}"
            if found is not None:
                bad += 1
                (kept / f"{number}.bin").write_bytes((Path(folder) / "binlog.000001").read_bytes())
                print(number, found, flush=True)
    print(f"{count} logs, {bad} with a difference, {time.time() - start:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, Path(sys.argv[3]))
