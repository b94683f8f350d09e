"""Binary JSON as SQL: text if that is exact, else an expression."""

from __future__ import annotations

import pytest

from binlog_kaitai.core.grammar import parse_document as read_document
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.json_sql import document_sql
from tests.values.test_json_text import INT16, SMALL_ARRAY, STRING, opaque, small_array

OPAQUE = 0x0F
DECIMAL = opaque(246, bytes.fromhex("0502 807b32"))


def sql(data: bytes) -> str:
    return document_sql(read_document(data))


def test_text_distinguishes_numbers_and_strings() -> None:
    assert sql(b"\x02" + small_array((INT16, 1), (STRING, 10), after=b"\x01x")) == """'[1, "x"]'"""


def test_a_decimal_is_cast() -> None:
    assert sql(DECIMAL) == "CAST(CAST('123.50' AS DECIMAL(5,2)) AS JSON)"


def test_a_decimal_has_no_more_digits_than_a_server_takes() -> None:
    room = opaque(246, bytes.fromhex("4800" + "80" + "00" * 30 + "7b"))
    assert sql(room) == "CAST(CAST('123' AS DECIMAL(65,0)) AS JSON)"


def test_what_text_cannot_express_is_set_at_its_path() -> None:
    inner = small_array((OPAQUE, 7), after=DECIMAL[1:])
    found = sql(b"\x02" + small_array((INT16, 5), (SMALL_ARRAY, 10), after=inner))
    assert found == "JSON_SET(CAST('[5, [123.50]]' AS JSON), '$[1][0]', CAST('123.50' AS DECIMAL(5,2)))"


def test_a_document_that_is_none_is_an_error() -> None:
    with pytest.raises(GrammarError):
        sql(b"\x02" + small_array((SMALL_ARRAY, 0)))
