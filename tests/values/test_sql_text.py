"""Values as SQL literals."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from binlog_kaitai.errors import UsageError
from binlog_kaitai.values.charsets import decode
from binlog_kaitai.values.representations import sql_form
from binlog_kaitai.values.sql_text import SqlDialect, geometry_sql, identifier, literal
from tests.values.cells import Cell, ColumnType, Defined
from tests.values.literals import LITERAL, value_of

MYSQL = SqlDialect()
WITHOUT_AXES = [SqlDialect(version=(5, 6, 51)), SqlDialect(is_mariadb=True, version=(10, 11, 6))]


def sql(cell: Cell, data: str | bytes, dialect: SqlDialect = MYSQL) -> str:
    return sql_form(cell.value(data), cell.column, dialect)


@given(st.text())
@example("it's")
@example("\u4e2d\\' OR 1 -- ")
def test_text_reads_back_and_is_plain(text: str) -> None:
    found = literal(text)
    assert value_of(found) == text.encode()
    assert found.startswith(("'", "_utf8mb4 0x"))
    assert found.startswith("'") == (text.isascii() and text.isprintable() and "\\" not in text)


@given(st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_text_that_is_no_utf8_stays_bytes(text: str) -> None:
    found = literal(text)
    assert value_of(found) == text.encode("utf-8", "surrogateescape")
    assert ("_utf8mb4" in found) <= ("\ufffd" not in found.encode("utf-8", "replace").decode())


@pytest.mark.parametrize("charset", ["latin1", "cp1250", "gbk", "cp932", "utf8mb4", "ucs2", "nowhere"])
@given(data=st.binary(max_size=20))
def test_a_value_of_any_character_set_is_plain(charset: str, data: bytes) -> None:
    defined = Defined("varchar(60)", charset=charset)
    found = sql(Cell(ColumnType.varchar, "3c00", defined=defined), bytes([len(data)]) + data)
    assert LITERAL.fullmatch(found) is not None
    if value_of(found) != data:
        assert value_of(found).decode() == decode(data, charset)


def test_what_cannot_name_a_character_set_is_no_introducer() -> None:
    defined = Defined("varchar(10)", charset="x'; drop")
    assert sql(Cell(ColumnType.varchar, "0a00", defined=defined), b"\x02a\xe9") == "0x61E9"


def test_old_servers_call_utf8_so() -> None:
    defined = Defined("varchar(10)", charset="utf8")
    cell = Cell(ColumnType.varchar, "0a00", defined=defined)
    assert sql(cell, "\x02é".encode(), SqlDialect(version=(5, 1, 73))) == "_utf8 0xC3A9"


def test_names_are_in_backquotes() -> None:
    assert identifier("a`b") == "`a``b`"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_reads_back(value: float) -> None:
    literal = sql(Cell(ColumnType.double, "08"), struct.pack("<d", value))
    assert struct.pack("<d", float(literal)) == struct.pack("<d", value)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_float_reads_back(value: float) -> None:
    literal = sql(Cell(ColumnType.float, "04"), struct.pack("<f", value))
    assert struct.pack("<f", float(literal)) == struct.pack("<f", value)


def test_no_number_has_no_literal() -> None:
    with pytest.raises(UsageError, match="no literal for nan"):
        sql(Cell(ColumnType.double, "08"), struct.pack("<d", float("nan")))


def test_text_of_an_unknown_character_set_is_bytes() -> None:
    assert sql(Cell(ColumnType.varchar, "0a00"), b"\x02ab") == "0x6162"
    defined = Defined("varchar(10)", charset="latin1")
    assert sql(Cell(ColumnType.varchar, "0a00", defined=defined), b"\x02a\xe9") == "_latin1 0x61E9"


def test_bytes_that_are_none_of_their_character_set_stay_bytes() -> None:
    defined = Defined("varchar(10)", charset="utf8mb4")
    assert sql(Cell(ColumnType.varchar, "0a00", defined=defined), b"\x01\xff") == "0xFF"


def test_bytes_are_hexadecimal_and_none_are_an_empty_string() -> None:
    cell = Cell(ColumnType.blob, "01", defined=Defined("blob", charset="binary"))
    assert sql(cell, b"\x02\0'") == "0x0027"
    assert sql(cell, b"\x00") == "''"


def test_members_and_numbers_of_choices() -> None:
    members = Defined("enum('a','b')", charset="utf8mb4", members=("a", "it's"))
    assert sql(Cell(ColumnType.string, "f701", defined=members), b"\x02") == "'it''s'"
    assert sql(Cell(ColumnType.string, "f701", defined=members), b"\x00") == "0"
    assert sql(Cell(ColumnType.string, "f701"), b"\x02") == "2"
    empty = Defined("enum('a','')", charset="utf8mb4", members=("a", ""))
    assert sql(Cell(ColumnType.string, "f701", defined=empty), b"\x02") == "2"


def test_shapes_keep_their_srid_and_order_of_axes() -> None:
    point = bytes.fromhex("0101000000000000000000F03F0000000000000040")
    column = Cell(ColumnType.geometry, "04").column
    plain = f"ST_GeomFromWKB(0x{point.hex().upper()}"
    assert geometry_sql(b"\0\0\0\0" + point, column, MYSQL) == plain + ")"
    of_earth = b"\xe6\x10\0\0" + point
    assert geometry_sql(of_earth, column, MYSQL) == plain + ", 4326, 'axis-order=long-lat')"
    for dialect in WITHOUT_AXES:
        assert geometry_sql(of_earth, column, dialect) == plain + ", 4326)"


@pytest.mark.parametrize(
    ("text", "is_mariadb", "version"),
    [
        ("8.0.36-debug", False, (8, 0, 36)),
        ("5.5.5-10.11.6-MariaDB-log", True, (10, 11, 6)),
        ("10.5.29-MariaDB", True, (10, 5, 29)),
        ("9.7.4-2", False, (9, 7, 4)),
        ("", False, ()),
    ],
)
def test_dialect_of_a_version(text: str, is_mariadb: bool, version: tuple[int, ...]) -> None:
    assert SqlDialect.of(text, is_mariadb=is_mariadb) == SqlDialect(is_mariadb, version)
