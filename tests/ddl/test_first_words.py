"""Given what precedes the first word of a statement, the statement is classified by that word."""

from __future__ import annotations

import re

import pytest

from binlog_kaitai.ddl.lexer import may_change_rows, may_matter_bytes, may_truncate
from binlog_kaitai.log.transaction_roles import SAVEPOINT, first_words, is_of_temporary_table


@pytest.mark.parametrize(
    "before",
    [
        "",
        " \t\n",
        "/* a */ /**/",
        "-- a\n# b\n",
        "/*!50701 ",
        "/*M!100301 ",
        "/*M! SELECT 1 */",  # a plain comment in MySQL
        "/*M!999999\\- enable the sandbox mode */ ",
        "/*!99999 SELECT 1 */",
    ],
)
def test_a_definition_may_follow_comments(before: str) -> None:
    assert may_matter_bytes(f"{before}CREATE TABLE t (a INT)".encode())


@pytest.mark.parametrize(
    "sql", ["INSERT INTO create VALUES (1)", "/* */ SELECT 1 /* */ CREATE", "/* CREATE */"]
)
def test_a_word_inside_a_statement_or_comment_is_not_its_first(sql: str) -> None:
    assert not may_matter_bytes(sql.encode())


def test_words_after_the_line_that_no_server_executes() -> None:
    assert first_words(b"/*M!999999\\- enable the sandbox mode */ CREATE TABLE t (a INT)") == (
        b"CREATE",
        b"TABLE",
    )


@pytest.mark.parametrize(
    "piece", [" ", "/**/", "/* a */ ", "-- a\n", "#\n", "/*!/**/", "/*M!/**/", "/*M! */"]
)
def test_the_time_is_not_exponential_in_what_precedes_the_words(piece: str) -> None:
    query = (piece * 100 + "1").encode()
    assert not may_matter_bytes(query)
    assert not may_truncate(query)
    assert not may_change_rows(query)
    assert first_words(query) is None
    assert not is_of_temporary_table(b"CREATE " + query)
    assert re.match(SAVEPOINT, b"ROLLBACK " + query) is None
