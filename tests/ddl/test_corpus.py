"""Real logs: statements yield the server's tables, and the column names in the log."""

from __future__ import annotations

import re
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.ddl import Definitions, TableDefinition
from tests.corpus_files import Case, case, cases

QUERIES = ("QUERY_EVENT", "QUERY_COMPRESSED_EVENT")
#: What servers print in addition to a type: widths without a meaning, and comments.
_DECORATION = re.compile(r"(?<=int)\(\d+\)|(?<=year)\(\d+\)| zerofill| /\*.*?\*/|(?<=vector)\(2048\)")
#: MariaDB's JSON is a text, and is called one.
_SAME = {"json": "longtext", "geomcollection": "geometrycollection"}


def follow(one: Case) -> tuple[Definitions, list[str]]:
    """The definitions after all logs of a case, and a message for each table map that they do not match."""
    found, wrong = Definitions(), []
    for path in one.logs:
        with bk.open(path) as log:
            for event in log:
                if event.type in QUERIES:
                    found.observe_query(event.body)
                elif event.type == "TABLE_MAP_EVENT":
                    wrong += check(found, event)
    return found, wrong


def check(found: Definitions, event: bk.Event) -> list[str]:
    """What is wrong with the definition at a table map event."""
    table_map = event.body
    match = found.match(table_map.schema_name, table_map.table_name, table_map)
    if not isinstance(match, TableDefinition):
        return [f"{event}: {match}"]
    named = [
        (column.name, defined.name) for column, defined in zip(table_map.columns, match.columns, strict=True)
    ]
    return [
        f"{event}: {reported} is {defined}" for reported, defined in named if reported not in (None, defined)
    ]


def of_types(columns: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(column["name"], plain(column["type"])) for column in columns]


def plain(type_name: str) -> str:
    bare = _DECORATION.sub("", type_name)
    return _SAME.get(bare, bare)


@pytest.mark.parametrize("one", cases(), ids=lambda one: one.id)
def test_the_tables_are_those_of_the_server(one: Case) -> None:
    found, wrong = follow(one)
    assert not wrong
    assert not found.notes
    for table in one.tables():
        definition = found.of(table["db"], table["table"])
        assert definition is not None, table["table"]
        # The server hides the columns of system versioning that it added.
        shown = [column for column in definition.columns if column.name not in ("row_start", "row_end")]
        assert [(column.name, plain(column.type_name)) for column in shown] == of_types(table["columns"])
        for column, reported in zip(shown, table["columns"], strict=True):
            if column.type_name != "json" and reported["charset"] is not None:
                assert column.charset == reported["charset"]


def test_a_definition_that_does_not_match_is_reported() -> None:
    log = case("mysql-9.7", "ddl").logs[0]
    with bk.open(log) as events:
        table_map = next(event.body for event in events if event.type == "TABLE_MAP_EVENT")
    schema, table = table_map.schema_name, table_map.table_name
    for columns, reason in (
        (
            "x INT, y DECIMAL(\u0663,2)",
            "column 2, y, is decimal(\u0663,2) in the definition, in the log it is long",
        ),
        ("x INT", "the log has 2 columns, the definition has 1 (was the table altered since?)"),
        ("x INT, y TEXT", "column 2, y, is text in the definition, in the log it is long"),
        (
            "x INT, y INT UNSIGNED",
            "column 2, y, is int unsigned in the definition, in the log it has the opposite sign",
        ),
    ):
        definitions = Definitions()
        definitions.load(f"CREATE TABLE `{schema}`.`{table.replace('`', '``')}` ({columns})")
        assert definitions.of(schema, table) is not None
        assert definitions.of(schema, table, table_map) is None
        assert str(definitions.match(schema, table, table_map)) == f"table {schema}.{table}: {reason}"
