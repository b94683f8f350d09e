"""Lengths of column values in row images, from the grammar; sufficient to walk an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from binlog_kaitai.core.grammar import TableMapEvent, plain_decoders
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.column_kinds import kind_of
from binlog_kaitai.values.schema import Column


class Width(NamedTuple):
    """Length of a value in bytes; with a `prefix`, a number of that many bytes holds the length."""

    fixed: int
    prefix: int = 0


def widths_of(table_map: TableMapEvent, columns: Sequence[Column]) -> list[Width | None]:
    """Widths of the values of a table's columns; None for an invalid or unknown type.

    Parameters
    ----------
    columns
        The columns of the table map's schema.
    """
    if table_map.columns is None:
        return [None] * len(columns)
    return [_width(stored, column) for stored, column in zip(table_map.columns, columns, strict=True)]


def _width(stored: TableMapEvent.Column, column: Column) -> Width | None:
    try:
        kind_of(column)
    except GrammarError:
        return None
    widths = plain_decoders.WIDTHS
    return Width(*widths.get(int(column.type), widths[None])(stored))
