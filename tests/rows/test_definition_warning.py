"""A definition that contradicts the rows causes a warning and is not used."""

from __future__ import annotations

import pytest

import binlog_kaitai as bk
from tests.corpus_files import case


def without_definitions() -> bytes:
    """A log whose table map comes without the statement that made the table."""
    data = case("mysql-9.7", "types_full").logs[0].read_bytes()
    with bk.open(data) as log:
        events = list(log)
    first = next(number for number, event in enumerate(events) if event.type == "TABLE_MAP_EVENT")
    return data[: events[0].end_position] + b"".join(event.raw for event in events[first - 3 : first + 3])


def test_a_definition_with_other_columns_is_reported_and_not_used() -> None:
    ddl = "CREATE TABLE t.ints (id INT PRIMARY KEY, other VARCHAR(10));"
    with pytest.warns(bk.DefinitionWarning, match=r"position \d+: table t\.ints: the log has 13 columns"):
        rows = bk.read_changes(without_definitions(), table="t.ints", ddl=ddl).read_all()
    assert rows.schema.names[-13:] == [f"c{number}" for number in range(1, 14)]


def test_a_statement_that_cannot_be_read_makes_definitions_unknown() -> None:
    """It may have changed any table: names from before it might be those of other columns."""
    data = bytearray(case("mariadb-11.8", "types_full").logs[0].read_bytes())
    with bk.open(bytes(data)) as log:
        events = list(log)
    first = next(event for event in events if event.type == "TABLE_MAP_EVENT")
    made = [event for event in events if event.type == "QUERY_EVENT" and event.position < first.position]
    rows = bk.read_changes(bytes(data)).read_all()
    assert '"id"' in rows["after"][0].as_py()
    data[made[-1].position + made[-1].header.len_header + 12] = 0xFF  # length of the status variables
    with pytest.warns(bk.DefinitionWarning, match=r"a statement cannot be read: .*status_vars"):
        rows = bk.read_changes(bytes(data), verify_checksums=False).read_all()
    assert '"c1"' in rows["after"][0].as_py()


def test_a_table_without_any_definition_has_numbered_columns() -> None:
    rows = bk.read_changes(without_definitions(), table="t.ints").read_all()
    assert rows.schema.names[-13:] == [f"c{number}" for number in range(1, 14)]
