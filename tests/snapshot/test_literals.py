"""Literals of dumps have the values that the log has."""

from __future__ import annotations

import io
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.snapshot.dump_literals import Converter, data_of
from binlog_kaitai.snapshot.dump_script import DumpScript
from tests.live.test_snapshot_values import column


@pytest.mark.parametrize(
    ("kind", "literals", "values"),
    [
        ("INT UNSIGNED ZEROFILL", [b"0000000007", b"NULL", b"'8'"], [7, None, 8]),
        ("BIGINT UNSIGNED", [b"18446744073709551615"], [Decimal(2**64 - 1)]),
        ("DECIMAL(5,2)", [b"-1.50", b"3", b"NULL"], [Decimal("-1.50"), Decimal("3.00"), None]),
        ("FLOAT", [b"-1e30", b"0.5"], [-1.0000000150474662e30, 0.5]),
        ("DOUBLE", [b"-0", b"1e300"], [-0.0, 1e300]),
        ("YEAR", [b"0000", b"2024", b"'1999'"], [0, 2024, 1999]),
        ("BIT(9)", [b"_binary '\x01\x02'", b"0x0101", b"b'100000001'"], [258, 257, 257]),
        ("DATE", [b"'2026-01-02'", b"'0999-12-31'"], [date(2026, 1, 2), date(999, 12, 31)]),
        ("DATE", [b"'2026-01-02'", b"'0000-00-00'", b"'2020-02-31'"], [date(2026, 1, 2), None, None]),
        ("TIME(3)", [b"'-838:59:58.001'"], [-timedelta(hours=838, seconds=3598.001)]),
        ("DATETIME(1)", [b"'0999-01-02 03:04:05.6'"], [datetime(999, 1, 2, 3, 4, 5, 600_000)]),
        ("TIMESTAMP", [b"'2038-01-19 03:14:07'"], [datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC)]),
        ("TIMESTAMP", [b"'0000-00-00 00:00:00'"], [None]),
        ("VARCHAR(9)", [b"'\xc3\x9f'", b"''", b"'NULL'", b"NULL"], ["ß", "", "NULL", None]),
        ("VARCHAR(9)", [rb"'\0\n\r\t\b\Z\'\"\\\%\_\x'"], ["\0\n\r\t\b\x1a'\"\\\\%\\_x"]),
        ("VARCHAR(9)", [rb"'\\n'", rb"'\\\n'", rb"'\'\\'", rb"'\\\\'"], ["\\n", "\\\n", "'\\", "\\\\"]),
        ("VARCHAR(9)", [b"'it''s'", b'"a""b"', b"'a\"\"b'", rb"'\'''"], ["it's", 'a"b', 'a""b', "''"]),
        ("VARCHAR(9) CHARACTER SET cp1251", [b"'\xd0\x96'", b"_binary '\xc6'"], ["Ж", "Ж"]),
        ("TEXT CHARACTER SET latin1", [b"0xC39F"], ["ß"]),
        ("VARCHAR(9)", [b"'\xff'", b"'a'"], ["\\xff", "a"]),
        ("BINARY(3)", [rb"_binary 'a\0\0'", b"0x610000"], [b"a\0\0", b"a\0\0"]),
        ("LONGBLOB", [b"0xFF", b"_binary ''", b"x'00ff'", b"'\xff'"], [b"\xff", b"", b"\0\xff", b"\xff"]),
        ("ENUM('a','ß','') CHARACTER SET latin1", [b"'\xc3\x9f'", b"_binary '\xdf'", b"''"], ["ß", "ß", ""]),
        ("SET('x','y','z')", [b"'x,z'", b"''", b"NULL"], ["x,z", "", None]),
        (
            "JSON",
            [rb"""'{\"a\": \"\\\\ \'\"}'""", b"CONVERT('[1]' USING UTF8MB4)"],
            [r"""{"a": "\\ '"}""", "[1]"],
        ),
        ("POINT", [b"0x000000000101"], [b"\0\0\0\0\1\1"]),
        ("VECTOR(2)", [b"0x0000803F00000040", rb"_binary '\0\0" + b"\x80?" + rb"\0\0\0@'"], [[1.0, 2.0]] * 2),
    ],
)
def test_values(kind: str, literals: list[bytes], values: list[Any]) -> None:
    converter = Converter(column(kind), "utf8mb4", "null")
    assert repr(converter.array(literals).to_pylist()) == repr(plain(values))
    one_by_one = [converter.array([one]).to_pylist()[0] for one in literals]
    assert repr(one_by_one) == repr(plain(values))
    converter._at_once = None
    assert repr(converter.array(literals).to_pylist()) == repr(plain(values))


def plain(values: list[Any]) -> list[Any]:
    """With the time zone that PyArrow uses."""
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("UTC")
    return [one.replace(tzinfo=zone) if isinstance(one, datetime) and one.tzinfo else one for one in values]


def test_types_that_only_mariadb_has() -> None:
    found = Converter(column("UUID", is_mariadb=True), "utf8mb4", "null")
    assert found.array([b"'de-ad'", b"NULL"]).to_pylist() == ["de-ad", None]
    vector = Converter(column("VECTOR(1)", is_mariadb=True), "utf8mb4", "null")
    assert vector.array([b"0x0000803F"]).to_pylist() == [[1.0]]


def test_a_dump_in_bytes_has_text_in_the_character_set_of_its_columns() -> None:
    for kind in ("VARCHAR(9) CHARACTER SET latin1", "ENUM('ß') CHARACTER SET latin1"):
        assert Converter(column(kind), "binary", "null").array([b'"\xdf"']).to_pylist() == ["ß"]


@pytest.mark.parametrize(
    ("kind", "literal"),
    [
        ("INT", b"'x'"),
        ("BIT(4)", b"5"),
        ("ENUM('a')", b"'b'"),
        ("TIME", b"'noon'"),
        ("DECIMAL(3,1)", b"1.55"),
        ("TINYINT", b"300"),
    ],
)
def test_invalid_literals(kind: str, literal: bytes) -> None:
    with pytest.raises((BinlogError, ValueError, ArithmeticError)):
        Converter(column(kind), "utf8mb4", "null").array([literal])


def test_zero_dates_as_text() -> None:
    found = Converter(column("DATE"), "utf8mb4", "text").array([b"'0000-00-00'", b"'2026-01-02'"])
    assert found.to_pylist() == ["0000-00-00", "2026-01-02"]


def test_an_uneven_number_of_hexadecimal_digits() -> None:
    assert data_of(b"0xFFF") == b"\x0f\xff"


def test_any_bytes_as_clients_escape_them() -> None:
    """As `mysql_real_escape_string` does, in either quotes; a quote may also be doubled."""
    choose = random.Random(3)
    escapes = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}
    for _ in range(300):
        data = bytes(choose.choices(b"\0\n\r\x1a\"'\\nZ0%_;,()-\xff", k=choose.randrange(12)))
        escaped = b"".join(escapes.get(byte, bytes([byte])) for byte in data)
        assert data_of(b"'" + escaped + b"'") == data_of(b'_binary "' + escaped + b'"') == data
        doubled = escaped.replace(b"\\'", b"''")
        reader = DumpScript(io.BytesIO(b"INSERT INTO t VALUES ('" + doubled + b"',1);"), "x")
        (row,) = (row for _ in reader for row in reader.rows(2))
        assert (data_of(row[0]), row[1]) == (data, b"1")
