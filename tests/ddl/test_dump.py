"""Definitions from an SQL file, and how they combine with those of the log."""

from __future__ import annotations

import pytest

from binlog_kaitai.ddl import Definitions
from tests.grammar.row_bytes import table_map

INT, BIGINT, DATE = 3, 8, 10

DUMP = """/*M!999999\\- enable the sandbox mode */
-- MySQL dump 10.13; with a semicolon
/*!40101 SET @saved_cs_client = @@character_set_client */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET latin1 */;
USE `shop`;
DROP TABLE IF EXISTS `orders`;
CREATE TABLE `orders` (
  `my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */,
  `note` varchar(9) DEFAULT 'a;b' COMMENT 'it''s; "so"',
  `made` enum('x','y') GENERATED ALWAYS AS ('x') VIRTUAL,
  PRIMARY KEY (`my_row_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
/*!50100 PARTITION BY KEY () */;
INSERT INTO `orders` VALUES (1,'CREATE TABLE `shop`.`no` (x INT);',DEFAULT);
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON orders FOR EACH ROW BEGIN DROP TABLE orders; END ;;
DELIMITER ;
/*!40000 ALTER TABLE `orders` ENABLE KEYS */;
CREATE TABLE other.things (x INT);
"""


def loaded() -> Definitions:
    definitions = Definitions()
    definitions.load(DUMP)
    return definitions


def names(found: Definitions, schema: str = "shop", table: str = "orders") -> list[str] | None:
    definition = found.of(schema, table)
    return None if definition is None else [column.name for column in definition.columns]


def test_tables_of_a_dump() -> None:
    found = loaded()
    orders = found.of("shop", "orders")
    assert orders is not None
    assert [column.type_name for column in orders.columns] == [
        "bigint unsigned",
        "varchar(9)",
        "enum('x','y')",
    ]
    assert [column.is_visible for column in orders.columns] == [False, True, True]
    assert [column.charset for column in orders.columns] == [None, "utf8mb4", "utf8mb4"]
    assert [column.is_virtual for column in orders.columns] == [False, False, True]
    assert (orders.primary_key, orders.origin) == ((0,), "file")
    assert names(found, "other", "things") == ["x"]
    assert names(found, "shop", "no") is None


def test_the_log_changes_what_the_file_says() -> None:
    found = loaded()
    found.observe("shop", "ALTER TABLE orders ADD total INT AFTER note")
    assert names(found) == ["my_row_id", "note", "total", "made"]
    found.observe("shop", "RENAME TABLE orders TO old")
    assert names(found) is None
    assert names(found, table="old") == ["my_row_id", "note", "total", "made"]


def test_a_file_newer_than_the_statement() -> None:
    found = loaded()
    found.observe("shop", "ALTER TABLE orders ADD note VARCHAR(9)")
    assert names(found) == ["my_row_id", "note", "made"]


def test_the_log_goes_before_the_file() -> None:
    found = loaded()
    found.observe("shop", "CREATE TABLE orders (x INT)")
    assert names(found) == ["x"]
    found.observe("shop", "ALTER TABLE orders WHATEVER THIS IS")
    assert names(found) is None


def test_a_file_without_databases() -> None:
    definitions = Definitions()
    definitions.load("CREATE TABLE a (x INT); CREATE TABLE b (y INT)", "shop")
    assert (names(definitions, table="a"), names(definitions, table="b")) == (["x"], ["y"])


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([INT, DATE], "x y"),
        ([INT, DATE, BIGINT], "x y !hidden!k!0!0"),
        ([INT, BIGINT, DATE], "x !hidden!k!0!0 y"),
        ([INT, DATE, DATE], None),
        ([INT, INT, DATE], None),
        ([INT, BIGINT, BIGINT], None),
    ],
)
def test_hidden_columns_of_a_file_are_where_the_types_say(types: list[int], expected: str | None) -> None:
    """SHOW CREATE TABLE shows the key with its expression, but not which columns were added after it."""
    definitions = Definitions()
    definitions.load("CREATE TABLE s.t (x INT PRIMARY KEY, y DATE, KEY k ((x + 1)))")
    definition = definitions.of("s", "t", table_map(types))
    assert (definition and " ".join(column.name for column in definition.columns)) == expected
