"""Values of many megabytes are written in pieces, with the same text as short ones."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.lines import long_values, row_forms, row_texts
from binlog_kaitai.lines.row_forms import JsonForm
from binlog_kaitai.lines.row_listing import form_of
from binlog_kaitai.lines.row_programs import SHORT_JSON
from binlog_kaitai.lines.row_texts import write_rows
from tests.corpus_files import case
from tests.long_logs import log_of_value
from tests.text.test_json_kernels import log_of
from tests.values.json_documents import document

SIZE = 33 << 20

LOG = case("mysql-9.7", "types_full").logs[0]
_DDL = "CREATE TABLE shop.blobs (id INT, content LONGTEXT CHARACTER SET utf8mb4)"


def _sql(path: Path, **options: Any) -> None:
    for _ in bk.sql_script(path, ddl=_DDL, **options):
        pass


def _changes(path: Path) -> None:
    for _ in bk.read_changes(path, table="shop.blobs"):
        pass


def _rows(path: Path, *, output: str) -> None:
    for _ in write_rows(path, form=form_of(output)[0]):
        pass


def growth(
    task: Callable[..., object], made: Callable[[Path, int], Path], folder: Path, options: dict[str, Any]
) -> float:
    """How much more memory a log with a long value takes than one without, in sizes of the value."""
    task(made(folder / "warm", 0), **options)
    start = peak(task, folder / "warm", options)
    return (peak(task, made(folder / "binlog.000001", SIZE), options) - start) / SIZE


def peak(task: Callable[..., object], path: Path, options: dict[str, Any]) -> int:
    tracemalloc.start()
    try:
        task(path, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore::binlog_kaitai.errors.IncompleteScriptWarning")
@pytest.mark.parametrize(
    ("task", "options", "most"),
    [
        (_sql, {}, 0.7),
        (_sql, {"undo": True}, 0.7),
        (_changes, {}, 1.3),
        (_rows, {"output": "csv"}, 0.7),
        (_rows, {"output": "table"}, 0.7),
    ],
)
def test_a_long_value_is_in_memory_once(
    task: Callable[..., None], options: dict[str, Any], most: float, tmp_path: Path
) -> None:
    assert growth(task, log_of_value, tmp_path, options) < most


@pytest.mark.filterwarnings("ignore::binlog_kaitai.errors.IncompleteScriptWarning")
@pytest.mark.parametrize("undo", [False, True])
def test_placeholders_become_the_literals(monkeypatch: pytest.MonkeyPatch, *, undo: bool) -> None:
    expected = b"".join(bk.sql_script(LOG, undo=undo))
    monkeypatch.setattr(long_values, "LONG", 1)
    monkeypatch.setattr(long_values, "PIECE", 3)
    seen: list[bool] = []
    made = long_values.placeholder

    def placeholder(start: int, end: int, *, in_hex: bool) -> bytes:
        seen.append(in_hex)
        return made(start, end, in_hex=in_hex)

    monkeypatch.setattr(long_values, "placeholder", placeholder)
    assert b"".join(bk.sql_script(LOG, undo=undo)) == expected
    assert set(seen) == {False, True}


@pytest.mark.parametrize(
    "log",
    [LOG, case("mysql-9.7", "charsets").logs[0]],
    ids=lambda log: log.parent.name,
)
@pytest.mark.parametrize("output", ["json", "csv"])
def test_placeholders_become_the_values(log: Path, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form, _ = form_of(output)
    expected = b"".join(write_rows(log, form=form))
    in_pieces, _ = form_of(output)
    monkeypatch.setattr(in_pieces, "style", replace(form.style, longest=2))
    monkeypatch.setattr(long_values, "LONG", 1)
    monkeypatch.setattr(long_values, "_CONVERTED_AT_ONCE", 3)
    made: list[bytes] = []
    filled = long_values.filled

    def noted(text: memoryview, block: Any) -> Any:
        made.append(bytes(text))
        return filled(text, block)

    monkeypatch.setattr(row_texts, "filled", noted)
    assert b"".join(write_rows(log, form=in_pieces)) == expected
    assert long_values._MARK in b"".join(made)


def test_a_table_shows_the_beginning_of_a_long_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log_of_value(tmp_path / "binlog.000001", 1 << 20)
    form, _ = form_of("table")
    expected = b"".join(write_rows(path, form=form))
    in_pieces, _ = form_of("table")
    monkeypatch.setattr(in_pieces, "style", replace(form.style, longest=100))
    monkeypatch.setattr(row_forms, "_short", lambda masks: JsonForm(replace(SHORT_JSON, longest=100)))
    assert b"".join(write_rows(path, form=in_pieces)) == expected


@pytest.mark.filterwarnings("ignore::binlog_kaitai.errors.IncompleteScriptWarning")
def test_a_long_document_is_held_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory for its text grows by itself, and that of the statements does not grow with it."""
    monkeypatch.setattr(row_forms, "_SCRATCH", 64)
    size = 1 << 20
    path = log_of([document("x" * size), *(document("y" * (10 * length)) for length in range(300))], tmp_path)
    assert peak(lambda log: [*bk.sql_script(log, ddl="CREATE TABLE s.t (j JSON)")], path, {}) < 20 * size
