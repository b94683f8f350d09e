"""`dump` of values and statements of many megabytes: its memory, and its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.log import mapped_memory
from tests.long_logs import log_of_statement, log_of_value
from tests.render.test_long_values import growth


def _dump(path: Path, *, verbose: int) -> None:
    dump(path, len, DumpOptions(verbose=verbose))


def test_a_long_statement_is_not_described_by_its_shape(tmp_path: Path) -> None:
    assert growth(_dump, log_of_statement, tmp_path, {"verbose": 0}) < 4.5


def test_the_text_of_a_long_value_waits_for_the_end_of_its_statement(tmp_path: Path) -> None:
    assert growth(_dump, log_of_value, tmp_path, {"verbose": 1}) < 4  # 64 MiB of it


def test_pieces_of_a_value_are_its_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = log_of_value(tmp_path / "binlog.000001", 3 << 20)
    made: list[bytes] = []
    for size in (1 << 30, 1 << 20):
        monkeypatch.setattr(mapped_memory, "PIECE", size)
        out = bytearray()
        dump(path, out.extend, DumpOptions(verbose=1))
        made.append(bytes(out))
    assert made[0] == made[1]
