"""The router: the structure of each event type, in logs of every version."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest
from binlog_grammar.binlog_enums import BinlogEnums
from binlog_grammar.binlog_event import BinlogEvent
from binlog_grammar.event_body import EventBody

from tests.grammar.vectors import parse, unread

EventType = BinlogEnums.EventType
YearBits = BinlogEnums.YearBits

# Published dump of a MySQL 8.0.34 log; mysqlbinlog printed the same bytes in base 64.
MYSQL_8_0_34 = base64.b64decode(
    "OklcZQ+cDQkAegAAAH4AAAABAAQAOC4wLjM0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAEwANAAgAAAAABAAEAAAAYgAEGggAAAAICAgCAAAACgoKKioAEjQA"
    "CigAAaE14M0="
)

# Published dump of a MySQL 5.5.2-m2 relay log, before checksums.
MYSQL_5_5_2 = bytes.fromhex(
    "822dc24b 0f 02000000 67000000 6b000000 0000"
    "0400 352e352e322d6d32" + "00" * 42 + "822dc24b 13"
    "380d0008001200040404041200005400041a080000000808080200"
)


def event(data: bytes, version: int, header_length: int) -> Any:
    """The first event of a log, which nothing before it describes."""
    return parse(
        BinlogEvent, data, version, header_length, 0, False, False, YearBits.undetermined, None, False
    )


def body(kind: EventType, data: bytes, version: int = 4, post_header_length: int = 0) -> Any:
    parsed = parse(EventBody, data, kind, version, post_header_length, YearBits.undetermined, None, False)
    assert unread(parsed) == []
    return parsed.content


def test_the_dump_of_mysql_8_0_34() -> None:
    parsed = event(MYSQL_8_0_34, 4, 19)
    header, content = parsed.header, parsed.body.content
    assert (header.timestamp, header.type_code, header.server_id) == (
        1700546874,
        EventType.format_description_event,
        593308,
    )
    assert (header.len_event, header.next_position, header.flags) == (122, 126, 1)
    assert header.is_in_use
    assert (content.binlog_version, content.server_version, content.len_header) == (4, "8.0.34", 19)
    # The text beside the dump says 39 entries; the dump has 41.
    assert len(content.len_post_headers) == content.num_event_types == 41
    assert content.len_post_headers[EventType.gtid_log_event.value - 1] == 42
    assert content.has_checksums
    assert parsed.checksum == 0xCDE035A1 == zlib.crc32(MYSQL_8_0_34[:17] + b"\0\0" + MYSQL_8_0_34[19:-4])
    assert unread(parsed) == []


def test_the_dump_of_mysql_5_5_2() -> None:
    parsed = event(MYSQL_5_5_2, 4, 19)
    content = parsed.body.content
    assert (parsed.header.len_event, content.server_version) == (103, "5.5.2-m2")
    assert content.create_timestamp == parsed.header.timestamp == 1271016834
    assert len(content.len_post_headers) == 27
    assert (parsed.checksum, content.has_checksums) == (None, False)
    assert unread(parsed) == []


@pytest.mark.parametrize("version", [1, 3])
def test_a_start_event_of_an_old_log(version: int) -> None:
    length = {1: 13, 3: 19}[version]
    start = struct.pack("<H50sI", version, b"4.0.27-log", 0)
    data = struct.pack("<IBII", 7, 1, 2, length + len(start)) + bytes(length - 13) + start
    parsed = event(data, version, length)
    assert parsed.body.content.server_version == "4.0.27-log"
    assert unread(parsed) == []


def test_fixed_parts_of_old_logs() -> None:
    # Logs before version 4 have no table of post-header lengths.
    query = struct.pack("<IIBH", 1, 0, 1, 0) + b"t\0BEGIN"
    for version in (1, 3):
        assert body(EventType.query_event, query, version).query == b"BEGIN"
    assert body(EventType.rotate_event, b"log.2", 1).next_log == "log.2"
    rotation = body(EventType.rotate_event, struct.pack("<Q", 4) + b"log.2", 3)
    assert (rotation.position, rotation.next_log) == (4, "log.2")


def test_a_type_that_the_table_lacks_has_its_usual_fixed_part() -> None:
    query = struct.pack("<IIBHH", 1, 0, 1, 0, 0) + b"t\0BEGIN"
    assert body(EventType.query_event, query, 4, 0).query == b"BEGIN"


def test_both_loads() -> None:
    fixed = struct.pack("<IIIBBI", 1, 0, 0, 1, 1, 0)
    short = body(EventType.load_event, fixed + b",\x22\n\0\\\0\x08" + b"t\0d\0f")
    assert (short.target.short_separators.field_terminator, short.file_name) == (b",", "f")
    long = body(EventType.new_load_event, fixed + b"\x02||\0\0\0\0\0" + b"t\0d\0f")
    assert (long.target.long_separators.field_terminator.value, long.file_name) == (b"||", "f")


@pytest.mark.parametrize(
    ("server_version", "num_event_types", "year_bits"),
    [
        ("8.0.15", 39, YearBits.absent),
        ("8.0.20", 40, YearBits.absent),
        ("8.0.20-11", 40, YearBits.absent),
        ("8.0.21", 40, YearBits.undetermined),
        ("8.0.22-debug", 40, YearBits.undetermined),
        ("renamed", 40, YearBits.undetermined),
        ("8.0.23", 40, YearBits.present),
        ("8.0.27-18", 40, YearBits.present),
        ("8.0.34", 41, YearBits.present),
        ("9.7.4", 42, YearBits.present),
        ("10.5.23-MariaDB", 171, YearBits.present),
    ],
)
def test_bits_of_years_by_server(server_version: str, num_event_types: int, year_bits: YearBits) -> None:
    lengths = bytearray(num_event_types)
    lengths[EventType.format_description_event - 1] = 57 + num_event_types
    data = b"\x04\0" + server_version.encode().ljust(50, b"\0") + bytes(4) + b"\x13" + lengths + b"\0"
    assert body(EventType.format_description_event, data).year_bits == year_bits


def test_an_unknown_type_keeps_its_bytes() -> None:
    for kind in (0, 44, 100, 173, 255):
        parsed = parse(EventBody, b"\x01\x02\x03", kind, 4, 0, YearBits.undetermined, None, False)
        assert parsed.content.data == b"\x01\x02\x03"
        assert unread(parsed) == []


def test_the_enumeration_has_every_type() -> None:
    assert {kind.value for kind in EventType} == {*range(44), *range(160, 173)}


def test_every_type_has_a_structure() -> None:
    unknown = EventBody.UnknownEvent
    for kind in EventType:
        try:
            parsed = parse(EventBody, b"", kind, 4, 0, YearBits.undetermined, None, False)
        except EOFError:
            continue
        assert isinstance(parsed.content, unknown) == (kind is EventType.unknown_event), kind
