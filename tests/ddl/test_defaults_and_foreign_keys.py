"""Which value a column gets without one, and which tables change with another one, by their definitions."""

from __future__ import annotations

import pytest

from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import restore, save
from binlog_kaitai.values.table_definition import ForeignKey
from tests.ddl.test_definitions import column, define


@pytest.mark.parametrize(
    ("definition", "default"),
    [
        ("a INT", ""),
        ("a INT NOT NULL AUTO_INCREMENT PRIMARY KEY", ""),
        ("a INT DEFAULT 5 NOT NULL", "5"),
        ("a INT NOT NULL DEFAULT -5", "-5"),
        ("a INT DEFAULT NULL COMMENT 'x'", "NULL"),
        ("a DECIMAL(5,2) DEFAULT +1.50", "+1.50"),
        ("a DECIMAL(5,2) DEFAULT .5", ".5"),
        ("a BOOL DEFAULT TRUE", "TRUE"),
        ("a BIT(3) DEFAULT b'101'", "b'101'"),
        ("a BINARY(2) DEFAULT 0x4142", "0x4142"),
        ("a VARCHAR(9) DEFAULT 'it''s' CHARSET utf8mb4", "'it''s'"),
        ("a VARCHAR(9) DEFAULT 'NULL'", "'NULL'"),
        # A value that only the server knows, or that depends on more than the literal.
        ("a DOUBLE DEFAULT 1e-5", None),
        ("a VARCHAR(9) DEFAULT 'a' 'b'", None),
        ("a VARCHAR(9) DEFAULT _latin1'a'", None),
        ("a DATE DEFAULT DATE '2026-01-01'", None),
        ("a INT DEFAULT (1 + 2)", None),
        ("a INT DEFAULT (5)", None),
        ("a TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", None),
        ("a DATETIME(3) DEFAULT now(3)", None),
        ("a BIGINT DEFAULT NEXT VALUE FOR s", None),
        ("a TEXT DEFAULT @@sql_mode", None),
        ("a INT DEFAULT @@global.`max_connections`", None),
        ("a INT DEFAULT @`x y`", None),
        ("a DATE DEFAULT {d '2020-01-01'}", None),
        ("a INT DEFAULT uuid_short()", None),
        ("a SERIAL DEFAULT VALUE", None),
    ],
)
def test_the_literal_of_a_default(definition: str, default: str | None) -> None:
    assert column(definition).default == default


@pytest.mark.parametrize(
    ("clauses", "default"),
    [
        ("ALTER a SET DEFAULT 7", "7"),
        ("ALTER COLUMN a SET DEFAULT 'x', ADD d INT", "'x'"),
        ("ALTER a SET DEFAULT (a + 1)", None),
        ("ALTER a DROP DEFAULT", None),  # without a default, even NULL
        ("MODIFY a BIGINT", ""),
        ("CHANGE a a INT DEFAULT 9", "9"),
        ("RENAME COLUMN a TO z, ADD a INT FIRST", ""),
        ("ALTER a SET INVISIBLE", "5"),
        ("ALTER b SET DEFAULT 7", "5"),
    ],
)
def test_a_default_that_is_altered(clauses: str, default: str | None) -> None:
    found = define("CREATE TABLE a (a INT DEFAULT 5, b INT)", f"ALTER TABLE a {clauses}").of("t", "a")
    assert found is not None
    assert found.columns[found.find("a") or 0].default == default


def test_columns_of_a_query_have_unknown_defaults() -> None:
    found = define("CREATE TABLE b (x INT DEFAULT 5)", "CREATE TABLE a (y INT) SELECT x FROM b").of("t", "a")
    assert found is not None
    assert [(column.name, column.default) for column in found.columns] == [("y", ""), ("x", None)]


CASCADE = "ON DELETE CASCADE ON UPDATE SET NULL"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (id))"], [("t.c", "t.p", "", "")]),
        (["CREATE TABLE c (x INT, CONSTRAINT k FOREIGN KEY i (x) REFERENCES p (id) ON DELETE SET NULL)"],
         [("t.c", "t.p", "k", "delete")]),
        (["CREATE TABLE c (x INT REFERENCES u.p (id) MATCH FULL ON UPDATE CASCADE ON DELETE NO ACTION)"],
         [("t.c", "u.p", "", "update")]),
        (["CREATE TABLE u.c (x INT, FOREIGN KEY (x) REFERENCES p (id) ON DELETE RESTRICT)"],
         [("u.c", "u.p", "", "")]),
        (["CREATE TABLE c (x INT)", f"ALTER TABLE c ADD FOREIGN KEY (x) REFERENCES p (id) {CASCADE}"],
         [("t.c", "t.p", "", "delete update")]),
        (["CREATE TABLE c (x INT)", f"ALTER TABLE c ADD y INT REFERENCES p (id) {CASCADE}, ADD z INT"],
         [("t.c", "t.p", "", "delete update")]),
        (["CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (id), FOREIGN KEY (x) REFERENCES q (id))",
          "ALTER TABLE c DROP FOREIGN KEY c_ibfk_1"], [("t.c", "t.q", "", "")]),
        (["CREATE TABLE c (x INT, CONSTRAINT k FOREIGN KEY (x) REFERENCES p (id))",
          "ALTER TABLE c DROP CONSTRAINT K"], []),
        (["CREATE TABLE c (x INT, CONSTRAINT k FOREIGN KEY (x) REFERENCES p (id))",
          "ALTER TABLE c DROP KEY k, DROP FOREIGN KEY other"], [("t.c", "t.p", "k", "")]),
        (["CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (id))",
          "RENAME TABLE p TO u.q, c TO v.d"], [("v.d", "u.q", "", "")]),
        (["CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES c (id) ON DELETE CASCADE)",
          "ALTER TABLE c RENAME TO d"], [("t.d", "t.d", "", "delete")]),
        (["CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (id))", "CREATE TABLE d LIKE c",
          "DROP TABLE c"], []),
    ],
)  # fmt: skip
def test_foreign_keys(statements: list[str], expected: list[tuple[str, str, str, str]]) -> None:
    definitions = define(*statements)
    assert shown(definitions) == expected
    assert shown(restore(save(definitions))) == expected


def shown(found: Definitions) -> list[tuple[str, str, str, str]]:
    return [
        (
            f"{table.schema_name}.{table.table_name}",
            ".".join(key.parent),
            key.name,
            " ".join(["delete"] * key.on_delete + ["update"] * key.on_update),
        )
        for table, key in found.foreign_keys()
    ]


def test_foreign_keys_follow_parents_that_are_renamed_later() -> None:
    """So do those of a file, and saved ones, as those that a pipeline has between two batches."""
    create = "CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (id), FOREIGN KEY (x) REFERENCES c (id))"
    of_file = Definitions()
    of_file.load(f"{create};", "t")
    for found in (define(create), restore(save(define(create))), of_file):
        for statement in ("RENAME TABLE p TO q", "RENAME TABLE c TO d"):
            found.observe("t", statement)
        assert [one[:2] for one in shown(found)] == [("t.d", "t.q"), ("t.d", "t.d")]


def test_definitions_of_a_file_have_foreign_keys() -> None:
    found = Definitions()
    found.load(f"CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (a, `b`) {CASCADE});", "t")
    assert [key for _, key in found.foreign_keys()] == [ForeignKey("", ("t", "p"), ("a", "b"), True, True)]
