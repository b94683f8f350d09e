"""How values are written, and the programs that write the rows of a table, made once per table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.lines import long_values
from binlog_kaitai.lines import row_line_kernel as row_lines
from binlog_kaitai.log.event_rows import to_json
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.table_maps import Table, Width
from binlog_kaitai.text import listed_values as kinds
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.charsets import BINARY, UTF8, decode, extends_ascii, single_bytes
from binlog_kaitai.values.column_kinds import CHOICES, DOCUMENTS, STRINGS, Kind
from binlog_kaitai.values.json_documents import JsonText
from binlog_kaitai.values.representations import Value, json_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

#: A SET has at most as many members as it has bits.
MOST_MEMBERS = 64

#: More than the length of any string.
NO_LIMIT = 1 << 40


def json_bytes(value: object) -> bytes:
    """JSON, with escapes for bytes that are not UTF-8."""
    return to_json(value).encode("utf-8", "backslashreplace")


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
    `lines.long_values`.
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
            kind, words = _choice(column, self)
        return Cell(kinds.OTHER, size, prefix) if words is None else Cell(kind, size, prefix, detail, words)

    def exact_cell(self, table: Table, column: Column) -> Cell:
        """How values are written to be compared with the column."""
        return self.cell(table, column)

    def text(self, value: Value, column: Column) -> bytes:
        """The text of a value from the event reader."""
        return self.of_json(json_bytes(json_form(value, column)))

    def result_text(self, result: object, column: Column | None) -> bytes:
        """The text of the result of a partial update, see `LocatedRows.updates`; of all updates of a row."""
        if isinstance(result, dict):
            return self.of_json(json_bytes({name: diff.objects() for name, diff in result.items()}))
        assert column is not None
        assert isinstance(result, JsonText)
        return self.text(result, column)

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
    if column.has_old_fraction:
        return kinds.OTHER, 0
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


def _choice(column: Column, style: ValueStyle) -> tuple[int, Sequence[bytes] | None]:
    if column.members is None:
        return kinds.UNSIGNED, ()
    if column.kind == Kind.ENUM:
        return kinds.MEMBER, _words(["", *column.members], style)
    return kinds.MEMBERS, _words(column.members, style) if len(column.members) <= MOST_MEMBERS else None


def _words(texts: Sequence[str], style: ValueStyle) -> list[bytes] | None:
    """The texts in the form used inside strings; None if one is invalid UTF-8, which tables show escaped."""
    if style.dialect:
        return [style.word(text) for text in texts]
    return [text.encode() for text in texts] if all(plain(text) == text for text in texts) else None


# -- programs

#: Initial estimate of the size of a line, in bytes.
_LINE_SIZE = 256


class Line:
    """The pieces of one kind of line.

    `of_event`: number of texts per event.
    """

    def __init__(self, table_lines: TableLines, of_event: int) -> None:
        self._table_lines = table_lines
        self._of_event = of_event
        self._pending = b""
        self._pieces: list[tuple[int, ...]] = []

    def text(self, text: bytes) -> Line:
        """Add constant bytes."""
        self._pending += text
        return self

    def event(self, number: int) -> Line:
        """Add one of the texts of the line's event."""
        return self._add(row_lines.OF_EVENT, number, self._of_event)

    def number(self) -> Line:
        """Add the row number."""
        text, self._pending = self._pending, b""
        return self._lead(row_lines.ROW_NUMBER, text)

    def value(
        self,
        column: int,
        *,
        is_second: bool = False,
        kind: int = row_lines.VALUE,
        has_flag: bool = False,
        is_exact: bool = False,
        lead: bytes = b"",
        held: bytes = b"",
    ) -> Line:
        """Add a value; `is_second` selects the after image of an update.

        `kind`, `has_flag` and `lead` are those of a piece. With `is_exact`, the value is compared.
        `held`: what is assigned instead of an unchanged value.
        """
        if kind == row_lines.CHANGED:
            self.value(column, kind=row_lines.OLD)
            is_second = True
        if lead:
            self._close()
        offset, size = self._table_lines.constant((lead or self._pending) + held)
        self._pending = b""
        cell = self._table_lines.cell(column, is_exact=is_exact)
        flag = len(held) or int(has_flag)
        return self._add(kind, column, int(is_second), *cell, flag, offset, size - len(held))

    def updates(self) -> Line:
        """Add the partial updates of the row."""
        text, self._pending = self._pending, b""
        last = len(self._table_lines.table.schema.columns)
        cell = kinds.OTHER, *[0] * (row_lines.LEAD - row_lines.KIND - 1)
        return self._add(row_lines.VALUE, last, 1, *cell, *self._table_lines.constant(text))

    def end_if_changed(self, text: bytes) -> Line:
        """Add constant bytes and the end of the line for updates that surely change the row."""
        self._close()
        return self._lead(row_lines.END_IF_CHANGED, text)

    def otherwise(self, text: bytes) -> Line:
        """Add constant bytes if nothing has been assigned."""
        self._close()
        return self._lead(row_lines.OTHERWISE, text)

    def _lead(self, kind: int, text: bytes) -> Line:
        self._pieces.append((kind, *[0] * (row_lines.LEAD - 1), *self._table_lines.constant(text)))
        return self

    def _add(self, *piece: int) -> Line:
        self._close()
        self._pieces.append(piece)
        return self

    def _close(self) -> None:
        if self._pending:
            self._lead(row_lines.CONSTANT, self._pending)
            self._pending = b""

    def finish(self) -> list[tuple[int, ...]]:
        """The pieces."""
        self._close()
        return [piece + (0,) * (row_lines.PIECE_SIZE - len(piece)) for piece in self._pieces]


#: Adds the pieces of the lines for events with a program of `rows.row_images`.
Describe = Callable[["TableLines", ImageProgram], list[tuple[int, ...]]]


class TableLines:
    """The programs for the lines of a table.

    `line_size`: size of a line, estimated from previous lines.
    `describe`: adds the pieces of the lines for events with a program of `rows.row_images`.
    """

    def __init__(self, table: Table, style: ValueStyle, describe: Describe) -> None:
        self.table = table
        self.style = style
        self._describe = describe
        self.line_size = _LINE_SIZE
        self._pool, self._words = bytearray(), list[bytes]()
        self._cells: dict[tuple[int, bool], tuple[int, ...]] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._pieces: list[tuple[int, ...]] = []
        self._limits = [0]
        self._arrays: row_lines.LinePrograms | None = None
        self._lock = Lock()  # pages of a table are processed in several threads

    def constant(self, text: bytes) -> tuple[int, int]:
        """Offset and length of a constant."""
        offset = len(self._pool)
        self._pool += text
        return offset, len(text)

    def cell(self, index: int, *, is_exact: bool = False) -> tuple[int, ...]:
        """The columns of a piece for a table column, from KIND to WORDS."""
        if (index, is_exact) not in self._cells:
            column = self.table.schema.columns[index]
            cell = (self.style.exact_cell if is_exact else self.style.cell)(self.table, column)
            first = len(self._words)
            self._words += cell.words
            self._cells[index, is_exact] = *cell[:4], first, len(cell.words)
        return self._cells[index, is_exact]

    def numbers_of(self, programs: Sequence[ImageProgram | None]) -> list[int]:
        """The program numbers for events with the given programs."""
        with self._lock:
            return [-1 if program is None else self._number_of(program) for program in programs]

    def _number_of(self, program: ImageProgram) -> int:
        key = program.which, program.counts, program.steps.tobytes(), program.updated
        if key not in self._numbers:
            self._numbers[key] = len(self._limits) - 1
            self._pieces += self._describe(self, program)
            self._limits.append(len(self._pieces))
            self._arrays = None
        return self._numbers[key]

    def arrays(self) -> row_lines.LinePrograms:
        """All programs, without texts of events."""
        with self._lock:
            if self._arrays is None:
                self._arrays = row_lines.LinePrograms(
                    np.array(self._limits, dtype=np.int64),
                    np.array(self._pieces, dtype=np.int64).reshape(-1, row_lines.PIECE_SIZE),
                    _bytes(bytes(self._pool) + bytes(row_lines.COPIED_AT_ONCE)),
                    _bytes(self.style.null),
                    _bytes(b"".join(self._words)),
                    np.cumsum([0, *map(len, self._words)], dtype=np.int64),
                )
            return self._arrays

    def value_of(self, piece: int) -> tuple[int, int, int]:
        """The number of the column that a piece writes, 1 for the after image of an update, and the kind."""
        columns = self._pieces[piece]
        return columns[row_lines.FIRST], columns[row_lines.SECOND], columns[row_lines.KIND]


def _bytes(text: bytes) -> Bytes:
    return np.frombuffer(text, dtype=np.uint8)
