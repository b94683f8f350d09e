"""How the values of columns are written: by kernels, and those that kernels leave out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.event_rows import to_json
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.string_columns import UTF8, extends_ascii, single_bytes
from binlog_kaitai.rows.table_maps import Table, Width
from binlog_kaitai.rows.text import listed_values as kinds
from binlog_kaitai.rows.text import long_values
from binlog_kaitai.values.charsets import BINARY, decode
from binlog_kaitai.values.column_kinds import CHOICES, DOCUMENTS, STRINGS, Kind
from binlog_kaitai.values.representations import Value, json_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

#: Valid sizes of SETs in bytes; a SET has at most as many members as it has bits.
_SET_SIZES, _MOST_MEMBERS = (1, 2, 3, 4, 8), 64

#: More than the length of any string.
NO_LIMIT = 1 << 40


class Cell(NamedTuple):
    """How the values of a column are written: see `listed_values`."""

    kind: int
    size: int
    prefix: int
    detail: int = 0
    words: Sequence[bytes] = ()


@dataclass(frozen=True)
class ValueStyle:
    """How values are written.

    `dialect`: see `listed_values`.
    `null`: bytes
    `longest`: maximum length of strings that are written at once; longer ones become placeholders, see
    `text.long_values`.
    `shortens`: longer strings are shortened instead.
    """

    dialect: int
    null: bytes
    longest: int = long_values.LONG
    shortens: bool = False

    def word(self, text: str) -> bytes:
        """Text inside a string."""
        quoted = self.of_json(plain(json.dumps(text, ensure_ascii=False)).encode())
        return quoted[self.dialect : -self.dialect]

    def of_json(self, text: bytes) -> bytes:
        """JSON text."""
        return text.replace(b'"', b'""') if self.dialect == kinds.CSV else text

    def cell(self, table: Table, column: Column) -> Cell:
        """How the values of a column are written."""
        size, prefix = width_of(table, column)
        kind, detail = kind_of(column)
        words: Sequence[bytes] | None = ()
        if column.kind == Kind.GEOMETRY:
            kind = kinds.BYTES
        elif column.kind in DOCUMENTS:
            kind = kinds.DOCUMENT
        elif column.kind in STRINGS:
            kind, detail, words = _string(column, self)
        elif column.kind in CHOICES:
            kind, words = _choice(column, size, self)
        return Cell(kinds.OTHER, size, prefix) if words is None else Cell(kind, size, prefix, detail, words)

    def exact_cell(self, table: Table, column: Column) -> Cell:
        """How values are written to be compared with the column."""
        return self.cell(table, column)

    def text(self, value: Value, column: Column) -> bytes:
        """The text of a value from the event reader."""
        return self.of_json(to_json(json_form(value, column)).encode("utf-8", "backslashreplace"))

    def left_texts(self, cells: Cells, rows: Ints, kind: int) -> list[bytes]:
        """The text of values of a kind from the event reader.

        Raises `CellError`: a value is invalid.
        """
        column, prefix = cells.column, cells.width.prefix
        if column.kind not in STRINGS or has_own_text(column):
            return cells.by_reader(rows, lambda value: self.text(value, column))
        raws = cells.raw(rows)
        known = {raw: self.text(decode((raw or b"")[prefix:], column.charset), column) for raw in set(raws)}
        return [known[raw] for raw in raws]

    def long_text(self, cells: Cells, row: int) -> bytes | None:
        """The text of a string longer than `longest`, with a placeholder or shortened.

        None if the kernel left the value out for another reason.
        """
        column = cells.column
        if column.kind not in STRINGS or has_own_text(column):
            return None
        charset = column.charset or "utf8mb4"
        if charset in UTF8:
            charset = "utf8mb4"
        elif charset != BINARY and ((table := single_bytes(charset)) is None or not table[0].any()):
            return None
        place = cells.data, *cells.range_of(row), charset
        return long_values.shortened(*place) if self.shortens else long_values.json_text(*place, self.dialect)


def width_of(table: Table, column: Column) -> Width:
    """Length of the values of a column, and size of their length prefix."""
    assert table.widths is not None
    return table.widths[column.index]


def kind_of(column: Column) -> tuple[int, int]:
    """Kind and detail of the values of a column that have the same kind in all dialects."""
    if column.kind == Kind.INTEGER:
        return kinds.UNSIGNED if column.is_unsigned else kinds.SIGNED, 0
    if column.kind == Kind.DECIMAL:
        return kinds.DECIMAL, (column.precision or 0) << 8 | (column.scale or 0)
    return column.kind.value, column.fractional_digits


JSON, QUOTED_JSON, PEOPLE = (
    ValueStyle(kinds.JSON, b"null"),
    ValueStyle(kinds.CSV, b"null"),
    ValueStyle(kinds.TABLE, b"NULL"),
)

#: JSON without placeholders; JSON with shortened strings.
WHOLE_JSON, SHORT_JSON = replace(JSON, longest=NO_LIMIT), replace(JSON, shortens=True)


def _string(column: Column, style: ValueStyle) -> tuple[int, int, Sequence[bytes] | None]:
    if has_own_text(column):
        return kinds.OTHER, 0, ()
    if column.charset == BINARY:
        return kinds.BYTES, column.length if column.kind == Kind.CHAR else 0, ()
    if column.charset in UTF8:
        return kinds.UTF8, 0, ()
    is_ascii = extends_ascii(column.charset)
    if not is_ascii and single_bytes(column.charset) is None:
        return kinds.OTHER, 0, ()
    most = 128 if single_bytes(column.charset) is None else 256
    texts = [decode(bytes([byte]), column.charset) if byte < most else b"" for byte in range(256)]
    words = _words([text if isinstance(text, str) else "" for text in texts], style)
    return kinds.CODED, int(is_ascii), words


def _choice(column: Column, size: int, style: ValueStyle) -> tuple[int, Sequence[bytes] | None]:
    if column.members is None:
        return kinds.UNSIGNED, ()
    if column.kind == Kind.ENUM:
        return kinds.MEMBER, _words(["", *column.members], style)
    return kinds.MEMBERS, _words(column.members, style) if is_usual_set(column.members, size) else None


def is_usual_set(members: Sequence[str], size: int) -> bool:
    """Whether a SET of these members and this size in bytes is one that servers create."""
    return size in _SET_SIZES and len(members) <= _MOST_MEMBERS


def _words(texts: Sequence[str], style: ValueStyle) -> list[bytes] | None:
    """The texts in the form used inside strings; None if one is invalid UTF-8, which tables show escaped."""
    if style.dialect:
        return [style.word(text) for text in texts]
    return [text.encode() for text in texts] if all(plain(text) == text for text in texts) else None
