"""Programs of `text.row_lines` that format the rows of a table, built once per table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.string_columns import UTF8, extends_ascii, single_bytes
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.rows.text import listed_values as kinds
from binlog_kaitai.rows.text import row_line_kernel as row_lines
from binlog_kaitai.rows.text.long_values import LONG
from binlog_kaitai.values.charsets import BINARY, decode
from binlog_kaitai.values.column_kinds import CHOICES, DOCUMENTS, STRINGS, Kind
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

#: Valid sizes of SETs in bytes; a SET has at most as many members as it has bits.
_SET_SIZES, _MOST_MEMBERS = (1, 2, 3, 4, 8), 64

#: More than the length of any string.
NO_LIMIT = 1 << 40

#: Initial estimate of the size of a line, in bytes.
_LINE_SIZE = 256


class ValueStyle(NamedTuple):
    """How values are written.

    Attributes
    ----------
    quotes : int
        Kind of quotation marks, see `listed_values`.
    null : bytes
    longest : int
        Maximum length of strings that are written at once; longer ones become placeholders, see
        `text.long_values`.
    shortens : bool
        Longer strings are shortened instead.
    """

    quotes: int
    null: bytes
    longest: int = LONG
    shortens: bool = False

    def word(self, text: str) -> bytes:
        """Text inside a string."""
        return self.of_json(plain(json.dumps(text, ensure_ascii=False)).encode())[self.quotes : -self.quotes]

    def of_json(self, text: bytes) -> bytes:
        """JSON text."""
        return text.replace(b'"', b'""') if self.quotes == 2 else text


JSON, QUOTED_JSON, PEOPLE = ValueStyle(1, b"null"), ValueStyle(2, b"null"), ValueStyle(0, b"NULL")

#: JSON without placeholders; JSON with shortened strings.
WHOLE_JSON, SHORT_JSON = JSON._replace(longest=NO_LIMIT), JSON._replace(shortens=True)


class Cell(NamedTuple):
    """How the values of a column are written: see `listed_values`."""

    kind: int
    size: int
    prefix: int
    detail: int = 0
    words: Sequence[bytes] = ()


def cell_of(table: Table, column: Column, dialect: ValueStyle) -> Cell:
    """How the values of a column are written."""
    assert table.widths is not None
    size, prefix = table.widths[column.index]
    kind, detail = column.kind.value, column.fractional_digits
    words: Sequence[bytes] | None = ()
    if column.kind == Kind.INTEGER:
        kind = kinds.UNSIGNED if column.is_unsigned else kinds.SIGNED
    elif column.kind == Kind.DECIMAL:
        detail = (column.precision or 0) << 8 | (column.scale or 0)
    elif column.kind == Kind.GEOMETRY:
        kind = kinds.BYTES
    elif column.kind in DOCUMENTS:
        kind = kinds.DOCUMENT
    elif column.kind in STRINGS:
        kind, detail, words = _string(column, dialect)
    elif column.kind in CHOICES:
        kind, words = _choice(column, size, dialect)
    if words is None:
        kind, words = kinds.OTHER, ()
    return Cell(kind, size, prefix, detail, words)


def _string(column: Column, dialect: ValueStyle) -> tuple[int, int, Sequence[bytes] | None]:
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
    words = _words([text if isinstance(text, str) else "" for text in texts], dialect)
    return kinds.CODED, int(is_ascii), words


def _choice(column: Column, size: int, dialect: ValueStyle) -> tuple[int, Sequence[bytes] | None]:
    if column.members is None:
        return kinds.UNSIGNED, ()
    if column.kind == Kind.ENUM:
        return kinds.MEMBER, _words(["", *column.members], dialect)
    is_usual = size in _SET_SIZES and len(column.members) <= _MOST_MEMBERS
    return kinds.MEMBERS, _words(column.members, dialect) if is_usual else None


def _words(texts: Sequence[str], dialect: ValueStyle) -> list[bytes] | None:
    """The texts in the form used inside strings; None if one is invalid UTF-8, which tables show escaped."""
    if dialect.quotes:
        return [dialect.word(text) for text in texts]
    return [text.encode() for text in texts] if all(plain(text) == text for text in texts) else None


class Line:
    """The pieces of one kind of line.

    Parameters
    ----------
    of_event
        Number of texts per event.
    """

    def __init__(self, plan: LinePlan, of_event: int) -> None:
        self._plan = plan
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
        return self._add(row_lines.ROW_NUMBER)

    def value(
        self, column: int, *, is_second: bool = False, kind: int = row_lines.VALUE, is_last: bool = False
    ) -> Line:
        """Add a value; `is_second` selects the after image of an update."""
        lead, self._pending = self._plan.constant(self._pending), b""
        return self._add(kind, column, int(is_second), *self._plan.cell(column), int(is_last), *lead)

    def _add(self, *piece: int) -> Line:
        self._close()
        self._pieces.append(piece)
        return self

    def _close(self) -> None:
        if self._pending:
            self._pieces.append((row_lines.CONSTANT, *self._plan.constant(self._pending)))
            self._pending = b""

    def finish(self) -> list[tuple[int, ...]]:
        """The pieces."""
        self._close()
        return [piece + (0,) * (row_lines.PIECE_SIZE - len(piece)) for piece in self._pieces]


#: Adds the pieces of the lines for events with a program of `rows.images`.
Describe = Callable[["LinePlan", ImageProgram], list[tuple[int, ...]]]


class LinePlan:
    """The programs for the lines of a table.

    Attributes
    ----------
    line_size : int
        Size of a line, estimated from previous lines.

    Parameters
    ----------
    describe
        Adds the pieces of the lines for events with a program of `rows.images`.
    """

    def __init__(self, table: Table, dialect: ValueStyle, describe: Describe) -> None:
        self.table = table
        self.dialect = dialect
        self._describe = describe
        self.line_size = _LINE_SIZE
        self._pool, self._words = b"", list[bytes]()
        self._cells: dict[int, tuple[int, ...]] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._pieces: list[tuple[int, ...]] = []
        self._limits = [0]
        self._arrays: tuple[Any, ...] | None = None
        self._lock = Lock()  # pages of a table are processed in several threads

    def constant(self, text: bytes) -> tuple[int, int]:
        """Offset and length of a constant."""
        offset = len(self._pool)
        self._pool += text
        return offset, len(text)

    def cell(self, index: int) -> tuple[int, ...]:
        """The columns of a piece for a table column, from KIND on."""
        if index not in self._cells:
            found = cell_of(self.table, self.table.schema.columns[index], self.dialect)
            first = len(self._words)
            self._words += found.words
            self._cells[index] = *found[:4], first, len(found.words)
        return self._cells[index]

    def numbers_of(self, programs: Sequence[ImageProgram | None]) -> list[int]:
        """The program numbers for events with the given programs."""
        with self._lock:
            return [-1 if program is None else self._number_of(program) for program in programs]

    def _number_of(self, program: ImageProgram) -> int:
        key = program.which, program.counts, program.steps.tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self._limits) - 1
            self._pieces += self._describe(self, program)
            self._limits.append(len(self._pieces))
            self._arrays = None
        return self._numbers[key]

    def arrays(self) -> tuple[Any, ...]:
        """Limits and pieces, pool, null, words and their limits, as arguments of `put_row_lines`."""
        with self._lock:
            if self._arrays is None:
                self._arrays = (
                    np.array(self._limits, dtype=np.int64),
                    np.array(self._pieces, dtype=np.int64).reshape(-1, row_lines.PIECE_SIZE),
                    _bytes(self._pool),
                    _bytes(self.dialect.null),
                    _bytes(b"".join(self._words)),
                    np.cumsum([0, *map(len, self._words)], dtype=np.int64),
                )
            return self._arrays

    def column_of(self, piece: int) -> tuple[Column, int]:
        """The column that a piece writes, and 1 for the after image of an update."""
        offset = self._pieces[piece]
        return self.table.schema.columns[offset[row_lines.FIRST]], offset[row_lines.SECOND]


def _bytes(text: bytes) -> Any:
    return np.frombuffer(text, dtype=np.uint8)
