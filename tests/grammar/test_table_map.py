"""Table maps: given these bytes after the header, these columns."""

from __future__ import annotations

from typing import Any

import pytest
from binlog_grammar.table_map_event import TableMapEvent

from tests.grammar.row_bytes import YearBits, field, table_map, table_map_bytes
from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, parse, vector

#: MySQL 9.7: a INT, y YEAR, u INT UNSIGNED, y2 YEAR, b TINYINT UNSIGNED, f FLOAT UNSIGNED,
#: d DECIMAL(5,2) UNSIGNED, z SMALLINT, s SERIAL; `binlog_row_metadata=FULL`.
NUMBERS = (
    "6d0000000000 0100 02 7678 00 01 79 00 09 030d030d0104f60208 03 040502 ff00"
    "01 02 7e80 04 13 0161 0179 0175 027932 0162 0166 0164 017a 0173 08 01 08 0c 02 ff80"
)

EVENTS = [
    vector(
        "real of MySQL 9.7",
        TableMapEvent,
        NUMBERS,
        8,
        YearBits.present,
        table_id__value=0x6D,
        flags=1,
        is_bit_length_exact=True,
        has_referencing_keys=False,
        has_generated_invisible_primary_key=False,
        has_triggers=False,
        schema_name="vx",
        schema_name_end=0,
        table_name="y",
        table_name_end=0,
        num_columns__value=9,
        column_types__1__name="year",
        metadata__columns__5__len_pack=4,
        metadata__columns__6__precision=5,
        metadata__columns__6__scale=2,
        null_bits=b"\xff\x00",
        columns__7__is_nullable=True,
        columns__8__is_nullable=False,
        columns__3__name="y2",
        optional_metadata__2__type="simple_primary_key",
        has_known_columns=True,
        num_json_columns=0,
    ),
    vector(
        "real of a 5.1 alpha version: id of 4 bytes, no metadata",
        TableMapEvent,
        "00000000 0000 04 74657374 00 02 7431 00 02 03fe",
        6,
        YearBits.present,
        table_id__value=0,
        table_name="t1",
        num_columns__value=2,
        has_metadata=False,
        metadata=None,
        columns=None,
        has_known_columns=False,
        num_json_columns=0,
    ),
    vector(
        "largest table id, all flags",
        TableMapEvent,
        "ffffffffffff 0740 00 00 00 00 00 00",
        8,
        YearBits.present,
        table_id__value=2**48 - 1,
        is_bit_length_exact=True,
        has_referencing_keys=True,
        has_generated_invisible_primary_key=True,
        has_triggers=True,
        schema_name="",
        num_columns__value=0,
        has_known_columns=True,
    ),
    vector(
        "longer fixed part",
        TableMapEvent,
        "070000000000 0100 aabb 01 73 00 01 74 00 01 03 00 00",
        10,
        YearBits.present,
        unknown_post_header=b"\xaa\xbb",
        schema_name="s",
    ),
    vector(
        "names that are not UTF-8 lose nothing",
        TableMapEvent,
        "070000000000 0100 02 c3a9 00 01 ff 00 01 03 00 00",
        8,
        YearBits.present,
        schema_name="é",
        table_name="\udcff",
    ),
    vector(
        "a type of a newer server, with metadata",
        TableMapEvent,
        table_map_bytes([3, 200], "1234"),
        8,
        YearBits.present,
        column_types__1=200,
        metadata__unknown_tail=b"\x12\x34",
        has_known_columns=False,
    ),
]

#: Column type, bytes of its metadata, what they say.
METADATA: list[tuple[str, int, str, dict[str, Any]]] = [
    ("TINYINT", 1, "", {"len_length": 0, "len_bytes": 0, "length": 0, "real_type": "tiny"}),
    ("FLOAT", 4, "04", {"len_pack": 4}),
    ("DOUBLE", 5, "08", {"len_pack": 8}),
    ("TIMESTAMP before 5.6", 7, "", {"fractional_digits": None}),
    ("TIMESTAMP(6)", 17, "06", {"fractional_digits": 6}),
    ("DATETIME(3)", 18, "03", {"fractional_digits": 3}),
    ("TIME", 19, "00", {"fractional_digits": 0}),
    ("VARCHAR(255)", 15, "ff00", {"max_length": 255, "len_length": 1}),
    ("VARCHAR(256)", 15, "0001", {"max_length": 256, "len_length": 2}),
    ("VARCHAR COMPRESSED", 141, "f501", {"max_length": 501, "len_length": 2}),
    ("BLOB COMPRESSED", 140, "02", {"len_pack": 2, "len_length": 2}),
    ("BIT(33)", 16, "0104", {"bits": 1, "bytes": 4, "len_bytes": 5}),
    ("BIT(64)", 16, "0008", {"bits": 0, "bytes": 8, "len_bytes": 8}),
    ("DECIMAL(65,30)", 246, "411e", {"precision": 65, "scale": 30}),
    ("CHAR(10)", 254, "fe0a", {"real_type": "string", "length": 10, "len_length": 1}),
    ("CHAR of 256 bytes", 254, "ee00", {"real_type": "string", "length": 256, "len_length": 2}),
    ("CHAR of 1020 bytes", 254, "cefc", {"real_type": "string", "length": 1020, "len_length": 2}),
    ("ENUM", 254, "f702", {"real_type": "enum", "length": 2}),
    ("SET", 254, "f808", {"real_type": "set", "length": 8}),
    ("VARCHAR before 5.0.3", 253, "fd14", {"real_type": "string", "length": 20, "len_length": 1}),
    ("TINYBLOB", 252, "01", {"len_pack": 1, "len_length": 1}),
    ("LONGTEXT", 252, "04", {"len_pack": 4, "len_length": 4}),
    ("GEOMETRY", 255, "04", {"len_length": 4}),
    ("JSON", 245, "04", {"len_length": 4}),
    ("VECTOR", 242, "04", {"len_length": 4}),
    (
        "array of UNSIGNED",
        20,
        "08",
        {"element_type": "longlong", "len_length": 4, "real_type": "typed_array"},
    ),
    (
        "array of CHAR",
        20,
        "0f500000",
        {"element_type": "varchar", "max_len_element": 80, "len_length": 4},
    ),
    ("array of DECIMAL(10,2)", 20, "f60a02", {"precision": 10, "scale": 2, "len_length": 4}),
    ("array of DATETIME(3)", 20, "1203", {"element_type": "datetime2", "fractional_digits": 3}),
    ("array of DATE", 20, "0e", {"element_type": "newdate"}),
]

#: Optional metadata: number and bytes of a field, what they say.
OPTIONAL: list[tuple[str, int, str, dict[str, Any]]] = [
    ("signedness", 1, "a0", {"type": "signedness", "value.bits": b"\xa0"}),
    (
        "default character set",
        2,
        "fcff00 02 3f 05 08",
        {
            "type": "default_charset",
            "value.collation.value": 255,
            "value.exceptions.0.column.value": 2,
            "value.exceptions.0.collation.value": 63,
            "value.exceptions.1.collation.value": 8,
        },
    ),
    ("character sets", 3, "3f08", {"type": "column_charset", "value.numbers.1.value": 8}),
    (
        "names",
        4,
        "02 6964 03 e4b8ad",
        {"type": "column_name", "value.names.0.text": "id", "value.names.1.text": "中"},
    ),
    (
        "members of SET columns",
        5,
        "02 0161 00 01 0162",
        {
            "type": "set_str_value",
            "value.columns.0.num_members.value": 2,
            "value.columns.0.members.0.value": b"a",
            "value.columns.0.members.1.value": b"",
            "value.columns.1.members.0.value": b"b",
        },
    ),
    (
        "members of ENUM columns",
        6,
        "01 02ff00",
        {"type": "enum_str_value", "value.columns.0.members.0.value": b"\xff\0"},
    ),
    ("types of geometry", 7, "0003", {"type": "geometry_type", "value.numbers.1.value": 3}),
    ("primary key", 8, "0102", {"type": "simple_primary_key", "value.numbers.0.value": 1}),
    (
        "primary key with a prefix",
        9,
        "0100 030a",
        {
            "type": "primary_key_with_prefix",
            "value.parts.0.len_prefix.value": 0,
            "value.parts.1.column.value": 3,
            "value.parts.1.len_prefix.value": 10,
        },
    ),
    (
        "default character set of ENUM",
        10,
        "2d",
        {"type": "enum_and_set_default_charset", "value.exceptions": []},
    ),
    (
        "character sets of ENUM",
        11,
        "2d08",
        {"type": "enum_and_set_column_charset", "value.numbers.0.value": 45},
    ),
    ("visibility", 12, "c0", {"type": "column_visibility", "value.bits": b"\xc0"}),
    ("dimensions", 13, "fc0008", {"type": "vector_dimensionality", "value.numbers.0.value": 2048}),
    ("a field of a newer server", 14, "c0ffee", {"type": 14, "value.data": b"\xc0\xff\xee"}),
    ("an empty field", 200, "", {"type": 200, "len_value.value": 0, "value.data": b""}),
]

CASES = [
    *EVENTS,
    *(
        Vector(
            name,
            TableMapEvent,
            (8, YearBits.present),
            table_map_bytes([type_], data),
            {f"metadata.columns.0.{k}": v for k, v in says.items()},
        )
        for name, type_, data, says in METADATA
    ),
    *(
        Vector(
            name,
            TableMapEvent,
            (8, YearBits.present),
            table_map_bytes([3, 3], optional=field(number, data)),
            {f"optional_metadata.0.{k}": v for k, v in says.items()},
        )
        for name, number, data, says in OPTIONAL
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fields(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_is_dropped(case: Vector) -> None:
    assert_nothing_is_dropped(case)


def unsigned_of(event: Any) -> list[bool | None]:
    """What the table map says of each column: whether it is unsigned, None where it does not say."""
    return [column.is_unsigned if column.has_signedness else None for column in event.columns]


def test_signedness_counts_year_columns() -> None:
    event = parse(TableMapEvent, bytes.fromhex(NUMBERS), 8, YearBits.present)
    unsigned = {column.name for column in event.columns if column.is_unsigned}
    assert unsigned == {"u", "b", "f", "d", "s"}


#: Types of columns; what servers write for them with bits for YEAR columns, and without; whether the columns
#: are unsigned.
TINY, INT, BIGINT, YEAR, CHAR = 1, 3, 8, 13, 254
SIGNS: list[tuple[list[int], str, str, list[bool | None]]] = [
    ([YEAR, INT], "c0", "80", [None, True]),
    ([INT, YEAR, INT], "60", "40", [False, None, True]),
    ([YEAR, TINY, YEAR, BIGINT], "f0", "c0", [None, True, None, True]),
    ([YEAR, INT, INT], "a0", "40", [None, False, True]),
    ([*[INT] * 7, YEAR, INT], "0180", "01", [*[False] * 7, None, True]),
    ([YEAR, *[INT] * 8], "80 80", "01", [None, *[False] * 7, True]),
    ([YEAR, *[INT] * 16, YEAR], "80 00 c0", "00 01", [None, *[False] * 15, True, None]),
]


@pytest.mark.parametrize(("types", "with_years", "without_years", "unsigned"), SIGNS)
def test_the_server_decides_whether_years_have_bits(
    types: list[int], with_years: str, without_years: str, unsigned: list[bool | None]
) -> None:
    for year_bits, bits in ((YearBits.present, with_years), (YearBits.absent, without_years)):
        event = table_map(types, optional=field(1, bits), year_bits=year_bits)
        assert unsigned_of(event) == unsigned


@pytest.mark.parametrize(
    ("types", "bits", "unsigned"),
    [
        pytest.param([YEAR, *[INT] * 8], "80 80", [None, *[False] * 7, True], id="more bytes than numbers"),
        pytest.param([YEAR, *[INT] * 8], "01", [None, *[False] * 7, True], id="too few bytes for the YEARs"),
        pytest.param([INT, YEAR, INT], "60", [False, None, True], id="a bit after those of the numbers"),
        pytest.param([YEAR, INT, INT], "40", [None, False, True], id="a YEAR's bit is not set"),
        pytest.param([YEAR, INT, YEAR, INT], "80", [None, True, None, False], id="a second YEAR's is not"),
    ],
)
@pytest.mark.parametrize("year_bits", list(YearBits))
def test_bits_that_match_in_one_way_only(
    types: list[int], bits: str, unsigned: list[bool | None], year_bits: YearBits
) -> None:
    assert unsigned_of(table_map(types, optional=field(1, bits), year_bits=year_bits)) == unsigned


@pytest.mark.parametrize(
    ("types", "bits", "unsigned"),
    [
        pytest.param([INT, YEAR, INT], "c0", [True, None, None], id="one more unsigned number, or none"),
        pytest.param([YEAR, INT, INT], "80", [None, None, False], id="only the first number is in doubt"),
        pytest.param([YEAR, INT, INT, INT], "c0", [None, True, None, False], id="all but the first and last"),
        pytest.param([INT, YEAR], "80", [True, None], id="no number after the YEAR"),
        pytest.param([INT, CHAR, INT], "40", [False, None, True], id="no YEAR"),
    ],
)
def test_of_bits_that_match_both_ways_only_what_agrees_counts(
    types: list[int], bits: str, unsigned: list[bool | None]
) -> None:
    metadata = "fe01" * types.count(CHAR)
    event = table_map(types, metadata, field(1, bits), YearBits.undetermined)
    assert unsigned_of(event) == unsigned


def test_without_signedness_nothing_is_unsigned() -> None:
    column = table_map([3]).columns[0]
    assert (column.has_signedness, column.is_unsigned) == (False, False)


def test_too_short_signedness_is_no_signedness() -> None:
    event = table_map([1] * 9, optional=field(1, "ff"))
    assert [column.has_signedness for column in event.columns] == [True] * 8 + [False]


def test_fields_come_in_any_order() -> None:
    event = table_map([3, 8], optional=field(4, "01 61 01 62") + field(12, "c0") + field(1, "40"))
    assert [(column.name, column.is_unsigned) for column in event.columns] == [("a", False), ("b", True)]


def test_json_columns_are_counted() -> None:
    event = table_map([245, 3, 245], "0404")
    assert event.num_json_columns == 2
    assert [column.json_ordinal for column in event.columns] == [0, 1, 1]


def test_an_unknown_type_hides_the_columns_after_it() -> None:
    event = table_map([3, 200, 3])
    assert [column.is_known for column in event.columns] == [True, False, False]


def test_visibility_of_each_column() -> None:
    # Bits from the highest down; columns beyond them count as visible, and so do all without a list.
    reported = parse(TableMapEvent, table_map_bytes([3] * 9, optional=field(12, "a0")), 8, YearBits.present)
    assert [column.is_visible for column in reported.columns] == [True, False, True, *[False] * 5, True]
    assert [column.has_visibility for column in reported.columns] == [*[True] * 8, False]
    silent = parse(TableMapEvent, table_map_bytes([3]), 8, YearBits.present)
    assert [(column.is_visible, column.has_visibility) for column in silent.columns] == [(True, False)]
