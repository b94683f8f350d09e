"""MySQL's GTID events: given these bytes after the header, these fields."""

from __future__ import annotations

import uuid
import zlib

import pytest
from binlog_grammar.binlog_event import BinlogEvent
from binlog_grammar.gtid_event import GtidEvent
from binlog_grammar.gtid_tagged_event import GtidTaggedEvent
from binlog_grammar.previous_gtids_event import PreviousGtidsEvent
from binlog_grammar.varlen_integer import VarlenInteger

from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, parse, vector

# Published dump of a MySQL 8.0.40 log: a GTID event with its header and checksum.
GTID_8_0_40 = bytes.fromhex(
    "2d103568 21 01000000 4f000000 14010000 0000"
    "01 b8ae2fd2300511f08be80242ac150002 0c00000000000000 02 0000000000000000 0100000000000000"
    "c6551bae133606 fc0501 a8380100 68d62761"
)
UUID = "3e11fa47 71ca11e1 9e33c80a a9429562"
FIXED = f"00 {UUID} 1700000000000000 02 2900000000000000 2a00000000000000"

GTID = [
    vector(
        "GTID, MySQL 8.0.40",
        GtidEvent,
        GTID_8_0_40[19:-4],
        42,
        flags=1,
        may_have_statements=True,
        uuid=uuid.UUID("b8ae2fd2-3005-11f0-8be8-0242ac150002").bytes,
        gno=12,
        logical_clock_type="logical_timestamps",
        last_committed=0,
        sequence_number=1,
        immediate_commit_timestamp=1748308013569478,
        original_commit_timestamp=1748308013569478,
        len_transaction=261,
        immediate_server_version=80040,
        original_server_version=80040,
        commit_group_ticket=None,
    ),
    vector(
        "GTID, real of MySQL 5.6.24, has no logical clock",
        GtidEvent,
        "01 cb32c70ce50811f1a30402fc00000001 0d00000000000000",
        25,
        gno=13,
        may_have_statements=True,
        last_committed=None,
        immediate_commit_timestamp=None,
        len_transaction=None,
        immediate_server_version=None,
    ),
    vector(
        "GTID, real of MySQL 5.7, ends with the logical clock",
        GtidEvent,
        "01 a0205340db2c11e7babd340286faf52d 0100000000000000 02 0000000000000000 0100000000000000",
        42,
        gno=1,
        sequence_number=1,
        has_commit_timestamps=False,
        original_server_version=None,
    ),
    vector(
        "GTID, real of MySQL 9.7.4 on a replica, has an original timestamp",
        GtidEvent,
        "01 cb5be2a2e50811f1a19e02fc00000001 0200000000000000 02 0100000000000000 0200000000000000"
        "23f01334b96086 c1d41334b96006 e0 50620100",
        42,
        gno=2,
        sequence_number=2,
        immediate_commit_timestamp=1795198419202083,
        original_commit_timestamp=1795198419195073,
        len_transaction=224,
        immediate_server_version=90704,
        original_server_version=90704,
    ),
    vector(
        "anonymous, real of MySQL 9.7.4",
        GtidEvent,
        "01" + "00" * 24 + "02 0000000000000000 0100000000000000 f89c96ceb86006 e0 50620100",
        42,
        uuid=bytes(16),
        gno=0,
        immediate_commit_timestamp=1795196716489976,
        len_transaction=224,
    ),
    vector(
        "GTID with everything that may be left out",
        GtidEvent,
        FIXED + "00 00 c1 a7 5d 05 86  ff ff c0 a7 5d 05 06  fe 00 00 00 00 02 00 00 00"
        "a9 62 01 80  a8 38 01 00  07 00 00 00 00 00 00 40",
        42,
        may_have_statements=False,
        gno=23,
        last_committed=41,
        sequence_number=42,
        immediate_commit_timestamp=0x00_06_05_5D_A7_C1_00_00,
        original_commit_timestamp=0x00_06_05_5D_A7_C0_FF_FF,
        len_transaction=2**33,
        immediate_server_version=90793,
        original_server_version=80040,
        commit_group_ticket=2**62 + 7,
    ),
    vector(
        "timestamps and versions of as many bits as there are",
        GtidEvent,
        FIXED + "ffffffffffffff fffffffffffffe fc ffff ffffffff ffffffff",
        42,
        immediate_commit_timestamp=2**55 - 1,
        original_commit_timestamp=0xFE_FFFF_FFFF_FFFF,
        len_transaction=65535,
        immediate_server_version=2**31 - 1,
        original_server_version=2**32 - 1,
        commit_group_ticket=None,
    ),
    vector(
        "GTID, its body real of a relay log of Group Replication 9.7.4, has a ticket",
        GtidEvent,
        FIXED + "4cfcbf7fba6006 fc6701 50620100 0100000000000000",
        42,
        len_transaction=359,
        commit_group_ticket=1,
    ),
    vector(
        "original commit timestamp not known",
        GtidEvent,
        FIXED + "23f01334b96086 00000000000000 20 50620100",
        42,
        original_commit_timestamp=0,
        len_transaction=32,
    ),
    vector(
        "original version alone",
        GtidEvent,
        FIXED + "23f01334b96006 20 50620180 3f420f00",
        42,
        original_commit_timestamp=1795198419202083,
        immediate_server_version=90704,
        original_server_version=999999,
    ),
    vector(
        "timestamp and length, before server versions",
        GtidEvent,
        FIXED + "23f01334b96006 fd 000001",
        42,
        len_transaction=65536,
        immediate_server_version=None,
    ),
    vector(
        "the greatest GNO",
        GtidEvent,
        f"00 {UUID} fe ff ff ff ff ff ff 7f",
        25,
        gno=2**63 - 2,
    ),
    vector(
        "the logical clock of early 5.7 versions",
        GtidEvent,
        f"00 {UUID} 0100000000000000 01 0500000000000000",
        34,
        logical_clock_type="commit_timestamp",
        last_committed=None,
        unknown_post_header=b"\x05" + bytes(7),
        has_commit_timestamps=False,
    ),
    vector(
        "a longer fixed part",
        GtidEvent,
        FIXED + "aabb 23f01334b96006 20",
        44,
        sequence_number=42,
        unknown_post_header=b"\xaa\xbb",
        immediate_commit_timestamp=1795198419202083,
        len_transaction=32,
    ),
]

TAGGED = [
    vector(
        "tagged GTID, real of MySQL 9.7.4",
        GtidTaggedEvent,
        "02 74 00 00 00 02 2d03 b689 0389 0295 0310 22 c503 8502 7902 04 f103 00 00 00 02"
        "04 04 06 08 74616731 08 08 0a 0c 0c 7f9c0a94ceb86006 10 3105 12 83120b",
        serialization_version__value=1,
        len_message__value=58,
        last_non_ignorable_field_id__value=0,
        flags=0,
        tag="tag1",
        gno=1,
        last_committed=2,
        sequence_number=3,
        immediate_commit_timestamp=1795196716321436,
        original_commit_timestamp=1795196716321436,
        len_transaction=332,
        immediate_server_version=90704,
        original_server_version=90704,
        commit_group_ticket=None,
    ),
    vector(
        "tagged GTID, real of MySQL 9.7.4 on a replica, has an original timestamp",
        GtidTaggedEvent,
        "02 84 00 00 00 02 2d03 b689 0389 0295 0310 22 c503 8502 7902 04 f103 00 00 00 02"
        "04 04 06 06 746167 08 08 0a 10 0c 7fd8071434b96006 0e 7ffbda1334b96006 10 3905 12 83120b",
        tag="tag",
        gno=1,
        last_committed=2,
        sequence_number=4,
        immediate_commit_timestamp=1795198419208152,
        original_commit_timestamp=1795198419196667,
        len_transaction=334,
        original_server_version=90704,
    ),
    vector(
        "tagged GTID, real of MySQL 9.7.4, of the greatest numbers",
        GtidTaggedEvent,
        "02 7a 00 00 00 02 22222222 4444 6666 8888 aaaaaaaaaaaa 04 ffb0f9ffffffffffff"
        "06 0e 736f6d65746167 08 08 0a 20 0c 7f6d1294ceb86006 10 3d05 12 83120b",
        tag="sometag",
        gno=9223372036854775000,
        sequence_number=8,
        len_transaction=335,
    ),
    vector(
        "tagged GTID with everything that may be left out, and a field of a newer server",
        GtidTaggedEvent,
        "02 1d01 16 00 02 02" + "00" * 16 + "04 f3ff0f 06 02 61 08 0102 0a 08 0c 0f00000002 0e 00"
        "10 ff0000000000000080 12 83120b 14 07000002 16 f7ffffff 18aabbcc",
        len_message__value=71,
        last_non_ignorable_field_id__value=11,
        flags=1,
        may_have_statements=True,
        tag="a",
        gno=65535,
        last_committed=64,
        sequence_number=2,
        immediate_commit_timestamp=2**28,
        original_commit_timestamp=0,
        len_transaction=2**63,
        immediate_server_version=90704,
        original_server_version=2**21,
        commit_group_ticket=2**28 - 1,
        fields__unknown_fields=b"\x18\xaa\xbb\xcc",
    ),
    vector(
        "tagged GTID with an original version alone",
        GtidTaggedEvent,
        "02 56 00 00 02 02" + "00" * 16 + "04 04 06 00 08 00 0a 04 0c 02 10 80 12 83120b 14 07000002",
        tag="",
        original_commit_timestamp=1,
        original_server_version=2**21,
        commit_group_ticket=None,
    ),
    vector(
        "tagged GTID, real of a relay log of Group Replication 9.7.4, has a ticket",
        GtidTaggedEvent,
        "02 86 00 00 00 02" + "a902" * 4 + "ed02ed02 31033103 75037503" + "b903" * 6 + "04 04 06 06 746167"
        "08 10 0a 14 0c 7ff01dc07fba6006 10 4505 12 83120b 16 02",
        original_server_version=90704,
        commit_group_ticket=1,
    ),
]

# Published dumps. In the text beside the tagged one, UUIDs and tag lack a digit each; the dump is whole.
PREVIOUS_GTIDS = [
    vector(
        "previous GTIDs, MySQL 8.0.40",
        PreviousGtidsEvent,
        "0100000000000000 b8ae2fd2300511f08be80242ac150002 01000000000000000100000000000000 0c00000000000000",
        gtids__is_tagged=False,
        gtids__sources__0__uuid=uuid.UUID("b8ae2fd2-3005-11f0-8be8-0242ac150002").bytes,
        gtids__sources__0__tag=None,
        gtids__sources__0__intervals__0__start=1,
        gtids__sources__0__intervals__0__stop=12,
        gtids__sources__0__intervals__0__last=11,
    ),
    vector(
        "previous GTIDs with tags, MySQL 9.6.0",
        PreviousGtidsEvent,
        "0102000000000001"
        "55778904029911f1b1b84ef0c4956feb 00 0100000000000000 0100000000000000 0e00000000000000"
        "55778904029911f1b1b84ef0c4956feb 0a 6d79746167 0100000000000000 0100000000000000 0300000000000000",
        gtids__is_tagged=True,
        gtids__num_sources=2,
        gtids__sources__0__uuid=uuid.UUID("55778904-0299-11f1-b1b8-4ef0c4956feb").bytes,
        gtids__sources__0__tag="",
        gtids__sources__0__intervals__0__last=13,
        gtids__sources__1__uuid=uuid.UUID("55778904-0299-11f1-b1b8-4ef0c4956feb").bytes,
        gtids__sources__1__len_tag__value=5,
        gtids__sources__1__tag="mytag",
        gtids__sources__1__intervals__0__start=1,
        gtids__sources__1__intervals__0__last=2,
    ),
    vector(
        "no previous GTIDs, real of MySQL 9.7.4",
        PreviousGtidsEvent,
        "0000000000000000",
        gtids__num_sources=0,
        gtids__sources=[],
    ),
    vector(
        "several intervals, up to the greatest number, real of MySQL 9.7.4 but for the count",
        PreviousGtidsEvent,
        "0101000000000001 11111111222233334444555555555555 0e 736f6d65746167 0200000000000000"
        "0300000000000000 0500000000000000 d8fcffffffffff7f d9fcffffffffff7f",
        gtids__sources__0__tag="sometag",
        gtids__sources__0__intervals__0__last=4,
        gtids__sources__0__intervals__1__start=9223372036854775000,
        gtids__sources__0__intervals__1__last=9223372036854775000,
    ),
    vector(
        "a tag whose length takes two bytes",
        PreviousGtidsEvent,
        "0101000000000001" + "11" * 16 + "2102" + "61" * 136 + "0000000000000000",
        gtids__sources__0__len_tag__value=136,
        gtids__sources__0__tag="a" * 136,
        gtids__sources__0__intervals=[],
    ),
    vector(
        "more sources than a byte counts",
        PreviousGtidsEvent,
        "2c01000000000000" + ("22" * 16 + "0000000000000000") * 300,
        gtids__num_sources=300,
    ),
]

VECTORS = [*GTID, *TAGGED, *PREVIOUS_GTIDS]


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_fields(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_cut_or_extended(case: Vector) -> None:
    assert_nothing_is_dropped(case)


def test_the_dump_of_a_gtid_event() -> None:
    event = parse(BinlogEvent, GTID_8_0_40, 4, 19, 42, True, False, 0, None, False)
    assert (event.header.server_id, event.header.next_position) == (1, 276)
    assert event.body.content.gno == 12
    assert event.checksum == zlib.crc32(GTID_8_0_40[:-4])
    # The transaction's length leads from this event to the next GTID.
    assert 197 + event.body.content.len_transaction == 458


def test_the_uuid_of_a_tagged_gtid() -> None:
    body = TAGGED[0].parse()
    stored = bytes(one.value for one in body.fields.uuid.bytes)
    assert str(uuid.UUID(bytes=stored)) == "cb5be2a2-e508-11f1-a19e-02fc00000001"
    assert body.fields.uuid.text == "cb5be2a2-e508-11f1-a19e-02fc00000001"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("00", 0),
        ("02", 1),
        ("fe", 127),
        ("0102", 128),
        ("fdff", 2**14 - 1),
        ("030002", 2**14),
        ("fbff07", 65535),
        ("07000002", 2**21),
        ("f7ffffff", 2**28 - 1),
        ("0f00000002", 2**28),
        ("1f0000000002", 2**35),
        ("3f000000000002", 2**42),
        ("7f00000000000002", 2**49),
        ("7fffffffffffffff", 2**56 - 1),
        ("ff0000000000000001", 2**56),
        ("ffffffffffffffffff", 2**64 - 1),
    ],
)
def test_an_unsigned_varlen_integer(data: str, value: int) -> None:
    parsed = parse(VarlenInteger, bytes.fromhex(data) + b"\x5a")
    assert (parsed.value, parsed.num_bytes, parsed._io.pos()) == (value, len(data) // 2, len(data) // 2)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("00", 0),
        ("02", -1),
        ("04", 1),
        ("f3ff0f", 65535),
        ("ebff0f", -65535),
        ("fbff0f", -65536),
        ("fffeffffffffffffff", 2**63 - 1),
        ("ffffffffffffffffff", -(2**63)),
    ],
)
def test_a_signed_varlen_integer(data: str, value: int) -> None:
    assert parse(VarlenInteger, bytes.fromhex(data)).signed_value == value
