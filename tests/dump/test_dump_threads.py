"""`dump` writes the same text with any number of threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.dump import row_printer
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions
from binlog_kaitai.log import threads as module
from tests.corpus_files import case, logs
from tests.dump.dump_ways import make_quick
from tests.extent import sample
from tests.support import set_block_size
from tools.fuzz.mutants import mutant


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads for everything, with a few rows each."""
    monkeypatch.setattr(row_printer, "_PORTION", 100)
    monkeypatch.setattr(module, "_FROM", 1)
    set_block_size(monkeypatch, 3000)
    make_quick(monkeypatch)


def dumped(path: Any, folder: Path, threads: int, **options: Any) -> tuple[bytes, str]:
    """The text and its error.

    Files of earlier dumps are removed: those of LOAD DATA would get other names beside them.
    """
    for earlier in folder.glob("SQL_LOAD_MB-*"):
        earlier.unlink()
    pieces: list[bytes] = []
    try:
        dump(path, pieces.append, DumpOptions(local_load=str(folder), **options), threads=threads)
    except bk.BinlogError as error:
        return b"".join(pieces), str(error)
    return b"".join(pieces), ""


def check(path: str, folder: Path) -> None:
    options: dict[str, Any]
    for options in ({"verbose": 2}, {"verbose": 1, "base64_output": Base64Output("decode-rows")}, {}):
        expected = dumped(path, folder, 1, **options)
        assert dumped(path, folder, 3, **options) == expected, options


@pytest.mark.parametrize("log", sample(logs(), 4, 40), ids=lambda log: log.id)
def test_logs_of_the_corpus(log: Any, tmp_path: Path) -> None:
    check(str(log.path), tmp_path)


def test_mutated_logs(tmp_path: Path) -> None:
    """Rows that contradict their table map, and values that cannot be decoded, in any portion."""
    path = tmp_path / "binlog.000001"
    for seed in sample(range(100), 10, 30):
        path.write_bytes(mutant(f"text threads/{seed}").data)
        check(str(path), tmp_path)


def test_jobs_are_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a log consists of several portions, including logs that print the number of rows."""
    counts = []
    divide = row_printer._portions

    def counted(*jobs: Any) -> list[int]:
        limits = divide(*jobs)
        counts.append(len(limits) - 1)
        return limits

    monkeypatch.setattr(row_printer, "_portions", counted)
    for server in ("mysql-9.7", "mariadb-11.8"):
        counts.clear()
        path = str(case(server, "rotate").logs[0])
        assert dumped(path, tmp_path, 3, verbose=2) == dumped(path, tmp_path, 1, verbose=2)
        assert max(counts) > 1
