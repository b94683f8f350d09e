"""Builds bytes of table maps and rows events, field by field."""

from __future__ import annotations

from typing import Any

from binlog_grammar.binlog_enums import BinlogEnums
from binlog_grammar.table_map_event import TableMapEvent

from tests.grammar.vectors import parse

YearBits = BinlogEnums.YearBits


def field(number: int, value: str | bytes) -> bytes:
    """An optional metadata field; text is hexadecimal."""
    data = bytes.fromhex(value) if isinstance(value, str) else value
    return bytes([number, len(data)]) + data


def table_map_bytes(
    types: list[int], metadata: str = "", null_bits: str = "", optional: bytes = b""
) -> bytes:
    """The body of a table map of `s.t` with table id 7; the columns may be NULL unless said otherwise."""
    nulls = bytes.fromhex(null_bits) or b"\xff" * ((len(types) + 7) // 8)
    data = bytes.fromhex(metadata)
    return (
        bytes.fromhex("070000000000 0100 01 73 00 01 74 00")
        + bytes([len(types), *types, len(data)])
        + data
        + nulls
        + optional
    )


def table_map(
    types: list[int],
    metadata: str = "",
    optional: bytes = b"",
    year_bits: YearBits = YearBits.present,
) -> Any:
    return parse(TableMapEvent, table_map_bytes(types, metadata, optional=optional), 8, year_bits)
