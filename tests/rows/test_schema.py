"""Schemas: information from the table map, and additions from a definition."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from binlog_grammar.table_map_event import TableMapEvent

import binlog_kaitai as bk
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.schema import Column, NameSource, Schema, is_mariadb
from binlog_kaitai.values.table_definition import ColumnDefinition, Columns, TableDefinition
from tests import corpus_files
from tests.grammar.row_bytes import YearBits, field, table_map, table_map_bytes
from tests.grammar.vectors import parse
from tests.rows.truth import OracleTable
from tests.values.cells import Defined, Definition

INT, VARCHAR, VECTOR, GEOMETRY = 3, 15, 242, 255


def with_generated_key() -> TableMapEvent:
    """A table map whose first column is MySQL's invisible primary key, and which has no names."""
    raw = table_map_bytes([8, INT], null_bits="02")
    return parse(TableMapEvent, raw[:6] + b"\x05\x00" + raw[8:], 8, YearBits.present)


def test_without_anything() -> None:
    schema = Schema.of(table_map([INT, VARCHAR], "0a00"))
    assert schema.full_name == "s.t"
    assert [column.name for column in schema.columns] == ["c1", "c2"]
    assert schema.names_from is NameSource.NONE
    assert (schema.columns[0].is_unsigned, schema.columns[1].charset) == (None, None)


def test_a_definition_fills_in() -> None:
    definition = Definition(
        (Defined("int unsigned", "id", None, True, None, True), Defined("text", "t", "latin1"))
    )
    schema = Schema.of(table_map([INT, VARCHAR], "0a00"), definition)
    assert schema.names_from is NameSource.DEFINITION
    assert [(one.name, one.is_unsigned, one.charset, one.type_name) for one in schema.columns] == [
        ("id", True, None, "int unsigned"),
        ("t", None, "latin1", "text"),
    ]
    assert schema.primary_key == (0,)


def test_the_log_goes_first() -> None:
    optional = field(1, "00") + field(2, "21") + field(4, "0178 0179")
    definition = Definition((Defined("int unsigned", "id", None, True), Defined("text", "t", "latin1")))
    schema = Schema.of(table_map([INT, VARCHAR], "0a00", optional), definition)
    assert [(column.name, column.is_unsigned, column.charset) for column in schema.columns] == [
        ("x", False, None),
        ("y", None, "utf8mb3"),
    ]


@pytest.mark.parametrize("field_name", [field.name for field in dataclasses.fields(ColumnDefinition)])
def test_columns_are_shared_only_by_definitions_that_agree(field_name: str) -> None:
    of_column = {field.name for field in dataclasses.fields(Column)}
    known = ColumnDefinition("a", "varchar(10)", "varchar", has_on_update=False)
    change: Any = {field_name: {"arguments": ("9",), "members": ("m",)}.get(field_name, "x")}
    other = dataclasses.replace(known, **change)
    table = table_map([VARCHAR], "0a00")
    first, second = (
        Schema.of(table, TableDefinition("s", "t", Columns((one,)))).columns[0] for one in (known, other)
    )
    if field_name in of_column - {"is_nullable"}:  # which the table map states
        assert getattr(second, field_name) == getattr(other, field_name) != getattr(first, field_name)


def test_a_definition_of_another_table_is_left_aside() -> None:
    schema = Schema.of(table_map([INT, VARCHAR], "0a00"), Definition((Defined("int", "id"),)))
    assert schema.names_from is NameSource.NONE


@pytest.mark.parametrize(("of_mariadb", "charsets"), [(False, [None, "latin1"]), (True, [None, "utf8mb4"])])
def test_mariadb_counts_shapes_among_the_strings(of_mariadb: bool, charsets: list[Any]) -> None:
    optional = field(2, "3f 00 08 01 2d") if not of_mariadb else field(2, "3f 01 2d")
    schema = Schema.of(table_map([GEOMETRY, VARCHAR], "04 0a00", optional), is_mariadb=of_mariadb)
    assert schema.columns[1].charset == charsets[1]


@pytest.mark.parametrize("lists", [field(2, "3f 01 fc ff00"), field(3, "3f fc ff00")])
def test_vectors_count_among_the_strings(lists: bytes) -> None:
    schema = Schema.of(table_map([INT, VECTOR, VARCHAR], "04 0a00", lists))
    assert [column.charset for column in schema.columns] == [None, "binary", "utf8mb4"]


def test_a_key_that_mysql_made_is_known_without_names() -> None:
    schema = Schema.of(with_generated_key())
    assert schema.primary_key == (0,)
    assert [(column.name, column.is_visible, column.is_primary_key) for column in schema.columns] == [
        ("c1", False, True),
        ("c2", None, False),
    ]


@pytest.mark.parametrize("key", [field(8, "00 05"), field(9, "00 00 05 0a")])
def test_a_key_with_a_column_that_the_table_lacks_is_unknown(key: bytes) -> None:
    assert Schema.of(table_map([INT, INT], "", key)).primary_key == ()


def test_two_columns_of_one_name() -> None:
    with pytest.raises(GrammarError, match="duplicate column name"):
        Schema.of(table_map([INT, INT], "", field(4, "0178 0178")))


METADATA = [case for case in corpus_files.cases() if "metadata" in case.folder.name and case.tables()]


@pytest.mark.parametrize("case", METADATA, ids=lambda case: case.id)
def test_charsets_signs_and_members_are_the_servers(case: corpus_files.Case) -> None:
    oracle = {table.name: table for table in map(OracleTable.of, case.tables())}
    seen = 0
    with bk.open(case.logs) as log:
        for event in log:
            if event.type != "TABLE_MAP_EVENT":
                continue
            schema = Schema.of(event.body, is_mariadb=is_mariadb(event.layout))
            table = oracle.get((schema.schema_name, schema.table_name))
            if table is None or schema.names_from is not NameSource.LOG:
                continue
            seen += 1
            assert [column.name for column in schema.columns] == [column.name for column in table.columns]
            for mine, theirs in zip(schema.columns, table.columns, strict=True):
                kind = theirs.type_name.split("(")[0]
                if theirs.charset not in (None, "binary") and kind != "json":
                    assert mine.charset == theirs.charset, (schema.full_name, mine.name)
                if mine.is_unsigned is not None:
                    assert mine.is_unsigned == theirs.is_unsigned
                if mine.members is not None:
                    assert mine.members == theirs.members
    assert seen or "minimal" in case.folder.name
