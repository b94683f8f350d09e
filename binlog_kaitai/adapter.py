"""What a grammar cannot say: checksums verified, and values that take arithmetic or text.

Each function takes a generated object or raw bytes; none knows where a field lies.
"""

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from typing import Any

from binlog_kaitai.errors import GrammarError
from binlog_kaitai.grammar import BinlogEvent, EventType, Header, header_offset
from binlog_kaitai.transactions import mariadb_gtid, mysql_gtid

#: LOG_EVENT_BINLOG_IN_USE_F.
_IN_USE = 0x0001


def crc32_of(raw: bytes | memoryview, header: Header) -> int:
    """The CRC32 that an event's last four bytes should be.

    A server writes a format description event with its in-use flag set and clears the flag on closing the
    file, so that the flag counts as 0 (sql/binlog.cc, `Format_description_log_event::write`).
    """
    covered = memoryview(raw)[:-4]
    if header.type_code != EventType.format_description_event or not header.flags & _IN_USE:
        return zlib.crc32(covered)
    closed = bytearray(covered)
    closed[header_offset("flags")] &= ~_IN_USE
    return zlib.crc32(closed)


def stored_checksum(raw: bytes) -> int:
    """The CRC32 that an event of a log with checksums ends with."""
    return int.from_bytes(raw[-4:], "little")


def gtid_text(event: BinlogEvent) -> str | None:
    """The identifier that a GTID event states, as its server prints it; None for an anonymous transaction."""
    body: Any = event.body.content
    kind = event.event_type.value
    if kind == EventType.gtid_event:
        return mariadb_gtid(body.domain_id, event.header.server_id, body.sequence_number)
    if kind == EventType.gtid_tagged_log_event:
        parts = [one.value for one in body.fields.uuid.bytes]
        if max(parts) > 0xFF:
            raise GrammarError("a UUID of more than 16 bytes", field="body.content.fields.uuid")
        uuid = bytes(parts)
        return mysql_gtid(uuid, body.gno, body.tag) if body.gno else None
    return mysql_gtid(body.uuid, body.gno) if kind == EventType.gtid_log_event else None


def utc(seconds: int) -> datetime:
    """A timestamp of the log as a time with zone UTC; `seconds` since 1970-01-01."""
    return datetime.fromtimestamp(seconds, UTC)
