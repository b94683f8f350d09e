"""Rows events in the format of `mysqlbinlog`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import UsageError
from binlog_kaitai.render.dump.cells import MYSQL_CELLS
from binlog_kaitai.render.dump.gtid_text import UNDEFINED_VERSION
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.metadata import metadata_lines
from binlog_kaitai.render.dump.options import Base64Output, DumpOptions
from binlog_kaitai.render.dump.output import Write
from binlog_kaitai.render.dump.printer import Printer
from binlog_kaitai.render.dump.quick import QuickRows
from binlog_kaitai.render.dump.row_comments import Style, extra_info
from binlog_kaitai.render.dump.row_programs import RowsHeader, RowsHeaders
from binlog_kaitai.render.dump.text import encode

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import RowsEvent, RowsQueryEvent
    from binlog_kaitai.core.grammar import TableMapEvent


#: The first version whose table maps record generated invisible keys.
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


def shows_invisible_keys(version: int) -> bool:
    """Whether servers of a version log if a key was generated and invisible."""
    return _FIRST_WITH_INVISIBLE_KEYS <= version != UNDEFINED_VERSION


class MysqlRows(Printer):
    """Prints table maps and rows events."""

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        super().__init__(options, write, loads)
        unknown = b"!! Don't know how to handle column type=%d meta=%d (%04x)\n"
        self.style = Style(MYSQL_CELLS, options.shown_rows, unknown)
        self.rows_headers, self.quick = RowsHeaders(), QuickRows(self.style, is_mariadb=False)

    def print_rows_query(self, item: Item, body: RowsQueryEvent) -> None:
        if self.options.shown_rows < 2:
            return
        self.put_header(item)
        self.out.head.fill(b"\tRows_query\n%(lines)s", item)
        self.add_base64(item)

    def print_table_map(self, item: Item, body: TableMapEvent) -> bool:
        state, number = self.state, body.table_id.value
        if self.skips_table(body):
            state.ignored_maps |= {number}
            state.has_left_out = True
            return False
        state.ignored_maps -= {number}
        if self.options.short_form:
            return True
        self.put_header(item)
        self.out.head.append(
            self.table_map_text(body, shows_visibility=shows_invisible_keys(state.server_version))
        )
        self.add_base64(item)
        return True

    def table_map_text(self, body: TableMapEvent, *, shows_visibility: bool) -> bytes:
        """The rest of a table map's header line, if requested with the visibility of the key."""
        database = encode(body.schema_name)
        names = (self.rewritten.get(database, database), encode(body.table_name), body.table_id.value)
        text = b"\tTable_map: `%s`.`%s` mapped to number %d\n" % names
        if shows_visibility:
            flag = body.has_generated_invisible_primary_key
            text += b"# has_generated_invisible_primary_key=%d\n" % flag
        if self.options.print_table_metadata:
            text += metadata_lines(body, is_mariadb=False)
        return text

    def print_rows(self, item: Item) -> bool:
        """Print one rows event; at the end of the statement, everything kept of it."""
        rows_header = self.rows_headers.of(item.event)
        body: Any = item.event.body if rows_header is None else rows_header.body
        skips = body.table_id.value in self.state.ignored_maps
        self.state.has_left_out |= skips
        if not skips:
            self._keep_rows(item, body, rows_header)
        if body.is_statement_end:
            self.state.ignored_maps = frozenset()
            self.out.end_statement()
        return not skips

    @staticmethod
    def rows_line(kind: int, body: RowsEvent) -> bytes:
        """The rest of a rows event's header line."""
        flags = b"".join(name for field, name in _ROWS_FLAGS if getattr(body, field, False))
        flags = b" flags:" + flags if flags else b""
        return b"\t%s: table id %d%s\n" % (_ROWS_NAMES.get(kind, b"Rows"), body.table_id.value, flags)

    def _keep_rows(self, item: Item, body: RowsEvent, rows_header: RowsHeader | None) -> None:
        if self.options.short_form:
            return
        if self.options.base64_output is Base64Output.NEVER:
            reason = "--base64-output=never specified, but the log has rows, which are printed in base64"
            raise UsageError(reason)
        line = None if rows_header is None else rows_header.line
        if line is None:
            line = self.rows_line(item.kind, body)
            if rows_header is not None:
                rows_header.line = line
        self.put_header(item)
        self.out.head.append(line)
        self.add_base64(item)
        if self.options.shown_rows:
            self._add_rows(item, body, rows_header)

    def _add_rows(self, item: Item, body: RowsEvent, rows_header: RowsHeader | None) -> None:
        extra = None if rows_header is None else rows_header.extra
        if extra is None:
            extra = extra_info(body)
            if rows_header is not None:
                rows_header.extra = extra
        self.out.tail.extend(extra)
        self.out.add_rows(self.quick, item, rows_header, self.new_name(item.event.table_map))
