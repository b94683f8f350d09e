"""Conditions on values, as in `sql --where`: their syntax, and where a log leaves their outcome open."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.errors import UsageError
from binlog_kaitai.values.comparisons import ColumnComparison, Comparison
from binlog_kaitai.values.conditions import parse_where
from binlog_kaitai.values.schema import Column


def column(name: str, kind: ColumnType, **facts: Any) -> Column:
    return Column(0, name, is_named=True, type=kind, **facts)


ID = column("id", ColumnType.long, is_unsigned=False)
UUID = "00000000-0000-0000-0000-00000000000a"
GENERAL_CI = {"collation_id": 45, "charset": "utf8mb4"}

COLUMNS: dict[str, tuple[Column, pa.Array]] = {
    "id": (ID, pa.array([1, 2, None, 4], pa.int32())),
    "sign": (replace(ID, name="sign", is_unsigned=None), pa.array([1, -1, None, 4], pa.int32())),
    "rate": (column("rate", ColumnType.float), pa.array([0.1, 0.5, None, -1.0], pa.float32())),
    "plain": (column("plain", ColumnType.float, type_name="float"), pa.array([0.1, 0.5], pa.float32())),
    "price": (
        column("price", ColumnType.newdecimal, precision=9, scale=2),
        pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("-3.25")], pa.decimal128(9, 2)),
    ),
    "status": (column("status", ColumnType.varchar, **GENERAL_CI), pa.array(["new", "paid", None, "it's"])),
    "odd name": (column("odd name", ColumnType.varchar, **GENERAL_CI), pa.array(["a", "b", "c", "d"])),
    "who": (column("who", ColumnType.varchar, **GENERAL_CI), pa.array(["José", "Bob", None, "Иван"])),
    "any": (column("any", ColumnType.varchar), pa.array(["new", "NEW", None, "old "])),
    "uuid": (column("uuid", ColumnType.string, type_name="uuid"), pa.array([UUID])),
    "length": (
        column("length", ColumnType.time2),
        pa.array([timedelta(hours=1), timedelta(hours=-2), None, timedelta()], pa.duration("us")),
    ),
}  # fmt: skip


def rows(condition: str) -> list[int]:
    """The rows, from 0, for which the condition is true; raises `UsageError` where that is unknown."""

    def evaluate(comparison: Comparison) -> pa.BooleanArray:
        its, values = COLUMNS[comparison.name]
        compared = ColumnComparison(its, comparison, f"t.{its.name}")
        holds, unknown = compared.outcome(values)
        if unknown is not None:
            raise compared.unknown_error(values.filter(unknown)[0].as_py())
        return holds

    found = parse_where(condition).holds(evaluate)
    return [row for row, holds in enumerate(found.to_pylist()) if holds]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id = 2", [1]),
        ("id <> 2 AND id >= 1", [0, 3]),
        ("id is not null", [0, 1, 3]),
        ("id = NULL", []),
        ("id <=> NULL", [2]),
        ("NOT id <=> 4", [0, 1, 2]),
        ("id NOT IN (1)", [1, 3]),
        ("NOT id BETWEEN 2 AND 4", [0]),
        ("status = 'it''s' OR status = \"paid\"", [1, 3]),
        (r"status = 'it\'s'", [3]),
        ("status = 'new' OR id = 2 AND status = 'no'", [0]),
        ("(status = 'new' OR id = 2) AND status = 'paid'", [1]),
        ("NOT (status = 'new')", [1, 3]),
        ("`odd name` = 'c'", [2]),
        (f"uuid = '{UUID}'", [0]),
        ("price = '1.5'", [0]),
        ("length < '00:30'", [1, 3]),
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
        ("id = ", "ends where a value is expected"),
        ("id = 1 2", "found '2'"),
        ("id = 1 AND", "ends where"),
        ("(id = 1", "ends where"),
        ("id = status", "expected a value, found 'status'; put text in quotes"),
        ("id = BINARY 5", "expected text in quotes"),
        ("id ; DROP", "is not valid at '; DROP'"),
        ("id IS 5", "found '5'"),
        ("id = 'open", "is not valid at"),
        ("(" * 1000 + "id = 1" + ")" * 1000, "nested more than 100 deep"),
        ("NOT " * 1000 + "id = 1", "nested more than 100 deep"),
        ("status = '\udce9'", "not valid UTF-8"),
    ],
)
def test_what_is_no_condition(condition: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_where(condition)
    assert words in caught.value.reason
    assert len(caught.value.reason) < 400


@pytest.mark.parametrize(
    "literal",
    ["4_2", "nan", "snan", "inf", "", "x", "1e1000000", "1e9999", "9" * 10_000, "0." + "9" * 10_000, "٤٢"],
)
@pytest.mark.parametrize("name", ["id", "price", "rate", "length"])
def test_what_is_no_number(name: str, literal: str) -> None:
    begin = time.process_time()
    with pytest.raises(UsageError) as caught:
        rows(f"{name} = '{literal}'")
    assert f"t.{name} (" in caught.value.reason
    assert "; use a " in caught.value.reason
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("status = 5", "use text in quotes"),
        ("id LIKE '1'", "LIKE is for text"),
        ("status LIKE 'a\\\\'", "ends with an escape"),
        ("status > 'José'", "only printable ASCII"),
        ("any < 'x'", "order of its collation"),
        ("uuid = 'x'", "as the server prints it"),
        ("id IN (1, '2')", "numbers and strings"),
    ],
)
def test_literals_without_a_meaning_for_their_column(condition: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        rows(condition)


@pytest.mark.parametrize(
    ("condition", "right", "unknown"),
    [
        ("sign = 4", [3], None),
        ("plain = 0.1", [], None),
        ("rate > 0.25", [1], None),
        ("who = 'Bob'", [1], None),
        ("who LIKE 'B%'", [1], None),
        ("who = BINARY 'José'", [0], None),
        ("any = 'old'", None, "'old '"),
        ("any = BINARY 'new'", [0], None),
        ("any = 'Bob'", [], None),
        ("sign = 4294967295", None, "-1"),
        ("sign > 1", None, "-1"),
        ("rate = 0.1", None, "0.1"),
        ("who = 'Jose'", None, "'José'"),
        ("who LIKE '%e'", None, "'José'"),
        ("who < 'jose'", None, "'José'"),
        ("any = 'new'", None, "'NEW'"),
        ("any LIKE 'new%'", None, "'NEW'"),
    ],
)
def test_what_a_log_leaves_open_is_refused_where_it_decides(
    condition: str, right: list[int] | None, unknown: str | None
) -> None:
    if unknown is None:
        assert rows(condition) == right
    else:
        with pytest.raises(UsageError, match="depends on") as caught:
            rows(condition)
        assert f"whether {unknown}" in caught.value.reason


def test_the_weights_of_characters_are_those_of_ascii_text_in_an_array_with_an_offset() -> None:
    its = COLUMNS["who"][0]
    values = pa.array(["zz", None, "Ab", "b", "a_"]).slice(1)
    comparison = parse_where("who < 'AC'")
    holds = comparison.holds(lambda one: ColumnComparison(its, one, "t.who").outcome(values)[0])
    assert holds.to_pylist() == [None, True, False, False]


@pytest.mark.parametrize("condition", ["who < 'a'", "who = 'a'", "who LIKE 'a'", "NOT who IS NULL"])
def test_no_rows_at_all(condition: str) -> None:
    its, values = COLUMNS["who"][0], pa.array([], pa.string())
    holds = parse_where(condition).holds(lambda one: ColumnComparison(its, one, "").outcome(values)[0])
    assert holds.to_pylist() == []
