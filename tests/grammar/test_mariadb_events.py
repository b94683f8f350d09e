"""MariaDB's own events, except rows: given these bytes after the header, these fields."""

from __future__ import annotations

import struct
import zlib

import pytest
from binlog_grammar.annotate_rows_event import AnnotateRowsEvent
from binlog_grammar.binlog_checkpoint_event import BinlogCheckpointEvent
from binlog_grammar.compressed_data import CompressedData
from binlog_grammar.mariadb_gtid_event import MariadbGtidEvent
from binlog_grammar.mariadb_gtid_list_event import MariadbGtidListEvent
from binlog_grammar.partial_row_data_event import PartialRowDataEvent
from binlog_grammar.query_compressed_event import QueryCompressedEvent
from binlog_grammar.start_encryption_event import StartEncryptionEvent
from kaitaistruct import ValidationFailedError

from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, parse, unread, vector

GTID = [
    vector(
        "GTID, real of MariaDB 10.11, padded to 19 bytes",
        MariadbGtidEvent,
        "0100000000000000 00000000 29 000000000000",
        19,
        sequence_number=1,
        domain_id=0,
        flags=0x29,
        is_standalone=True,
        is_parallel_allowed=True,
        is_ddl=True,
        is_transactional=False,
        commit_id=None,
        xid=None,
        extra_flags=0,
        padding=bytes(5),
        unknown_tail=None,
    ),
    vector(
        "GTID, real of MariaDB 11.8, with the connection",
        MariadbGtidEvent,
        "0f00000000000000 00000000 0c 10 16000000 00",
        19,
        sequence_number=15,
        is_transactional=True,
        is_parallel_allowed=True,
        has_thread_id=True,
        thread_id=22,
        padding=b"\0",
    ),
    vector(
        "START ALTER, real of MariaDB 11.8 but for the numbers",
        MariadbGtidEvent,
        "1a99be1c14000000 ffffffff 29 12 13000000 00",
        19,
        sequence_number=86381599002,
        domain_id=4294967295,
        is_start_alter=True,
        start_alter_sequence_number=None,
        thread_id=19,
    ),
    vector(
        "COMMIT ALTER, real of MariaDB 10.11",
        MariadbGtidEvent,
        "0500000000000000 00000000 29 04 0400000000000000",
        19,
        is_commit_alter=True,
        is_rollback_alter=False,
        start_alter_sequence_number=4,
        thread_id=None,
        padding=None,
    ),
    vector(
        "COMMIT ALTER, real of MariaDB 11.8",
        MariadbGtidEvent,
        "0500000000000000 00000000 29 14 0400000000000000 13000000",
        19,
        is_commit_alter=True,
        start_alter_sequence_number=4,
        thread_id=19,
    ),
    vector(
        "ROLLBACK ALTER",
        MariadbGtidEvent,
        "0800000000000000 00000000 29 08 0700000000000000",
        19,
        is_rollback_alter=True,
        start_alter_sequence_number=7,
    ),
    vector(
        "group commit, MariaDB 10.0 to 10.11",
        MariadbGtidEvent,
        "0700000000000000 05000000 0e 0300000000000000",
        19,
        has_commit_id=True,
        commit_id=3,
        has_extra_flags=False,
        extra_flags=None,
        padding=None,
    ),
    vector(
        "XA PREPARE, real of MariaDB 11.8, with several engines and the connection",
        MariadbGtidEvent,
        "0600000000000000 00000000 4c 01000000 03 03 00ff27 622771 11 ff 4e000000",
        19,
        is_prepared_xa=True,
        is_completed_xa=False,
        xid__format_id=1,
        xid__gtrid=b"\0\xff'",
        xid__bqual=b"b'q",
        has_extra_engines=True,
        num_extra_engines=255,
        thread_id=78,
    ),
    vector(
        "XA COMMIT, real of MariaDB 10.11, has no extra flags",
        MariadbGtidEvent,
        "0400000000000000 00000000 8d 01000000 02 00 6731",
        19,
        is_completed_xa=True,
        is_prepared_xa=False,
        xid__gtrid=b"g1",
        xid__bqual=b"",
        extra_flags=None,
    ),
    vector(
        "everything that may be left out",
        MariadbGtidEvent,
        "ffffffffffffff7f 01000000 df 0900000000000000 ffffffff 01 01 67 62"
        "1d 02 0700000000000000 78563412 aabb",
        19,
        sequence_number=2**63 - 1,
        has_waited=True,
        commit_id=9,
        xid__format_id=2**32 - 1,
        xid__gtrid=b"g",
        xid__bqual=b"b",
        num_extra_engines=2,
        start_alter_sequence_number=7,
        thread_id=0x12345678,
        unknown_tail=b"\xaa\xbb",
    ),
]

GTID_LIST = [
    vector(
        "empty GTID list, real of MariaDB 10.11, is padded",
        MariadbGtidListEvent,
        "00000000 0000",
        4,
        num_gtids=0,
        gtids=[],
        padding=b"\0\0",
        unknown_tail=None,
    ),
    vector(
        "GTID list, real of MariaDB 10.11",
        MariadbGtidListEvent,
        "05000000 05000000 56810000 0100000000000000 05000000 09030000 141a99be1c000000"
        "ffffffff 09030000 0100000000000000 00000000 56810000 0300000000000000"
        "00000000 09030000 0800000000000000",
        4,
        num_gtids=5,
        is_until_reached=False,
        is_ignored_gtids=False,
        gtids__0__server_id=33110,
        gtids__1__domain_id=5,
        gtids__1__server_id=777,
        gtids__1__sequence_number=123456789012,
        gtids__2__domain_id=4294967295,
        gtids__4__sequence_number=8,
    ),
    vector(
        "GTID list with flags and a longer fixed part",
        MariadbGtidListEvent,
        "01000030 aa 00000000 01000000 0200000000000000",
        5,
        num_gtids=1,
        is_until_reached=True,
        is_ignored_gtids=True,
        unknown_post_header=b"\xaa",
        gtids__0__sequence_number=2,
    ),
]

# Status variables of a real event of MariaDB 10.11.
STATUS_VARS = bytes.fromhex("00000000010100000040000000000603737464042d002d002d00")
QUERY = b"INSERT INTO t VALUES (1)"


def compressed_query(query: bytes) -> bytes:
    fixed = struct.pack("<IIBHH", 17, 2, 1, 0, len(STATUS_VARS))
    return fixed + STATUS_VARS + b"t\0" + b"\x81" + bytes([len(query)]) + zlib.compress(query)


OTHERS = [
    vector(
        "annotation",
        AnnotateRowsEvent,
        "insert into t values ('ä')".encode(),
        query_text="insert into t values ('ä')",
    ),
    vector("annotation of bytes that are no text", AnnotateRowsEvent, b"\xff\xfe", query=b"\xff\xfe"),
    vector(
        "checkpoint, real of MariaDB 10.11",
        BinlogCheckpointEvent,
        "0d000000 62696e6c6f672e303030303031",
        4,
        file_name="binlog.000001",
    ),
    vector(
        "checkpoint with a longer fixed part",
        BinlogCheckpointEvent,
        "02000000 ffff 6c31",
        6,
        unknown_post_header=b"\xff\xff",
        file_name="l1",
    ),
    vector(
        "start of encryption, real of MariaDB 11.8",
        StartEncryptionEvent,
        "01 01000000 f5c7289c435ed047ed8837f8",
        scheme=1,
        key_version=1,
        nonce=bytes.fromhex("f5c7289c435ed047ed8837f8"),
        unknown_tail=None,
    ),
    vector(
        "compressed statement, real of MariaDB 10.11",
        QueryCompressedEvent,
        "11000000 00000000 01 0000 1a00 00000000010100000040000000000603737464042d002d002d00 7400"
        "812a 789cf3f40b760d0a51f0f40bf1572856d028d349d1540873f409750d56d0"
        "504f54d731d4d4d1504f52d731d20400ed800a32",
        13,
        thread_id=17,
        schema_name="t",
        schema_name_terminator=0,
        compressed_query__len_uncompressed=42,
        query=b"INSERT INTO s (v,d) VALUES ('a',1),('b',2)",
    ),
    vector(
        "first fragment of a rows event",
        PartialRowDataEvent,
        "03000000 01000000 01 0000000002000000 62696e",
        9,
        fragment_number=1,
        num_fragments=3,
        has_len_original=True,
        len_original=2**33,
        data=b"bin",
    ),
    vector(
        "another, with the two numbers in the other order",
        PartialRowDataEvent,
        "02000000 03000000 00 62696e",
        9,
        fragment_number=2,
        num_fragments=3,
        len_original=None,
        data=b"bin",
    ),
]

COMPRESSED = [
    vector(
        f"{len(data)} bytes, compressed",
        CompressedData,
        bytes([0x80 | size]) + len(data).to_bytes(size, "big") + zlib.compress(data),
        len_uncompressed=len(data),
        deflated__inflated=data,
    )
    for size, data in ((1, b""), (1, b"x" * 255), (2, b"x" * 256), (3, b"x" * 70_000), (4, b"x" * 300))
]

VECTORS = [*GTID, *GTID_LIST, *OTHERS, *COMPRESSED]


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_fields(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_cut_or_extended(case: Vector) -> None:
    assert_nothing_is_dropped(case)


@pytest.mark.parametrize("method", [0x00, 0x7F, 0x80, 0x85, 0x87, 0x91, 0xFF])
def test_an_unknown_method_of_compression(method: int) -> None:
    with pytest.raises(ValidationFailedError):
        parse(CompressedData, bytes([method, 1, 2, 3, 4, 5]))


def test_nobody_pays_for_a_statement_that_nobody_reads() -> None:
    parsed = parse(QueryCompressedEvent, compressed_query(QUERY)[:-4] + b"????", 13)
    assert parsed.compressed_query.len_uncompressed == len(QUERY)
    assert unread(parsed) == []
    with pytest.raises(zlib.error):
        _ = parsed.query
