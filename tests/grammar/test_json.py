"""Binary JSON: given these bytes, this document with these shapes and values."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from binlog_grammar.json_binary import JsonBinary
from binlog_grammar.json_diff import JsonDiff
from binlog_grammar.json_opaque import JsonOpaque
from binlog_grammar.wkb import Wkb
from kaitaistruct import KaitaiStructError

from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, parse, vector


def document(found: Any) -> Any:
    """The document as a Python value; a value without a JSON type is returned as its structure."""
    content: Any = found.content
    if isinstance(content, JsonBinary.Value):
        return document(content)
    if isinstance(content, JsonBinary.Container):
        values = [
            inlined(entry) if entry.is_inlined else document(entry.value) for entry in content.value_entries
        ]
        if not content.is_object:
            return values
        keys: Any = content.key_entries
        return dict(zip((entry.key for entry in keys), values, strict=True))
    if isinstance(content, JsonBinary.LiteralValue):
        return {0: None, 1: True, 2: False}[int(content.value)]
    return content.value.content if isinstance(content, JsonBinary.Opaque) else content.value


def inlined(entry: Any) -> Any:
    found = entry.inlined
    return {0: None, 1: True, 2: False}[int(found.value)] if entry.type.name == "literal" else found.value


DOCUMENTS: list[tuple[str, str, Any]] = [
    ("null", "04 00", None),
    ("true", "04 01", True),
    ("false", "04 02", False),
    ("int16", "05 ffff", -1),
    ("uint16", "06 ffff", 65535),
    ("int32", "07 000000 80", -(2**31)),
    ("uint32", "08 ffffffff", 2**32 - 1),
    ("int64", "09 0000000000000080", -(2**63)),
    ("uint64", "0a ffffffffffffffff", 2**64 - 1),
    ("double", "0b 000000000000f83f", 1.5),
    ("string", "0c 02 c3a9", "é"),
    ("empty string", "0c 00", ""),
    ("string of 200 bytes", "0c c801" + "61" * 200, "a" * 200),
    ("empty object", "00 0000 0400", {}),
    ("empty array", "02 0000 0400", []),
    ("large empty object", "01 00000000 08000000", {}),
    ("large empty array", "03 00000000 08000000", []),
    ("small array of what stands in the table", "02 0300 0d00 04 0100 05 ffff 06 ffff", [True, -1, 65535]),
    ("small array with a number after the table", "02 0100 0b00 07 0700 a0860100", [100000]),
    (
        "large array of what stands in the table",
        "03 03000000 17000000 07 ffffffff 05 feffffff 04 02000000",
        [-1, -2, False],
    ),
    ("small object", "00 0100 0f00 0b00 0100 0c 0c00 61 02 7879", {"a": "xy"}),
    ("large object", "01 01000000 16000000 13000000 0200 08 ffffffff 6162 00", {"ab": 2**32 - 1}),
    ("array in an object", "00 0100 1300 0b00 0100 02 0c00 61 0100 0700 05 0500", {"a": [5]}),
    ("object in an array in an array", "02 0100 1200 02 0700 0100 0b00 00 0700 0000 0400", [[{}]]),
]


@pytest.mark.parametrize(
    ("data", "expected"), [row[1:] for row in DOCUMENTS], ids=[row[0] for row in DOCUMENTS]
)
def test_document(data: str, expected: Any) -> None:
    found = parse(JsonBinary, bytes.fromhex(data))
    assert document(found) == expected
    assert found._io.is_eof()


REAL = (
    "000700b60035000100360001003700010038000100390001003a0001003b000200023d00024a00025900026b00028a0002"
    "940002a400616364657374646403000d0005010005020005030002000f000c0a000c0c000178027979020012000b0a0005"
    "0300000000000000f43f01001f000c070017323032302d30312d30322030333a30343a30352e36373802000a0005ffff05"
    "0500010010000c07000831303a31313a3132010012000c07000a323032302d30352d3036"
)


def test_real_document() -> None:
    """Of MySQL 9.7; the keys come in the order of their length."""
    assert document(parse(JsonBinary, bytes.fromhex(REAL))) == {
        "a": [1, 2, 3],
        "c": ["x", "yy"],
        "d": [1.25, 3],
        "e": ["2020-01-02 03:04:05.678"],
        "s": [-1, 5],
        "t": ["10:11:12"],
        "dd": ["2020-05-06"],
    }


PARTS = [
    vector("value of a newer type", JsonBinary, "0d 0102", type=13, content__content__data=b"\1\2"),
    vector("bytes after the document", JsonBinary, "04 01 ff", unknown_tail=b"\xff"),
    vector(
        "array of one literal",
        JsonBinary,
        "02 0100 0700 04 0100",
        content__content__num_elements__value=1,
        content__content__len_container__value=7,
        content__content__value_entries__0__padding=b"\0",
        content__content__contents=b"",
    ),
    vector(
        "decimal 1.25",
        JsonBinary,
        "0f f6 04 0302 8119",
        content__content__type="newdecimal",
        content__content__value__content__precision=3,
        content__content__value__content__number__digits=b"\x81\x19",
    ),
    vector(
        "datetime 2020-05-02 10:11:12.000001",
        JsonOpaque,
        struct.pack("<Q", (((2020 * 13 + 5) << 5 | 2) << 17 | 10 << 12 | 11 << 6 | 12) << 24 | 1),
        12,
        content__year=2020,
        content__month=5,
        content__day=2,
        content__hour=10,
        content__minute=11,
        content__second=12,
        content__microsecond=1,
    ),
    vector(
        "time -10:11:12",
        JsonOpaque,
        struct.pack("<q", -((10 << 12 | 11 << 6 | 12) << 24)),
        11,
        content__is_negative=True,
        content__hour=10,
        content__second=12,
        content__microsecond=0,
    ),
    vector(
        "time -00:00:00.5",
        JsonOpaque,
        struct.pack("<q", -500000),
        11,
        content__is_negative=True,
        content__magnitude=0,
        content__microsecond=500000,
    ),
    vector(
        "time 838:59:59.000001",
        JsonOpaque,
        struct.pack("<q", ((838 << 12 | 59 << 6 | 59) << 24) | 1),
        11,
        content__hour=838,
        content__minute=59,
        content__microsecond=1,
    ),
    vector("a blob", JsonOpaque, "c0ff", 252, content__data=b"\xc0\xff"),
    vector(
        "replacement, real of MySQL 9.7",
        JsonDiff,
        "00 06 242e615b315d 03 054e00",
        operation="replace",
        path="$.a[1]",
        value__content__content__value=78,
    ),
    vector(
        "insertion", JsonDiff, "01 03 242e61 02 0400", operation="insert", path="$.a", value__type="literal"
    ),
    vector("removal", JsonDiff, "02 03 242e61", operation="remove", has_value=False, value=None),
    vector(
        "point", Wkb, struct.pack("<BIdd", 1, 1, 1.5, -2), 0, type="point", content__x=1.5, content__y=-2.0
    ),
    vector("line", Wkb, struct.pack("<BIIdddd", 1, 2, 2, 0, 1, 2, 3), 0, content__points__1__y=3.0),
    vector("polygon", Wkb, struct.pack("<BIIIdd", 1, 3, 1, 1, 4, 5), 0, content__rings__0__points__0__x=4.0),
    vector(
        "collection of a point and an empty collection",
        Wkb,
        struct.pack("<BIIBIddBII", 1, 7, 2, 1, 1, 1, 2, 1, 7, 0),
        0,
        content__num_shapes=2,
        content__shapes__0__type="point",
        content__shapes__1__content__shapes=[],
    ),
]


@pytest.mark.parametrize("case", PARTS, ids=str)
def test_parts(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize(
    "case", [case for case in PARTS if case.structure in (JsonBinary, JsonOpaque)], ids=str
)
def test_nothing_is_dropped(case: Vector) -> None:
    assert_nothing_is_dropped(case)


@pytest.mark.parametrize("data", [data for _, data, _ in DOCUMENTS])
def test_cut_documents_are_an_error(data: str) -> None:
    whole = bytes.fromhex(data)
    for end in range(len(whole)):
        with pytest.raises(KaitaiStructError):
            document(parse(JsonBinary, whole[:end]))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("more members than bytes", "02 ffff ffff"),
        ("4294967295 members", "03 ffffffff ffffffff"),
        ("an array shorter than its table", "02 0100 0600 05 0500"),
        ("a value after the end", "02 0100 0700 0c ff00"),
        ("a string longer than the document", "0c ffffffff0f 61"),
    ],
)
def test_hostile_documents_are_an_error(name: str, data: str) -> None:
    with pytest.raises(KaitaiStructError):
        document(parse(JsonBinary, bytes.fromhex(data)))


def test_an_array_that_holds_itself_is_read_step_by_step() -> None:
    """Its first element is at offset 0: the array again. Only requested values are parsed."""
    content = parse(JsonBinary, bytes.fromhex("02 0100 0700 02 0000")).content.content
    for _ in range(3):
        content = content.value_entries[0].value.content
    assert content.num_elements.value == 1


def test_shapes_are_not_nested_for_ever() -> None:
    nested = struct.pack("<BII", 1, 7, 1) * 5000
    found, depth = parse(Wkb, nested, 0), 0
    while found.content.shapes is not None:
        found, depth = found.content.shapes[0], depth + 1
    assert depth == 64
