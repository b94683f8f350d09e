"""Conditions select what servers selected, as recorded by `tests/servers/test_conditions.py`.

The logs have one table with edge values of all types. The answers are those of SELECT.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.compute as pc
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.rows.row_criteria import CriteriaChoice, RowCriteria
from tests.condition_trials import by_event_reader, by_kernels
from tests.corpus_files import case
from tests.extent import sample

RECORDED = Path(__file__).parent / "conditions"
NAMES = ["mysql-9.7", "mariadb-11.8"]

#: Conditions that people write, which are not refused.
COMMON = {
    "dt <= '2026-11-20 03:00'", "dt = '2026-11-20T03:00:00'", "da = '2026-1-5'", "ts > '20261120'",
    "i32 = 42", "i32 = '42'", "i32 > 1.5", "f64 > 1e-50", "f32 > 0.5", "d9 = '1.1'", "general = 'Bob'",
    "bin = 'new'", "en = 'NEW'", "tx LIKE 'b\\_c'", "y = 26", "t > '3:00'", "vb = 'ab'",
    "general = BINARY 'José'",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_conditions_select_what_a_server_selected(name: str) -> None:
    right = json.loads((RECORDED / f"{name}.json").read_text())
    log = RECORDED / f"{name}.000001"
    selected = by_kernels(log, [*right])
    assert {each: rows for each, rows in selected.items() if rows not in (None, right[each])} == {}
    assert sum(rows is None for rows in selected.values()) < len(right) / 2
    some = sample([*right], 60)
    assert by_event_reader(log, some) == {each: selected[each] for each in some}


@pytest.mark.parametrize("name", NAMES)
def test_common_conditions_are_not_refused(name: str) -> None:
    selected = by_kernels(RECORDED / f"{name}.000001", sorted(COMMON))
    assert [condition for condition, rows in selected.items() if rows is None] == []


def test_undo_reverts_the_rows_that_a_server_selected() -> None:
    right = json.loads((RECORDED / "mysql-9.7.json").read_text())
    log = RECORDED / "mysql-9.7.000001"
    selected = by_kernels(log, [*right])
    for condition in sample([each for each, rows in selected.items() if rows], 12):
        script = b"".join(bk.sql_script(log, undo=True, where=condition))
        ids = sorted(map(int, re.findall(rb"DELETE FROM `w`\.`t` WHERE `id` = (\d+)", script)))
        assert ids == right[condition], condition


def test_values_that_arrow_cannot_compare_exactly_are_an_error() -> None:
    with pytest.raises(bk.UsageError, match="where cannot be compared exactly"):
        bk.read_changes(RECORDED / "mysql-9.7.000001", table="w.t", where=pc.field("i64") > 0.5).read_all()


@pytest.mark.parametrize(
    ("case_name", "table"),
    [("types_minimal", "t.ints"), ("json_partial", "t.jminimal"), ("json_partial", "t.jfull")],
)
def test_a_column_without_a_value_in_an_image_is_not_null(case_name: str, table: str) -> None:
    """Minimal images lack columns, and PARTIAL_JSON has changes instead of a document."""
    log = case("mysql-9.7", case_name).logs[0]
    with bk.open(log) as events:
        rows = [(event.schema.full_name, row) for event in events if event.schema for row in event.rows()]
    changed = [row for name, row in rows if name == table]
    column = "i" if table == "t.ints" else "j"
    choice = CriteriaChoice(RowCriteria.of(where=f"{column} IS NULL"))
    lines = b"".join(map(bytes, write_rows(log, Filters.of(table=table), choice=choice)))
    found = [json.loads(line) for line in lines.splitlines()]
    images = [[image for image in (row.before, row.after) if image and column in image] for row in changed]
    null = [of_row for of_row in images if None in (image[column] for image in of_row)]
    assert len(found) == len(null) > 0
