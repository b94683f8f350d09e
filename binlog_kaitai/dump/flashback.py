"""`--flashback` of `mariadb-binlog`: inverts the row changes of a log, last change first.

Strategy
--------
1. A rows event becomes its inverse: an INSERT becomes a DELETE and vice versa, with the images in reverse
   order. In an update, this also swaps the before and after images.
2. The events of a statement are reversed, and so are the events that begin or end transactions. This text is
   pushed to a stack on disk, and read backward at the end, so memory does not depend on the size of the log.
3. Comments and settings keep their order and come first, as in the client. Statements are left out because
   their effect is unknown.
"""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from binlog_kaitai.core.grammar import EventType, Format, header_offset, masks
from binlog_kaitai.dump.client_values import encode
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.dump.dump_output import BINLOG, BINLOG_END, LoadFiles, Write
from binlog_kaitai.dump.mariadb_binlog import MariadbPrinter, event_of, rows_line, uncompressed
from binlog_kaitai.dump.printed_event import PrintedEvent
from binlog_kaitai.dump.printer import Version
from binlog_kaitai.dump.row_comments import RowProgram, RowsHeader, images_of, refusal, table_name
from binlog_kaitai.errors import BinlogError, GrammarError, UsageError
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.log.block import offset_of
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.gather import take_ranges
from binlog_kaitai.render.disk_stack import Stack
from binlog_kaitai.rows.image_walk import MismatchError, WalkInput, joined, located
from binlog_kaitai.values.decoders import len_null_bits

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import MariadbGtidEvent, RowsBody, XidEvent


_STATEMENT_END = masks.RowsEvent.IS_STATEMENT_END
_TYPE_AT = header_offset("type_code")
#: How many rows are located at once.
_ROWS = 1 << 14
_NOWHERE = np.iinfo(np.int64).max


@lru_cache
def opposite(kind: int) -> int:
    """The inverse of a rows event type."""
    name = EventType(kind).name
    for verb, other in (("write_", "delete_"), ("delete_", "write_")):
        if name.startswith(verb):
            return int(getattr(EventType, other + name.removeprefix(verb)))
    return kind


def flagged(event: ParsedEvent, *, is_end: bool) -> bytes:
    """A rows event with its end-of-statement flag set or cleared."""
    offset = _flags_at(event.layout, event.type_code)
    if offset is None:
        raise event.locate(GrammarError("its flags cannot be located"))
    raw = event.raw
    flags = raw[offset] | _STATEMENT_END if is_end else raw[offset] & ~_STATEMENT_END
    return raw[:offset] + bytes([flags]) + raw[offset + 1 :]


@lru_cache
def _flags_at(layout: Format, code: int) -> int | None:
    place = offset_of(layout, layout.effective_type(code), code, "flags")
    return None if place is None else layout.header_length + place


def inverse_of(event: ParsedEvent, rows_header: RowsHeader, program: RowProgram) -> ParsedEvent:
    """The inverse of a rows event that is not compressed.

    Its checksum stays unchanged, as in `mariadb-binlog`.

    Raises `GrammarError`: the rows contradict their table map.
    """
    start, end = images_of(event, rows_header)
    data = np.frombuffer(event.raw, dtype=np.uint8)
    begins = _begins(event, program, data, (start, end))[::-1]
    lengths = -np.diff(begins, prepend=end)
    images, _ = take_ranges(data, np.ascontiguousarray(begins), lengths)
    raw, code = event.raw, bytes([opposite(event.type_code)])
    front = raw[:_TYPE_AT] + code + raw[_TYPE_AT + 1 : start]
    return event_of(event, front + images.tobytes() + raw[end:])


def _begins(event: ParsedEvent, program: RowProgram, data: Bytes, place: tuple[int, int]) -> Ints:
    """The start of each image, in order, int64."""
    start, end = place
    null_bytes, width = len_null_bits(max(program.images.counts)), program.stored.num_columns
    zero = np.zeros(1, dtype=np.int64)
    images = joined([program.images._replace(partial=-1)])
    begins: list[Ints] = [zero[:0]]
    try:
        for rows in located(WalkInput(data, zero + start, zero + end, zero, zero, *images), width, _ROWS):
            first = np.where(rows.starts < 0, _NOWHERE, rows.starts).min(axis=0, initial=_NOWHERE)
            begins.append(first - null_bytes)
    except MismatchError:
        raise program.mismatch from None
    return _filled(np.concatenate(begins), end, null_bytes)


def _filled(begins: Ints, end: int, size: int) -> Ints:
    """The same, including all-NULL images, which have `size` bytes."""
    for index in np.flatnonzero(begins > end)[::-1].tolist():
        begins[index] = (begins[index + 1] if index + 1 < len(begins) else end) - size
    return begins


def _check_images(event: ParsedEvent, body: Any) -> None:
    columns = [] if body.is_write else [body.columns]
    columns += [body.columns_after] if body.is_update else []
    if any(column.num_present < body.num_columns.value for column in columns):
        place = f"{event.file}, position {event.position}"
        raise UsageError(f"{place}: --flashback requires full row images (binlog_row_image=FULL)")


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


class FlashbackPrinter(MariadbPrinter):
    """Prints the inverse of a MariaDB log."""

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles, version: Version) -> None:
        super().__init__(options, write, loads, version)
        self._held = _Held()
        # Of the current statement: header lines, BINLOG lines, rows as text.
        self._lines, self._base64_lines, self._texts = _Held(), _Held(), _Held()
        self._has_rows = False
        self._stop = b""

    def put_position(self, printed: PrintedEvent) -> None:
        """In another order, positions would be misleading."""

    def flush(self, printed: PrintedEvent) -> None:
        """Write the lines of an event, or keep them for the end if they are reversed."""
        if printed.kind == EventType.stop_event:
            self._stop = b"".join(self.out.head.take())
        elif printed.kind in _HELD:
            self._held.push(b"".join(self.out.head.take()))
        else:
            super().flush(printed)

    def put_query(self, printed: PrintedEvent, query: bytes, alter: Any) -> None:
        if query in _INSTEAD:
            self.out.head.append(_INSTEAD[query] + b"\n" + self.delimiter + b"\n")

    def print_xid(self, printed: PrintedEvent, body: XidEvent) -> None:
        self.put(printed, b"\tXid = %(xid)d\n", b"START TRANSACTION" + self.delimiter + b"\n")

    def print_gtid(self, printed: PrintedEvent, body: MariadbGtidEvent) -> None:
        if not body.is_standalone:
            self.out.head.append(b"COMMIT\n" + self.delimiter + b"\n")

    def print_rows(self, printed: PrintedEvent) -> None:
        rows_header = self.rows_headers.of(printed.event)
        body = printed.event.body if rows_header is None else rows_header.body
        if body.table_id.value not in self.state.ignored_maps:
            self._take_back(printed, body, rows_header)
        if body.is_statement_end:
            self.state.ignored_maps, self.state.is_annotated = frozenset(), False
            self._end_rows()

    def _take_back(self, printed: PrintedEvent, body: RowsBody, rows_header: RowsHeader | None) -> None:
        # The client prints a compressed event under its uncompressed type.
        is_packed = "compressed" in EventType(printed.kind).name
        kind = printed.kind if is_packed else opposite(printed.kind)
        is_end = not self._has_rows
        printed.raw = flagged(printed.event, is_end=is_end)
        # The client computes a checksum for decompressed events, including the flags.
        event = event_of(printed.event, uncompressed(printed, body) if is_packed else printed.raw)
        shown = PrintedEvent(
            event, printed.kind, printed.position, printed.end_position, event.raw, printed.checksum
        )
        if not self.options.short_form:
            self.put_header(shown)
            self._lines.push(b"".join(self.out.head.take()) + rows_line(kind, body, is_end=is_end))
        inverse = self._inverse(event, self.rows_headers.of(event))
        shown.event, shown.raw = inverse, inverse.raw
        if self.options.prints_base64:
            self._base64_lines.push(self.out.base64(shown.raw))
        self._put_text(inverse)
        self._has_rows = True

    def _inverse(self, event: ParsedEvent, rows_header: RowsHeader | None) -> ParsedEvent:
        if event.table_map is None:
            raise event.locate(GrammarError("the rows have no table map"))
        if rows_header is None:
            raise event.locate(GrammarError("its rows cannot be inverted"))
        _check_images(event, rows_header.body)
        try:
            programs = self.row_printer.programs
            program = programs[self.row_printer.program_of(event, rows_header)]
            return inverse_of(event, rows_header, program)
        except BinlogError as error:
            raise event.locate(refusal(event, table_name(event.table_map), error)) from None

    def _put_text(self, event: ParsedEvent) -> None:
        table_map: Any = event.table_map
        rows_header = self.rows_headers.of(event)
        if self.options.shown_rows:
            name = None if table_map is None else self.rewritten.get(encode(table_map.schema_name))
            pieces, rows = self.row_printer.pieces(event, rows_header, name)
            self._texts.push(b"".join(pieces))
            self.out.rows += rows
        elif not self.options.short_form:
            self.out.rows += self.row_printer.count(event, rows_header)

    def _end_rows(self) -> None:
        """Push a statement from its end to its start, since the stack is read backward."""
        maps = b"".join(self.out.body.take())
        self._held.take(self._texts)
        if self._base64_lines:
            self._held.push(BINLOG_END + self.delimiter + b"\n")
            self._held.take(self._base64_lines)
            self._held.push(BINLOG + maps)
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
