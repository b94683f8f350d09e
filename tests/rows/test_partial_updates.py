"""Partial updates of JSON documents (PARTIAL_JSON) are applied wherever rows are read many at a time."""

from __future__ import annotations

import pytest

import binlog_kaitai as bk
from binlog_kaitai.log.event_rows import Row
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
