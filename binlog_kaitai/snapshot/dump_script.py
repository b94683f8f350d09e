"""Splits an SQL script into comments, statements and the rows of INSERT statements, as a stream of bytes.

A statement of many megabytes is common in dumps, so the rows of an INSERT are read one by one, and memory
holds the longest row. `ddl.lexer` needs whole statements as text, which suits the others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import BinaryIO, NamedTuple

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.errors import BinlogError, SourceError, TruncatedError

_CHUNK = 1 << 20

#: Longer than any token that could be split between two chunks without being recognized as incomplete.
_MARGIN = 64

#: Maximum length of a row, in bytes; servers accept packets of 1 GiB, which escapes may double.
_MOST_ROW = 2 << 30

#: Repeats a group without going back. Python before 3.11.5 may not find what such a group matches.
_ALL = rb"*+" if sys.version_info >= (3, 11, 5) else rb"*"

_SINGLE = rb"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)" + _ALL + rb"'(?!')"
_DOUBLE = rb'"[^"\\]*+(?:(?:\\.|"")[^"\\]*+)' + _ALL + rb'"(?!")'
_STRING = rb"(?:" + _SINGLE + rb"|" + _DOUBLE + rb")"
_NAME = rb"`[^`]*+(?:``[^`]*+)" + _ALL + rb"`(?!`)"
_SPACE = rb"[ \t\r\n]*+"

#: A literal as dumps write it.
_LITERAL = (
    rb"(?:_binary ?)?" + _STRING + rb"|0x[0-9A-Fa-f]*+|[xXbB]'[0-9A-Fa-f]*+'|NULL"
    rb"|[-+]?[0-9.][-+0-9.eE]*+|CONVERT\(" + _STRING + rb" USING UTF8MB4\)"
)
_VALUE = re.compile(_SPACE + rb"(" + _LITERAL + rb")" + _SPACE, re.DOTALL)

#: A row, whatever its values are.
_ANY_ROW = re.compile(
    rb"\((?:[^'\"()]++|" + _STRING + rb"|\((?:[^'\"()]++|" + _STRING + rb")" + _ALL + rb"\))" + _ALL + rb"\)",
    re.DOTALL,
)
_AFTER_ROW = re.compile(_SPACE + rb"([,;])" + _SPACE)

#: How comments begin that no server executes, and how they end. MariaDB's dumps begin with `/*M!999999`.
_COMMENTS = (
    (re.compile(rb"--(?:[ \t\r\n]|\Z)|#"), re.compile(rb"[^\n]*(?:\n|\Z)")),
    (re.compile(rb"/\*(?:(?!M?!)|M!999999)"), re.compile(rb".*?\*/", re.DOTALL)),
)
_DELIMITER = re.compile(rb"DELIMITER[ \t]+(\S+)[^\n]*(?:\n|\Z)", re.IGNORECASE)
_TABLE = rb"((?:" + _NAME + rb"|[0-9A-Za-z_$\x80-\xff]+)(?:\." + _NAME + rb")?)"
_COLUMNS = rb"(?:\(((?:" + _NAME + rb"|[^`'\"()])" + _ALL + rb")\)" + _SPACE + rb")?"
_INSERT = re.compile(
    rb"(?:INSERT(?:\s+(?:LOW_PRIORITY|DELAYED|IGNORE))*|REPLACE)\s+INTO\s+"
    + _TABLE + _SPACE + _COLUMNS + rb"VALUES" + _SPACE + rb"(?=\()",
    re.DOTALL | re.IGNORECASE,
)  # fmt: skip
_INSERTS = re.compile(rb"(?:INSERT|REPLACE)\s", re.IGNORECASE)

#: Maximum length of what precedes the rows of an INSERT: a table may have 4096 columns.
_MOST_HEADER = 8 << 20

_COMMENT = rb"--(?=[ \t\r\n])[^\n]*\n|\#[^\n]*\n|/\*(?!M?!).*?\*/"


class PieceKind(Enum):
    """What a script consists of."""

    COMMENT = "comment"
    STATEMENT = "statement"
    INSERT = "insert"


class ScriptPiece(NamedTuple):
    """A comment, a statement without its delimiter, or the start of an INSERT, whose rows follow.

    `table`, `columns`: of an INSERT: as written; `columns` is empty if it has no list.
    """

    kind: PieceKind
    text: bytes
    table: bytes = b""
    columns: bytes = b""


class DumpScript:
    """An SQL script."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self._stream = stream
        self._delimiter = b";"
        self._buffer = bytearray()
        self._index = 0  # in the buffer
        self._offset = self._lines = 0  # of the start of the buffer
        self._last = b""  # the comment or statement that has just been read, with its delimiter
        self._is_over = False
        self._has_rows = False

    def __iter__(self) -> Iterator[ScriptPiece]:
        """The pieces; rows of an INSERT that :meth:`rows` has not read are skipped.

        Raises `BinlogError`: the file cannot be read, or ends within a statement.
        """
        while True:
            if self._has_rows:
                self._has_rows = False
                self._to_delimiter(keeps=False)
            self._last = b""
            if not self._skip_space():
                return
            piece = self._next()
            if piece.kind is not PieceKind.INSERT:
                self._last = piece.text + self._delimiter * (piece.kind is PieceKind.STATEMENT)
            yield piece

    def rows(self, values: int) -> Iterator[tuple[bytes, ...]]:
        """The rows of the INSERT that was returned last, each with as many literals as given.

        Raises `SourceError`: a row has another number of values, or one that is not a literal of a dump;
        `TruncatedError`: the file ends within a row.
        """
        row = _row_of(values)
        while True:
            literals = row.match(self._buffer, self._index)
            if literals is None:
                self._check_row(values)
            if (literals is None or len(self._buffer) - literals.end() < _MARGIN) and self._fill():
                continue
            if literals is None:
                raise self._truncated()
            after = _AFTER_ROW.match(self._buffer, literals.end())
            if after is None:
                raise self.error("after a row, expected a comma or a semicolon")
            is_last = after[1] == b";"
            yield literals.groups()
            self._index = after.end()
            if is_last:
                self._has_rows = False
                return

    def error(self, reason: str) -> SourceError:
        """An error at the current row, or at the start of the comment or statement that was returned last."""
        line, position = self.line - self._last.count(b"\n"), self.position - len(self._last)
        return SourceError(f"line {line}: {reason}", file=self.name, position=position)

    @property
    def position(self) -> int:
        """The offset in the script."""
        return self._offset + self._index

    @property
    def line(self) -> int:
        """The line of the current position, from 1."""
        return self._lines + self._buffer.count(b"\n", 0, self._index) + 1

    # -- the buffer

    def _fill(self) -> bool:
        """Read more, as much as there is already, so that long rows are not matched too often."""
        if self._is_over:
            return False
        if len(self._buffer) - self._index > _MOST_ROW:
            raise self.error(f"a statement or a row is longer than {_MOST_ROW} bytes; a quote may be missing")
        try:
            data = read_up_to(self._stream, max(_CHUNK, len(self._buffer) - self._index))
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=self.name) from error
        except BinlogError as error:
            raise error.at(file=self.name, position=None) from error.__cause__
        if not data:
            self._is_over = True
            return False
        self._lines += self._buffer.count(b"\n", 0, self._index)
        self._offset += self._index
        del self._buffer[: self._index]
        self._index = 0
        self._buffer += data
        return True

    def _truncated(self) -> TruncatedError:
        reason = f"line {self.line}: the dump ends within a statement; it is truncated, take it again"
        return TruncatedError(reason, file=self.name, position=self.position)

    # -- statements

    def _skip_space(self) -> bool:
        """Advance to the next byte that is not space; False at the end of the script."""
        while True:
            while self._index < len(self._buffer) and self._buffer[self._index] in b" \t\r\n;\0\x1a":
                self._index += 1
            if self._index < len(self._buffer) or not self._fill():
                return self._index < len(self._buffer)

    def _next(self) -> ScriptPiece:
        while len(self._buffer) - self._index < _MARGIN and self._fill():
            pass
        for start, comment in _COMMENTS:
            if start.match(self._buffer, self._index) is not None:
                return ScriptPiece(PieceKind.COMMENT, self._match(comment))
        if (delimiter := _DELIMITER.match(self._buffer, self._index)) is not None:
            self._delimiter, self._index = delimiter[1], delimiter.end()
            return ScriptPiece(PieceKind.COMMENT, b"")
        if self._delimiter == b";" and _INSERTS.match(self._buffer, self._index) is not None:
            return self._insert()
        return ScriptPiece(PieceKind.STATEMENT, self._to_delimiter(keeps=True))

    def _match(self, comment: re.Pattern[bytes]) -> bytes:
        while True:
            text = comment.match(self._buffer, self._index)
            if (text is None or text.end() == len(self._buffer)) and self._fill():
                continue
            if text is None:
                raise self._truncated()
            self._index = text.end()
            return text[0]

    def _insert(self) -> ScriptPiece:
        while (head := _INSERT.match(self._buffer, self._index)) is None:
            if len(self._buffer) - self._index > _MOST_HEADER or not self._fill():
                error = self.error(
                    f"this form of INSERT is not supported: {_start(self._buffer, self._index)}"
                )
                self._to_delimiter(keeps=False)  # which is an error if the script ends before
                raise error
        self._index = head.end()
        self._has_rows = True
        return ScriptPiece(PieceKind.INSERT, head[0], head[1], head[2] or b"")

    def _to_delimiter(self, *, keeps: bool) -> bytes:
        """The text up to the delimiter, advancing past it; b"" if it is not to be kept."""
        done, piece = 0, _piece_of(self._delimiter)
        while True:
            while len(self._buffer) - self._index - done < _MARGIN and self._fill():
                pass
            offset = self._index + done
            if self._buffer.startswith(self._delimiter, offset):
                text = bytes(self._buffer[self._index : offset]) if keeps else b""
                self._index = offset + len(self._delimiter)
                return text
            text_part = piece.match(self._buffer, offset)
            is_at_end = text_part is None or text_part.end() == len(self._buffer)
            if is_at_end and self._fill():
                continue
            if text_part is None:
                raise self._truncated()
            done = text_part.end() - self._index
            if not keeps:
                self._index, done = text_part.end(), 0

    def _check_row(self, values: int) -> None:
        """Raise if the row is complete, but not one of `values` literals."""
        row = _ANY_ROW.match(self._buffer, self._index)
        if row is None:
            return
        offset, count = self._index + 1, 0
        while (value := _VALUE.match(self._buffer, offset)) is not None:
            offset, count = value.end() + 1, count + 1
            if self._buffer[value.end()] != ord(","):
                break
        if offset < row.end():
            raise self.error(f"value {count + 1} of the row is not a literal: {_start(self._buffer, offset)}")
        raise self.error(f"the row has {count} values, but its table or its list of columns {values}")


def _start(text: bytearray, begin: int) -> str:
    return bytes(text[begin : begin + 40]).decode("utf-8", "replace")


@cache
def _row_of(values: int) -> re.Pattern[bytes]:
    value = _VALUE.pattern
    return re.compile(rb"\(" + b",".join([value] * values) + rb"\)", re.DOTALL)


@cache
def _piece_of(delimiter: bytes) -> re.Pattern[bytes]:
    """Text in which no delimiter can be: a run of other characters, a string, a name or a comment."""
    others = b"'\"`#/-" + delimiter[:1]
    run = b"".join(b"\\" + bytes([other]) for other in others)
    parts = [rb"[^" + run + rb"]++", _SINGLE, _DOUBLE, _NAME, _COMMENT, rb"[^'\"`]"]
    return re.compile(b"|".join(parts), re.DOTALL)
