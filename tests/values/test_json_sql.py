"""Binary JSON as SQL: text if that is exact, else an expression."""

from __future__ import annotations

import struct

import pytest

from binlog_kaitai.core.grammar import JsonBinary, parse_structure
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.json_documents import JsonText, document_text
from binlog_kaitai.values.sql_text import document_sql, literal, text_sql
from tests.values.test_json_text import INT16, SMALL_ARRAY, STRING, opaque, small_array

OPAQUE = 0x0F
DECIMAL = opaque(246, bytes.fromhex("0502 807b32"))


def sql(data: bytes) -> str:
    return document_sql(parse_structure(JsonBinary, data))


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


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2000.0, "'2000.0'"),
        (0.1, "'0.1'"),
        (-123456789.012345, "'-123456789.012345'"),
        (1.5e22, "'1.5e22'"),
        (1e23, "CAST(1e23 AS JSON)"),
        (1e-22, "'1e-22'"),
        (1e-23, "CAST(1e-23 AS JSON)"),
        (6.663522088036566e-143, "CAST(6.663522088036566e-143 AS JSON)"),
        (0.1 + 0.2, "CAST(0.30000000000000004e0 AS JSON)"),
        (-1234567.1234567891, "CAST(-1234567.1234567892e0 AS JSON)"),
    ],
)
def test_a_double_that_json_parsers_round_is_read_by_the_sql_parser(value: float, written: str) -> None:
    assert sql(b"\x0b" + struct.pack("<d", value)) == written
    text = document_text(parse_structure(JsonBinary, b"\x0b" + struct.pack("<d", value)))
    assert text_sql(text) == written


def test_doubles_are_set_at_their_paths() -> None:
    text = JsonText('{"a": [1, 0.30000000000000004], "b\\"": 5e-324, "c": "0.30000000000000004", "d": 1.5}')
    assert text_sql(text) == (
        "JSON_SET(CAST("
        + literal(text)
        + " AS JSON), '$.\"a\"[1]', 0.30000000000000004e0, "
        + literal('$."b\\""')
        + ", 5e-324)"
    )


def test_bytes_that_are_no_text_are_not_in_the_text() -> None:
    data = opaque(253, b"\xff")[1:]
    assert sql(b"\x02" + small_array((OPAQUE, 7), after=data)) == (
        "JSON_SET(CAST('[null]' AS JSON), '$[0]', CAST(0xFF AS BINARY))"
    )


@pytest.mark.parametrize("kind", [15, 252, 253, 254])
def test_byte_strings_stay_bytes(kind: int) -> None:
    assert sql(opaque(kind, b"ab")) == "CAST(CAST(0x6162 AS BINARY) AS JSON)"
    assert sql(opaque(kind, b"")) == "CAST(CAST('' AS BINARY) AS JSON)"


def test_a_document_that_is_none_is_an_error() -> None:
    with pytest.raises(GrammarError):
        sql(b"\x02" + small_array((SMALL_ARRAY, 0)))
