"""Strings, byte strings and members: given these bytes, this value."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from binlog_kaitai.errors import GrammarError
from tests.values.cells import Cell, ColumnType, Defined, field

LATIN1, BINARY, UTF8 = field(2, "08"), field(2, "3f"), field(2, "2d")


@pytest.mark.parametrize(
    ("metadata", "optional", "data", "value"),
    [
        ("fe05", BINARY, "026162", b"ab\0\0\0"),
        ("fe05", LATIN1, "026180", "a€"),
        ("fe05", b"", "0261e9", b"a\xe9"),
        ("fe05", b"", "0361c3a9", "aé"),
    ],
)
def test_char_and_binary(metadata: str, optional: bytes, data: str, value: object) -> None:
    assert Cell(ColumnType.string, metadata, optional).value(data) == value


@pytest.mark.parametrize(
    ("type_name", "size", "data", "value"),
    [
        ("uuid", 16, "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("uuid", 16, "426614174000a45612d3e89b123e4567", "123e4567-e89b-12d3-a456-426614174000"),
        ("inet4", 4, "7f000001", "127.0.0.1"),
        ("inet4", 4, "0a", "10.0.0.0"),
        ("inet6", 16, "20010db8" + "00" * 11 + "01", "2001:db8::1"),
        ("inet6", 16, "00" * 10 + "ffff7f000001", "::ffff:127.0.0.1"),
        ("inet6", 16, "", "::"),
        ("inet6", 16, "00010000000200000000000300040005", "1:0:2::3:4:5"),
        ("inet6", 16, "00010002000000030004000500060007", "1:2::3:4:5:6:7"),
        ("inet6", 16, "00" * 12 + "00010002", "::0.1.0.2"),
    ],
)
def test_mariadbs_types_that_look_like_binary(type_name: str, size: int, data: str, value: str) -> None:
    cell = Cell(ColumnType.string, f"fe{size:02x}", BINARY, Defined(type_name))
    raw = bytes.fromhex(data)
    assert cell.value(bytes([len(raw)]) + raw) == value
    assert isinstance(Cell(ColumnType.string, f"fe{size:02x}", BINARY).value(bytes([len(raw)]) + raw), bytes)


def members(*names: str) -> bytes:
    return bytes([len(names)]) + b"".join(bytes([len(name.encode())]) + name.encode() for name in names)


@pytest.mark.parametrize(
    ("data", "value"), [("00", ""), ("01", "x"), ("02", "é")],
)  # fmt: skip
def test_enum(data: str, value: str) -> None:
    assert Cell(ColumnType.string, "f701", field(10, "2d") + field(6, members("x", "é"))).value(data) == value
    assert Cell(ColumnType.string, "f701").value(data) == int(data)


@pytest.mark.parametrize(("data", "value"), [("00", ""), ("01", "x"), ("06", "y,z"), ("07", "x,y,z")])
def test_set(data: str, value: str) -> None:
    optional = field(10, "2d") + field(5, members("x", "y", "z"))
    assert Cell(ColumnType.string, "f801", optional).value(data) == value
    assert Cell(ColumnType.string, "f801").value(data) == int(data, 16)


@pytest.mark.parametrize(("metadata", "kind", "data"), [("f701", 6, "03"), ("f801", 5, "04")])
def test_members_that_are_not_there(metadata: str, kind: int, data: str) -> None:
    with pytest.raises(GrammarError, match=r"does not exist|do not all exist"):
        Cell(ColumnType.string, metadata, field(kind, members("x", "y"))).value(data)


def compressed(method: int, size: int, data: bytes) -> bytes:
    head = bytes([method]) + size.to_bytes(method & 7, "big")
    return (len(head) + len(data)).to_bytes(2, "little") + head + data


def bare(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (compressed(0, 0, b"plain"), "plain"),
        (compressed(0x81, 200, zlib.compress(b"a" * 200)), "a" * 200),
        (compressed(0x8A, 300, bare(b"b" * 300)), "b" * 300),
        (b"\0\0", ""),
    ],
)
def test_compressed_columns(data: bytes, value: str) -> None:
    assert Cell(ColumnType.blob_compressed, "02", UTF8).value(data) == value


@pytest.mark.parametrize(
    "data",
    [
        compressed(0x81, 199, zlib.compress(b"a" * 200)),
        compressed(0x81, 201, zlib.compress(b"a" * 200)),
        compressed(0x81, 5, b"no stream"),
        compressed(0x84, 0xFFFFFFFF, zlib.compress(b"a" * 200)),
    ],
)
def test_compressed_columns_that_lie(data: bytes) -> None:
    with pytest.raises(GrammarError):
        Cell(ColumnType.blob_compressed, "02", UTF8).value(data)


@pytest.mark.parametrize(
    ("kind", "metadata", "data", "form"),
    [
        (ColumnType.varchar, "0a00", "0161", "a"),
        (ColumnType.newdecimal, "0502", "807b32", "123.50"),
        (ColumnType.newdecimal, "0502", "7f84cd", "-123.50"),
        (ColumnType.bit, "0201", "0301", 769),
        (ColumnType.geometry, "01", "05" + "00000000" + "01", {"hex": "0000000001"}),
        (ColumnType.vector, "01", "08" + "0000803f" + "cdcccc3d", [1.0, 0.1]),
        (ColumnType.float, "04", "cdcccc3d", 0.1),
        (ColumnType.double, "08", "000000000000f87f", "nan"),
        (ColumnType.json, "01", "020401", "true"),
    ],
)
def test_json_forms(kind: int, metadata: str, data: str, form: Any) -> None:
    assert Cell(kind, metadata).json(data) == form


@pytest.mark.parametrize(("metadata", "data"), [("0502", "80ffff"), ("0502", "87ff7f")])
def test_impossible_decimals(metadata: str, data: str) -> None:
    with pytest.raises(GrammarError):
        Cell(ColumnType.newdecimal, metadata).value(data)
