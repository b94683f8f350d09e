"""Small events of MySQL, fast: what transactions of few rows consist of, printed from blocks of a log.

Strategy
--------
1. Fields of GTID, Xid and Rows_query events come from the columns of a block (`columns.block`).
2. A Query event and a table map that were seen are known by their bytes. What a statement prints of the
   session depends on its bytes and on the session alone, so both together are the key to its text.
3. Whatever is new, or does not fit, is left to the reader and the printer; so are the errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.adapter import stored_checksum
from binlog_kaitai.columns.block import Block
from binlog_kaitai.context import Context
from binlog_kaitai.framing import Frame
from binlog_kaitai.grammar import CHECKSUM_SIZE, ROWS_TYPES, EventType, Format, Header, header_length
from binlog_kaitai.reader import Event
from binlog_kaitai.render.dump.gtids import GtidFields
from binlog_kaitai.render.dump.item import Item, item_of
from binlog_kaitai.render.dump.mysql import MysqlPrinter
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.text import timestamp
from binlog_kaitai.transactions import mysql_source

#: Table maps and statements that are remembered, and the longest of them in bytes.
_MOST = 1 << 10
_LONGEST = 1 << 12
_HEAD = b"# at %d\n#%s server id %d  end_log_pos %d CRC32 0x%08x "
_TIMESTAMP, _FLAGS = (Header._fields.index(name) for name in ("timestamp", "flags"))
_GTIDS = (EventType.gtid_log_event, EventType.anonymous_gtid_log_event)
#: In place of the fields of an event that does not fit the layout.
_MISFIT = object()
_NOT_PLAIN = ("hexdump", "short_form", "skip_gtids", "verify_checksums", "rewrite_databases", "database",
              "table", "server_id", "offset")  # fmt: skip

#: The numbers of :class:`binlog_kaitai.grammar.Header`.
_Header = tuple[int, ...]
_PrintRow = Callable[[int, int, bytes, _Header, Any], bool]


def is_plain(options: DumpOptions) -> bool:
    """Whether all events are printed, but for those behind a stop position, and as they are."""
    filters = (options.include_gtids, options.exclude_gtids, options.start_timestamp, options.stop_timestamp)
    return all(one is None for one in filters) and not any(getattr(options, name) for name in _NOT_PLAIN)


class _Statement(NamedTuple):
    """What a statement prints besides its header line, its threads' numbers and its time."""

    before: bytes  # the end of the first line, and what stands before the time
    after: bytes
    query: bytes
    session: dict[str, Any]


class SmallEvents:
    """Prints events of blocks.

    Parameters
    ----------
    printer
        Whose text it is; its state is kept as it keeps it.
    context
        Of the reader of the same log.
    """

    def __init__(self, printer: MysqlPrinter, context: Context) -> None:
        self.printer = printer
        self.context = context
        self._layout: Format | None = None
        self._flags: dict[int, Any] = {}
        self._tables: dict[bytes, Any] = {}
        self._table_texts: dict[tuple[bytes, bool], bytes] = {}
        self._statements: dict[Any, _Statement] = {}
        self._places: tuple[int, int, int] | None = None
        self._file = ""

    def begin(self, block: Block) -> None:
        """Go on with a block."""
        layout = block.layout
        if layout != self._layout:
            self._layout = layout
            self._tables.clear()
            self._table_texts.clear()
            self._statements.clear()
        self._file = block.file
        self._end = -CHECKSUM_SIZE if layout.is_checksummed else None
        self._places = None
        self._printers: dict[int, tuple[_PrintRow, Iterator[Any] | None]] = {}
        if block.is_special or layout.header_length != header_length(4) or layout.binlog_version != 4:
            return
        for kind in _GTIDS:
            self._gather(block, kind, self._print_gtid, _gtid_columns)
        self._gather(block, EventType.xid_event, self._print_xid, _xid_columns)
        self._gather(block, EventType.rows_query_log_event, self._print_rows_query, _query_columns)
        if EventType.query_event in block.counts:
            names = ("thread_id", "execution_time", "schema_name_length")
            places = [block.offset(EventType.query_event, name) for name in names]
            if None not in places and places == sorted(places, key=lambda one: one or 0):
                self._places = (places[0] or 0, places[1] or 0, places[2] or 0)
                self._printers[EventType.query_event] = self._print_query, None
        self._printers[EventType.table_map_event] = self._print_table_map, None
        self._printers |= dict.fromkeys(ROWS_TYPES, (self._print_rows, None))

    def _gather(
        self, block: Block, kind: int, print_row: _PrintRow, columns_of: Callable[[Block, Any], Any]
    ) -> None:
        rows = block.rows_of(kind)
        if not len(rows):
            return
        body = block.body(kind)
        if not body.layout.complete:
            return
        fits = np.broadcast_to(body.fits & (body.pos == body.size), len(rows))
        columns: Iterator[Any] = zip(*columns_of(block, body), strict=True)
        if not fits.all():
            pairs = zip(columns, fits.tolist(), strict=True)
            columns = (row if is_fit else _MISFIT for row, is_fit in pairs)
        self._printers[kind] = print_row, columns

    def print(self, kind: int, position: int, raw: bytes, header: _Header, *, may: bool) -> bool:
        """Print an event if it `may` be; False if it is left to the reader.

        All events of a block must come by here.
        """
        known = self._printers.get(kind)
        if known is None:
            return False
        print_row, rows = known
        row = None if rows is None else next(rows)
        if not may or row is _MISFIT or self.printer.head:
            return False
        return print_row(kind, position, raw, header, row)

    def _head(self, position: int, raw: bytes, header: _Header) -> bytes:
        """The line of the place and the beginning of the header line."""
        seconds, _, server_id, _, end_position, _ = header
        if self._end is None:
            return b"# at %d\n%s" % (position, self.printer.front(seconds, server_id, end_position))
        names = position, timestamp(seconds), server_id, end_position, stored_checksum(raw)
        return _HEAD % names

    def _print_gtid(self, kind: int, position: int, raw: bytes, header: _Header, row: Any) -> bool:
        uuid, gno, fields = row[0], row[1], GtidFields(*row[2:])
        printer = self.printer
        printer.has_seen_gtid = True
        printer.server_version = fields.immediate_server_version
        gtid = f"{mysql_source(uuid)}:{gno}" if kind == EventType.gtid_log_event else None
        line, statements = printer.gtid_lines(kind, fields, gtid)
        printer.write(self._head(position, raw, header) + line + b"".join(statements))
        return True

    def _print_xid(self, kind: int, position: int, raw: bytes, header: _Header, row: Any) -> bool:
        printer = self.printer
        printer.is_in_transaction = printer.has_seen_gtid = False
        line = b"\tXid = %d\nCOMMIT%s\n" % (row[0], printer.delimiter)
        printer.write(self._head(position, raw, header) + line)
        return True

    def _print_rows_query(self, kind: int, position: int, raw: bytes, header: _Header, row: Any) -> bool:
        printer = self.printer
        if printer.options.shown_rows < 2:
            printer.write(b"# at %d\n" % position)
            return True
        text = printer.rows_query_text(row[0])
        if printer.options.prints_base64:
            printer.add_base64(raw)
        printer.write(self._head(position, raw, header) + text)
        return True

    def _print_table_map(self, kind: int, position: int, raw: bytes, header: _Header, row: Any) -> bool:
        content = raw[header_length(4) : self._end]
        body = self._tables.get(content)
        if body is None:
            return False
        printer = self.printer
        self.context.remember(body)
        printer.quick.note(body, content)
        printer.ignored_maps.discard(body.table_id.value)
        key = content, printer.tells_invisible_keys
        text = self._table_texts.get(key)
        if text is None:
            text = self._table_texts[key] = printer.table_map_text(body)
        if printer.options.prints_base64:
            printer.add_base64(raw)
        printer.write(self._head(position, raw, header) + text)
        return True

    def _print_rows(self, kind: int, position: int, raw: bytes, header: _Header, row: Any) -> bool:
        layout = self._layout
        if layout is None:
            return False
        fixed = Header(*header)
        table_map = self.context.table_map_of(raw, fixed.type_code)
        status = "none" if self._end is None else "ok"
        event = Event(self._file, Frame(position, fixed, raw), layout, table_map, status)
        self.printer.process(item_of(event))
        return True

    def _print_query(self, kind: int, position: int, raw: bytes, header: _Header, row: Any) -> bool:
        if self._places is None or self.printer.waiting or len(raw) > _LONGEST:
            return False
        thread_at, time_at, rest_at = self._places
        printer, session = self.printer, self.printer.session
        statement = self._statements.get(
            (header[_FLAGS], raw[rest_at : self._end], tuple(vars(session).values()))
        )
        if statement is None:
            return False
        vars(session).update(statement.session)
        printer.note_statement(statement.query)
        printer.write(
            b"%s\tQuery\tthread_id=%d\texec_time=%d%sSET TIMESTAMP=%d%s"
            % (
                self._head(position, raw, header),
                int.from_bytes(raw[thread_at:time_at], "little"),
                int.from_bytes(raw[time_at:rest_at], "little"),
                statement.before,
                header[_TIMESTAMP],
                statement.after,
            )
        )
        return True

    def learn(self, item: Item, print_it: Callable[[Item], Any]) -> Any:
        """Print an event that was left to the reader, and keep what it is known by."""
        printer, event = self.printer, item.event
        is_small = len(event.raw) <= _LONGEST and event.payload_index is None and event.layout == self._layout
        if is_small and item.kind == EventType.table_map_event:
            if len(self._tables) >= _MOST or len(self._table_texts) >= _MOST:
                self._tables.clear()
                self._table_texts.clear()
            self._tables[event.raw[header_length(4) : self._end]] = event.body
        is_plain = not printer.waiting and not printer.head and self._places is not None
        if not (is_small and is_plain and item.kind == EventType.query_event):
            return print_it(item)
        return self._learn_statement(item, print_it)

    def _learn_statement(self, item: Item, print_it: Callable[[Item], Any]) -> Any:
        printer, body, raw = self.printer, item.event.body, item.event.raw
        session, write = printer.session, printer.write
        if session.flags2 is not None:
            session.flags2 = self._flags.setdefault(session.flags2.flags, session.flags2)
        state, before_thread = tuple(vars(session).values()), session.thread_id
        written: list[bytes] = []
        printer.write = written.append
        try:
            found = print_it(item)
        finally:
            printer.write = write
            text = b"".join(written)
            write(text)
        if session.flags2 is not None:
            session.flags2 = self._flags.setdefault(session.flags2.flags, session.flags2)
        head = self._head(item.position, raw, item.event.fixed_header)
        first = head + b"\tQuery\tthread_id=%d\texec_time=%d" % (body.thread_id, body.execution_time)
        before, time, after = text.removeprefix(first).partition(b"SET TIMESTAMP=%d" % item.timestamp)
        is_usual = not item.event.header.is_thread_specific and before_thread == session.thread_id
        if text.startswith(first) and time and is_usual and b"SET TIMESTAMP=" not in before:
            if len(self._statements) >= _MOST:
                self._statements.clear()
            _, _, rest_at = self._places or (0, 0, 0)
            key = item.event.fixed_header.flags, raw[rest_at : self._end], state
            self._statements[key] = _Statement(before, after, bytes(body.query), dict(vars(session)))
        return found


def _gtid_columns(block: Block, body: Any) -> tuple[Any, ...]:
    numbers = (_values(body, name) for name in GtidFields._fields)
    return _runs(block, body, "uuid"), _values(body, "gno"), *numbers


def _xid_columns(block: Block, body: Any) -> tuple[Any, ...]:
    return (_values(body, "xid"),)


def _query_columns(block: Block, body: Any) -> tuple[Any, ...]:
    return (_runs(block, body, "query"),)


def _values(body: Any, name: str) -> list[Any]:
    """A number of each event, 0 for those without."""
    values: list[Any] = np.where(body.mask(name), body.numbers(name), 0).tolist()
    return values


def _runs(block: Block, body: Any, name: str) -> list[bytes]:
    """A run of bytes of each event."""
    starts, lengths = body.ranges(name)
    ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
    return [bytes(block.data[at : at + size]) for at, size in ranges]
