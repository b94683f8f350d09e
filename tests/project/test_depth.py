"""From a page of a log to its kernel it is at most six calls: those that docs/architecture.md lists."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.dump import block_printer, row_printer
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.lines import row_forms
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.rows import fused_columns
from binlog_kaitai.sources.source import resolve
from tests.corpus_files import case

_DOCUMENT = Path(__file__).parents[2] / "docs/architecture.md"
_LOG = case("mysql-9.7", "mixed").logs[0]


def chain(way: str) -> list[str]:
    """The calls that the document lists for a way, from the page to the kernel."""
    match = re.search(rf"^{way} +(\S+(?: → \S+)+)$", _DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None
    return match[1].split(" → ")


class _Spy:
    """Stands for a kernel, and records the functions on the stack when it is called, the last one first."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.stacks: list[list[str]] = []

    def run(self, *arguments: Any) -> Any:
        names, frame = list[str](), sys._getframe(1)
        while frame.f_back is not None:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        self.stacks.append([name for name in names if not name.startswith("<")])
        return self._kernel.run(*arguments)

    compiled = property(lambda self: self.run)


@pytest.mark.parametrize(
    ("way", "module", "kernel", "read"),
    [
        ("rows", row_forms, "put_row_lines", lambda: list(write_rows(_LOG, threads=1))),
        ("sql", row_forms, "put_row_lines", lambda: list(bk.sql_script(_LOG, allow_unnamed=True))),
        ("read_changes", fused_columns, "read_columns", lambda: list(bk.read_changes(_LOG, table="t.my"))),
        (
            "dump",
            row_printer,
            "put_jobs",
            lambda: dump(resolve((_LOG,)), lambda text: None, DumpOptions(verbose=2)),
        ),
    ],
)
def test_a_page_is_at_most_six_calls_from_its_kernel(
    monkeypatch: pytest.MonkeyPatch, way: str, module: Any, kernel: str, read: Callable[[], object]
) -> None:
    monkeypatch.setattr(block_printer, "KERNELS_FROM", 0)
    spy = _Spy(getattr(module, kernel))
    monkeypatch.setattr(module, kernel, spy)
    read()
    expected = chain(way)
    assert len(expected) <= 7
    assert expected[-1] == kernel
    assert expected[-2::-1] in [stack[: len(expected) - 1] for stack in spy.stacks]
