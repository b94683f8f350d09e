"""Table names whose case the server may ignore; the log does not record whether it does."""

from __future__ import annotations

from typing import Any

import pytest

from binlog_kaitai.ddl import DefinitionMismatch, Definitions
from tests.grammar.row_bytes import table_map

INT, BIGINT, VARCHAR = 3, 8, 15
ONE_INT, TWO_INTS = table_map([INT]), table_map([INT, INT])


def define(*statements: str, ddl: str = "") -> Definitions:
    definitions = Definitions()
    if ddl:
        definitions.load(ddl)
    for statement in statements:
        definitions.observe("Shop", statement)
    return definitions


def names(found: Definitions, table: str, event: Any = None, schema: str = "shop") -> str | None:
    definition = found.of(schema, table, event)
    return None if definition is None else " ".join(column.name for column in definition.columns)


def test_a_table_map_with_small_letters_finds_what_a_statement_spells_otherwise() -> None:
    """Servers with `lower_case_table_names` 1 or 2 fold the name before they log it."""
    definitions = define("CREATE TABLE Orders (x INT)")
    assert names(definitions, "orders", ONE_INT) == "x"
    assert names(definitions, "Orders", ONE_INT, schema="Shop") == "x"


def test_statements_that_spell_a_table_in_several_ways_are_about_one_table() -> None:
    definitions = define("CREATE TABLE Orders (x INT)", "ALTER TABLE shop.ORDERS ADD y INT")
    assert names(definitions, "orders", TWO_INTS) == "x y"
    definitions.observe("SHOP", "RENAME TABLE orders TO ToDo")
    assert names(definitions, "todo", TWO_INTS) == "x y"
    assert names(definitions, "orders", TWO_INTS) is None
    definitions.observe("shop", "DROP TABLE TODO")
    assert names(definitions, "todo", TWO_INTS) is None
    definitions.observe("shop", "CREATE TABLE Todo (z INT)")
    assert names(definitions, "todo", ONE_INT) == "z"


def test_a_database_is_dropped_under_any_spelling() -> None:
    definitions = define("CREATE TABLE Orders (x INT)", "DROP DATABASE SHOP")
    assert names(definitions, "orders", ONE_INT) is None


def test_capital_letters_in_a_table_map_show_that_names_are_case_sensitive() -> None:
    definitions = define("CREATE TABLE orders (x INT)")
    assert names(definitions, "Orders", ONE_INT) is None
    definitions = define("CREATE TABLE Orders (x INT)", "CREATE TABLE other (y INT)")
    assert names(definitions, "orders", ONE_INT) == "x"
    assert names(definitions, "Unheard", ONE_INT) is None
    assert names(definitions, "orders", ONE_INT, schema="Shop") is None
    assert names(definitions, "other", ONE_INT, schema="Shop") == "y"


def test_two_tables_that_differ_in_case_only_show_that_names_are_case_sensitive() -> None:
    definitions = define("CREATE TABLE orders (x INT)", "CREATE TABLE Orders (y INT)")
    assert names(definitions, "orders", ONE_INT, schema="Shop") == "x"
    assert names(definitions, "Orders", ONE_INT, schema="Shop") == "y"
    assert names(definitions, "ORDERS", ONE_INT, schema="Shop") is None


@pytest.mark.parametrize("again", ["IF NOT EXISTS Orders", "Orders"])
def test_a_table_that_is_created_again_need_not_be_another(again: str) -> None:
    before = ["DROP TABLE ORDERS"] if again == "Orders" else []
    definitions = define("CREATE TABLE orders (x INT)", *before, f"CREATE TABLE {again} (x INT)")
    assert names(definitions, "orders", ONE_INT) == "x"


def test_where_both_ways_match_and_differ_nothing_is_known() -> None:
    definitions = define("CREATE TABLE orders (x INT)", "ALTER TABLE ORDERS RENAME COLUMN x TO y")
    matched = definitions.match("Shop", "orders", ONE_INT)
    assert isinstance(matched, DefinitionMismatch)
    assert "several ways" in str(matched)
    # The table map decides where it can.
    definitions = define("CREATE TABLE orders (x INT)", "ALTER TABLE ORDERS ADD y INT")
    assert names(definitions, "orders", ONE_INT, schema="Shop") == "x"
    assert names(definitions, "orders", TWO_INTS, schema="Shop") == "x y"


def test_definitions_of_a_file_are_found_likewise() -> None:
    definitions = define(ddl="USE Shop; CREATE TABLE Orders (x INT);")
    assert names(definitions, "orders", ONE_INT) == "x"
    both = "USE Shop; CREATE TABLE orders (x INT); DROP TABLE IF EXISTS Orders; CREATE TABLE Orders (y INT);"
    definitions = define(ddl=both)
    assert names(definitions, "orders", ONE_INT, schema="Shop") == "x"
    assert names(definitions, "ORDERS", ONE_INT, schema="Shop") is None
