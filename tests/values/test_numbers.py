"""Numbers as printed by servers, and integers that the log does not mark as unsigned."""

from __future__ import annotations

import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binlog_kaitai.values.numbers import double_text, float_text, integer, shortest_float


def as_float(value: float) -> float:
    found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return found


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.1, "0.1"),
        (-1.5e-7, "-0.00000015"),
        (1e14, "100000000000000"),
        (1e15, "1e15"),
        (1e-15, "0.000000000000001"),
        (1e-16, "1e-16"),
        (2737333367870160.5, "2737333367870160.5"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
    ],
)
def test_double(value: float, shown: str) -> None:
    assert double_text(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3.4028234663852886e38, "3.40282e38"),
        (0.1, "0.1"),
        (16777216.0, "16777200"),
        (-1.25, "-1.25"),
        (1e12, "1000000000000"),
    ],
)
def test_float(value: float, shown: str) -> None:
    assert float_text(as_float(value)) == shown


def significant_digits(value: float) -> int:
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_shortest_float_is_the_same_float(value: float) -> None:
    shortest = shortest_float(value)
    assert as_float(shortest) == value
    assert significant_digits(shortest) <= significant_digits(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_keeps_its_value(value: float) -> None:
    assert float(double_text(value)) == value


@pytest.mark.parametrize(
    ("number", "size", "is_unsigned", "found"),
    [
        (-1, 1, True, 255),
        (-1, 3, True, 16_777_215),
        (-1, 8, True, 2**64 - 1),
        (-1, 4, None, -1),
        (200, 1, True, 200),
    ],
)
def test_integers(number: int, size: int, is_unsigned: bool | None, found: int) -> None:
    assert integer(number, size, is_unsigned) == found
