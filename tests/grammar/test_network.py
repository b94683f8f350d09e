"""The replication protocol: given these messages, these fields."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest
from binlog_grammar.binlog_enums import BinlogEnums
from binlog_grammar.com_binlog_dump import ComBinlogDump
from binlog_grammar.com_binlog_dump_gtid import ComBinlogDumpGtid
from binlog_grammar.com_register_slave import ComRegisterSlave
from binlog_grammar.com_table_dump import ComTableDump
from binlog_grammar.network_packet import NetworkPacket
from binlog_grammar.semi_sync_ack import SemiSyncAck
from binlog_grammar.stream_packet import StreamPacket
from kaitaistruct import ValidationFailedError

from tests.corpus_files import Case, packets, special_cases
from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, parse, unread, vector

YearBits = BinlogEnums.YearBits

# A rotation as a source makes it up at the start of a stream, and an XID with its checksum.
ROTATE = (
    bytes.fromhex("00000000 04 61000000 28000000 00000000 2000") + struct.pack("<Q", 4) + b"binlog.000002"
)
XID = bytes.fromhex("6e0f3568 10 01000000 1f000000 c5000000 0000 1200000000000000")
XID += struct.pack("<I", zlib.crc32(XID))

#: What a replica knows of the log: version 4, header of 19 bytes; the rest depends on the event.
PLAIN = (4, 19, 0, False, False, YearBits.undetermined, None, False)
CHECKSUMMED = (4, 19, 0, True, False, YearBits.undetermined, None, False)

STREAM = [
    vector(
        "event",
        StreamPacket,
        b"\x00" + ROTATE,
        False,
        *PLAIN,
        kind="event",
        body__semi_sync=None,
        body__event__header__is_artificial=True,
        body__event__body__content__next_log="binlog.000002",
        body__event__checksum=None,
    ),
    vector(
        "event with a checksum",
        StreamPacket,
        b"\x00" + XID,
        False,
        *CHECKSUMMED,
        body__event__body__content__xid=18,
        body__event__checksum=zlib.crc32(XID[:-4]),
    ),
    vector(
        "event, semi-synchronous, that wants an answer",
        StreamPacket,
        b"\x00\xef\x01" + XID,
        True,
        *CHECKSUMMED,
        body__semi_sync__is_ack_wanted=True,
        body__event__header__len_event=31,
    ),
    vector(
        "event, semi-synchronous, that wants none",
        StreamPacket,
        b"\x00\xef\x00" + ROTATE,
        True,
        *PLAIN,
        body__semi_sync__is_ack_wanted=False,
        body__event__body__content__position=4,
    ),
    vector(
        "end of the stream",
        StreamPacket,
        "fe 0000 0200",
        False,
        *PLAIN,
        kind="end_of_stream",
        body__is_long=False,
        body__warnings=0,
        body__status_flags=2,
        body__is_autocommit=True,
        body__is_in_transaction=False,
    ),
    vector(
        "end of the stream, before 4.1",
        StreamPacket,
        "fe",
        False,
        *PLAIN,
        body__status_flags=None,
        body__is_autocommit=None,
    ),
    vector(
        "end of the stream for a client with CLIENT_DEPRECATE_EOF",
        StreamPacket,
        "fe 00 00 0200 0100",
        True,
        *PLAIN,
        body__is_long=True,
        body__affected_rows__value=0,
        body__status_flags=2,
        body__warnings=1,
    ),
    vector(
        "error",
        StreamPacket,
        b"\xff\xd4\x04#HY000Could not find first log file name in binary log index file",
        True,
        *PLAIN,
        kind="error",
        body__error_code=1236,
        body__sql_state="HY000",
        body__message="Could not find first log file name in binary log index file",
    ),
    vector(
        "error, before 4.1",
        StreamPacket,
        b"\xff\xd4\x04No log",
        False,
        *PLAIN,
        body__error_code=1236,
        body__sql_state=None,
        body__message="No log",
    ),
    vector(
        "error without a word", StreamPacket, "ff d404", False, *PLAIN, body__sql_state=None, body__message=""
    ),
]

GTIDS = struct.pack("<Q16sQqq", 1, bytes(range(16)), 1, 1, 12)

COMMANDS = [
    vector(
        "dump",
        ComBinlogDump,
        b"\x12\x04\x00\x00\x00\x03\x00\x62\x00\x00\x00binlog.000001",
        position=4,
        is_non_blocking=True,
        wants_annotations=True,
        server_id=98,
        file_name="binlog.000001",
    ),
    vector("dump of the oldest log", ComBinlogDump, "12 04000000 0000 00000000", file_name=""),
    vector(
        "dump by GTIDs",
        ComBinlogDumpGtid,
        b"\x1e" + struct.pack("<HIIQI", 4, 98, 0, 4, len(GTIDS)) + GTIDS,
        is_through_gtid=True,
        wants_long_heartbeats=False,
        is_non_blocking=False,
        server_id=98,
        file_name="",
        position=4,
        data__gtids__num_sources=1,
        data__gtids__sources__0__uuid=bytes(range(16)),
        data__gtids__sources__0__intervals__0__last=11,
    ),
    vector(
        "dump by GTIDs, with a log's name and no GTIDs",
        ComBinlogDumpGtid,
        b"\x1e" + struct.pack("<HII5sQIQ", 0, 98, 5, b"log.1", 2**33, 8, 0),
        file_name="log.1",
        position=2**33,
        data__gtids__sources=[],
    ),
    vector(
        "dump by GTIDs, with tags",
        ComBinlogDumpGtid,
        b"\x1e"
        + struct.pack("<HIIQI", 0, 98, 0, 4, 45)
        + b"\1\1\0\0\0\0\0\1"
        + bytes(16)
        + b"\x08tag1"
        + bytes(16),
        data__gtids__sources__0__tag="tag1",
    ),
    vector(
        "dump by GTIDs without the block of data",
        ComBinlogDumpGtid,
        b"\x1e" + struct.pack("<HIIQ", 2, 98, 0, 4),
        wants_long_heartbeats=True,
        data=None,
    ),
    vector(
        "registration",
        ComRegisterSlave,
        b"\x15\x62\x00\x00\x00\x02db\x04repl\x00\xea\x0c\x00\x00\x00\x00\x61\x00\x00\x00",
        server_id=98,
        host="db",
        user="repl",
        password="",
        port=3306,
        rank=0,
        source_id=97,
    ),
    vector("dump of a table", ComTableDump, b"\x13\x04test\x01t", schema_name="test", table_name="t"),
    vector(
        "answer of a semi-synchronous replica",
        SemiSyncAck,
        b"\xef\xc5\x00\x00\x00\x00\x00\x00\x00binlog.000001",
        position=197,
        file_name="binlog.000001",
    ),
]

PACKETS = [
    vector(
        "packet",
        NetworkPacket,
        "010000 05 fe",
        len_payload=1,
        sequence_id=5,
        payload=b"\xfe",
        is_continued=False,
    ),
    vector("empty packet", NetworkPacket, "000000 ff", sequence_id=255, payload=b""),
]

VECTORS = [*STREAM, *COMMANDS]


@pytest.mark.parametrize("case", [*VECTORS, *PACKETS], ids=str)
def test_fields(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_cut_or_extended(case: Vector) -> None:
    assert_nothing_is_dropped(case)


def test_a_message_in_several_packets() -> None:
    packet = parse(NetworkPacket, b"\xff\xff\xff\x00" + bytes(0xFFFFFF) + b"\0\0\0\1")
    assert packet.is_continued
    assert packet._io.pos() == 4 + 0xFFFFFF


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_another_command_is_refused(case: Vector) -> None:
    with pytest.raises(ValidationFailedError):
        case.parse(b"\x7f" + case.data[1:])


#: The messages that a replica sends, by their first byte.
SENT = {
    0x12: ComBinlogDump,
    0x15: ComRegisterSlave,
    0x1E: ComBinlogDumpGtid,
    0xEF: SemiSyncAck,
}


def received(case: Case) -> list[Any]:
    """The messages of a recorded stream, each with what the format description before it says."""
    messages: list[Any] = []
    lengths: list[int] = []
    year_bits = YearBits.undetermined
    has_semi_sync = "semi_sync" in case.folder.name
    # The first packet answers the registration.
    for packet in packets(case.folder / "server.bin")[1:]:
        type_code = packet.raw[7:8] if has_semi_sync else packet.raw[5:6]
        is_known = packet.raw[0] == 0 and 0 < type_code[0] <= len(lengths)
        length = lengths[type_code[0] - 1] if is_known else 0
        context = (4, 19, length, True, False, year_bits, None, False)
        message = parse(StreamPacket, packet.raw, has_semi_sync, *context)
        if message.kind == StreamPacket.PacketKind.event and message.body.event.is_format_description:
            described = message.body.event.body.content
            lengths, year_bits = described.len_post_headers, described.year_bits
        messages.append(message)
    return messages


@pytest.mark.parametrize("case", special_cases("network"), ids=lambda case: case.id)
def test_a_recorded_stream(case: Case) -> None:
    messages = received(case)
    assert [one for message in messages for one in unread(message)] == []
    events = [message.body.event for message in messages if message.kind == StreamPacket.PacketKind.event]
    if case.folder.name.endswith("error"):
        (failure,) = messages
        assert (failure.body.error_code, failure.body.sql_state) == (1236, "HY000")
    else:
        rotation, description = (event.body.content for event in events[:2])
        assert rotation.next_log == case.logs[0].name
        assert description.server_version == case.info["version"]
    if case.folder.name.endswith("to_the_end"):
        assert messages[-1].kind == StreamPacket.PacketKind.end_of_stream


@pytest.mark.parametrize("case", special_cases("network"), ids=lambda case: case.id)
def test_recorded_commands(case: Case) -> None:
    sent = [parse(SENT[packet.raw[0]], packet.raw) for packet in packets(case.folder / "client.bin")]
    assert [one for message in sent for one in unread(message)] == []
    registration, dump, *answers = sent
    assert registration.server_id == dump.server_id
    assert dump.file_name in (case.logs[0].name, "binlog.009999")
    assert all(answer.file_name == case.logs[0].name for answer in answers)
