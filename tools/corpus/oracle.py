"""The header of every event of a log according to its server's own client, from hex dumps.

Both clients print a block per event: a line `# at POSITION`, a line with the checksum, and the 19 bytes of
the header in hex. MySQL and MariaDB differ only in how they frame those bytes, hence only hex pairs count.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

CLIENT_SECONDS = 120

_AT = re.compile(rb"^# at (\d+)$")
_CHECKSUM = re.compile(rb"^#\d{6} .* server id \d+ +end_log_pos \d+ CRC32 0x([0-9a-f]{8})")
_HEADER = re.compile(rb"^# +([0-9a-f]+) ((?:[ |]*\b[0-9a-f]{2}\b){19}) *$")
_HEX_PAIR = re.compile(rb"\b[0-9a-f]{2}\b")
_COMPRESSED_ROWS = re.compile(rb"^# Event: \t(?:Write|Update|Delete)_compressed_rows")
# The type code that mariadb-binlog prints after decompression, and the code in the log.
_COMPRESSED_CODES = {23: 166, 24: 167, 25: 168, 30: 169, 31: 170, 32: 171}


class ClientError(Exception):
    """The server's client could not read the log; contains its message."""


class EventLine(NamedTuple):
    """The header of an event. `inner` is 1 for an event of a compressed transaction."""

    file: str
    position: int
    timestamp: int
    type_code: int
    server_id: int
    size: int
    end_log_pos: int
    flags: int
    crc32: str
    inner: int


def client_output(client: Sequence[str], log: Path, *options: str, strict: bool = True) -> bytes:
    """The output of `mysqlbinlog OPTIONS LOG`; with `strict`, a failure raises ClientError."""
    done = subprocess.run(
        [*client, *options, str(log)], capture_output=True, timeout=CLIENT_SECONDS, check=False
    )
    if strict and (done.returncode or b"ERROR" in done.stderr):
        raise ClientError(f"{log}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def event_lines(client: Sequence[str], log: Path, *options: str, strict: bool = True) -> list[EventLine]:
    """The events of a log, by position, as its server's client prints them with `--hexdump`."""
    text = client_output(client, log, "--base64-output=decode-rows", "--hexdump", *options, strict=strict)
    # The blocks of a LOAD DATA are printed after its last event, so the events are sorted.
    events = sorted(_parse(log.name, text.split(b"\n")), key=lambda event: event.position)
    events = _mark_inner(events, log.stat().st_size)
    outer = [event for event in events if not event.inner]
    ends = [event.position for event in outer[1:]] + [log.stat().st_size]
    sizes = {event.position: end - event.position for event, end in zip(outer, ends, strict=True)}
    compressed = _COMPRESSED_CODES.values()
    return [e._replace(size=sizes[e.position]) if e.type_code in compressed else e for e in events]


def _mark_inner(events: list[EventLine], log_size: int) -> list[EventLine]:
    """Distinguish the events of compressed transactions from the others.

    They are printed with the position after their TRANSACTION_PAYLOAD event, before the event at that
    position, and have no checksum: the value printed as such is the end of their body.
    """
    marked = []
    for event, after in zip_longest(events, events[1:]):
        inner = event.position >= log_size or (after is not None and after.position == event.position)
        marked.append(event._replace(inner=1, crc32="") if inner else event)
    return marked


def _parse(file: str, lines: Iterable[bytes]) -> Iterator[EventLine]:
    positions: deque[int] = deque()
    crc32 = ""
    pending: EventLine | None = None
    for line in lines:
        if match := _AT.match(line):
            positions.append(int(match[1]))
            crc32 = ""
        elif checksum := _CHECKSUM.match(line):
            crc32 = "0x" + checksum[1].decode()
        elif pending and _COMPRESSED_ROWS.match(line):
            # Printed with the type and size after decompression; event_lines corrects the size.
            pending = pending._replace(type_code=_COMPRESSED_CODES[pending.type_code])
        elif header := _HEADER.match(line):
            if pending:
                yield pending
            fields = _header_fields(header[2])
            # mariadb-binlog numbers the bytes of an annotate event like those of the next event, and prints
            # the `# at` lines of both before them, so the order of those lines is used. mysqlbinlog prints `#
            # at` lines without an event in compressed transactions, so the number of the first byte is used.
            position = positions.popleft() if b"|" in line else int(header[1], 16)
            pending = fields._replace(file=file, position=position, crc32=crc32)
    if pending:
        yield pending


def _header_fields(hex_pairs: bytes) -> EventLine:
    header = bytes.fromhex(b"".join(_HEX_PAIR.findall(hex_pairs)).decode())
    timestamp, type_code, server_id, size, end_log_pos, flags = struct.unpack("<IBIIIH", header)
    return EventLine("", 0, timestamp, type_code, server_id, size, end_log_pos, flags, "", 0)


def gaps(events: Iterable[EventLine], log_size: int, first: int = 4) -> list[str]:
    """Bytes of a log that no event covers or that are covered twice; empty for a complete list."""
    gaps, expected, file = [], first, ""
    for event in events:
        if not event.inner:
            if event.position != expected:
                gaps.append(f"{event.file}: no event covers {expected} to {event.position}")
            expected, file = event.position + event.size, event.file
    if expected != log_size:
        gaps.append(f"{file}: no event covers {expected} to {log_size}")
    return gaps
