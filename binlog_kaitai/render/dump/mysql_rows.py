"""Rows events in the dress of `mysqlbinlog`."""

from __future__ import annotations

from typing import Any

from binlog_kaitai.errors import UsageError
from binlog_kaitai.grammar import EventType
from binlog_kaitai.render.dump.cells import MYSQL_CELLS
from binlog_kaitai.render.dump.gtids import UNDEFINED_VERSION
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.metadata import metadata_lines
from binlog_kaitai.render.dump.options import Base64Output, DumpOptions
from binlog_kaitai.render.dump.printer import Printer, Write
from binlog_kaitai.render.dump.quick import QuickRows
from binlog_kaitai.render.dump.row_programs import Head, Heads
from binlog_kaitai.render.dump.rows import Style, extra_info, rows_text
from binlog_kaitai.render.dump.text import comment, encode

#: The first version whose table maps say whether a key was generated and invisible.
_FIRST_WITH_INVISIBLE_KEYS = 80030
_ROWS_NAMES: dict[int, bytes] = {
    EventType.write_rows_event: b"Write_rows",
    EventType.update_rows_event: b"Update_rows",
    EventType.delete_rows_event: b"Delete_rows",
    EventType.write_rows_event_v1: b"Write_rows",
    EventType.update_rows_event_v1: b"Update_rows",
    EventType.delete_rows_event_v1: b"Delete_rows",
    EventType.partial_update_rows_event: b"Update_rows_partial",
}
_ROWS_FLAGS = (
    ("is_statement_end", b" STMT_END_F"),
    ("has_no_foreign_key_checks", b" NO_FOREIGN_KEY_CHECKS_F"),
    ("has_relaxed_unique_checks", b" RELAXED_UNIQUE_CHECKS_F"),
    ("is_complete", b" COMPLETE_ROWS_F"),
    ("is_sql_foreign_key", b" USE_SQL_FOREIGN_KEY_F"),
)


def tells_invisible_keys(version: Any) -> Any:
    """Whether servers of a version, or of an array of them, log if a key was generated and invisible."""
    return (version >= _FIRST_WITH_INVISIBLE_KEYS) & (version != UNDEFINED_VERSION)


class MysqlRows(Printer):
    """Prints table maps and rows events.

    Attributes
    ----------
    server_version : int
        Of the server that wrote the transaction, by its GTID event; 0 if that does not tell.
    has_left_out : bool
        `--database` left something out, and no end of a transaction was printed since.
    """

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        super().__init__(options, write, loads)
        unknown = b"!! Don't know how to handle column type=%d meta=%d (%04x)\n"
        self.style = Style(MYSQL_CELLS, options.shown_rows, unknown)
        self.heads, self.quick = Heads(), QuickRows(self.style, is_mariadb=False)
        self.server_version = 0
        self.has_left_out = False

    def print_rows_query(self, item: Item, body: Any) -> None:
        if self.options.shown_rows < 2:
            return
        self.head.append(self.header(item) + self.rows_query_text(bytes(body.query)))
        self._add_base64(item)

    @staticmethod
    def rows_query_text(query: bytes) -> bytes:
        """What stands behind the header of a Rows_query event."""
        lines = [b"# " + comment(line) + b"\n" for line in query.split(b"\n") if line]
        return b"\tRows_query\n" + b"".join(lines)

    def print_table_map(self, item: Item, body: Any) -> bool:
        if self.skips_table(body):
            self.ignored_maps.add(body.table_id.value)
            self.has_left_out = True
            return False
        self.ignored_maps.discard(body.table_id.value)
        if self.options.short_form:
            return True
        tells = tells_invisible_keys(self.server_version)
        self.head.append(self.header(item) + self.table_map_text(body, tells=tells))
        self._add_base64(item)
        return True

    def table_map_text(self, body: Any, *, tells: bool) -> bytes:
        """What stands behind the header of a table map; with `tells` whether its key is invisible."""
        database = encode(body.schema_name)
        names = (self.rewritten.get(database, database), encode(body.table_name), body.table_id.value)
        text = b"\tTable_map: `%s`.`%s` mapped to number %d\n" % names
        if tells:
            flag = body.has_generated_invisible_primary_key
            text += b"# has_generated_invisible_primary_key=%d\n" % flag
        if self.options.print_table_metadata:
            text += metadata_lines(body, is_mariadb=False)
        return text

    def _add_base64(self, item: Item) -> None:
        if self.options.prints_base64:
            self.add_base64(item.raw)

    def add_base64(self, raw: bytes) -> None:
        """Add an event to the BINLOG statement."""
        self.body.extend(self._base64.pieces(raw))

    def print_rows(self, item: Item) -> bool:
        """One rows event; at the statement's end, all that has been kept of it."""
        head = self.heads.of(item.event)
        body: Any = item.event.body if head is None else head.body
        is_end = bool(body.is_statement_end)
        skips = body.table_id.value in self.ignored_maps
        self.has_left_out |= skips
        if not skips:
            self._keep_rows(item, body, head)
        if is_end:
            self.ignored_maps.clear()
            self.end_statement()
        return not skips

    @staticmethod
    def rows_line(kind: int, body: Any) -> bytes:
        """What stands behind the header of a rows event."""
        flags = b"".join(name for field, name in _ROWS_FLAGS if getattr(body, field, False))
        flags = b" flags:" + flags if flags else b""
        return b"\t%s: table id %d%s\n" % (_ROWS_NAMES.get(kind, b"Rows"), body.table_id.value, flags)

    def _keep_rows(self, item: Item, body: Any, head: Head | None) -> None:
        if self.options.short_form:
            return
        if self.options.base64_output is Base64Output.NEVER:
            reason = "--base64-output=never specified, but the log has rows, which are printed in base64"
            raise UsageError(reason)
        line = None if head is None else head.line
        if line is None:
            line = self.rows_line(item.kind, body)
            if head is not None:
                head.line = line
        self.head.append(self.header(item) + line)
        self._add_base64(item)
        if self.options.shown_rows:
            self._add_rows(item, body, head)

    def _add_rows(self, item: Item, body: Any, head: Head | None) -> None:
        extra = None if head is None else head.extra
        if extra is None:
            extra = extra_info(body)
            if head is not None:
                head.extra = extra
        self.tail.extend(extra)
        name = self.new_name(item.event.table_map)
        if head is None:
            self.tail.append(rows_text(item.event, self.style, name).text)
        else:
            self.tail.append(self.quick.text(item.event, head, name).text)
