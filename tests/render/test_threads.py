"""`sql` writes the same text with any number of threads."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.log import threads as module
from binlog_kaitai.render.sql import row_statements
from tests.corpus_files import logs
from tests.extent import sample
from tests.support import set_block_size
from tools.fuzz.mutants import mutant


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads for everything, with a few rows each."""
    monkeypatch.setattr(row_statements, "_SHARED_FROM", 1)
    monkeypatch.setattr(row_statements, "_MAX_ROWS", 3)
    monkeypatch.setattr(module, "_FROM", 1)
    set_block_size(monkeypatch, 3000)


def scripts(path: Any, threads: int, **options: Any) -> tuple[bytes, str, list[str]]:
    """The script, its error, and the warnings."""
    found, error = list[bytes](), ""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found.extend(bk.sql_script(path, allow_unnamed=True, threads=threads, **options))
        except bk.BinlogError as caught:
            error = str(caught)
    return b"".join(found), error, [str(one.message) for one in seen]


def check(path: str) -> None:
    for undo in (False, True):
        expected = scripts(path, 1, undo=undo)
        for threads in (2, 7):
            assert scripts(path, threads, undo=undo) == expected, (undo, threads)


@pytest.mark.parametrize("log", sample(logs(), 4, 40), ids=lambda log: log.id)
def test_logs_of_the_corpus(log: Any) -> None:
    check(str(log.path))


def test_mutated_logs(tmp_path: Path) -> None:
    """Rows that contradict their table map, and values that cannot be decoded, in any portion."""
    path = tmp_path / "binlog.000001"
    for seed in sample(range(100), 10, 30):
        path.write_bytes(mutant(f"text threads/{seed}").data)
        check(str(path))
