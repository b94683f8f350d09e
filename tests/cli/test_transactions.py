"""`transactions`: the view as lines, sorted and truncated."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from binlog_kaitai.cli.listing_commands import _KINDS
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.log.transaction_roles import Outcome
from binlog_kaitai.text.line_arrays import json_text
from binlog_kaitai.views.transactions_view import SORTS, json_lines, write_transactions
from tests.cli.conftest import Run
from tests.corpus_files import Case, case

MIXED = case("mysql-9.7", "mixed")
CASES = [MIXED, case("mariadb-11.8", "mixed"), case("mysql-5.6", "mixed"), case("mysql-9.7", "types_payload")]


def lines(source: Any, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for part in write_transactions(source, **options) for line in part.splitlines()]


def plain(value: Any) -> Any:
    """A value of the view as JSON has it."""
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)
    return int(value.total_seconds()) if isinstance(value, timedelta) else value


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.id)
def test_lines_are_the_view(one: Case) -> None:
    view = bk.read_transactions(one.logs).read_all().to_pylist()
    assert lines(one.logs) == [{name: plain(value) for name, value in row.items()} for row in view]


@pytest.mark.parametrize("sort", SORTS)
def test_sorted_with_and_without_a_limit(sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = lines(MIXED.logs)

    def key(row: dict[str, Any]) -> int:
        values = [row[name] for name in SORTS[sort]]
        return -1 if None in values else sum(values)

    expected = sorted(everything, key=key, reverse=True)  # stable: of equal ones the earlier is first
    assert lines(MIXED.logs, sort=sort) == expected
    monkeypatch.setattr("binlog_kaitai.views.transactions_view._ROWS_KEPT", 4)
    assert lines(MIXED.logs, sort=sort, limit=7) == expected[:7]
    assert lines(MIXED.logs, limit=7) == everything[:7]


def test_filters_take_whole_transactions() -> None:
    found = lines(MIXED.logs, filters=Filters.of(table="t.my"))
    assert found
    assert any("t.my" in row["tables"] for row in found)
    statements = [row["statement"] for row in found if "t.my" not in row["tables"]]
    assert "TRUNCATE my" in statements
    assert all(re.search(r"\bmy\b|CREATE DATABASE", text) for text in statements)


def test_table_and_csv_have_a_line_each(run: Run) -> None:
    count = len(lines(MIXED.logs))
    table = run("transactions", *MIXED.logs).stdout.splitlines()
    assert len(table) == count + 1
    assert table[0].split()[:3] == ["file", "position", "time"]
    rows = list(csv.DictReader(io.StringIO(run("transactions", "--format", "csv", *MIXED.logs).stdout)))
    assert len(rows) == count
    assert rows[0]["statement"].startswith("CREATE DATABASE")
    done = run("transactions", "--sort", "size", "--limit", "1", *MIXED.logs)
    assert done.stdout.splitlines()[1].split()[-1] == "t.s"
    assert done.stderr == ""


def test_damage_comes_after_the_transactions_before_it(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(MIXED.logs[0].read_bytes()[:-2000])
    done = run("transactions", "--format", "json", log)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) > 5
    assert f"{log}, position" in done.stderr
    done = run("transactions", "--sort", "size", log)
    assert (done.returncode, done.stdout) == (1, "")


def test_strings_are_escaped_only_where_needed() -> None:
    texts = [*(f"{chr(code)}a" for code in range(0x180)), None, "", "\u2028", "\U0001f600"]
    lines = json_lines(pa.record_batch({"text": pa.array(texts, pa.string())}))
    assert lines.split(b"\n") == [*(b'{"text": %s}' % json_text(text) for text in texts), b""]


@pytest.mark.parametrize(
    ("options", "takes"),
    [
        (["--operation", "delete"], lambda one: one["rows_deleted"]),
        (
            ["--operation", "insert", "--operation", "update"],
            lambda one: one["rows_inserted"] or one["rows_updated"],
        ),
        (["--kind", "ddl"], lambda one: one["kind"] == "ddl"),
        (["--kind", "rollback", "--kind", "commit"], lambda one: one["kind"] in ("rollback", "commit")),
        (["--min-size", "1k"], lambda one: one["bytes"] >= 1024),
        (["--min-rows", 2], lambda one: sum(one[name] for name in SORTS["rows"]) >= 2),
    ],
    ids=["deletes", "inserts-and-updates", "ddl", "two-kinds", "size", "rows"],
)
def test_transactions_are_chosen_by_what_they_change(
    options: list[object], takes: Callable[[dict[str, Any]], object], run: Run
) -> None:
    log = case("mysql-9.7", "orders").logs[0]
    lines = run("transactions", "--format", "json", log).stdout.splitlines()
    expected = [line for line in lines if takes(json.loads(line))]
    assert 0 < len(expected) < len(lines)
    assert run("transactions", "--format", "json", *options, log).stdout.splitlines() == expected


def test_the_table_has_inserted_updated_and_deleted_rows(run: Run) -> None:
    lines = run(
        "transactions", "--operation", "delete", case("mysql-9.7", "orders").logs[0]
    ).stdout.splitlines()
    heading = lines[0].split()
    assert heading[-5:] == ["inserted", "updated", "deleted", "thread", "tables"]
    assert lines[1].split()[-5:-2] == ["0", "0", "10"]


def test_all_kinds_can_be_chosen() -> None:
    assert {*_KINDS} == {one.name.lower() for one in Outcome}
