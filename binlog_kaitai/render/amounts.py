"""Formats amounts for display: bytes, durations, times, counts."""

from __future__ import annotations

from typing import Any

from binlog_kaitai.core.adapter import utc
from binlog_kaitai.statistics.model import Kind

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def shown(value: Any, kind: Kind) -> str:
    """A value of a part as text."""
    if value is None:
        return ""
    match kind:
        case Kind.NUMBER:
            return f"{value:,}"
        case Kind.BYTES:
            return shown_bytes(value)
        case Kind.TIME:
            return f"{utc(value):%Y-%m-%d %H:%M:%S}"
        case Kind.SECONDS:
            return shown_seconds(value)
        case Kind.LIST:
            return ", ".join(value)
        case Kind.SIZES:
            return ", ".join(map(shown_bytes, value))
        case _:
            return str(value)


def shown_bytes(count: int) -> str:
    """A number of bytes with three digits and a unit."""
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.3g} {_UNITS[unit]}" if unit else f"{count} B"


def shown_seconds(seconds: float) -> str:
    """A duration in its two largest units."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms" if seconds else "0 s"
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = int(seconds)
    for size, unit, below, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {unit} {rest} {small}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"
