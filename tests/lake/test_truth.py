"""The content of tables according to a lake, for every case that has them: by a fold that takes the changes
one by one, and knows nothing of how Spark does it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.changes import TableChanges
from tests.corpus_files import Case, cases
from tests.extent import sample
from tests.lake.lakes import fill, opened
from tests.lake.reported import LOST, REFUSED, WRONG
from tests.rows.truth import OracleTable, as_5_7_shows
from tests.spark.oracle import server_text

CASES = sample([case for case in cases() if case.tables() and case.folder.name not in LOST], 12)

Row = dict[str, Any]


class Change(NamedTuple):
    """One image, and the names of the columns that it lacks."""

    kind: str
    row: Row
    lacks: set[str]


class RefusedError(Exception):
    """The changes do not determine the contents of the table."""


def changes_of(tables: TableChanges, table: tuple[str, str]) -> list[Change]:
    """The changes of a table in the order of the log."""
    found = tables.changes(table).read_all().sort_by("_sequence").to_pylist()
    return [
        Change(
            row["_change_type"],
            {name: value for name, value in row.items() if not name.startswith("_")},
            set(row.get("_absent") or ()),
        )
        for row in found
    ]


def content(changes: list[Change], keys: list[str]) -> list[Row]:
    """The rows that are left."""
    rows: list[Row] = []
    before: Change | None = None
    gone: Row = {}
    for change in changes:
        if change.kind in ("delete", "update_preimage"):
            if change.lacks & set(keys or change.row):
                raise RefusedError("before images lack the columns that identify the row")
            gone, before = _take(rows, change.row, keys), change
            continue
        row, lacks = dict(change.row), set() if change.kind == "insert" else change.lacks
        if before is not None and change.kind == "update_postimage":
            row |= {name: before.row.get(name) for name in lacks - before.lacks}
            lacks &= before.lacks
            if lacks and [row[key] for key in keys] != [before.row[key] for key in keys]:
                raise RefusedError("an update changed the key")
        row |= {name: gone.get(name) for name in lacks}
        rows.append(row)
    return rows


def _take(rows: list[Row], wanted: Row, keys: list[str]) -> Row:
    def text(row: Row) -> list[str]:
        return [repr(row.get(name)) for name in keys or wanted]

    looked_for = text(wanted)
    index = next(at for at, row in enumerate(rows) if text(row) == looked_for)
    return rows.pop(index)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_changes_give_the_tables_of_the_server(case: Case, tmp_path: Path) -> None:
    fill(tmp_path, case.logs, 1 << 18, views=["changes"], zero_dates="text")
    tables = TableChanges(opened(tmp_path))
    lineage = tables.lineage
    for oracle in map(OracleTable.of, case.tables()):
        name = oracle.name
        key = f"{case.folder.name}/{'.'.join(name)}"
        if reason := lineage.why_unclear(name):
            assert REFUSED.get(key, "-") in reason, (key, reason)
            continue
        if name not in lineage.tables():
            assert not oracle.rows, key
            continue
        reason = ""
        try:
            rows = content(changes_of(tables, name), lineage.keys.get(name, []))
        except RefusedError:
            reason = REFUSED[key]
        except UsageError as error:
            reason = str(error)
        if reason:
            assert REFUSED.get(key, "-") in reason, (key, reason)
            continue
        found = Counter(
            tuple(server_text(row.get(column.name), column) for column in oracle.columns) for row in rows
        )
        wanted = Counter(oracle.rows)
        if case.server == "mysql-5.7":
            found, wanted = (Counter(map(_as_5_7_shows, rows.elements())) for rows in (found, wanted))
        assert found == wanted or WRONG.keys() & {key, f"{case.server}/{key}"}, key


def _as_5_7_shows(row: tuple[str | None, ...]) -> tuple[str | None, ...]:
    return tuple(None if value is None else as_5_7_shows(value) for value in row)
