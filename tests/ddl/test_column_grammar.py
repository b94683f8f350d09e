"""Given the words of a column, this is what MySQL 9.7.4 and 5.7.22, MariaDB 11.8.9 and 10.11.19 make of them.

They agree, as far as they accept them, unless a test says otherwise; `tests/servers/test_definitions.py`
compares random columns with the servers themselves.
"""

from __future__ import annotations

import pytest

from binlog_kaitai.ddl import ColumnDefinition, Definitions, Session, TableDefinition
from binlog_kaitai.ddl.column_grammar import read_column
from binlog_kaitai.ddl.lexer import TokenCursor, UnreadableError, tokens_of

ORACLE = 0x2_1000E20E


def defined(*statements: str, sql_mode: int = 0) -> TableDefinition:
    definitions = Definitions()
    definitions.observe("s", "CREATE DATABASE s CHARACTER SET utf8mb4")
    for statement in statements:
        definitions.observe("s", statement, Session(sql_mode=sql_mode))
    table = definitions.of("s", "t")
    assert table is not None, definitions.notes
    return table


def column(words: str, sql_mode: int = 0) -> ColumnDefinition:
    return defined(f"CREATE TABLE t (c {words}, id INT)", sql_mode=sql_mode).columns[0]


@pytest.mark.parametrize(
    ("type_name", "spellings"),
    [
        ("tinyint", "TINYINT, INT1, int1 signed, TINYINT(0)"),
        ("smallint unsigned", "SMALLINT UNSIGNED, INT2 ZEROFILL, INT2 ZEROFILL UNSIGNED"),
        ("mediumint", "MEDIUMINT, INT3, MIDDLEINT"),
        ("int", "INT, INTEGER, INT4, int(0)"),
        ("bigint unsigned", "INT8 UNSIGNED, SERIAL"),
        ("tinyint(1)", "BOOL, BOOLEAN"),
        ("decimal", "DECIMAL, DEC, FIXED, NUMERIC, DECIMAL(0), DECIMAL(0,0), DECIMAL(0.2), NUMERIC(.5)"),
        ("decimal(19)", "DECIMAL(19.5), DEC(19), FIXED(19.), NUMERIC(019)"),
        ("decimal(5,2) unsigned", "DECIMAL(5,2) UNSIGNED, DEC( 5 ,2 ) ZEROFILL"),
        ("float", "FLOAT, FLOAT4, FLOAT(24), FLOAT(0), FLOAT(24.9)"),
        ("double", "DOUBLE, DOUBLE PRECISION, FLOAT8, REAL, FLOAT(25), FLOAT(53.7)"),
        ("double(7,4)", "DOUBLE(7,4), DOUBLE PRECISION(7,4), REAL(7,4)"),
        ("bit", "BIT, BIT(0)"),
        ("bit(1)", "BIT(1), BIT(1.5)"),
        ("year", "YEAR, SQL_TSI_YEAR"),
        ("year(4)", "YEAR(4), SQL_TSI_YEAR(4) UNSIGNED"),
        ("datetime", "DATETIME, DATETIME(0)"),
        ("time(3)", "TIME(3)"),
        ("char", "CHAR, CHARACTER, NCHAR, NATIONAL CHAR, NATIONAL CHARACTER"),
        ("char(0)", "CHAR(0)"),
        ("varchar(7)", "VARCHAR(7), VARCHARACTER(7), CHAR VARYING(7), CHARACTER VARYING (7), NVARCHAR(7), "
         "NCHAR VARCHAR(7), NCHAR VARCHARACTER(7), NCHAR VARYING(7), NATIONAL VARCHAR(7), "
         "NATIONAL VARCHARACTER(7), NATIONAL CHAR VARYING(7), NATIONAL CHARACTER VARYING(7)"),
        ("mediumtext", "MEDIUMTEXT, LONG, LONG VARCHAR, LONG VARCHARACTER, LONG CHAR VARYING, LONG BINARY, "
         "LONG CHARACTER VARYING, LONG CHARACTER SET latin1, LONG CHAR SET latin1, LONG CHARSET latin1, "
         "LONG ASCII"),
        ("mediumblob", "MEDIUMBLOB, LONG VARBINARY, LONG BYTE, LONG VARCHAR BYTE, LONG CHARSET binary, "
         "LONG CHARACTER SET binary, MEDIUMTEXT BYTE"),
        ("blob", "BLOB, TEXT BYTE, TEXT CHARSET binary, TEXT COMPRESSED BYTE, TEXT COLLATE binary, "
         "BLOB(256)"),
        ("tinyblob", "TINYBLOB, TINYTEXT BYTE, TINYTEXT COMPRESSED BYTE, BLOB(255), TEXT(255) BYTE"),
        ("longblob", "LONGBLOB, LONGTEXT BYTE, BLOB(16777216), CLOB BYTE"),
        ("binary", "BINARY, CHAR BYTE, CHAR CHARACTER SET binary"),
        ("binary(5)", "BINARY(5), CHAR(5) BYTE, CHARACTER(5) CHARSET binary"),
        ("varbinary(5)", "VARBINARY(5), VARCHAR(5) BYTE, CHAR VARYING(5) BYTE, VARCHAR(5) COMPRESSED BYTE"),
        # By their length in bytes, as long as no mode forbids it.
        ("tinytext", "TINYTEXT, TEXT(63), TEXT(255) ASCII"),
        ("text", "TEXT, TEXT(64), TEXT(16383), TEXT COMPRESSED=zlib, TEXT(0)"),
        ("mediumtext", "TEXT(16384), VARCHAR(16384), VARCHAR(65536) ASCII, NVARCHAR(30000), "
         "CHAR VARYING(70000)"),
        ("longtext", "TEXT(4194304), VARCHAR(4194304), LONGTEXT, CLOB"),
        ("mediumblob", "VARBINARY(65536), VARCHAR(70000) BYTE"),
        ("varchar(16383)", "VARCHAR(16383)"),
        ("varbinary(40000)", "VARCHAR(40000) BYTE"),
        # MariaDB makes a text of bytes with a collation; MySQL refuses it.
        ("text", "BLOB COLLATE utf8mb4_bin, BLOB COMPRESSED COLLATE latin1_bin, "
         "BLOB(100) COLLATE utf8mb4_bin"),
        ("tinytext", "TINYBLOB NOT NULL COLLATE utf8mb4_bin"),
        ("char(5)", "BINARY(5) COLLATE utf8mb4_bin"),
        ("varchar(5)", "VARBINARY(5) COLLATE latin1_bin, RAW(5) COLLATE latin1_bin, VARCHAR2(5)"),
        ("longtext", "JSON COLLATE latin1_bin"),
        ("point", "POINT, POINT SRID 4326, POINT REF_SYSTEM_ID=5 NOT NULL, POINT COLLATE latin1_bin"),
        ("geometrycollection", "GEOMETRYCOLLECTION, GEOMCOLLECTION"),
        ("vector(3)", "VECTOR(3), `vector`(3), mariadb_schema.VECTOR(3)"),
        ("uuid", "UUID, `uuid`, mariadb_schema . uuid"),
    ],
)  # fmt: skip
def test_types(type_name: str, spellings: str) -> None:
    found = {spelling: column(spelling).type_name for spelling in spellings.split(", ")}
    assert found == dict.fromkeys(found, type_name)


@pytest.mark.parametrize(
    ("words", "type_name"),
    [
        ("BLOB", "longblob"), ("BLOB(100)", "tinyblob"), ("BLOB COLLATE latin1_bin", "longtext"),
        ("mariadb_schema.BLOB", "longblob"), ("DATE", "datetime"), ("mariadb_schema.DATE", "date"),
        ("NUMBER UNSIGNED", "double unsigned"), ("CLOB CHARACTER SET latin1", "longtext"),
    ],
)  # fmt: skip
def test_types_of_mariadbs_oracle_mode(words: str, type_name: str) -> None:
    assert column(words, ORACLE).type_name == type_name


@pytest.mark.parametrize(
    ("words", "charset", "collation"),
    [
        ("VARCHAR(5)", "utf8mb4", None),
        ("VARCHAR(5) BINARY", "utf8mb4", "utf8mb4_bin"),
        ("LONG BINARY", "utf8mb4", "utf8mb4_bin"),
        ("ENUM('a') BINARY", "utf8mb4", "utf8mb4_bin"),
        ("VARCHAR(5) CHARACTER SET latin1 BINARY", "latin1", "latin1_bin"),
        ("VARCHAR(5) BINARY CHARSET latin1", "latin1", "latin1_bin"),
        ("TEXT ASCII", "latin1", None),
        ("TEXT BINARY ASCII", "latin1", "latin1_bin"),
        ("TEXT UNICODE BINARY", "ucs2", "ucs2_bin"),
        ("TEXT BINARY COLLATE latin1_swedish_ci", "latin1", "latin1_bin"),  # of MySQL only
        ("NCHAR(5) BINARY", "utf8mb3", "utf8mb3_bin"),
        ("NATIONAL CHAR VARYING(5)", "utf8mb3", None),
        ("NCHAR(5) COLLATE utf8mb3_bin", "utf8mb3", "utf8mb3_bin"),
        ("ENUM('a') BYTE", "binary", None),
        ("SET('a') CHARACTER SET binary", "binary", None),
        ("TEXT COMPRESSED CHARSET latin1", "latin1", None),
        ("LONG CHAR SET 'latin1'", "latin1", None),
        ("BLOB COLLATE utf8mb4_bin", "utf8mb4", "utf8mb4_bin"),
        ("VARCHAR(9) DEFAULT _latin1'x' COLLATE latin1_bin", "latin1", "latin1_bin"),
        ("VARCHAR(9) DEFAULT CHARSET('a') NOT NULL", "utf8mb4", None),
        ("TEXT BYTE", None, None),
        ("INT COLLATE utf8mb4_bin", None, None),
    ],
)
def test_character_sets(words: str, charset: str | None, collation: str | None) -> None:
    found = column(words)
    assert (found.charset, found.collation) == (charset, collation)


def test_the_binary_collation_of_an_unknown_character_set_is_unknown() -> None:
    definitions = Definitions()
    definitions.observe("s", "CREATE TABLE t (a VARCHAR(5) BINARY)")
    table = definitions.of("s", "t")
    assert table is not None
    assert (table.columns[0].charset, table.columns[0].collation) == (None, None)


@pytest.mark.parametrize(
    ("words", "is_nullable"),
    [
        ("SERIAL", False),
        ("SERIAL NULL", True),  # of MySQL only
        ("INT SERIAL DEFAULT VALUE", False),
        ("INT SERIAL DEFAULT VALUE NULL", True),
        ("INT NULL AUTO_INCREMENT UNIQUE", False),
        ("INT AUTO_INCREMENT NULL UNIQUE", True),
        ("INT AUTO_INCREMENT NULL KEY", False),
        ("INT NOT NULL NULL", True),
        ("INT NULL NOT NULL", False),
        ("INT NOT NULL ENABLE", False),
        ("INT CHECK (1) NOT ENFORCED", True),
        ("TIMESTAMP(6) AS ROW START", False),
    ],
)
def test_nulls(words: str, is_nullable: bool) -> None:
    assert column(words).is_nullable is is_nullable


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE t (a DATE, b DATE, c DATE, PERIOD FOR p (a, B))"],
        ["CREATE TABLE t (a DATE, b DATE, c DATE)", "ALTER TABLE t ADD PERIOD IF NOT EXISTS FOR p (a, b)",
         "ALTER TABLE t DROP PERIOD FOR p"],
    ],
)  # fmt: skip
def test_columns_of_a_period_are_not_null(statements: list[str]) -> None:
    assert [column.is_nullable for column in defined(*statements).columns] == [False, False, True]


@pytest.mark.parametrize(
    ("statement", "types"),
    [
        ("CREATE SEQUENCE t", "bigint"),
        ("CREATE SEQUENCE t START WITH 5", "bigint"),
        ("CREATE SEQUENCE t AS SMALLINT", "smallint"),
        ("CREATE SEQUENCE t AS INT1 UNSIGNED", "tinyint unsigned"),
        (
            "CREATE OR REPLACE SEQUENCE t START 5 AS INT8 UNSIGNED INCREMENT 2 ENGINE=InnoDB",
            "bigint unsigned",
        ),
        ("CREATE SEQUENCE t COMMENT 'AS INT' NOCACHE", "bigint"),
        (
            "CREATE SEQUENCE t AS BIGINT SIGNED; ALTER SEQUENCE IF EXISTS t AS INTEGER UNSIGNED",
            "int unsigned",
        ),
        ("CREATE SEQUENCE t AS INT; ALTER SEQUENCE t RESTART 5", "int"),
    ],
)
def test_sequences(statement: str, types: str) -> None:
    columns = defined(*statement.split("; ")).columns
    assert [column.type_name for column in columns] == [types] * 4 + [
        "bigint",
        "bigint unsigned",
        "tinyint(1) unsigned",
        "bigint",
    ]
    assert not any(column.is_nullable for column in columns)


@pytest.mark.parametrize(
    ("statements", "is_there"),
    [
        (["CREATE TABLE t (a INT)", "DROP SEQUENCE IF EXISTS t"], True),
        (["CREATE TABLE t (a INT)", "DROP SEQUENCE t"], False),
        (["CREATE SEQUENCE t", "DROP SEQUENCE IF EXISTS t"], False),
        (["CREATE SEQUENCE t", "DROP TABLE t"], False),
        (["CREATE SEQUENCE q", "CREATE TABLE t (a INT)", "DROP SEQUENCE IF EXISTS q, t, u"], True),
    ],
)
def test_drop_sequence_if_exists_spares_other_tables(statements: list[str], is_there: bool) -> None:
    definitions = Definitions()
    for statement in statements:
        definitions.observe("s", statement)
    assert (definitions.of("s", "t") is not None) is is_there


@pytest.mark.parametrize(
    ("before", "charset", "after"),
    [
        ("TINYTEXT", "utf8mb4", "text"), ("TEXT", "utf8mb4", "mediumtext"),
        ("MEDIUMTEXT", "utf8mb4", "longtext"),
        ("LONGTEXT", "utf8mb4", "longtext"), ("TEXT", "latin2", "text"), ("TEXT", "ucs2", "mediumtext"),
        ("TEXT", "binary", "blob"), ("VARCHAR(20000)", "utf8mb4", "mediumtext"),
        ("VARCHAR(255)", "utf8mb4", "varchar(255)"),
        ("VARCHAR(20000)", "utf8mb3", "varchar(20000)"), ("VARCHAR(20000)", "binary", "varbinary(20000)"),
        ("TINYTEXT CHARACTER SET utf8mb3", "utf8mb4", "text"),
        ("TINYTEXT CHARACTER SET utf8mb3", "ucs2", "tinytext"),
        ("BLOB", "utf8mb4", "blob"),
    ],
)  # fmt: skip
def test_a_conversion_makes_room_for_as_many_characters(before: str, charset: str, after: str) -> None:
    convert = f"ALTER TABLE t CONVERT TO CHARACTER SET {charset}"
    assert defined(f"CREATE TABLE t (c {before}) CHARSET latin1", convert).columns[0].type_name == after


def test_an_unknown_character_set_leaves_the_length_of_a_text_open() -> None:
    definitions = Definitions()
    definitions.observe("s", "CREATE TABLE t (a TEXT(100), b VARCHAR(30000), c BLOB(100), d TEXT)")
    definitions.observe("s", "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4")
    table = definitions.of("s", "t")
    assert table is not None
    assert [column.type_name for column in table.columns] == ["text", "mediumtext", "tinyblob", "text"]


@pytest.mark.parametrize(
    "words",
    [
        "INT FROBNICATED",
        "LONG CHAR",
        "NATIONAL INT",
        "INT 'x'",
        "INT `NOT` NULL",
        "FLOAT PRECISION",
        "5",
        "'INT'",
    ],
)
def test_what_no_server_says_is_not_read(words: str) -> None:
    with pytest.raises(UnreadableError):
        read_column(TokenCursor(list(tokens_of(f"c {words}"))), 0)


@pytest.mark.parametrize(
    ("element", "is_key"),
    [
        ("VECTOR (v)", True), ("VECTOR(v)", True), ("VECTOR vx (v)", True),
        ("VECTOR vx (v) M=8 DISTANCE=cosine", True),
        ("VECTOR `date` (`v`)", True), ("VECTOR INDEX (v)", True), ("VECTOR IF NOT EXISTS vx (v)", True),
        ("VECTOR date (v)", True), ("vector INT", False), ("vector VECTOR(3)", False),
        ("vector VARCHAR (9)", False),
        ("vector ENUM ('a')", False), ("`vector` INT", False), ("vector DATE DEFAULT (v)", False),
    ],
)  # fmt: skip
def test_vector_begins_an_index_or_a_column(element: str, is_key: bool) -> None:
    for statements in (
        [f"CREATE TABLE t (a INT, v VECTOR(1) NOT NULL, {element})"],
        ["CREATE TABLE t (a INT, v VECTOR(1) NOT NULL)", f"ALTER TABLE t ADD {element}"],
    ):
        names = [column.name for column in defined(*statements).columns]
        assert names == ["a", "v", *([] if is_key else ["vector"])]
