"""`--flashback` of `mariadb-binlog`: inverts the row changes of a log, last change first.

Strategy
--------
1. A rows event becomes its inverse: an INSERT becomes a DELETE and vice versa, with the images in reverse
   order.
   In an update, this also swaps the before and after images.
2. The events of a statement are reversed, and so are the events that begin or end transactions. This text is
   pushed to a stack on disk, and read backward at the end, so memory does not depend on the size of the log.
3. Comments and settings keep their order and come first, as in the client. Statements are left out because
   their effect is unknown.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.render.dump.inverse_rows import InverseRows, event_of, flagged, opposite
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.mariadb import MariadbPrinter
from binlog_kaitai.render.dump.mariadb_rows import rows_line, uncompressed
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.output import Output, Write
from binlog_kaitai.render.dump.printer import Version
from binlog_kaitai.render.dump.row_programs import RowsHeader
from binlog_kaitai.render.dump.text import encode
from binlog_kaitai.render.stack import Stack

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import MariadbGtidEvent, RowsBody, XidEvent


#: Text that is reversed; everything else is written immediately.
_HELD = frozenset(
    (
        EventType.query_event,
        EventType.query_compressed_event,
        EventType.xid_event,
        EventType.gtid_event,
        EventType.xa_prepare_log_event,
    )
)
_INSTEAD = {b"BEGIN": b"COMMIT", b"COMMIT": b"START TRANSACTION"}
#: Short pieces are joined before they are compressed.
_CHUNK = 1 << 20


class _Held:
    """Pieces of text in reverse order; the pieces themselves are not reversed."""

    def __init__(self) -> None:
        self._stack: Stack | None = None
        self._pieces: list[bytes] = []
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._pieces) or bool(self._stack)

    def push(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size >= _CHUNK:
            self._settle()

    def take(self, other: _Held) -> None:
        """Move all pieces of another stack on top of these."""
        if other._stack:
            other._settle()
            self._settle().take(other._stack)
        for piece in other._pieces:
            self.push(piece)
        other._pieces, other._size = [], 0

    def _settle(self) -> Stack:
        if self._stack is None:
            self._stack = Stack()
        if self._pieces:
            self._stack.append(b"".join(reversed(self._pieces)))
        self._pieces, self._size = [], 0
        return self._stack

    def write_backward(self, write: Write) -> None:
        """Write everything, and clear the stack."""
        for piece in reversed(self._pieces):
            write(piece)
        self._pieces, self._size = [], 0
        if self._stack is not None:
            with closing(self._stack):
                for chunk in self._stack.backwards():
                    write(chunk)
            self._stack = None


class _Inverse(Output):
    """Receives the text of reversed events."""

    def __init__(self, printer: FlashbackPrinter, write: Write) -> None:
        super().__init__(write, printer.delimiter, printer.hexdump_style)
        self._printer = printer

    def flush(self) -> None:
        if not self._printer.hold_lines():
            super().flush()


class FlashbackPrinter(MariadbPrinter):
    """Prints the inverse of a MariaDB log."""

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles, version: Version) -> None:
        super().__init__(options, write, loads, version)
        self.out = _Inverse(self, write)
        self._held = _Held()
        # Of the current statement: header lines, BINLOG lines, rows as text.
        self._lines, self._base64_lines, self._texts = _Held(), _Held(), _Held()
        self._has_rows = False
        self._turn = InverseRows()
        self._kind = 0
        self._stop = b""

    def put_position(self, item: Item) -> None:
        """In another order, positions would be misleading."""

    def take(self, item: Item) -> None:
        self._kind = item.kind
        super().take(item)

    def hold_lines(self) -> bool:
        """Keep the lines of an event for the end, if they are reversed."""
        if self._kind == EventType.stop_event:
            self._stop = self.out.take_head()
        elif self._kind in _HELD:
            self._held.push(self.out.take_head())
        else:
            return False
        return True

    def put_query(self, item: Item, query: bytes, alter: Any) -> None:
        if query in _INSTEAD:
            self.out.head.append(_INSTEAD[query] + b"\n" + self.delimiter + b"\n")

    def print_xid(self, item: Item, body: XidEvent) -> None:
        self.put(item, b"\tXid = %(xid)d\n", b"START TRANSACTION" + self.delimiter + b"\n")

    def print_gtid(self, item: Item, body: MariadbGtidEvent) -> None:
        if not body.is_standalone:
            self.out.head.append(b"COMMIT\n" + self.delimiter + b"\n")

    def print_rows(self, item: Item) -> None:
        rows_header = self.rows_headers.of(item.event)
        body: Any = item.event.body if rows_header is None else rows_header.body
        if body.table_id.value not in self.state.ignored_maps:
            self._take_back(item, body, rows_header)
        if body.is_statement_end:
            self.state.ignored_maps, self.state.is_annotated = frozenset(), False
            self._end_rows()

    def _take_back(self, item: Item, body: RowsBody, rows_header: RowsHeader | None) -> None:
        # The client prints a compressed event under its uncompressed type.
        is_packed = "compressed" in EventType(item.kind).name
        kind = item.kind if is_packed else opposite(item.kind)
        is_end = not self._has_rows
        item.raw = flagged(item.event, is_end=is_end)
        # The client computes a checksum for decompressed events, including the flags.
        event = event_of(item.event, uncompressed(item, body) if is_packed else item.raw)
        shown = Item(event, item.kind, item.position, item.end_position, event.raw, item.checksum)
        if not self.options.short_form:
            self.put_header(shown)
            self._lines.push(self.out.take_head() + rows_line(kind, body, is_end=is_end))
        content = None if event.table_map is None else self.quick.content_of(event.table_map)[1]
        inverse = self._turn(event, rows_header, content)
        shown.event, shown.raw = inverse, inverse.raw
        if self.options.prints_base64:
            self._base64_lines.push(self.out.base64(shown.raw))
        self._put_text(inverse)
        self._has_rows = True

    def _put_text(self, event: Event) -> None:
        table_map: Any = event.table_map
        rows_header = self.rows_headers.of(event)
        if self.options.shown_rows:
            name = None if table_map is None else self.rewritten.get(encode(table_map.schema_name))
            found = self.quick.text(event, rows_header, name)
            self._texts.push(found.text)
            self.out.rows += found.rows
        elif not self.options.short_form:
            self.out.rows += self.quick.count(event, rows_header)

    def _end_rows(self) -> None:
        """Push a statement from its end to its start, since the stack is read backward."""
        maps: list[bytes] = []
        self.out.body.flush(maps.append)
        self._held.take(self._texts)
        if self._base64_lines:
            self._held.push(b"'" + self.delimiter + b"\n")
            self._held.take(self._base64_lines)
            self._held.push(b"\nBINLOG '\n" + b"".join(maps))
        self._held.take(self._lines)
        self.out.put_row_count(shows=self.shows_row_count)
        self._has_rows = False

    def end_log(self) -> None:
        self.out.clear()
        self._lines, self._base64_lines, self._texts = _Held(), _Held(), _Held()
        self.out.rows, self._has_rows = 0, False
        self.state.is_annotated = False

    def end_all(self) -> bytes:
        text = b"DELIMITER ;\n" + super().end_all()
        if self.is_broken:
            # Changes after the damage would have to be inverted first.
            return text
        self._held.write_backward(self.write)
        return b"COMMIT\n" + self.delimiter + b"\n" + self._stop + text
