"""The messages that a replica sends: the grammar parses the values that were written."""

from __future__ import annotations

from typing import Any

import pytest
from binlog_grammar.com_binlog_dump import ComBinlogDump
from binlog_grammar.com_binlog_dump_gtid import ComBinlogDumpGtid
from binlog_grammar.com_register_slave import ComRegisterSlave
from binlog_grammar.semi_sync_ack import SemiSyncAck

from binlog_kaitai.core.adapter import gtid_set
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.live import server_session as requests
from tests.grammar.vectors import parse, unread

A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "4e11fa47-71ca-11e1-9e33-c80aa9429562"


def read(kind: Any, data: bytes) -> Any:
    message = parse(kind, data)
    assert list(unread(message)) == []
    return message


@pytest.mark.parametrize("name", ["", "binlog.000001", "журнал.000002"])
def test_dump(name: str) -> None:
    flags = requests.NON_BLOCKING | requests.WITH_ANNOTATIONS
    message = read(ComBinlogDump, requests.binlog_dump(name, 0xFFFFFFFF, flags, 4_000_000_000))
    assert (message.file_name, message.position, message.server_id) == (name, 0xFFFFFFFF, 4_000_000_000)
    assert (message.is_non_blocking, message.wants_annotations) == (True, True)


@pytest.mark.parametrize(
    "gtids",
    [
        "",
        f"{A}:1-5",
        f"{A}:1-5:7,{B}:9",
        f"{B}:3,{A}:blue:1-2:9,{A}:4",
        f"{A}:{'t' * 32}:1-9223372036854775806",
    ],
)
def test_dump_by_gtids(gtids: str) -> None:
    given = GtidSet.parse(gtids)
    message = read(ComBinlogDumpGtid, requests.binlog_dump_gtid("b.000001", 1 << 40, 0, 7, given))
    assert (message.file_name, message.position, message.is_non_blocking) == ("b.000001", 1 << 40, False)
    assert gtid_set(message.data.gtids) == given
    assert message.data.gtids.is_tagged == ("blue" in gtids or "ttt" in gtids)


def test_registration_has_no_password() -> None:
    message = read(ComRegisterSlave, requests.register_slave(12))
    assert (message.server_id, message.host, message.user, message.password) == (12, "", "", "")


def test_acknowledgement() -> None:
    message = read(SemiSyncAck, requests.semi_sync_ack("binlog.000003", 5_000_000_000))
    assert (message.position, message.file_name) == (5_000_000_000, "binlog.000003")
