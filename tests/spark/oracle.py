"""Spark's rows, converted to the texts reported by the server."""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from typing import Any

from binlog_kaitai.values.numbers import double_text, float_text
from tests.rows.truth import OracleColumn

_DIGITS = re.compile(r"(?:float|double)\(\d+,(\d+)\)")
_SCALE = re.compile(r"decimal\(\d+,(\d+)\)")
_WIDTH = re.compile(r"int\((\d+)\).*zerofill")
_TIME = re.compile(r"time(?:\((\d)\))?$")


def server_text(value: Any, column: OracleColumn) -> str | None:
    """A value of the lake, whose dates are text, as the server prints it."""
    kind = column.type_name
    if value is None or isinstance(value, str):
        is_bytes = isinstance(value, str) and column.charset == "binary" and column.members
        return "0x" + value.encode().hex() if is_bytes and value is not None else value
    if isinstance(value, (bytes, bytearray)):
        return "0x" + bytes(value).hex()
    if isinstance(value, list):
        return "0x" + struct.pack(f"<{len(value)}f", *value).hex()
    if match := _TIME.match(kind):
        return _time(int(value), int(match[1] or 0))
    if isinstance(value, float):
        if match := _DIGITS.match(kind):
            return f"{value:.{match[1]}f}"
        return float_text(value) if kind.startswith("float") else double_text(value)
    if isinstance(value, Decimal):
        # Between Java and Python a number may get more digits after the point than its type has.
        return f"{value:.{match[1]}f}" if (match := _SCALE.match(kind)) else f"{value:f}"
    if match := _WIDTH.search(kind):
        return f"{value:0{match[1]}}"
    return f"{value:04}" if kind.startswith("year") else str(value)


def _time(microseconds: int, digits: int) -> str:
    seconds, fraction = divmod(abs(microseconds), 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return "-" * (microseconds < 0) + clock + (f".{fraction:06}"[: digits + 1] if digits else "")
