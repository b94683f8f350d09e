"""Table names whose case the server may ignore; the log does not record whether it does."""

from __future__ import annotations

from typing import Any

import pytest

from binlog_kaitai.ddl import DefinitionMismatch, Definitions
from tests.grammar.row_bytes import table_map

INT, BIGINT, VARCHAR = 3, 8, 15
ONE_INT, TWO_INTS = table_map([INT]), table_map([INT, INT])


def define(*statements: str, ddl: str = "") -> Definitions:
    found = Definitions()
    if ddl:
        found.load(ddl)
    for statement in statements:
        found.observe("Shop", statement)
    return found


def names(found: Definitions, table: str, event: Any = None, schema: str = "shop") -> str | None:
    definition = found.of(schema, table, event)
    return None if definition is None else " ".join(column.name for column in definition.columns)


def test_a_table_map_with_small_letters_finds_what_a_statement_spells_otherwise() -> None:
    """Servers with `lower_case_table_names` 1 or 2 fold the name before they log it."""
    found = define("CREATE TABLE Orders (x INT)")
    assert names(found, "orders", ONE_INT) == "x"
    assert names(found, "Orders", ONE_INT, schema="Shop") == "x"


def test_statements_that_spell_a_table_in_several_ways_are_about_one_table() -> None:
    found = define("CREATE TABLE Orders (x INT)", "ALTER TABLE shop.ORDERS ADD y INT")
    assert names(found, "orders", TWO_INTS) == "x y"
    found.observe("SHOP", "RENAME TABLE orders TO ToDo")
    assert names(found, "todo", TWO_INTS) == "x y"
    assert names(found, "orders", TWO_INTS) is None
    found.observe("shop", "DROP TABLE TODO")
    assert names(found, "todo", TWO_INTS) is None
    found.observe("shop", "CREATE TABLE Todo (z INT)")
    assert names(found, "todo", ONE_INT) == "z"


def test_a_database_is_dropped_under_any_spelling() -> None:
    found = define("CREATE TABLE Orders (x INT)", "DROP DATABASE SHOP")
    assert names(found, "orders", ONE_INT) is None


def test_capital_letters_in_a_table_map_show_that_names_are_case_sensitive() -> None:
    found = define("CREATE TABLE orders (x INT)")
    assert names(found, "Orders", ONE_INT) is None
    found = define("CREATE TABLE Orders (x INT)", "CREATE TABLE other (y INT)")
    assert names(found, "orders", ONE_INT) == "x"
    assert names(found, "Unheard", ONE_INT) is None
    assert names(found, "orders", ONE_INT, schema="Shop") is None
    assert names(found, "other", ONE_INT, schema="Shop") == "y"


def test_two_tables_that_differ_in_case_only_show_that_names_are_case_sensitive() -> None:
    found = define("CREATE TABLE orders (x INT)", "CREATE TABLE Orders (y INT)")
    assert names(found, "orders", ONE_INT, schema="Shop") == "x"
    assert names(found, "Orders", ONE_INT, schema="Shop") == "y"
    assert names(found, "ORDERS", ONE_INT, schema="Shop") is None


@pytest.mark.parametrize("again", ["IF NOT EXISTS Orders", "Orders"])
def test_a_table_that_is_created_again_need_not_be_another(again: str) -> None:
    before = ["DROP TABLE ORDERS"] if again == "Orders" else []
    found = define("CREATE TABLE orders (x INT)", *before, f"CREATE TABLE {again} (x INT)")
    assert names(found, "orders", ONE_INT) == "x"


def test_where_both_ways_match_and_differ_nothing_is_known() -> None:
    found = define("CREATE TABLE orders (x INT)", "ALTER TABLE ORDERS RENAME COLUMN x TO y")
    matched = found.match("Shop", "orders", ONE_INT)
    assert isinstance(matched, DefinitionMismatch)
    assert "several ways" in str(matched)
    # The table map decides where it can.
    found = define("CREATE TABLE orders (x INT)", "ALTER TABLE ORDERS ADD y INT")
    assert names(found, "orders", ONE_INT, schema="Shop") == "x"
    assert names(found, "orders", TWO_INTS, schema="Shop") == "x y"


def test_definitions_of_a_file_are_found_likewise() -> None:
    found = define(ddl="USE Shop; CREATE TABLE Orders (x INT);")
    assert names(found, "orders", ONE_INT) == "x"
    both = "USE Shop; CREATE TABLE orders (x INT); DROP TABLE IF EXISTS Orders; CREATE TABLE Orders (y INT);"
    found = define(ddl=both)
    assert names(found, "orders", ONE_INT, schema="Shop") == "x"
    assert names(found, "ORDERS", ONE_INT, schema="Shop") is None
