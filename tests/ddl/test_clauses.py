"""Clauses of real statements: what is a column, which type it has, and what is neither."""

from __future__ import annotations

import pytest

from binlog_kaitai.ddl import Definitions, Session, TableDefinition

REAL_AS_FLOAT = 0x1
MAXDB = 0x1000F00E
#: As MySQL 5.7 and MariaDB 10.2 log it, where it has no types of its own; and MariaDB since 10.3.
OLD_ORACLE = 0x1000E20E
ORACLE = 0x2_1000E20E


def definition(*statements: str, sql_mode: int = 0) -> TableDefinition | None:
    definitions = Definitions()
    for statement in statements:
        definitions.observe("s", statement, Session(sql_mode=sql_mode))
    return definitions.of("s", "t")


def names(*statements: str) -> str | None:
    found = definition(*statements)
    return None if found is None else " ".join(column.name for column in found.columns)


@pytest.mark.parametrize(
    "end",
    [";", " ; ", "; -- obsolete", "; /* why */ # how", ";;", "; -- a; b", ";\n# 1\n# 2\n"],
)
def test_a_semicolon_ends_a_statement(end: str) -> None:
    table = f"CREATE TABLE t (a INT, b INT, c VARCHAR(5)){end}"
    assert names(table) == "a b c"
    assert names(table, f"ALTER TABLE t DROP COLUMN c{end}") == "a b"
    assert names(table, f"ALTER TABLE t RENAME TO u{end}") is None
    assert names(table, f"ALTER TABLE t RENAME TO u{end}", f"RENAME TABLE u TO t{end}") == "a b c"
    assert (
        names(table, f"CREATE TABLE u LIKE t{end}", f"DROP TABLE t{end}", f"RENAME TABLE u TO t{end}")
        == "a b c"
    )
    converted = definition(table, f"ALTER TABLE t CONVERT TO CHARACTER SET greek{end}")
    assert converted is not None
    assert converted.columns[2].charset == "greek"


def test_what_follows_a_semicolon_is_not_ignored() -> None:
    assert names("CREATE TABLE t (a INT, b INT)", "ALTER TABLE t DROP a; DROP b") is None


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("CLUSTERING KEY k (a)", "a b"),
        ("CLUSTERING INDEX (a)", "a b"),
        ("UNIQUE CLUSTERING KEY k (a)", "a b"),
        ("CLUSTERING UNIQUE KEY k (a)", "a b"),
        ("KEY k (a) CLUSTERING=YES", "a b"),
        ("clustering INT", "a b clustering"),
        ("c INT CLUSTERING KEY", "a b c"),
        ("VECTOR INDEX v (b) M=8 DISTANCE=cosine", "a b"),
        ("VECTOR KEY (b)", "a b"),
        ("vector VECTOR(3)", "a b vector"),
        ("SPATIAL INDEX (a)", "a b"),
        ("FULLTEXT KEY f (a) WITH PARSER ngram", "a b"),
        ("KEY k (a) ENGINE_ATTRIBUTE='{}' SECONDARY_ENGINE_ATTRIBUTE '{}' INVISIBLE", "a b"),
        ("INDEX k USING HASH (a) KEY_BLOCK_SIZE=8 IGNORED", "a b"),
        ("CHECK (a > b)", "a b"),
        ("CONSTRAINT CHECK (a > b) NOT ENFORCED", "a b"),
        ("PERIOD FOR p (a, b)", "a b"),
        ("period INT", "a b period"),
        ("CONSTRAINT f FOREIGN KEY i (a) REFERENCES t (b) ON DELETE SET NULL", "a b"),
        # Elements of other servers, and of future ones
        ("GLOBAL INDEX g (a) PARTITION BY HASH (a)", None),
        ("CLUSTERED INDEX g (a)", None),
        ("COLUMNAR INDEX", None),
        ("SOME ELEMENT", None),
        ("c FROBNICATED(3)", None),
    ],
)
def test_only_columns_become_columns(element: str, expected: str | None) -> None:
    table = "CREATE TABLE t (a INT, b INT"
    assert names(f"{table}, {element})") == expected
    assert names(f"{table})", f"ALTER TABLE t ADD {element}") == expected
    assert names(f"{table})", f"ALTER TABLE t ADD ({element})") == expected


def test_a_clustering_key_is_no_primary_key() -> None:
    found = definition(
        "CREATE TABLE t (a INT CLUSTERING KEY, b INT UNIQUE CLUSTERING KEY, CLUSTERING KEY (b))"
    )
    assert found is not None
    assert found.primary_key == ()


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("/*!50701 , b INT */", "a b"),
        ("/*! , b INT */", "a b"),
        ("/*M! , b INT */", "a b"),
        ("/*M!100301 , b INT */", "a b"),
        ("/*!100101 , b INT */", "a b"),
        # No server has executed them, or will.
        ("/*!99990 , b INT */", "a"),
        ("/*!99999 , b INT */", "a"),
        ("/*!999999 , b INT */", "a"),
        ("/*M!999999 , b INT */", "a"),
        # What servers make of comments that they do not execute
        ("/* 99990 , b INT */", "a"),
        ("/*M 999999 , b INT */", "a"),
        ("/*!50701 , b INT", None),
        ("/*!99990 , b INT", None),
    ],
)
def test_conditional_comments(comment: str, expected: str | None) -> None:
    assert names(f"CREATE TABLE t (a INT {comment})") == expected


@pytest.mark.parametrize(("is_mysql", "expected"), [(True, "a c d"), (False, "a b c d")])
@pytest.mark.parametrize("condition", ["M!", "M!100301"])
def test_only_mariadb_executes_its_own_conditional_comments(
    condition: str, is_mysql: bool, expected: str
) -> None:
    definitions = Definitions()
    create = f"CREATE TABLE t (a INT, /*{condition} b INT, */ c INT /*!50701 , d INT */)"
    definitions.observe("s", create, Session(is_mysql=is_mysql))
    table = definitions.of("s", "t")
    assert table is not None
    assert " ".join(column.name for column in table.columns) == expected


@pytest.mark.parametrize(
    ("attributes", "is_nullable", "is_visible"),
    [
        ("COLUMN_FORMAT DEFAULT NOT NULL", False, True),
        ("STORAGE DISK COLUMN_FORMAT FIXED", True, True),
        ("ENGINE_ATTRIBUTE='{\"a\": 1}' NOT NULL", False, True),
        ("ATTRIBUTE=DEFAULT NOT NULL", False, True),
        ("CONSTRAINT invisible CHECK (a > 0)", True, True),
        ("CONSTRAINT CHECK (a > 0) INVISIBLE", True, False),
        ("CHECK (a > 0) NOT ENFORCED", True, True),
        ("DEFAULT CASE WHEN 1 IS NOT NULL THEN CASE 1 WHEN 2 THEN 3 END ELSE 2 END", True, True),
        ("AUTO_INCREMENT UNIQUE", False, True),
        ("DEFAULT NULL NOT SECONDARY", True, True),
    ],
)
def test_attributes(attributes: str, is_nullable: bool, is_visible: bool) -> None:
    found = definition(f"CREATE TABLE t (a INT {attributes}, b INT)")
    assert found is not None
    assert [column.name for column in found.columns] == ["a", "b"]
    assert (found.columns[0].is_nullable, found.columns[0].is_visible) == (is_nullable, is_visible)


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("DROP PERIOD IF EXISTS FOR p, ADD z INT", "a b z"),
        ("ADD PERIOD IF NOT EXISTS FOR p (a, b), ADD z INT", "a b z"),
        # MariaDB takes the new name.
        ("CHANGE b bb INT DEFAULT 5, ALTER COLUMN bb DROP DEFAULT", "a bb"),
        ("ADD c INT, ALTER c SET DEFAULT 5", "a b c"),
        ("ALTER x SET DEFAULT 5", None),
    ],
)
def test_alter(clauses: str, expected: str | None) -> None:
    assert names("CREATE TABLE t (a DATE, b DATE)", f"ALTER TABLE t {clauses}") == expected


@pytest.mark.parametrize(
    ("sql_mode", "column", "type_name"),
    [
        (0, "x REAL", "double"),
        (REAL_AS_FLOAT, "x REAL", "float"),
        (REAL_AS_FLOAT, "x REAL(5,2)", "float(5,2)"),
        (REAL_AS_FLOAT, "x DOUBLE", "double"),
        (0, "x FLOAT(24)", "float"),
        (0, "x FLOAT(25)", "double"),
        (0, "x FLOAT(10,3)", "float(10,3)"),
        (0, "x TIMESTAMP", "timestamp"),
        (MAXDB, "x TIMESTAMP", "datetime"),
        (MAXDB, "x TIMESTAMP(3)", "datetime(3)"),
        (MAXDB, "x DATE", "date"),
        (OLD_ORACLE, "x DATE", "date"),
        (ORACLE, "x DATE", "datetime"),
        (ORACLE, 'x DATE DEFAULT "NOW"() NOT NULL', "datetime"),
        (ORACLE, "x NUMBER", "double"),
        (ORACLE, "x NUMBER(5)", "decimal(5)"),
        (ORACLE, "x NUMBER(5,2) UNSIGNED", "decimal(5,2) unsigned"),
        (ORACLE, "x VARCHAR2(10)", "varchar(10)"),
        (ORACLE, "x RAW(10)", "varbinary(10)"),
        (ORACLE, "x CLOB", "longtext"),
        (ORACLE, "x BLOB", "longblob"),
        (ORACLE, "x BLOB(10)", "tinyblob"),
        (0, "x BLOB", "blob"),
        (ORACLE, "x TIMESTAMP", "timestamp"),
        (ORACLE, "x mariadb_schema.DATE", "date"),
        (0, "x oracle_schema.date", "datetime"),
        (0, "x maxdb_schema.timestamp", "datetime"),
        (0, "x XMLTYPE CHARACTER SET latin1", "xmltype"),
    ],
)
def test_types_by_sql_mode(sql_mode: int, column: str, type_name: str) -> None:
    created = definition(f"CREATE TABLE t ({column})", sql_mode=sql_mode)
    added = definition("CREATE TABLE t (a INT)", f"ALTER TABLE t ADD {column}", sql_mode=sql_mode)
    for found in (created, added):
        assert found is not None
        assert (found.columns[-1].name, found.columns[-1].type_name) == ("x", type_name)


def test_a_qualified_type_of_another_schema_is_not_known() -> None:
    assert names("CREATE TABLE t (a other_schema.date)") is None
