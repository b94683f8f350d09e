"""What a grammar cannot say: checksums verified, and values that take arithmetic or text.

Each function takes a generated object or raw bytes; none knows where a field lies.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.errors import GrammarError
from binlog_kaitai.grammar import (
    CHECKSUM_SIZE,
    BinlogEvent,
    EventType,
    Format,
    Header,
    header_offset,
    masks,
    parse_event,
)
from binlog_kaitai.gtids import GtidSet
from binlog_kaitai.transactions import mariadb_gtid, mysql_gtid, mysql_source

#: Number of the character set and collation `binary`.
BINARY_COLLATION = 63

_IN_USE = masks.EventHeader.IS_IN_USE

_DIGITS = 9
_BYTES_OF_DIGITS = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def crc32_of(raw: bytes | memoryview, header: Header) -> int:
    """The CRC32 that an event's last four bytes should be.

    A server writes a format description event with its in-use flag set and clears the flag on closing the
    file, so that the flag counts as 0 (sql/binlog.cc, `Format_description_log_event::write`).
    """
    covered = memoryview(raw)[:-CHECKSUM_SIZE]
    if header.type_code != EventType.format_description_event or not header.flags & _IN_USE:
        return crc32(covered)
    closed = bytearray(covered)
    closed[header_offset("flags")] &= ~_IN_USE
    return crc32(closed)


def closed(event: BinlogEvent, raw: bytes) -> bytes:
    """A format description event as it is in a log that was closed; its checksum fits.

    Parameters
    ----------
    event
        The event as the grammar reads it.
    raw
        All of its bytes.
    """
    data = bytearray(raw)
    data[header_offset("flags")] &= ~_IN_USE
    if event.checksum is not None:
        data[-CHECKSUM_SIZE:] = crc32(memoryview(data)[:-CHECKSUM_SIZE]).to_bytes(CHECKSUM_SIZE, "little")
    return bytes(data)


def stored_checksum(raw: bytes) -> int:
    """The CRC32 that an event of a log with checksums ends with."""
    return int.from_bytes(raw[-CHECKSUM_SIZE:], "little")


def checksum_status(raw: bytes, header: Header, layout: Format) -> str:
    """``"ok"``, ``"bad"`` or ``"none"``, by the format in force, or the event's own if it describes one.

    Raises
    ------
    GrammarError
        A format description event cannot be read.
    """
    if header.type_code == EventType.format_description_event:
        stored = parse_event(raw, header.type_code, layout).checksum
    else:
        stored = stored_checksum(raw) if layout.is_checksummed else None
    if stored is None:
        return "none"
    return "ok" if stored == crc32_of(raw, header) else "bad"


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


def gtid_set(data: Any) -> GtidSet:
    """A set of GTIDs as the grammar reads it (`gtid_set.ksy`)."""
    found = GtidSet()
    for source in data.sources:
        ranges = ((interval.start, interval.stop) for interval in source.intervals)
        found.add_ranges(mysql_source(source.uuid, source.tag or ""), ranges)
    return found


def decimal_text(digits: bytes, precision: int, scale: int) -> str:
    """A DECIMAL as MySQL prints it.

    Nine digits take four bytes, the digits left over at either end as few as they need; the top bit is
    inverted, and in a negative number all bits are (strings/decimal.cc, `bin2decimal`).

    Raises
    ------
    GrammarError
        The bytes are too few, or are no digits.
    """
    if not digits or scale > precision:
        raise GrammarError(f"no DECIMAL({precision},{scale}) of {len(digits)} bytes")
    is_negative = not digits[0] & 0x80
    flipped = bytes(byte ^ (0xFF if is_negative else 0) for byte in digits)
    data = bytes([flipped[0] ^ 0x80]) + flipped[1:]
    whole, rest = divmod(precision - scale, _DIGITS)
    before = [rest] * bool(rest) + [_DIGITS] * whole
    whole, rest = divmod(scale, _DIGITS)
    behind = [_DIGITS] * whole + [rest] * bool(rest)
    texts, at = [], 0
    for count in before + behind:
        size = _BYTES_OF_DIGITS[count]
        number = int.from_bytes(data[at : at + size], "big")
        if at + size > len(data) or number >= 10**count:
            raise GrammarError(f"no digits of a DECIMAL({precision},{scale})")
        texts.append(f"{number:0{count}d}")
        at += size
    integer = "".join(texts[: len(before)]).lstrip("0") or "0"
    fraction = "".join(texts[len(before) :])
    return "-" * is_negative + integer + ("." + fraction if fraction else "")


def utc(seconds: int) -> datetime:
    """A timestamp of the log as a time with zone UTC; `seconds` since 1970-01-01."""
    return datetime.fromtimestamp(seconds, UTC)
