"""Partial updates of JSON documents (PARTIAL_JSON) are applied wherever rows are read many at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.log.event_rows import Change, Row
from tests.corpus_files import case

LOGS = [case(server, "json_partial").logs[0] for server in ("mysql-8.0", "mysql-9.7")]


def rows_of(log: str, table: str) -> list[Row]:
    with bk.open(log) as events:
        return [row for event in events for row in event.rows() if row.schema.table_name == table]


@pytest.mark.parametrize("log", LOGS)
def test_conditions_see_the_document_that_results(log: str) -> None:
    wanted = [row for row in rows_of(log, "jfull") if "app" in str((row.after or {}).get("j"))]
    assert any(row.diffs for row in wanted)
    script = b"".join(bk.sql_script(log, table="t.jfull", where="j LIKE '%app%'"))
    touched = {row.after["id"] for row in wanted if row.after and row.diffs}
    assert all(b"`id` = %d;" % number in script for number in touched)


@pytest.mark.parametrize("log", LOGS)
def test_a_document_is_unknown_without_the_one_before(log: str) -> None:
    read = [row for row in bk.read_rows(log, table="t.jminimal") if row.diffs]
    assert read
    assert all("j" not in (row.after or {}) for row in read if "j" not in (row.before or {}))
    script = b"".join(bk.sql_script(log, table="t.jminimal"))
    assert b"JSON_REPLACE(" in script


@pytest.mark.parametrize("log", LOGS)
def test_the_last_row_after_partial_updates_may_be_an_insert(log: Path, tmp_path: Path) -> None:
    """The transaction that inserts rows follows once more, with the table map of the updates."""
    transactions = bk.read_transactions(log).read_all().to_pylist()
    (inserts, *_), (updates, *_) = (
        [one for one in transactions if one[kind] and "t.jfull" in one["tables"]]
        for kind in ("rows_inserted", "rows_updated")
    )
    data, end, copy = log.read_bytes(), updates["end_position"], tmp_path / log.name
    copy.write_bytes(data[:end] + data[inserts["position"] : inserts["end_position"]])
    rows = list(bk.read_rows(copy))
    assert rows[-1].change is Change.INSERT
    again = len(rows) - inserts["rows_inserted"]
    assert [row.diffs for row in rows[again:]] == [{}] * inserts["rows_inserted"]
    assert [row.after for row in rows[again:]] == [row.after for row in rows[: inserts["rows_inserted"]]]
    assert any(row.diffs for row in rows[:again])
