"""Rows events: given these bytes after the header and this table map, these rows."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from binlog_grammar.binlog_enums import BinlogEnums
from binlog_grammar.compressed_rows_event import CompressedRowsEvent
from binlog_grammar.pre_ga_rows_event import PreGaRowsEvent
from binlog_grammar.rows_event import RowsEvent
from kaitaistruct import KaitaiStructError

from tests.grammar.row_bytes import field, table_map
from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, parse, unread, vector

TYPES = BinlogEnums.EventType

#: id INT, name VARCHAR(10)
TABLE = table_map([3, 15], "0a00")
#: id INT, j JSON, u INT UNSIGNED, x INT UNSIGNED, j2 JSON
JSON_TABLE = table_map([3, 245, 3, 3, 245], "0404", field(1, "60"))

HEAD_V1 = "070000000000 0100"
HEAD_V2 = HEAD_V1 + "0200"
ONE = "00 01000000 03 6f6e65"
TWO = "02 02000000"


def rows_event(kind: TYPES, fixed_length: int, table: Any = TABLE) -> tuple[Any, ...]:
    return (kind, fixed_length, table, table is not None)


def values(event: Any) -> list[tuple[list[Any], list[Any]]]:
    """Before and after of each row: a column's value, NULL as None, `...` where the column is not there."""
    return [(image(getattr(row, "before", None)), image(getattr(row, "after", None))) for row in event.rows]


def image(found: Any) -> list[Any]:
    return [] if found is None else [cell(one) for one in found.cells]


def cell(one: Any) -> Any:
    if not one.is_present:
        return ...
    if one.is_null:
        return None
    if one.is_partial:
        return [(diff.operation.name, diff.path) for diff in one.diffs.content.diffs]
    return getattr(one.value, "value", getattr(one.value, "data", None))


EVENTS = [
    vector(
        "insert, version 1",
        RowsEvent,
        HEAD_V1 + "02 03" + ONE + TWO,
        *rows_event(TYPES.write_rows_event_v1, 8),
        table_id__value=7,
        flags=1,
        extra_data=None,
        num_columns__value=2,
        columns__bitmap=b"\x03",
        columns__num_present=2,
        is_write=True,
        is_update=False,
        is_statement_end=True,
        can_read_rows=True,
    ),
    vector(
        "insert, version 2, a table id of 4 bytes never occurs with it",
        RowsEvent,
        HEAD_V2 + "02 03" + ONE,
        *rows_event(TYPES.write_rows_event, 10),
        len_extra_data=2,
        extra_data__chunks=[],
        is_write=True,
    ),
    vector(
        "insert with a table id of 4 bytes",
        RowsEvent,
        "07000000 0100 02 03" + ONE,
        *rows_event(TYPES.write_rows_event_v1, 6),
        table_id__value=7,
        table_id__high=None,
    ),
    vector(
        "all flags",
        RowsEvent,
        "070000000000 9f00 02 03" + ONE,
        *rows_event(TYPES.delete_rows_event_v1, 8),
        is_statement_end=True,
        has_no_foreign_key_checks=True,
        has_relaxed_unique_checks=True,
        is_complete=True,
        is_sql_foreign_key=True,
        has_no_check_constraint_checks=True,
    ),
    vector(
        "update that moves a row to another partition, and NDB's data",
        RowsEvent,
        HEAD_V1 + "0c00" + "01 0300 0200" + "00 04 00 aabb" + "02 03 03" + ONE + TWO,
        *rows_event(TYPES.update_rows_event, 10),
        extra_data__chunks__0__type="partition",
        extra_data__chunks__0__content__partition_id=3,
        extra_data__chunks__0__content__source_partition_id=2,
        extra_data__chunks__1__type="ndb",
        extra_data__chunks__1__content__format=0,
        extra_data__chunks__1__content__data=b"\xaa\xbb",
        columns_after__bitmap=b"\x03",
        is_update=True,
        is_partial_update=False,
    ),
    vector(
        "insert into a partition, and a chunk of a newer server",
        RowsEvent,
        HEAD_V1 + "0700" + "01 0300" + "09 ff" + "02 03" + ONE,
        *rows_event(TYPES.write_rows_event, 10),
        extra_data__chunks__0__content__partition_id=3,
        extra_data__chunks__0__content__source_partition_id=None,
        extra_data__chunks__1__type=9,
        extra_data__chunks__1__content__data=b"\xff",
    ),
    vector(
        "longer fixed part",
        RowsEvent,
        HEAD_V2 + "cc 02 03" + ONE,
        *rows_event(TYPES.write_rows_event, 11),
        unknown_post_header=b"\xcc",
    ),
    vector(
        "no rows: the end of a statement whose tables are filtered",
        RowsEvent,
        "ffffff000000 0100 0200 00",
        *rows_event(TYPES.write_rows_event, 10, None),
        table_id__value=0xFFFFFF,
        images=b"",
        can_read_rows=False,
        rows=None,
    ),
    vector(
        "real of a 5.1 alpha version",
        PreGaRowsEvent,
        "00000000 0100 02 ff f900000000036f6e65f901000000036f6e65",
        TYPES.pre_ga_update_rows_event,
        6,
        None,
        is_statement_end=True,
        is_update=True,
        columns__bitmap=b"\xff",
        images=bytes.fromhex("f900000000036f6e65f901000000036f6e65"),
    ),
    vector(
        "pre-GA with a longer fixed part",
        PreGaRowsEvent,
        "070000000000 0600 cc 02 03 f90000",
        TYPES.pre_ga_write_rows_event,
        9,
        None,
        unknown_post_header=b"\xcc",
        has_no_foreign_key_checks=True,
        has_relaxed_unique_checks=True,
        is_write=True,
    ),
    vector(
        "compressed",
        CompressedRowsEvent,
        bytes.fromhex(HEAD_V1 + "02 03 81 08") + zlib.compress(bytes.fromhex(ONE)),
        *rows_event(TYPES.write_rows_compressed_event_v1, 8),
        is_write=True,
        compressed_images__len_uncompressed=8,
        can_read_rows=True,
    ),
]


@pytest.mark.parametrize("case", EVENTS, ids=str)
def test_fields(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", EVENTS, ids=str)
def test_nothing_is_dropped(case: Vector) -> None:
    assert_nothing_is_dropped(case)


ROWS = [
    (
        "insert of two rows",
        TYPES.write_rows_event,
        "02 03" + ONE + TWO,
        [([], [1, b"one"]), ([], [2, None])],
    ),
    ("delete", TYPES.delete_rows_event, "02 03" + ONE, [([1, b"one"], [])]),
    ("update", TYPES.update_rows_event, "02 03 03" + ONE + TWO, [([1, b"one"], [2, None])]),
    (
        "update, minimal images: the key before, the change after",
        TYPES.update_rows_event,
        "02 01 02 00 01000000 00 01 78",
        [([1, ...], [..., b"x"])],
    ),
    ("insert of defaults only, minimal image", TYPES.write_rows_event, "02 00", [([], [..., ...])]),
]


@pytest.mark.parametrize(
    ("kind", "body", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_rows(kind: TYPES, body: str, expected: Any) -> None:
    event = parse(RowsEvent, bytes.fromhex(HEAD_V2 + body), *rows_event(kind, 10))
    assert values(event) == expected
    assert unread(event) == []


PARTIAL = (
    "05 ff ff"
    # before: every column, j2 is NULL
    "10 01000000 02000000 0401 00286bee 02000000"
    # after: j as a change, j2 whole
    "01 01 00 01000000 0c000000 00 06 242e615b315d 03 054e00 00286bee 02000000 05000000 0000000400"
)


def test_partial_update() -> None:
    """The bytes of the change and of `j2` are MySQL 9.7's."""
    event = parse(
        RowsEvent,
        bytes.fromhex(HEAD_V2 + PARTIAL),
        *rows_event(TYPES.partial_update_rows_event, 10, JSON_TABLE),
    )
    (row,) = event.rows
    assert row.before.value_options is None
    assert (row.after.value_options.value, row.after.partial_bits) == (1, b"\x01")
    assert cell(row.after.cells[1]) == [("replace", "$.a[1]")]
    assert row.after.cells[1].diffs.content.diffs[0].value.content.content.value == 78
    assert cell(row.after.cells[2]) == 4000000000
    assert row.after.cells[4].value.document.type.name == "small_object"


def test_partial_update_without_partial_columns() -> None:
    whole = "05 ff 01" + "00 01000000 02000000 0401 00000000 00000000 02000000 0401" + "00 00 01000000"
    event = parse(
        RowsEvent,
        bytes.fromhex(HEAD_V2 + whole),
        *rows_event(TYPES.partial_update_rows_event, 10, JSON_TABLE),
    )
    assert event.rows[0].after.partial_bits is None
    assert cell(event.rows[0].after.cells[0]) == 1


@pytest.mark.parametrize("end", range(len(bytes.fromhex(PARTIAL)) + 1))
def test_cut_images_are_an_error_or_whole(end: int) -> None:
    data = bytes.fromhex(HEAD_V2) + bytes.fromhex(PARTIAL)[:end]
    try:
        event = parse(RowsEvent, data, *rows_event(TYPES.partial_update_rows_event, 10, JSON_TABLE))
        rows = event.rows or []
    except KaitaiStructError:
        return
    assert sum(len(row.before.cells) for row in rows) == (5 if end == len(bytes.fromhex(PARTIAL)) else 0)


def test_compressed_rows() -> None:
    images = zlib.compress(bytes.fromhex(ONE + TWO))
    data = bytes.fromhex(HEAD_V1 + "02 03 03 81 0d") + images
    event = parse(CompressedRowsEvent, data, *rows_event(TYPES.update_rows_compressed_event_v1, 8))
    assert values(event) == [([1, b"one"], [2, None])]


def test_real_compressed_rows() -> None:
    """MariaDB 10.11: the table has signed and unsigned columns of each size, and no signedness in the log."""
    table = table_map([3, 1, 1, 2, 2, 9, 9, 3, 3, 8, 8, 1, 3])
    data = "640000000000 0100 0d ff1f 812f 789c6378c0c8c0c0d0004650024e61b0191800749c0362"
    event = parse(
        CompressedRowsEvent, bytes.fromhex(data), *rows_event(TYPES.write_rows_compressed_event_v1, 8, table)
    )
    ((_, after),) = values(event)
    assert after == [1, -128, 0, -32768, 0, -8388608, 0, -2147483648, 0, -(2**63), 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("no table map", None),
        ("other number of columns", table_map([3])),
        ("a type of a newer server", table_map([3, 200])),
    ],
)
def test_rows_that_no_table_map_describes_stay_bytes(name: str, table: Any) -> None:
    data = bytes.fromhex(HEAD_V2 + "02 03" + ONE)
    event = parse(RowsEvent, data, *rows_event(TYPES.write_rows_event, 10, table))
    assert (event.rows, event.images) == (None, bytes.fromhex(ONE)), name


def test_no_column_and_yet_bytes_stay_bytes() -> None:
    """A hostile event: rows without length would never end."""
    event = parse(RowsEvent, bytes.fromhex(HEAD_V2 + "02 00 ff"), *rows_event(TYPES.write_rows_event, 10))
    assert (event.can_read_rows, event.rows, event.images) == (False, None, b"\xff")


def test_cells_are_read_only_when_asked_for() -> None:
    event = parse(RowsEvent, bytes.fromhex(HEAD_V2 + "02 03 00"), *rows_event(TYPES.write_rows_event, 10))
    assert event.images == b"\0"
    with pytest.raises(KaitaiStructError):
        _ = event.rows
