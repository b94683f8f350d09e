"""Cells of a row image: given this column and these bytes, this value."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest
from binlog_grammar.image_columns import ImageColumns
from binlog_grammar.length_prefix import LengthPrefix
from binlog_grammar.packed_integer import PackedInteger
from binlog_grammar.row_image import RowImage
from binlog_grammar.table_id import TableId
from kaitaistruct import KaitaiStructError

from tests.grammar.row_bytes import field, table_map
from tests.grammar.vectors import Vector, assert_fields, parse, vector

UNSIGNED = field(1, "80")


def cell(
    name: str, type_: int, metadata: str, data: str | bytes, /, unsigned: bool = False, **fields: Any
) -> Vector:
    """A row image of one column whose value is not NULL."""
    table = table_map([type_], metadata, UNSIGNED if unsigned else b"")
    columns = parse(ImageColumns, b"\x01", 1)
    value = bytes.fromhex(data) if isinstance(data, str) else data
    paths = {f"cells__0__value__{path}": expected for path, expected in fields.items()}
    return vector(name, RowImage, b"\0" + value, table, columns, False, **paths)


COMPRESSED = zlib.compress(b"a" * 300)
POINT = struct.pack("<IBIdd", 4326, 1, 1, 1.5, -2.0)

CELLS = [
    cell("TINYINT", 1, "", "80", value=-128),
    cell("TINYINT UNSIGNED", 1, "", "80", unsigned=True, value=128),
    cell("SMALLINT", 2, "", "0080", value=-32768),
    cell("SMALLINT UNSIGNED", 2, "", "ffff", unsigned=True, value=65535),
    cell("MEDIUMINT, largest", 9, "", "ffff7f", value=8388607),
    cell("MEDIUMINT, negative", 9, "", "ffffff", value=-1),
    cell("MEDIUMINT UNSIGNED", 9, "", "ffffff", unsigned=True, value=16777215),
    cell("INT", 3, "", "00000080", value=-(2**31)),
    cell("INT UNSIGNED", 3, "", "ffffffff", unsigned=True, value=2**32 - 1),
    cell("BIGINT", 8, "", "0000000000000080", value=-(2**63)),
    cell("BIGINT UNSIGNED", 8, "", "ffffffffffffffff", unsigned=True, value=2**64 - 1),
    cell("FLOAT", 4, "04", "0000c03f", value=1.5),
    cell("DOUBLE", 5, "08", "000000000000f83f", value=1.5),
    cell("DECIMAL(14,4), 1234567890.1234", 246, "0e04", "810dfb38d204d2", is_negative=False, len_integer=5),
    cell("DECIMAL(14,4), negative", 246, "0e04", "7ef204c72dfb2d", is_negative=True, len_fraction=2),
    cell("DECIMAL(9,9)", 246, "0909", "bb9ac9ff", digits=bytes.fromhex("bb9ac9ff"), len_integer=0),
    cell("DECIMAL(65,30)", 246, "411e", bytes(30), len_integer=16, len_fraction=14),
    cell("BIT(9)", 16, "0101", "0155", bits=b"\x01\x55"),
    cell("ENUM of few", 254, "f701", "03", value=3),
    cell("ENUM of many", 254, "f702", "2c01", value=300),
    cell("SET of 8", 254, "f801", "81", value=0x81),
    cell("SET of 16", 254, "f802", "0180", value=0x8001),
    cell("SET of 24", 254, "f803", "010080", value=0x800001),
    cell("SET of 32", 254, "f804", "01000080", value=0x80000001),
    cell("SET of 64", 254, "f808", "0100000000000080", value=0x8000000000000001),
    cell("YEAR", 13, "", "64", value=2000),
    cell("YEAR 0000", 13, "", "00", value=0),
    cell("DATE 9999-12-31", 10, "", "9f1f4e", year=9999, month=12, day=31),
    cell("DATE 0000-00-00", 10, "", "000000", year=0, month=0, day=0),
    cell("DATE as 14", 14, "", "a2c80f", year=2020, month=5, day=2),
    cell("old TIME 838:59:59", 11, "", "a7f57f", is_negative=False, hour=838, minute=59, second=59),
    cell("old TIME -838:59:59", 11, "", "590a80", is_negative=True, hour=838, minute=59, second=59),
    cell(
        "old DATETIME 9999-12-31 23:59:59",
        12,
        "",
        struct.pack("<Q", 99991231235959),
        year=9999,
        month=12,
        day=31,
        hour=23,
        minute=59,
        second=59,
    ),
    cell("old TIMESTAMP", 7, "", "ffffff7f", seconds=2**31 - 1),
    cell(
        "TIME(0) 10:11:12",
        19,
        "00",
        "80a2cc",
        is_negative=False,
        hour=10,
        minute=11,
        second=12,
        microsecond=0,
    ),
    cell(
        "TIME(0) -10:11:12",
        19,
        "00",
        "7f5d34",
        is_negative=True,
        hour=10,
        minute=11,
        second=12,
        microsecond=0,
    ),
    cell("TIME(2) -00:00:00.01", 19, "02", "7fffffff", is_negative=True, hour=0, second=0, microsecond=10000),
    cell("TIME(4) -00:00:01.5", 19, "04", "7ffffeec78", is_negative=True, second=1, microsecond=500000),
    cell("TIME(6) -838:59:59", 19, "06", "4b9105000000", is_negative=True, hour=838, minute=59, second=59),
    cell("TIME(6) 00:00:00.000001", 19, "06", "800000000001", is_negative=False, microsecond=1),
    cell(
        "DATETIME(0) 1000-01-01 00:00:00",
        18,
        "00",
        "8cb2420000",
        is_positive=True,
        year=1000,
        month=1,
        day=1,
        hour=0,
        minute=0,
        second=0,
        microsecond=0,
    ),
    cell(
        "DATETIME(5) 9999-12-31 23:59:59.99999",
        18,
        "05",
        "fef3ff7efb0f4236",
        year=9999,
        month=12,
        day=31,
        hour=23,
        minute=59,
        second=59,
        microsecond=999990,
    ),
    cell("TIMESTAMP(0)", 17, "00", "7fffffff", seconds=2**31 - 1, microsecond=0),
    cell("TIMESTAMP(1)", 17, "01", "0000000150", seconds=1, microsecond=800000),
    cell("TIMESTAMP(3)", 17, "03", "0000000104ce", seconds=1, microsecond=123000),
    cell("VARCHAR, length of 1 byte", 15, "ff00", "02 6162", len_data__value=2, data=b"ab"),
    cell("VARCHAR, length of 2 bytes", 15, "0001", "0200 6162", len_data__value=2, data=b"ab"),
    cell("CHAR", 254, "fe0a", "02 6162", data=b"ab"),
    cell("CHAR of up to 1020 bytes", 254, "cefc", "0200 6162", data=b"ab"),
    cell("TINYBLOB", 252, "01", "01 61", data=b"a"),
    cell("BLOB", 252, "02", "0100 61", data=b"a"),
    cell("MEDIUMBLOB", 252, "03", "010000 61", data=b"a"),
    cell("LONGBLOB", 252, "04", "01000000 61", data=b"a"),
    cell("a type that only documents name", 249, "01", "01 61", data=b"a"),
    cell(
        "VARCHAR COMPRESSED, short value",
        141,
        "f501",
        "0300 00 6162",
        content__method=0,
        content__is_compressed=False,
        content__data=b"ab",
        content__inflated=None,
    ),
    cell("VARCHAR COMPRESSED, empty", 141, "f501", "0000", content__method=None, content__data=b""),
    cell(
        "BLOB COMPRESSED, zlib's stream",
        140,
        "02",
        struct.pack("<H", len(COMPRESSED) + 3) + b"\x82\x01\x2c" + COMPRESSED,
        content__len_original=[1, 0x2C],
        content__inflated=b"a" * 300,
        content__has_bare_stream=False,
    ),
    cell(
        "BLOB COMPRESSED, bare stream",
        140,
        "02",
        "0600 8a0384 4b0400",
        content__len_original=[3, 0x84],
        content__has_bare_stream=True,
        content__inflated=None,
    ),
    cell(
        "GEOMETRY",
        255,
        "04",
        struct.pack("<I", len(POINT)) + POINT,
        content__srid=4326,
        content__shape__type="point",
        content__shape__content__y=-2.0,
    ),
    cell("GEOMETRY of no bytes", 255, "04", "00000000", content__srid=None, content__shape=None),
    cell("VECTOR", 242, "04", "08000000 0000c03f 000000c0", content__elements=[1.5, -2.0]),
    cell("JSON", 245, "04", "02000000 0401", document__type="literal"),
    cell("JSON of no bytes", 245, "04", "00000000", document=None),
    cell("hidden array", 20, "08", "05000000 02 0000 0400", document__type="small_array"),
    cell("NULL", 6, "", ""),
]


@pytest.mark.parametrize("case", CELLS, ids=str)
def test_cell(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", CELLS, ids=str)
def test_nothing_is_dropped(case: Vector) -> None:
    data = case.data
    for end in range(1, len(data)):
        with pytest.raises(KaitaiStructError):
            case.parse(data[:end])
    if data[1:]:
        assert_nothing_after_is_taken(case)


def assert_nothing_after_is_taken(case: Vector) -> None:
    assert case.parse(case.data + b"\x83")._io.pos() == len(case.data)


def test_columns_that_are_absent_or_null() -> None:
    """Column 1 of 9 is not in the image, column 2 is NULL, and the null bit of the last one has index 7."""
    table = table_map([1] * 9)
    columns = parse(ImageColumns, b"\xfe\x01", 9)
    image = parse(RowImage, b"\x01" + bytes(range(7)), table, columns, False)
    assert columns.num_present == 8
    assert [cell.is_present for cell in image.cells] == [False] + [True] * 8
    assert [cell.is_null for cell in image.cells] == [False, True] + [False] * 7
    assert [cell.value.value for cell in image.cells if cell.has_value] == list(range(7))


SMALL_PARTS = [
    vector("packed integer of 1 byte", PackedInteger, "fa", value=250, is_null=False),
    vector("packed integer that is NULL", PackedInteger, "fb", is_null=True),
    vector("packed integer of 3 bytes", PackedInteger, "fcfb00", value=251),
    vector("packed integer of 4 bytes", PackedInteger, "fd000001", value=65536),
    vector("packed integer of 9 bytes", PackedInteger, "fe0000000000000080", value=2**63),
    vector("length of 1 byte", LengthPrefix, "ff", 1, value=255),
    vector("length of 2 bytes", LengthPrefix, "ffff", 2, value=65535),
    vector("length of 3 bytes", LengthPrefix, "ffffff", 3, value=2**24 - 1),
    vector("length of 4 bytes", LengthPrefix, "ffffffff", 4, value=2**32 - 1),
    vector("length of a size that no server writes", LengthPrefix, "01000000", 9, value=1),
    vector("table id of 4 bytes", TableId, "ffffffff", 6, value=2**32 - 1),
    vector("table id of 6 bytes", TableId, "ffffffffffff", 8, value=2**48 - 1),
]


@pytest.mark.parametrize("case", SMALL_PARTS, ids=str)
def test_small_parts(case: Vector) -> None:
    assert_fields(case)
    for end in range(len(case.data)):
        with pytest.raises(KaitaiStructError):
            case.parse(case.data[:end])


def test_255_starts_no_packed_integer() -> None:
    with pytest.raises(KaitaiStructError):
        parse(PackedInteger, b"\xff" + bytes(8))
