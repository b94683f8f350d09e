"""Events after a START_ENCRYPTION_EVENT, whose key is not given: `verify` says what it did not check."""

from __future__ import annotations

import struct

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType
from tools.costly.making import Log


def log_of(parts: str, *, is_mariadb: bool) -> tuple[bytes, int]:
    """A log, and where its encrypted events begin.

    `parts`: "t" a transaction, "c" one with a wrong checksum, "g" garbage, "u" a body that cannot be read,
    "e" where encryption begins.
    """
    log, begin = Log(is_mariadb=is_mariadb), 0
    for part in parts:
        match part:
            case "e":
                log.add(EventType.start_encryption_event, b"\1" + struct.pack("<I", 1) + b"n" * 12)
                begin = begin or len(log.data)
            case "g":
                log.data += b"garbage"
            case "u":
                log.add(EventType.user_var_event, b"\xff\xff\xff\xff")
            case _:
                log.query(b"BEGIN")
                log.xid()
                log.data[-1] ^= part == "c"
    return bytes(log.data), begin


@pytest.mark.parametrize("is_mariadb", [True, False])
@pytest.mark.parametrize("is_thorough", [True, False])
@pytest.mark.parametrize("parts", ["et", "tet", "ec", "eu", "ete", "utet", "ctet", "gtet"])
def test_verify_reports_events_that_it_cannot_decrypt(
    parts: str, is_thorough: bool, is_mariadb: bool
) -> None:
    data, begin = log_of(parts, is_mariadb=is_mariadb)
    (report,) = bk.verify(data, thorough=is_thorough)
    assert isinstance(report.not_checked, bk.EncryptedError)
    assert report.not_checked.position == begin
    with pytest.raises(bk.BinlogError):
        list(bk.open(data))
