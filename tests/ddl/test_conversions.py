"""Which changes of a column's type keep its values."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from binlog_kaitai.core.grammar import masks
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.conversions import Conversions, conversions_by
from binlog_kaitai.ddl.statements import AlterTable, read_statement
from binlog_kaitai.ddl.store import Session

STRICT = masks.SqlMode.IS_STRICT_TRANS_TABLES


def conversions(table: str, clauses: str, sql_mode: int = 0, verb: str = "ALTER") -> Conversions:
    before = Definitions()
    if table:
        before.observe("s", f"CREATE TABLE t ({table}) DEFAULT CHARSET=latin1")
    after = before.copy()
    text = f"{verb} TABLE t {clauses}"
    after.observe("s", text)
    statement = read_statement(text, Session())
    assert isinstance(statement, AlterTable)
    return conversions_by(statement, before.of("s", "t"), after.of("s", "t"), sql_mode)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("INT", "INT COMMENT 'x'"),
        ("INT", "BIGINT"),
        ("SMALLINT UNSIGNED", "INT"),
        ("BOOLEAN", "TINYINT"),
        ("INT UNSIGNED", "BIGINT UNSIGNED"),
        ("BIGINT UNSIGNED", "DECIMAL(20,0)"),
        ("SMALLINT", "VARCHAR(6)"),
        ("DECIMAL(10,2)", "DECIMAL(18,2)"),
        ("DECIMAL", "DECIMAL(12)"),
        ("VARCHAR(10)", "VARCHAR(20) COLLATE latin1_bin"),
        ("VARCHAR(10)", "VARCHAR(10) CHARACTER SET utf8mb4"),
        ("VARCHAR(10)", "TEXT"),
        ("CHAR(10)", "VARCHAR(10)"),
        ("TINYTEXT", "LONGTEXT"),
        ("VARBINARY(10)", "BLOB"),
        ("ENUM('a','b')", "ENUM('b','c','a')"),
        ("SET('a','b')", "SET('a','b','c')"),
        ("ENUM('ab','c')", "VARCHAR(2)"),
        ("INT NOT NULL", "INT"),
    ],
)
def test_values_that_stay(old: str, new: str) -> None:
    found = conversions(f"a {old}", f"MODIFY a {new}")
    assert replace(found, known=()) == Conversions()
    assert all(one.has_same_text and one.value is None for one in found.known)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("DECIMAL(10,2)", "DECIMAL(12,4)"),
        ("DECIMAL(10,2) UNSIGNED", "DECIMAL(20,2)"),
        ("DATE", "DATETIME(3)"),
        ("FLOAT", "DOUBLE"),
    ],
)
def test_values_that_are_equal(old: str, new: str) -> None:
    found = conversions(f"a {old}, b INT", f"CHANGE a c {new}")
    assert replace(found, known=()) == Conversions()
    assert [(one.new.name, one.value) for one in found.known] == [("c", None)]


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("INT", "BIGINT NOT NULL", 0),
        ("DECIMAL(10,2)", "DECIMAL(12,4) NOT NULL", 0),
        ("VARCHAR(9)", "VARCHAR(9) NOT NULL DEFAULT 'x'", ""),
        ("SET('a')", "SET('a','b') NOT NULL", ""),
        ("ENUM('a')", "ENUM('a') NOT NULL", None),
        ("DATE", "DATETIME NOT NULL", None),
        ("CHAR(9) CHARACTER SET binary", "CHAR(9) CHARACTER SET binary NOT NULL", None),
    ],
)
def test_what_null_becomes_unless_the_server_is_strict(old: str, new: str, value: object) -> None:
    found = conversions(f"a {old}", f"MODIFY a {new}")
    if value is None:
        assert found == Conversions(values=("a",))
    else:
        assert [one.value for one in found.known] == [value]
        assert replace(found, known=()) == Conversions()
    strict = conversions(f"a {old}", f"MODIFY a {new}", STRICT)
    assert replace(strict, known=()) == Conversions()
    assert all(one.value is None for one in strict.known)


def test_a_column_that_a_lake_may_take_for_another_one() -> None:
    """There, a column goes on as `a_` if its type changes."""
    assert conversions("a DATE, a_ INT", "MODIFY a DATETIME") == Conversions(values=("a",))
    assert conversions("a_ INT", "ADD a INT DEFAULT 5") == Conversions(filled=("a",))
    assert conversions("a INT, a_ INT", "MODIFY a BIGINT") == Conversions()
    assert conversions("a INT, b_ INT", "RENAME COLUMN a TO b") == Conversions(values=("b",))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("INT", "VARCHAR(10)"),
        ("INT UNSIGNED", "VARCHAR(20)"),  # it may be filled up with zeros
        ("BIGINT UNSIGNED", "DECIMAL(20,1)"),
        ("VARCHAR(10)", "INT"),
        ("VARCHAR(10)", "VARBINARY(10)"),
        ("INT", "VARBINARY(20)"),
        ("DOUBLE", "FLOAT"),
        ("FLOAT(9,2)", "DOUBLE"),
        ("DECIMAL(10,2)", "DECIMAL(10,1)"),
        ("DATETIME(6)", "DATETIME"),
        ("DATETIME", "TIMESTAMP"),
        ("TIME(3)", "TIME(2)"),
        ("VARCHAR(10)", "VARCHAR(9)"),
        ("VARCHAR(10)", "CHAR(10)"),
        ("BINARY(2)", "BINARY(3)"),
        ("VARCHAR(10)", "VARCHAR(20 BYTE)"),
        ("TEXT", "VARCHAR(100)"),
        ("SET('a','b')", "SET('b','a')"),
        ("ENUM('a','b')", "ENUM('a')"),
        ("ENUM('ab','c')", "VARCHAR(1)"),
        ("INT AS (1) STORED", "INT AS (2) STORED"),
    ],
)
@pytest.mark.parametrize("sql_mode", [0, STRICT])
def test_values_that_are_converted(old: str, new: str, sql_mode: int) -> None:
    assert conversions(f"a {old}, b INT", f"CHANGE a c {new}", sql_mode) == Conversions(values=("c",))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("INT", "SMALLINT"),
        ("INT", "INT UNSIGNED"),
        ("BIGINT UNSIGNED", "BIGINT"),
        ("DECIMAL", "INT"),
        ("DECIMAL(10,2)", "DECIMAL(5,2)"),
        ("VARCHAR(10) CHARACTER SET utf8mb4", "VARCHAR(10) CHARACTER SET ascii"),
        ("TEXT", "TEXT CHARACTER SET utf8mb4"),
        ("DECIMAL(10,2)", "DECIMAL(10,3)"),
    ],
)
def test_values_that_a_strict_server_does_not_change(old: str, new: str) -> None:
    assert conversions(f"a {old}", f"MODIFY a {new}") == Conversions(values=("a",))
    assert replace(conversions(f"a {old}", f"MODIFY a {new}", STRICT), known=()) == Conversions()


@pytest.mark.parametrize("base", ["TIME", "DATETIME", "TIMESTAMP"])
def test_more_fractional_digits_change_the_text_only(base: str) -> None:
    assert conversions(f"a {base} NULL", f"MODIFY a {base}(3) NULL") == Conversions(fractions=("a",))
    assert conversions(f"a {base} NULL", f"MODIFY a {base}(3) NOT NULL") == Conversions(values=("a",))


def test_the_character_set_of_all_columns() -> None:
    columns = "a INT, b VARCHAR(10), c VARCHAR(10) CHARACTER SET utf8mb4"
    assert conversions(columns, "CONVERT TO CHARACTER SET ascii") == Conversions(("b", "c"))
    assert conversions(columns, "CONVERT TO CHARACTER SET utf8mb4").values == ()


def test_a_generated_column_may_get_another_expression() -> None:
    """Expressions are not part of definitions, so a column may look unchanged."""
    for new in ("a INT AS (1) STORED", "a INT AS (1) VIRTUAL"):
        assert conversions("a INT AS (0) STORED", f"MODIFY {new}") == Conversions(values=("a",))


def test_columns_that_only_get_other_names_and_places() -> None:
    assert conversions("a INT, b VARCHAR(9)", "RENAME COLUMN a TO b, RENAME COLUMN b TO a") == Conversions()
    assert conversions("a INT, b VARCHAR(9)", "MODIFY a INT AFTER b") == Conversions()
    assert conversions("a INT, b INT", "DROP COLUMN a, ADD COLUMN a DATE") == Conversions()


def test_a_table_that_is_unknown_or_may_lose_rows() -> None:
    assert (
        conversions("", "MODIFY a INT")
        == conversions("", "CONVERT TO CHARACTER SET x")
        == Conversions(("*",))
    )
    assert conversions("", "ADD COLUMN a INT, DROP COLUMN b") == Conversions()
    assert conversions("a INT", "ADD UNIQUE (a)", verb="ALTER IGNORE") == Conversions(("*",))


def test_a_character_set_that_is_unknown() -> None:
    before, after = Definitions(), Definitions()
    before.observe("s", "CREATE TABLE t (a VARCHAR(10))")
    after.observe("s", "CREATE TABLE t (a VARCHAR(10) CHARACTER SET ascii)")
    statement = read_statement("ALTER TABLE t CONVERT TO CHARACTER SET ascii", Session())
    assert isinstance(statement, AlterTable)
    tables = before.of("s", "t"), after.of("s", "t")
    assert conversions_by(statement, *tables, 0) == Conversions(("a",))
    assert conversions_by(statement, *tables, STRICT).values == ()


CLAUSES = pytest.mark.parametrize(
    "clause", ["ADD b {}", "ADD COLUMN (c INT, b {})", "DROP a, ADD IF NOT EXISTS b {}"]
)


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ("INT NOT NULL", 0),
        ("INT DEFAULT 0 COMMENT 'x'", 0),
        ("INT NULL DEFAULT '1'", 1),
        ("INT PRIMARY KEY", 0),
        ("BOOL NOT NULL DEFAULT TRUE", 1),
        ("DOUBLE NOT NULL", 0),
        ("VARCHAR(9) DEFAULT 'it''s' FIRST", "it's"),
        ("TEXT NOT NULL", ""),
        ("VARBINARY(9) NOT NULL", b""),
        ("ENUM('it''s','b') NOT NULL", "it's"),
        ("SET('a') NOT NULL", ""),
        ("DATE DEFAULT '2020-02-29'", date(2020, 2, 29)),
    ],
)
@CLAUSES
def test_new_columns_with_known_values_in_old_rows(definition: str, value: object, clause: str) -> None:
    found = conversions("a INT, d INT", clause.format(definition))
    assert [(one.old, one.new.name, one.value) for one in found.known] == [(None, "b", value)]
    assert replace(found, known=()) == Conversions()
    assert conversions("", clause.format(definition)) == Conversions(filled=("b",))


@pytest.mark.parametrize(
    "definition",
    [
        "INT AUTO_INCREMENT UNIQUE KEY",
        "SERIAL",
        "BIGINT SERIAL DEFAULT VALUE",
        "INT AS (a + 1) STORED",
        "INT GENERATED ALWAYS AS (a) VIRTUAL",
        "TIMESTAMP",
        "TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)",
        "DATETIME DEFAULT NOW() FIRST",
        "DATE NOT NULL",
        "DATETIME DEFAULT '0000-00-00'",
        "TIMESTAMP NULL DEFAULT '2020-02-29 01:02:03'",
        "BINARY(3) NOT NULL",
        "BIT(8) DEFAULT b'1'",
        "INT DEFAULT 1.5",
        "JSON DEFAULT (JSON_ARRAY())",
    ],
)
@CLAUSES
@pytest.mark.parametrize("table", ["a INT, d INT", ""])
def test_new_columns_with_other_values_in_old_rows(definition: str, clause: str, table: str) -> None:
    assert conversions(table, clause.format(definition)) == Conversions(filled=("b",))


@pytest.mark.parametrize("clause", ["ADD COLUMN IF NOT EXISTS a {}", "ADD IF NOT EXISTS (a {})"])
def test_a_column_that_was_there(clause: str) -> None:
    assert conversions("a INT", clause.format("INT DEFAULT 5")) == Conversions()


@pytest.mark.parametrize(
    "definition",
    [
        "INT",
        "INT DEFAULT NULL UNIQUE KEY COMMENT 'NOT NULL DEFAULT 1' FIRST",
        "TIMESTAMP NULL",
        "TIMESTAMP DEFAULT NULL",
        "DATETIME(3) NULL DEFAULT NULL",
        "VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    ],
)
def test_new_columns_that_are_null_in_old_rows(definition: str) -> None:
    assert conversions("a INT", f"ADD COLUMN b {definition}, ADD KEY (a)") == Conversions()
