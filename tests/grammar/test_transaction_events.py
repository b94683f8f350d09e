"""Other transaction events of MySQL: given these bytes after the header, these fields."""

from __future__ import annotations

import struct

import pytest
from binlog_grammar.transaction_context_event import TransactionContextEvent
from binlog_grammar.transaction_payload_event import TransactionPayloadEvent
from binlog_grammar.view_change_event import ViewChangeEvent
from binlog_grammar.xa_prepare_event import XaPrepareEvent

from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, vector

VECTORS = [
    vector(
        "XA PREPARE, real of MySQL 9.7.4",
        XaPrepareEvent,
        "00 01000000 03000000 03000000 00ff27 622771",
        is_one_phase=False,
        format_id=1,
        gtrid=b"\x00\xff'",
        bqual=b"b'q",
    ),
    vector(
        "XA COMMIT … ONE PHASE, real of MySQL 9.7.4",
        XaPrepareEvent,
        "01 07000000 02000000 02000000 6732 6232",
        is_one_phase=True,
        format_id=7,
        gtrid=b"g2",
        bqual=b"b2",
    ),
    vector(
        "transaction context",
        TransactionContextEvent,
        struct.pack("<BIBIII", 36, 9, 1, 48, 2, 1)
        + b"b8ae2fd2-3005-11f0-8be8-0242ac150002"
        + struct.pack("<Q16sQqq", 1, bytes(16), 1, 1, 12)
        + b"\x08\x00AAAAAAAA\x01\x00B\x02\x00CC",
        18,
        server_uuid="b8ae2fd2-3005-11f0-8be8-0242ac150002",
        thread_id=9,
        gtid_specified=1,
        snapshot_version__gtids__sources__0__intervals__0__last=11,
        write_set__0__hash=b"AAAAAAAA",
        write_set__1__hash=b"B",
        read_set__0__hash=b"CC",
    ),
    vector(
        "transaction context of nothing",
        TransactionContextEvent,
        bytes(18) + b"\xaa",
        19,
        server_uuid="",
        unknown_post_header=b"\xaa",
        snapshot_version__gtids=None,
    ),
    vector(
        "view change",
        ViewChangeEvent,
        b"14920190420:7".ljust(40, b"\0") + struct.pack("<QI", 5, 2) + b"\1\0k\3\0\0\0val\0\0\0\0\0\0",
        52,
        view_id="14920190420:7",
        sequence_number=5,
        certification_info__0__key=b"k",
        certification_info__0__value=b"val",
        certification_info__1__value=b"",
    ),
    vector(
        "payload, its beginning real of MySQL 9.7.4",
        TransactionPayloadEvent,
        "02 01 00 03 03 fcfe00 01 01 b5 00 28b52ffd20fe6505",
        compression_type="zstd",
        len_uncompressed=254,
        len_payload=181,
        payload=bytes.fromhex("28b52ffd20fe6505"),
    ),
    vector(
        "payload whose fields are in another order, with one of a newer server",
        TransactionPayloadEvent,
        "01 09 fe0000000002000000 fcffff 02 abcd 02 03 fcff00 00 62696e",
        len_payload=2**33,
        compression_type="none",
        len_uncompressed=0,
        fields__1__kind__value=65535,
        fields__1__value__data=b"\xab\xcd",
        payload=b"bin",
    ),
    vector(
        "payload without fields about itself",
        TransactionPayloadEvent,
        "00",
        compression_type="none",
        len_payload=0,
        payload=b"",
    ),
]


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_fields(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_cut_or_extended(case: Vector) -> None:
    assert_nothing_is_dropped(case)
