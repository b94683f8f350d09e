"""Statements that change the definition of a table are among the events and the transactions of the table."""

from __future__ import annotations

import json
import warnings

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import FilterWarning
from binlog_kaitai.lines.event_lines import write_json
from tests.corpus_files import LogFile, case, logs
from tests.extent import sample

_WITH_DEFINITIONS = [log for log in logs() if "ddl" in log.id or "mixed" in log.id or "alter" in log.id]


def positions(log: LogFile, name: str) -> set[int]:
    """Positions of the events of a table, by its name."""
    lines = b"".join(write_json(str(log.path), Filters.of(table=name))).splitlines()
    return {json.loads(line)["position"] for line in lines}


@pytest.mark.parametrize("log", sample(_WITH_DEFINITIONS, 8, 30), ids=lambda log: log.id)
@pytest.mark.filterwarnings("ignore::binlog_kaitai.FilterWarning")
def test_each_change_of_a_definition_is_one_of_its_tables(log: LogFile) -> None:
    changes = bk.read_ddl(str(log.path)).read_all().to_pylist()
    for change in sample(changes, 3, 12):
        if change["table"] is None:
            continue
        names = {f"{change['schema']}.{change['table']}"}
        if change["new_table"]:
            names.add(f"{change['new_schema'] or change['schema']}.{change['new_table']}")
        for name in names:
            assert change["_position"] in positions(log, name)
            found = bk.read_transactions(str(log.path), table=name).read_all().to_pylist()
            held = [one for one in found if one["position"] <= change["_position"] < one["end_position"]]
            assert held
            counted = bk.stats(str(log.path), table=name)
            assert counted.totals["transactions"] == len(found)


def test_of_another_table_they_are_not() -> None:
    log = case("mysql-9.7", "ddl").logs[0]
    table = bk.read_transactions(str(log), table="t.a").read_all()
    statements = [text for text in table["statement"].to_pylist() if text is not None]
    assert "ALTER TABLE a RENAME TO b" in statements
    assert "RENAME TABLE b TO c, `we``ird t` TO d" not in statements
    assert all("TABLE a" in text or "DATABASE" in text for text in statements)


def test_a_table_that_only_a_statement_names_is_found() -> None:
    log = case("mysql-9.7", "ddl").logs[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", FilterWarning)
        table = bk.read_transactions(str(log), table="t.b").read_all()
    assert "RENAME TABLE b TO c, `we``ird t` TO d" in table["statement"].to_pylist()
