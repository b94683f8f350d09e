"""Numbers: conversion from the grammar's objects, and formatting as servers print them."""

from __future__ import annotations

import math
import struct
from decimal import Decimal

from binlog_kaitai.core.adapter import decimal_text
from binlog_kaitai.core.grammar import NumericValues

#: Digits that a server prints for a FLOAT (FLT_DIG), and up to which it avoids an exponent (DBL_DIG).
_FLOAT_DIGITS = 6
_PLAIN_DIGITS = 15


def integer(number: int, size: int, is_unsigned: bool | None) -> int:
    """An integer of `size` bytes, converted to unsigned if the grammar read it as signed."""
    return number % (1 << 8 * size) if is_unsigned else number


def decimal(cell: NumericValues.Decimal, *_: object) -> Decimal:
    """A DECIMAL with all the digits of its scale."""
    return Decimal(decimal_text(cell.digits, cell.precision, cell.scale))


def double_text(value: float, *_: object) -> str:
    """A DOUBLE as servers print it (strings/dtoa.cc, `my_gcvt`)."""
    return _general(repr(value)) if math.isfinite(value) else str(value)


def float_text(value: float, *_: object) -> str:
    """A FLOAT as servers print it: six digits."""
    return _general(f"{value:.{_FLOAT_DIGITS - 1}e}") if math.isfinite(value) else str(value)


def shortest_float(value: float) -> float:
    """The shortest decimal number that reads back as the same FLOAT."""
    if not math.isfinite(value):
        return value
    for digits in range(_FLOAT_DIGITS, 9):
        shorter = float(f"{value:.{digits}g}")
        try:
            if struct.pack("<f", shorter) == struct.pack("<f", value):
                return shorter
        except OverflowError:
            continue
    return value


def _general(text: str) -> str:
    """Format digits in the notation that `my_gcvt` would choose."""
    sign, digits, exponent = Decimal(text).as_tuple()
    figures = "".join(map(str, digits)).rstrip("0")
    # Position of the decimal point, counted from the first digit.
    point = len(digits) + int(exponent)
    minus = "-" if sign else ""
    if not figures:
        return minus + "0"
    if point <= -_PLAIN_DIGITS or point > max(_PLAIN_DIGITS, len(figures) - 1):
        fraction = "." + figures[1:] if len(figures) > 1 else ""
        return f"{minus}{figures[0]}{fraction}e{point - 1}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{figures}"
    if point >= len(figures):
        return minus + figures.ljust(point, "0")
    return f"{minus}{figures[:point]}.{figures[point:]}"
