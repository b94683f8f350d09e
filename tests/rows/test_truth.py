"""The row changes of a log, applied in order, yield the server's tables at the end."""

from __future__ import annotations

import pytest

from tests import corpus_files
from tests.rows.truth import OracleTable, Store, as_5_7_shows, differences

#: Cases whose rows do not tell the tables, and why.
UNTOLD = {
    "crash": "the server lost in the crash what it had not yet written",
    "incident": "the log lacks the statements that the incident stands for",
}

#: Tables of which the same is true.
UNTOLD_TABLES = {
    ("system_versions", ("t", "b")): "the log has the history of rows as rows",
}

CASES = [case for case in corpus_files.cases() if case.tables() and case.folder.name not in UNTOLD]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_row_changes_give_the_servers_tables(case: corpus_files.Case) -> None:
    oracle = [OracleTable.of(table) for table in case.tables()]
    reported = [table for table in oracle if (case.folder.name, table.name) not in UNTOLD_TABLES]
    store = Store(oracle).read(case.logs)
    document = as_5_7_shows if case.server == "mysql-5.7" else str
    assert not list(differences(reported, store, document))


@pytest.mark.thorough
def test_most_tables_are_covered() -> None:
    reported = rows = 0
    for case in CASES:
        oracle = [OracleTable.of(table) for table in case.tables()]
        incomplete = Store(oracle).read(case.logs).incomplete
        kept = [table for table in oracle if table.name not in incomplete]
        reported += len(kept)
        rows += sum(len(table.rows) for table in kept)
    assert reported > 300
    assert rows > 1500
