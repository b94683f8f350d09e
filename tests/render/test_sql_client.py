"""Which statements a script prints unchanged, and how it writes the others."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binlog_kaitai.render.sql.script_lines import comment, plain
from binlog_kaitai.render.sql.statement_text import arguments, can_prepare, delimited, is_safe, prepared
from binlog_kaitai.values.sql_text import SqlDialect
from tests.values.literals import LITERAL, value_of

MYSQL, MARIADB = SqlDialect(), SqlDialect(is_mariadb=True, version=(11, 8, 6))


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO t VALUES ('it''s', 'a\\\\b', \"x;y\")",
        "/* a; ' */ UPDATE t SET a = 5 -- it's\n, b = 6 # \"",
        "/*!40000 ALTER TABLE t DISABLE KEYS */",
        "CREATE TABLE t (a INT) /*!50100 PARTITION BY HASH (a) ('x') */",
        "SELECT 4 //*!*/ 2",
    ],
)
def test_statements_that_are_safe(query: str) -> None:
    assert is_safe(query.encode())


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO t VALUES ('é')",
        "INSERT INTO t VALUES ('a\0')",
        "INSERT INTO t VALUES ('a\r\n')",
        "INSERT INTO t VALUES (\\N)",
        "CREATE TABLE `a\\` (a INT)",
        'CREATE TABLE "a\\" (a INT)',
        "INSERT INTO t VALUES ('a\\')",
        "INSERT INTO t VALUES (1) /* x",
        "INSERT INTO t VALUES (1) /*!99999 ' */",
        "SELECT /*+ ' */ 1",
        "system touch x",
        "/* */\nsource x",
        "-- insert\nsystem touch x",
        "#insert\nsource x",
        "\\! touch x",
        # One statement with escapes, or without them, or where double quotes are for names: not in all cases.
        "INSERT INTO t VALUES ('it\\'s')",
        "SELECT '\\' ';\n\\! touch x\n '",
        """SELECT "\\" ';\n\\! touch x\n '""",
    ],
)
def test_statements_that_a_client_could_misread(query: str) -> None:
    assert not is_safe(query.encode())


def test_a_long_statement_is_looked_at_in_a_moment() -> None:
    assert is_safe(b"INSERT INTO t VALUES " + b"('a''b\\\\', 1)," * 100_000 + b"(1)")
    assert not is_safe(b"INSERT INTO t VALUES " + b"('a''b\\\\', 1)," * 100_000 + b"('")


@pytest.mark.parametrize("piece", [" ", "/**/", "-- ", "-- \n", "#", "#\n", "/*M!/**/"])
def test_the_time_is_not_exponential_in_what_precedes_the_first_word(piece: str) -> None:
    query = (piece * 100 + "\n1").encode()
    assert not is_safe(query)
    assert not can_prepare(query, MYSQL)


def test_a_delimiter_is_not_in_the_statement() -> None:
    assert delimited(b"SELECT '//*!*/', '//*!0*/;'").startswith(b"DELIMITER //*!1*/\nSELECT")


@pytest.mark.parametrize(
    ("query", "is_prepared"),
    [
        ("INSERT INTO t VALUES (1)", True),
        ("/* x */ create table t (a int)", True),
        ("CREATE ALGORITHM=UNDEFINED DEFINER=`r`@`h` SQL SECURITY DEFINER VIEW `v` AS SELECT 1", True),
        ("CREATE DEFINER=`r`@`h` PROCEDURE p() SELECT 1", False),
        ("ALTER DATABASE d CHARACTER SET latin1", False),
        ("CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW SET @a = 1", False),
        ("SAVEPOINT a", False),
    ],
)
def test_what_servers_prepare(query: str, is_prepared: bool) -> None:
    assert can_prepare(query.encode(), MYSQL) is is_prepared
    assert can_prepare(query.encode(), MARIADB)


@given(st.binary(min_size=1))
def test_a_prepared_statement_is_plain_and_decodes_to_itself(query: bytes) -> None:
    pieces = LITERAL.findall(arguments(query).decode())
    assert b"".join(value_of(found[0]) for found in LITERAL.finditer(arguments(query).decode())) == query
    assert pieces
    assert re.fullmatch(rb"[\n -\[\]-~]*", prepared(query))


@given(st.text())
def test_comments_are_lines_of_ascii(text: str) -> None:
    found = comment(text)
    assert re.fullmatch(rb"(?:-- [ -~]*\n)+", found)
    assert plain(text).isascii()
