"""Helpers for tests that compare what is read many at a time with the event reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.kernels import compile as kernels_of
from binlog_kaitai.lines import event_lines
from binlog_kaitai.lines.event_lines import write_json
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BLOCK_SIZE, BlockReader
from binlog_kaitai.rows.log_pages import LogPages
from tests.corpus_files import CORPUS
from tools.fuzz.reading import line_of


def all_files() -> list[Path]:
    """Every log of the corpus, damaged and encrypted ones too."""
    return sorted(path for path in CORPUS.glob("*/*/*.0*") if path.suffix[1:].isdigit())


def blocks(path: Path, block_size: int = BLOCK_SIZE) -> Iterator[Block]:
    with path.open("rb") as stream:
        yield from BlockReader.of_file(stream, str(path), block_size=block_size)


def by_reader(source: Any, *, verify_checksums: bool = True) -> tuple[list[bytes], str | None]:
    """The lines of a log by the reader, and the error that ended it."""
    lines = []
    try:
        for event in bk.open(source, verify_checksums=verify_checksums):
            lines.append(line_of(event))
    except bk.BinlogError as error:
        return lines, str(error)
    return lines, None


def by_columns(source: Any, filters: Filters | None = None, **options: Any) -> tuple[list[bytes], str | None]:
    """The lines of a log by the columns, and the error that ended it."""
    lines: list[bytes] = []
    try:
        for part in write_json(source, filters, **options):
            lines += bytes(part).split(b"\n")[:-1]
    except bk.BinlogError as error:
        return lines, str(error)
    return lines, None


def use_plain_kernels(monkeypatch: Any) -> None:
    """Run kernels as plain Python from here on."""
    monkeypatch.setattr(kernels_of.Kernel, "run", property(lambda self: self.plain))


def set_block_size(monkeypatch: Any, size: int) -> None:
    """Change the size of blocks, in bytes, where nothing else states it."""
    for owner in (LogPages, BlockReader):
        defaults = owner.__init__.__kwdefaults__ or {}
        assert "block_size" in defaults
        monkeypatch.setitem(defaults, "block_size", size)
    monkeypatch.setitem(event_lines._SIZES, "block_size", size)
