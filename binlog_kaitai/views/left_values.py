"""The text of values that the kernel of `text.row_lines` leaves out, and of long ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.log.event_rows import to_json
from binlog_kaitai.log.gather import take_ranges
from binlog_kaitai.log.groups import distinct_values
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import Found
from binlog_kaitai.rows.string_columns import UTF8, is_textual, single_bytes
from binlog_kaitai.rows.text import long_values
from binlog_kaitai.values.charsets import BINARY, decode
from binlog_kaitai.values.column_kinds import STRING_TYPES, json_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.views.row_plans import Dialect, Plan


def left_values(plan: Plan, found: Found, rows: Any, left: Any, longest: int) -> list[bytes]:
    """The text of the values that the kernel left out."""
    made, errors = np.empty(len(left), dtype=object), list[CellError]()
    for piece in distinct_values(left[:, 1]).tolist():
        chosen = np.flatnonzero(left[:, 1] == piece)
        column, tails = plan.column_of(piece)
        cells, own = Cells.of(plan.table, column, found), rows[left[chosen, 0]] + tails
        is_long = cells.sizes(own) - cells.width.prefix > longest
        if is_long.any() and (charset := _charset_of_pieces(column)) is not None:
            for place in np.flatnonzero(is_long).tolist():
                made[chosen[place]] = _long_text(plan.dialect, cells, int(own[place]), charset)
            chosen, own = chosen[~is_long], own[~is_long]
        try:
            made[chosen] = list(map(plan.dialect.of_json, left_texts(cells, own)))
        except CellError as error:
            errors.append(error)
    if errors:
        raise min(errors, key=lambda error: error.row)
    found_texts: list[bytes] = made.tolist()
    return found_texts


def _charset_of_pieces(column: Column) -> str | None:
    """The character set of a string column whose values can be decoded in pieces; None for another column."""
    if column.type not in STRING_TYPES or is_textual(column):
        return None
    if column.charset in UTF8:
        return "utf8mb4"
    if column.charset == BINARY:
        return BINARY
    table = single_bytes(column.charset)
    return None if table is None or not table[0].any() else column.charset


def _long_text(dialect: Dialect, cells: Cells, row: int, charset: str) -> bytes:
    """JSON text of a long string, with a placeholder or shortened."""
    start = int(cells.starts[row])
    place = cells.data, start + cells.width.prefix, start + int(cells.sizes(np.array([row]))[0]), charset
    return (
        long_values.shortened(*place) if dialect.shortens else long_values.json_text(*place, dialect.quotes)
    )


def left_texts(cells: Cells, rows: Any) -> list[bytes]:
    """JSON text of values from the event reader, each distinct value once.

    Raises
    ------
    CellError
        A value is invalid.
    """
    column, prefix = cells.column, cells.width.prefix

    def text(value: Any) -> bytes:
        return to_json(json_form(value, column)).encode("utf-8", "backslashreplace")

    if column.type not in STRING_TYPES or is_textual(column):
        return cells.by_reader(rows, text)
    known: dict[bytes | None, bytes] = {}
    found = cells.raw(rows)
    for raw in set(found):
        known[raw] = text(decode((raw or b"")[prefix:], column.charset))
    return [known[raw] for raw in found]


def with_left_texts(data: Any, ends: Any, left: Any, texts: list[bytes]) -> tuple[Any, Any]:
    """Insert texts into lines where values were left out; returns the lines and their ends."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    # Alternately pieces of lines and texts.
    starts, sizes = np.empty((2, 2 * len(texts) + 1), dtype=np.int64)
    starts[::2] = np.concatenate(([0], left[:, 2]))
    sizes[::2] = np.diff(starts[::2], append=len(data))
    starts[1::2] = len(data) + np.cumsum(lengths) - lengths
    sizes[1::2] = lengths
    every = np.concatenate((data, np.frombuffer(b"".join(texts), dtype=np.uint8)))
    added = np.bincount(left[:, 0], weights=lengths, minlength=len(ends)).astype(np.int64)
    return take_ranges(every, starts, sizes)[0], ends + np.cumsum(added)
