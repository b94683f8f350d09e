"""Prints logs in both ways: events one by one, and by their shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.dump import block_printer, dump_logs
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block_reader import BlockReader
from tests import corpus_files
from tests.dump.dump_cases import normalised

CASES = [case for case in corpus_files.cases() if case.vv() is not None]


def printed(path: Path, folder: Path, **options: Any) -> tuple[bytes, str]:
    """The text, and the error that ended it."""
    pieces: list[bytes] = []
    try:
        dump(str(path), pieces.append, DumpOptions(local_load=str(folder), **options))
    except BinlogError as error:
        return b"".join(pieces), str(error)
    return b"".join(pieces), ""


def make_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_printer, "KERNELS_FROM", 0)
    monkeypatch.setattr(block_printer, "_SHORTEST", 1)


def make_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_printer, "KERNELS_FROM", 1 << 60)


def reader_of(size: int) -> Any:
    """A reader of small blocks."""

    class Small(BlockReader):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **{**named, "block_size": size})

    return Small


def check_one_by_one(
    log: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """Events of blocks of any size are printed as one by one."""
    make_slow(monkeypatch)
    text, error = printed(log, folder, **{"verbose": 2, **options})
    make_quick(monkeypatch)
    for size in (300, 1 << 22):
        monkeypatch.setattr(dump_logs, "BlockReader", reader_of(size))
        quick_text, quick_error = printed(log, folder, **{"verbose": 2, **options})
        assert (normalised(quick_text), quick_error) == (normalised(text), error)
    monkeypatch.setattr(dump_logs, "BlockReader", BlockReader)
