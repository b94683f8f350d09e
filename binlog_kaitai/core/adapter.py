"""Operations a grammar cannot express: checksum verification, and conversions that need arithmetic or text.

Each function takes a generated object or raw bytes; none of them knows field offsets.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    BinlogEvent,
    EventType,
    Format,
    Header,
    header_offset,
    masks,
    parse_event,
    plain_decoders,
)
from binlog_kaitai.core.gtids import TAG, GtidSet
from binlog_kaitai.core.transactions import mariadb_gtid, mysql_gtid, mysql_source
from binlog_kaitai.core.tree import Node
from binlog_kaitai.errors import GrammarError

#: Number of the character set and collation `binary`.
BINARY_COLLATION = 63

_IN_USE = masks.EventHeader.IS_IN_USE


def crc32_of(raw: bytes | memoryview, header: Header) -> int:
    """The CRC32 that the last four bytes of an event should contain.

    A server writes a format description event with its in-use flag set and clears the flag when it closes the
    file, so the checksum is computed with the flag cleared (sql/binlog.cc,
    `Format_description_log_event::write`).
    """
    covered = memoryview(raw)[:-CHECKSUM_SIZE]
    if header.type_code != EventType.format_description_event or not header.flags & _IN_USE:
        return crc32(covered)
    closed = bytearray(covered)
    closed[header_offset("flags")] &= ~_IN_USE
    return crc32(closed)


def closed(event: BinlogEvent, raw: bytes) -> bytes:
    """A format description event as a cleanly closed log contains it, with the matching checksum.

    `event`: the event as the grammar reads it.
    `raw`: all bytes of the event.
    """
    data = bytearray(raw)
    data[header_offset("flags")] &= ~_IN_USE
    if event.checksum is not None:
        data[-CHECKSUM_SIZE:] = crc32(memoryview(data)[:-CHECKSUM_SIZE]).to_bytes(CHECKSUM_SIZE, "little")
    return bytes(data)


def stored_checksum(raw: bytes) -> int:
    """The CRC32 stored at the end of an event in a log with checksums."""
    return int.from_bytes(raw[-CHECKSUM_SIZE:], "little")


def checksum_status(raw: bytes, header: Header, layout: Format) -> str:
    """``"ok"``, ``"bad"`` or ``"none"``, by the format in force, or by the event itself if it is a format
    description.

    Raises `GrammarError`: a format description event cannot be read.
    """
    if header.type_code == EventType.format_description_event:
        stored = parse_event(raw, header.type_code, layout).checksum
    else:
        stored = stored_checksum(raw) if layout.is_checksummed else None
    if stored is None:
        return "none"
    return "ok" if stored == crc32_of(raw, header) else "bad"


def gtid_text(event: BinlogEvent) -> str | None:
    """The GTID in a GTID event, as its server prints it; None for an anonymous transaction."""
    body: Node = event.body.content
    kind = event.event_type.value
    if kind == EventType.gtid_event:
        return mariadb_gtid(body.domain_id, event.header.server_id, body.sequence_number)
    if kind == EventType.gtid_tagged_log_event:
        parts = [byte.value for byte in body.fields.uuid.bytes]
        if max(parts) > 0xFF:
            raise GrammarError("a UUID of more than 16 bytes", field="body.fields.uuid")
        tag = checked_tag(body.tag, "body.fields.tag.text")
        return mysql_gtid(bytes(parts), body.gno, tag) if body.gno else None
    return mysql_gtid(body.uuid, body.gno) if kind == EventType.gtid_log_event else None


def gtid_set(data: Node) -> GtidSet:
    """A set of GTIDs as parsed by the grammar (`gtid_set.ksy`).

    Raises `GrammarError`: a tag is invalid.
    """
    gtids = GtidSet()
    for uuid, tag, intervals in gtid_sources(data):
        gtids.add_ranges(mysql_source(uuid, tag), ((interval.start, interval.stop) for interval in intervals))
    return gtids


def gtid_sources(data: Node) -> list[tuple[bytes, str, Node]]:
    """UUID, tag and intervals of each source of a GTID set; raises as :func:`gtid_set`."""
    return [
        (source.uuid, checked_tag(source.tag or "", "body.gtids"), source.intervals)
        for source in data.sources
    ]


def checked_tag(tag: str, field: str) -> str:
    """The tag of a GTID, or "" for none.

    Raises `GrammarError`: no server accepts it (`Tag::from_cstring`, libs/mysql/gtid/tag.cpp).
    """
    if tag and not TAG.fullmatch(tag):
        raise GrammarError(f"invalid tag '{tag}'", field=field)
    return tag


@lru_cache(1 << 10)
def digit_groups(precision: int, scale: int) -> tuple[tuple[tuple[int, int, int], ...], int]:
    """The digit groups of a DECIMAL, and how many of them precede the decimal point.

    Each group is its number of digits, its length in bytes, and its offset.
    """
    count, before = plain_decoders.decimal_groups(precision, scale)
    return tuple(plain_decoders.digit_group(index, precision, scale) for index in range(count)), before


def decimal_text(digits: bytes, precision: int, scale: int) -> str:
    """The text of a DECIMAL, as MySQL prints it.

    Raises `GrammarError`: there are too few bytes, or they do not encode digits.
    """
    if not digits or scale > precision:
        raise GrammarError(f"{len(digits)} bytes are not a valid DECIMAL({precision},{scale})")
    groups, before = digit_groups(precision, scale)
    is_negative = plain_decoders.decimal_sign(digits, 0, len(digits))
    texts = []
    for index, (number_of_digits, size, offset) in enumerate(groups):
        is_inside = offset + size <= len(digits)
        number = plain_decoders.digits_value(digits, 0, index, offset, size, is_negative) if is_inside else -1
        if not 0 <= number < 10**number_of_digits:
            raise GrammarError(f"invalid digits in a DECIMAL({precision},{scale})")
        texts.append(f"{number:0{number_of_digits}d}")
    integer = "".join(texts[:before]).lstrip("0") or "0"
    fraction = "".join(texts[before:])
    return ("-" if is_negative else "") + integer + ("." + fraction if fraction else "")


def utc(seconds: int) -> datetime:
    """A log timestamp (`seconds` since 1970-01-01) as a datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
