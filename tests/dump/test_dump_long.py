"""Long values in a dump are printed like short ones, in bounded memory."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.dump import dump_output
from binlog_kaitai.dump.client_values import escapes_of, quoted
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.dump.dump_output import base64_lines, base64_pieces
from binlog_kaitai.dump.row_comments import RowsHeaders
from tests.long_logs import log_of_value


def test_the_cached_header_of_a_long_event_does_not_contain_its_rows(tmp_path: Path) -> None:
    with bk.open(log_of_value(tmp_path / "binlog.000001", 1 << 20)) as log:
        event = next(event for event in log if event.type_code == EventType.write_rows_event)
        header = RowsHeaders().of(event)
        assert header is not None
        assert len(header.body.images) < 200_000 < len(event.body.images)
        assert event.raw[19:].startswith(header.content + event.body.images)


def test_pieces_of_base64_are_its_lines() -> None:
    data = random.Random(1).randbytes(3_000_000)
    pieces = list(base64_pieces(data))
    assert len(pieces) > 1
    assert b"".join(pieces) == base64_lines(data)


def test_pieces_of_a_hexdump_are_its_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, made = log_of_value(tmp_path / "binlog.000001", 2_000_000), list[bytes]()
    for size in (1 << 30, 1 << 16):
        monkeypatch.setattr(dump_output, "_HEXDUMP_PIECE", size)
        pieces: list[bytes] = []
        dump(path, pieces.append, DumpOptions(hexdump=True))
        made.append(b"".join(pieces))
    assert made[0] == made[1]
    assert max(map(len, pieces)) < 2_000_000 < len(made[0])


@pytest.mark.parametrize("is_mariadb", [False, True])
def test_each_byte_is_escaped_independently(*, is_mariadb: bool) -> None:
    escapes = escapes_of(is_mariadb=is_mariadb)
    data = bytes(range(256)) + b"\\x00\\n''" + bytes(range(256))
    out = io.BytesIO()
    for byte in data:
        out.write(quoted(bytes([byte]), escapes)[1:-1])
    assert quoted(data, escapes) == b"'" + out.getvalue() + b"'"
    assert re.search(rb"[\x00-\x1f]", quoted(data, escapes)) is None
