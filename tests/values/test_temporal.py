"""Dates and times of all formats: given these bytes, this value and this text."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.temporal import ZeroDate
from tests.values.cells import Cell, ColumnType, Defined


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("kind", "metadata", "data", "value"),
    [
        (ColumnType.date, "", "3fcc0f", date(2022, 1, 31)),
        (ColumnType.date, "", "000000", ZeroDate("0000-00-00")),
        (ColumnType.date, "", "00cc0f", ZeroDate("2022-00-00")),
        (ColumnType.year, "", "7a", 2022),
        (ColumnType.time, "", "40e201", timedelta(hours=12, minutes=34, seconds=56)),
        (ColumnType.time, "", "ffffff", timedelta(seconds=-1)),
        (ColumnType.datetime, "", (20220102030456).to_bytes(8, "little"), datetime(2022, 1, 2, 3, 4, 56)),
        (ColumnType.timestamp, "", "01000000", utc(1970, 1, 1, 0, 0, 1)),
        (ColumnType.timestamp, "", "00000000", ZeroDate("0000-00-00 00:00:00")),
        (ColumnType.time2, "00", "800001", timedelta(seconds=1)),
        (ColumnType.time2, "02", "7fffffff", timedelta(microseconds=-10_000)),
        (ColumnType.time2, "02", "7ffffff6", timedelta(microseconds=-100_000)),
        (ColumnType.time2, "06", "7fffffffffff", timedelta(microseconds=-1)),
        (ColumnType.time2, "03", "7ffffeffff", timedelta(seconds=-1, microseconds=-100)),
        (ColumnType.datetime2, "01", "800000000000", ZeroDate("0000-00-00 00:00:00.0")),
        (ColumnType.timestamp2, "04", "000000010009", utc(1970, 1, 1, 0, 0, 1, 900)),
        (ColumnType.timestamp2, "00", "ffffffff", utc(2106, 2, 7, 6, 28, 15)),
    ],
)
def test_values(kind: int, metadata: str, data: str | bytes, value: object) -> None:
    assert Cell(kind, metadata).value(data) == value


@pytest.mark.parametrize(
    ("kind", "metadata", "data", "text"),
    [
        (ColumnType.date, "", "00cc0f", "2022-00-00"),
        (ColumnType.year, "", "00", "0000"),
        (ColumnType.time, "", "ffffff", "-00:00:01"),
        (ColumnType.time2, "02", "7ffffff6", "-00:00:00.10"),
        (ColumnType.time2, "00", "b46efb", "838:59:59"),
        (ColumnType.datetime2, "01", "800000000000", "0000-00-00 00:00:00.0"),
        (ColumnType.timestamp2, "04", "000000010009", "1970-01-01 00:00:01.0009"),
    ],
)
def test_texts(kind: int, metadata: str, data: str, text: str) -> None:
    assert Cell(kind, metadata).text(data) == text


@pytest.mark.parametrize(
    ("kind", "type_name", "data", "text"),
    [
        (ColumnType.timestamp, "timestamp(2)", "0000000132", "1970-01-01 00:00:01.50"),
        (ColumnType.timestamp, "timestamp(6)", "000000010f423f", "1970-01-01 00:00:01.999999"),
    ],
)
def test_mariadbs_old_formats_with_fractions(kind: int, type_name: str, data: str, text: str) -> None:
    cell = Cell(kind, defined=Defined(type_name))
    assert cell.text(data) == text


def test_old_times_with_fractions_count_from_the_longest_one() -> None:
    longest = ((838 * 60 + 59) * 60 + 59) * 1000 + 999
    cell = Cell(ColumnType.time, defined=Defined("time(3)"))
    assert cell.text((longest + 1).to_bytes(5, "big")) == "00:00:00.000"
    assert cell.text((longest + 1 - 1500).to_bytes(5, "big")) == "-00:00:01.500"
    assert cell.text((2 * longest + 1).to_bytes(5, "big")) == "838:59:59.999"
    assert cell.text(b"\0\0\0\0\1") == "-838:59:59.999"


@pytest.mark.parametrize(
    ("kind", "metadata", "data"),
    [
        (ColumnType.time, "", "3f420f"),
        (ColumnType.time2, "00", "800fff"),
        (ColumnType.time2, "02", "80000164"),
        (ColumnType.timestamp2, "06", "00000001ffffff"),
    ],
)
def test_what_is_no_time(kind: int, metadata: str, data: str) -> None:
    with pytest.raises(GrammarError):
        Cell(kind, metadata).value(data)
