"""Collects the text of events, and writes it immediately or at the end of the statement.

The text of a row-logged statement consists of header lines (`head`), one BINLOG statement for all its events
(`body`), and the rows (`tail`). `Output` writes the text of one event after another. For a block of events,
the printer makes the same calls, and `blocks.capture` records them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from binlog_kaitai.log.hexdump import Style as HexdumpStyle
from binlog_kaitai.render.dump.base64 import base64_lines, base64_pieces
from binlog_kaitai.render.dump.hexdump import hexdump
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.quick import QuickRows
from binlog_kaitai.render.dump.row_programs import RowsHeader
from binlog_kaitai.render.dump.spool import Spool

#: Receives the text as it is written.
Write = Callable[[bytes], object]

PutItem = Callable[[Item], None]

#: Maximum number of pieces of a text that waits outside the spool.
_FEW = 16

#: Text before the row count of a statement.
ROWS_NUMBER = b"# Number of rows: "
#: Text around the base64 of a statement's events.
BINLOG, BINLOG_END = b"\nBINLOG '\n", b"'"


class Texts:
    """Collects pieces of text: bytes, or templates with fields of an event.

    Parameters
    ----------
    extend
        Adds a text of any length, in pieces.
    """

    def __init__(
        self, append: Write, extend: Callable[[Iterator[bytes]], object], style: HexdumpStyle
    ) -> None:
        self.append = append
        self._extend = extend
        self._style = style

    def fill(self, template: bytes, item: Item, constants: dict[bytes, Any] | None = None) -> None:
        """Add a template, see `fields`; `constants` are the same for all events of the item's shape."""
        values = item.values
        if constants:
            values.update(constants)
        self.append(template % values)

    def hexdump(self, item: Item) -> None:
        """Add the bytes of an event."""
        if item.position:
            header_length = item.event.layout.header_length_of(item.event.type_code)
            self._extend(hexdump(self._style, item.raw, item.position, header_length))


class Output:
    """Writes the text of one event after another.

    Attributes
    ----------
    now, head : Texts
        Text that is written immediately, and lines that wait for `flush`.
    body, tail : Spool
        Base64 and rows of the current statement.
    rows : int
        Number of rows counted for the statement.
    kept : pair or None
        An event that is printed with another one, and the function that adds its text.
    """

    def __init__(self, write: Write, delimiter: bytes, style: HexdumpStyle) -> None:
        self.write = write
        self._delimiter = delimiter
        self._head: list[bytes] = []
        self._held = Spool()
        self.now = Texts(write, self._write_all, style)
        self.head = Texts(self._head.append, self._extend_head, style)
        self.body, self.tail = Spool(), Spool()
        self.rows = 0
        self.kept: tuple[Item, PutItem] | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether lines are waiting."""
        return bool(self._head or self._held)

    @property
    def is_open(self) -> bool:
        """Whether text of a statement is waiting for its end."""
        return bool(self.body or self.tail or self.rows)

    def hold(self) -> None:
        """Prepare for a long wait by spooling the lines if there are many."""
        self._held.extend(self._head)
        self._head.clear()

    def _write_all(self, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            self.write(piece)

    def _extend_head(self, pieces: Iterator[bytes]) -> None:
        self._head += islice(pieces, _FEW)
        if (piece := next(pieces, None)) is not None:
            self.hold()
            self._held.extend(chain((piece,), pieces))

    def take_head(self) -> bytes:
        """Hand over the waiting lines to the caller."""
        text: list[bytes] = []
        self._held.flush(text.append)
        text += self._head
        self._head.clear()
        return b"".join(text)

    def flush(self) -> None:
        """Write the lines."""
        self._held.flush(self.write)
        if self._head:
            self.write(b"".join(self._head))
            self._head.clear()

    def add_base64(self, raw: bytes) -> None:
        """Add an event to the BINLOG statement."""
        self.body.extend(base64_pieces(raw))

    def add_rows(
        self, rows: QuickRows, item: Item, rows_header: RowsHeader | None, name: bytes | None
    ) -> None:
        """Add the rows of an event, with a new database name if one is given."""
        pieces, count = rows.pieces(item.event, rows_header, name)
        self.tail.extend(pieces)
        self.rows += count

    def count_rows(self, rows: QuickRows, item: Item, rows_header: RowsHeader | None) -> None:
        """Count the rows of an event without printing them."""
        self.rows += rows.count(item.event, rows_header)

    def base64(self, raw: bytes) -> bytes:
        """An event as lines of a BINLOG statement of its own."""
        return base64_lines(raw)

    def keep(self, item: Item, put: PutItem) -> None:
        """Keep an event to print it with another one; `put` adds its text."""
        self.kept = item, put

    def put_kept(self, item: Item) -> None:
        """Add the text of the kept event, with the position of another one."""
        if self.kept is not None:
            kept, put = self.kept
            kept.position = item.position
            put(kept)

    def end_statement(self, *, shows_count: bool = False, shows_zero: bool = False) -> None:
        """Write everything waiting, and the row count if it is requested and not zero."""
        self.flush()
        if self.body:
            self.write(BINLOG)
            self.body.flush(self.write)
            self.write(BINLOG_END + self._delimiter + b"\n")
        self.tail.flush(self.write)
        self.put_row_count(shows=shows_count, shows_zero=shows_zero)

    def put_row_count(self, *, shows: bool, shows_zero: bool = False) -> None:
        """Write the row count of a statement if it is requested, and reset it."""
        if shows and (self.rows or shows_zero):
            self.write(ROWS_NUMBER + b"%d\n" % self.rows)
        self.rows = 0

    def clear(self) -> None:
        """Discard everything waiting."""
        self._head.clear()
        self._held.clear()
        self.body.clear()
        self.tail.clear()
        self.kept = None
