"""Given these statements in this order, these are the tables."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from binlog_kaitai.ddl import ColumnDefinition, DefinitionMismatch, Definitions, Session, TableDefinition
from binlog_kaitai.ddl.definitions import restore, save
from tests.grammar.row_bytes import table_map

INT, BIGINT = 3, 8


def define(*statements: str, sql_mode: int = 0) -> Definitions:
    definitions = Definitions()
    for statement in statements:
        definitions.observe("t", statement, Session(sql_mode=sql_mode))
    return definitions


def names(found: Definitions, table: str = "a", schema: str = "t") -> str | None:
    """The names of a table's columns, in order; None if it is not known."""
    definition = found.of(schema, table)
    return None if definition is None else " ".join(column.name for column in definition.columns)


def table(sql: str) -> TableDefinition:
    found = define(sql).of("t", "a")
    assert found is not None
    return found


def column(sql: str) -> ColumnDefinition:
    return table(f"CREATE TABLE a ({sql})").columns[0]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("CREATE TABLE a (x INT, y INT)", "x y"),
        ("create table `a`(`x` int,`y` int)engine=InnoDB", "x y"),
        ("CREATE TABLE t.a (x INT)", "x"),
        ("CREATE TABLE IF NOT EXISTS a (x INT)", "x"),
        ("CREATE OR REPLACE TABLE a (x INT)", "x"),
        ("/* app:7 */ CREATE TABLE a (x INT) -- end", "x"),
        ("-- why\n# how\nCREATE TABLE a (x INT /* y INT, */, z INT)", "x z"),
        ("CREATE TABLE a (`we``ird` INT, `sel,ect` INT, `(` INT)", "we`ird sel,ect ("),
        ("CREATE TABLE a (x ENUM('a,b', ')', 'c''d', 'e\\'f'), y INT)", "x y"),
        ("CREATE TABLE a (x INT COMMENT 'a, b INT', y INT DEFAULT '),')", "x y"),
        ("CREATE TABLE a (x DECIMAL(10,2) NOT NULL, y DOUBLE PRECISION, z LONG VARCHAR)", "x y z"),
        ("CREATE TABLE a (x INT, PRIMARY KEY (x), KEY k (x), UNIQUE (x), FULLTEXT KEY f (x))", "x"),
        ("CREATE TABLE a (x INT, CONSTRAINT c CHECK (x > 1), FOREIGN KEY (x) REFERENCES b (y))", "x"),
        ("CREATE TABLE a (x INT REFERENCES b (y) ON DELETE SET NULL ON UPDATE CASCADE, z INT)", "x z"),
        ("CREATE TABLE a (period INT, system INT, comment INT, status INT, vector INT)",
         "period system comment status vector"),
        ("CREATE TABLE a (s DATE, e DATE, PERIOD FOR p (s, e))", "s e"),
        ("CREATE TABLE a (x INT AS (1 + (2)) STORED, y INT GENERATED ALWAYS AS (x->'$.a'))", "x y"),
        ("CREATE TABLE a (x INT /*!80023 INVISIBLE */ /*!50100 , y INT */)", "x y"),
        ("CREATE TABLE a (x TEXT /*M!100301 COMPRESSED*/ /*M!999999 , y INT */)", "x"),
        ("CREATE TABLE a (x INT, y DATE) PARTITION BY RANGE (YEAR(y)) (PARTITION p VALUES LESS THAN (9))",
         "x y"),
        ("CREATE TABLE a (столбец INT, `列` INT, 1st INT, a$b INT)", "столбец 列 1st a$b"),
        ("SET STATEMENT max_statement_time=1 FOR CREATE TABLE a (x INT)", "x"),
        ("CREATE TABLE a (x INT) WITH SYSTEM VERSIONING", "x row_start row_end"),
        ("CREATE TABLE a (x INT, y INT WITH SYSTEM VERSIONING)", "x y row_start row_end"),
        ("CREATE TABLE a (x INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, "
         "e TIMESTAMP(6) AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING", "x s e"),
        ("CREATE SEQUENCE a START WITH 5",
         "next_not_cached_value minimum_value maximum_value start_value increment cache_size cycle_option "
         "cycle_count"),
    ],
)  # fmt: skip
def test_create(statement: str, expected: str) -> None:
    assert names(define(statement)) == expected


@pytest.mark.parametrize(
    ("sql", "type_name", "is_unsigned"),
    [
        ("x INTEGER", "int", False),
        ("x INT(10) ZEROFILL", "int(10) unsigned", True),
        ("x BIGINT UNSIGNED NOT NULL", "bigint unsigned", True),
        ("x SERIAL", "bigint unsigned", True),
        ("x BOOL", "tinyint(1)", False),
        ("x NUMERIC(5 , 2)", "decimal(5,2)", False),
        ("x CHARACTER VARYING (7)", "varchar(7)", None),
        ("x NATIONAL VARCHAR(7)", "varchar(7)", None),
        ("x CHAR(7) BYTE", "binary(7)", None),
        ("x VARCHAR(7) CHARACTER SET binary", "varbinary(7)", None),
        ("x LONG VARBINARY", "mediumblob", None),
        ("x UUID", "uuid", None),
        ("x ENUM('a', 'b,''c')", "enum('a','b,''c')", None),
    ],
)
def test_types(sql: str, type_name: str, is_unsigned: bool | None) -> None:
    found = column(sql)
    assert (found.type_name, found.is_unsigned) == (type_name, is_unsigned)


def test_members_are_as_the_server_keeps_them() -> None:
    assert column("x SET('a ', 'b''', 'c\\'\\n') CHARSET latin1").members == ("a", "b'", "c'\n")
    assert column("x ENUM('y', 'é', 'ж') CHARSET latin1").members == ("y", "é", "?")
    assert column("x ENUM('y', '~', 'é') CHARSET swe7").members == ("y", "?", "é")


def test_only_ascii_has_white_space() -> None:
    definitions = define("CREATE\fTABLE\va (\u3000x INT,\xa0y INT,\u2003 INT, ﬁrst INT)")
    assert names(definitions) == "\u3000x \xa0y \u2003 ﬁrst"
    single = Definitions()
    single.observe("t", "CREATE\xa0TABLE a (\xa0x INT, `\xa0y`\xa0INT)", Session(is_single_byte=True))
    assert names(single) == "x \xa0y"


@pytest.mark.parametrize(
    ("sql", "is_nullable", "is_primary_key"),
    [
        ("x INT", True, False),
        ("x INT, s DATE, e DATE, PERIOD FOR p (s, e), PRIMARY KEY (x, p WITHOUT OVERLAPS)", False, None),
        ("x INT NOT NULL", False, False),
        ("x INT DEFAULT NULL", True, False),
        ("x INT NOT NULL DEFAULT 5 CHECK (x IS NOT NULL)", False, False),
        ("x INT KEY", False, True),
        ("x INT AUTO_INCREMENT PRIMARY KEY", False, True),
        ("x INT UNIQUE KEY", True, False),
        ("x INT, PRIMARY KEY (x)", False, True),
        ("x INT, CONSTRAINT k PRIMARY KEY USING BTREE (`X`(3) DESC)", False, True),
        ("x INT NOT NULL REFERENCES y (z) ON DELETE SET NULL", False, False),
        ("x TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)", False, False),
        ("x CHAR(3) DEFAULT _utf8mb4'NOT NULL' KEY", False, True),
        ("x INT COLUMN_FORMAT DEFAULT UNIQUE KEY", True, False),
        ("x INT NOT NULL STORAGE DEFAULT PRIMARY KEY", False, True),
        ("x INT `option`=PRIMARY NOT NULL", False, False),
    ],
)
def test_keys_and_nulls(sql: str, is_nullable: bool, is_primary_key: bool | None) -> None:
    found = column(sql)
    assert (found.is_nullable, found.is_primary_key) == (is_nullable, is_primary_key)


@pytest.mark.parametrize(
    "changed",
    [
        "DATETIME NOT NULL ON UPDATE NOW()",
        "DATETIME NOT NULL COMMENT 'c'",
        "DATETIME NOT NULL DEFAULT '2026-01-01'",
        "DATETIME",
        "DATETIME NOT NULL INVISIBLE",
        "DATETIME(1) NOT NULL",
        "DATETIME NOT NULL PRIMARY KEY",
    ],
)
def test_a_change_of_a_single_fact_is_followed(changed: str) -> None:
    found = define("CREATE TABLE a (x DATETIME NOT NULL)", f"ALTER TABLE a MODIFY x {changed}").of("t", "a")
    assert found is not None
    assert asdict(found.columns[0]) == asdict(column(f"x {changed}")) != asdict(column("x DATETIME NOT NULL"))


@pytest.mark.parametrize(
    ("key", "columns"),
    [
        ("PRIMARY KEY (x, y)", [True, True, False]),
        ("PRIMARY KEY (x ASC, y(10) DESC)", [True, True, False]),
        ("CONSTRAINT k PRIMARY KEY k USING HASH (`y`) COMMENT 'x'", [False, True, False]),
        ("PRIMARY KEY (x, p WITHOUT OVERLAPS)", [None, None, None]),
        ("PRIMARY KEY (x, (y + 1))", [None, None, None]),
        ("PRIMARY KEY (x, lower(y))", [None, None, None]),
        ("PRIMARY KEY (x, missing)", [None, None, None]),
        ("UNIQUE (x, p WITHOUT OVERLAPS)", [False, False, False]),
    ],
)
def test_a_primary_key_is_whole_or_unknown(key: str, columns: list[bool | None]) -> None:
    found = table(f"CREATE TABLE a (x INT, y CHAR(20), z INT, {key})")
    assert [column.is_primary_key for column in found.columns] == columns
    assert found.primary_key == tuple(number for number, is_key in enumerate(columns) if is_key)


@pytest.mark.parametrize(
    ("statement", "charset", "collation"),
    [
        ("CREATE TABLE a (x TEXT)", None, None),
        ("CREATE TABLE a (x TEXT) CHARSET=utf8", "utf8mb3", None),
        ("CREATE TABLE a (x TEXT) DEFAULT CHARACTER SET = latin1 COLLATE latin1_bin", "latin1", "latin1_bin"),
        ("CREATE TABLE a (x TEXT COLLATE greek_bin) CHARSET=utf8", "greek", "greek_bin"),
        ("CREATE TABLE a (x TEXT ASCII) CHARSET=utf8", "latin1", None),
        ("CREATE TABLE a (x NCHAR(3)) CHARSET=latin1", "utf8mb3", None),
        ("CREATE TABLE a (x INT) CHARSET=latin1", None, None),
        ("CREATE TABLE a (x BLOB) CHARSET=latin1", None, None),
        ("CREATE TABLE a (x TEXT) CHARSET=utf8mb4 COLLATE=uca1400_ai_ci", "utf8mb4", "uca1400_ai_ci"),
    ],
)
def test_charsets(statement: str, charset: str | None, collation: str | None) -> None:
    found = table(statement).columns[0]
    assert (found.charset, found.collation) == (charset, collation)


def test_the_charset_of_the_database_is_the_tables_default() -> None:
    definitions = define(
        "CREATE DATABASE t CHARACTER SET greek",
        "CREATE TABLE a (x TEXT)",
        "ALTER DATABASE COLLATE hebrew_bin",
        "CREATE TABLE b (x TEXT)",
    )
    charsets = [one.columns[0].charset for one in definitions]
    assert charsets == ["greek", "hebrew"]


def test_quotes_follow_the_sql_mode() -> None:
    statement = """CREATE TABLE a ("x ""y" INT, z CHAR(9) DEFAULT 'a\\', w INT)"""
    assert names(define(statement, sql_mode=0x100004)) == 'x "y z w'
    assert names(define("""CREATE TABLE a (x CHAR(9) DEFAULT "a\\", y INT", z INT)""")) == "x z"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["CREATE TABLE b (x INT)", "CREATE TABLE a LIKE b"], "x"),
        (["CREATE TABLE b (x INT)", "CREATE TABLE a (LIKE t.b)"], "x"),
        (["CREATE TABLE a (x INT)", "CREATE TABLE a LIKE unknown"], None),
        (["CREATE TABLE a (x INT)", "CREATE TABLE IF NOT EXISTS a (y INT)"], "x"),
        (["CREATE TABLE a (x INT)", "CREATE TEMPORARY TABLE a (y INT)"], "x"),
        (["CREATE TABLE a (x INT)", "DROP TABLE IF EXISTS `b`,`a` /* generated by server */"], None),
        (["CREATE TABLE a (x INT)", "DROP TABLE a", "CREATE TABLE a (y INT)"], "y"),
        (["CREATE TABLE a (x INT)", "DROP TEMPORARY TABLE a"], "x"),
        (["CREATE TABLE a (x INT)", "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS a"], "x"),
        (["CREATE TABLE a (x INT)", "DROP DATABASE t"], None),
        (["CREATE TABLE a (x INT)", "CREATE DATABASE IF NOT EXISTS t"], "x"),
        (["CREATE TABLE a (x INT)", "CREATE OR REPLACE DATABASE t"], None),
        (["CREATE TABLE a (x INT)", "TRUNCATE TABLE a", "CREATE VIEW v AS SELECT * FROM a"], "x"),
        (["CREATE TABLE b (x INT)", "RENAME TABLE b TO a"], "x"),
        (["CREATE TABLE a (x INT)", "RENAME TABLE a TO b"], None),
        (["CREATE TABLE a (x INT)", "RENAME TABLE unknown TO a"], None),
        (["CREATE TABLE a (x INT)", "CREATE TABLE b (y INT)", "RENAME TABLE a TO c, b TO a, c TO b"], "y"),
        (["CREATE TABLE s.b (x INT)", "RENAME TABLE s.b WAIT 5 TO t.a"], "x"),
        (["CREATE TABLE s.a (x INT)", "RENAME DATABASE s TO t"], "x"),
    ],
)
def test_tables_come_and_go(statements: list[str], expected: str | None) -> None:
    assert names(define(*statements)) == expected


def test_a_database_is_dropped_with_its_own_tables_in_a_copy_and_after_saving_alone() -> None:
    definitions = define("CREATE TABLE a (x INT)", "CREATE TABLE s.b (y INT)", "CREATE TABLE c (x oops(")
    for other in (definitions.copy(), restore(save(definitions))):
        assert isinstance(other.match("t", "c"), DefinitionMismatch)
        other.observe("s", "DROP DATABASE t", Session())
        assert [names(other), names(other, "b", "s"), other.match("t", "c")] == [None, "y", None]
    assert [names(definitions), names(definitions, "b", "s")] == ["x", "y"]


@pytest.mark.parametrize(
    ("elements", "types", "expected"),
    [
        ("x INT, y INT", [INT, INT], "x y"),
        ("x INT, y INT", [INT, INT, BIGINT], "x y __#alibaba_rds_row_id#__"),
        ("x INT, y INT", [INT, BIGINT, BIGINT], None),
        ("x INT, y INT", [INT, INT, INT], None),
        ("x INT, y INT", [INT, INT, BIGINT, BIGINT], None),
        ("x INT, y INT, PRIMARY KEY (x)", [INT, INT, BIGINT], None),
        ("x INT, y INT, PRIMARY KEY (x, p WITHOUT OVERLAPS)", [INT, INT, BIGINT], None),
    ],
)
def test_only_a_table_without_a_primary_key_has_a_hidden_one(
    elements: str, types: list[int], expected: str | None
) -> None:
    found = define(f"CREATE TABLE s.t ({elements})").of("s", "t", table_map(types))
    assert (found and " ".join(column.name for column in found.columns)) == expected


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("SELECT * FROM b", "x y"),
        ("AS (SELECT b.* FROM b)", "x y"),
        ("IGNORE SELECT y AS k, x, 1 + 1 AS `two` FROM b LEFT JOIN c ON true", "k x two"),
        ("(k INT PRIMARY KEY, x BIGINT) SELECT x, y FROM b", "k x y"),
        ("ENGINE=InnoDB SELECT q.x FROM b AS q UNION SELECT 1", "x"),
        ("SELECT 1 + 1", None),
        ("SELECT * FROM unknown", None),
        ("SELECT * FROM b JOIN c", None),
        ("SELECT count(*) FROM b", None),
    ],
)
def test_create_from_a_query(select: str, expected: str | None) -> None:
    assert names(define("CREATE TABLE b (x INT, y INT)", f"CREATE TABLE a {select}")) == expected


def test_what_is_not_understood_is_not_known() -> None:
    for statement in (
        "ALTER TABLE a FROBNICATE x",
        "ALTER TABLE a ADD COLUMN y 'text'",
        "ALTER TABLE a ADD (y",
    ):
        definitions = define("CREATE TABLE a (x INT)", "CREATE TABLE b (x INT)", statement)
        assert names(definitions) is None, statement
        assert names(definitions, "b") == "x"
        assert any("a" in note for note in definitions.notes)
        definitions.observe("t", "CREATE TABLE a (z INT)")
        assert names(definitions) == "z"


@pytest.mark.parametrize(
    "statement",
    ["BEGIN", "INSERT INTO a VALUES (1)", "CREATE USER u", "DROP VIEW a", "ALTER USER u", "COMMIT"],
)
def test_other_statements_change_nothing(statement: str) -> None:
    definitions = define("CREATE TABLE a (x INT)")
    assert not definitions.observe("t", statement)
    assert names(definitions) == "x"
