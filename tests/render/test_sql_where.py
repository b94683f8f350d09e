"""Conditions on values, as in `sql --where`."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.render.sql.where import ConditionValues, parse_where

COLUMNS: dict[str, ConditionValues] = {
    "id": ConditionValues(pa.array([1, 2, None, 4], pa.int32())),
    "big": ConditionValues(
        pa.array([Decimal(2**64 - 1), Decimal(0), None, Decimal(5)], pa.decimal128(20, 0))
    ),
    "price": ConditionValues(
        pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("-3.25")], pa.decimal128(9, 2))
    ),
    "rate": ConditionValues(pa.array([0.1, 0.5, None, -1.0], pa.float32())),
    "status": ConditionValues(pa.array(["new", "paid", None, "it's"])),
    "odd name": ConditionValues(pa.array(["a", "b", "c", "d"])),
    "raw": ConditionValues(pa.array([b"\x00\xff", b"ab", None, b""], pa.binary())),
    "day": ConditionValues(pa.array(["2026-11-20", "0000-00-00", None, "2027-01-01"])),
    "at": ConditionValues(
        pa.array(["2026-11-20 00:00:00.000", "2026-11-20 10:00:00.500", None, "2027-01-01 00:00:00.000"]), 3
    ),
    "length": ConditionValues(
        pa.array([timedelta(hours=1), timedelta(hours=-2), None, timedelta()], pa.duration("us"))
    ),
}


def rows(condition: str) -> list[int]:
    """The rows, from 0, for which the condition is true."""
    found = parse_where(condition).holds(COLUMNS.__getitem__)
    return [row for row, holds in enumerate(found.to_pylist()) if holds]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id = 2", [1]),
        ("id != 2", [0, 3]),
        ("id <> 2 AND id >= 1", [0, 3]),
        ("id < 1.5", [0]),
        ("id = 99999999999", []),
        ("id < 99999999999", [0, 1, 3]),
        ("id IS NULL", [2]),
        ("id is not null", [0, 1, 3]),
        ("id = NULL", []),
        ("id <=> NULL", [2]),
        ("id <=> 4", [3]),
        ("id IN (1, 4, 9)", [0, 3]),
        ("id NOT IN (1)", [1, 3]),
        ("id BETWEEN 2 AND 4", [1, 3]),
        ("NOT id BETWEEN 2 AND 4", [0]),
        ("id = '2'", [1]),
        ("big = 18446744073709551615", [0]),
        ("price = 1.5", [0]),
        ("price < 0", [3]),
        ("rate = 0.1", [0]),
        ("status = 'new'", [0]),
        ("status = 'NEW'", []),
        ("status = 'it''s' OR status = \"paid\"", [1, 3]),
        (r"status = 'it\'s'", [3]),
        ("status LIKE 'p%'", [1]),
        ("status NOT LIKE '%e%'", [1, 3]),
        ("status = 'new' OR id = 2 AND status = 'no'", [0]),
        ("(status = 'new' OR id = 2) AND status = 'paid'", [1]),
        ("NOT (status = 'new')", [1, 3]),
        ("`odd name` = 'c'", [2]),
        ("raw = 0x00FF", [0]),
        ("raw = 'ab'", [1]),
        ("day = '0000-00-00'", [1]),
        ("day >= '2026-12-01'", [3]),
        ("at = '2026-11-20'", [0]),
        ("at > '2026-11-20'", [1, 3]),
        ("at = '2026-11-20 10:00:00.5'", [1]),
        ("length < '00:30:00'", [1, 3]),
        ("length = '-02:00:00'", [1]),
    ],
)
def test_rows_that_match(condition: str, expected: list[int]) -> None:
    assert rows(condition) == expected


def test_columns_of_a_condition() -> None:
    assert parse_where("a = 1 AND (`b``c` IS NULL OR NOT d LIKE 'x')").columns == {"a", "b`c", "d"}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("", "ends where"),
        ("id", "ends where"),
        ("id = ", "ends where a value is expected"),
        ("id = 1 2", "found '2'"),
        ("id = 1 AND", "ends where"),
        ("(id = 1", "ends where"),
        ("id = status", "expected a value, found 'status'; put text in quotes"),
        ("id ; DROP", "is not valid at '; DROP'"),
        ("id IS 5", "found '5'"),
        ("id = 'open", "is not valid at"),
    ],
)
def test_what_is_no_condition(condition: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_where(condition)
    assert words in caught.value.reason


@pytest.mark.parametrize("condition", ["status = 5", "id = 'x'", "id LIKE '1'", "length = 'x'", "raw = 5"])
def test_values_that_do_not_compare(condition: str) -> None:
    with pytest.raises(UsageError):
        rows(condition)


def test_no_rows_at_all() -> None:
    nothing: dict[str, Any] = {"id": ConditionValues(pa.array([], pa.int32()))}
    assert parse_where("id = 1 OR NOT id IS NULL").holds(nothing.__getitem__).to_pylist() == []
