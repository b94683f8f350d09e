"""Rows events in the format of `mariadb-binlog`."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.framing import resized
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_offset
from binlog_kaitai.render.dump.cells import MARIADB_CELLS
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.metadata import metadata_lines
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.output import Write
from binlog_kaitai.render.dump.printer import Printer
from binlog_kaitai.render.dump.quick import QuickRows
from binlog_kaitai.render.dump.row_comments import Style
from binlog_kaitai.render.dump.row_programs import RowsHeader, RowsHeaders
from binlog_kaitai.render.dump.text import encode, identifier

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import AnnotateRowsEvent
    from binlog_kaitai.core.grammar import TableMapEvent


#: The client writes this to stderr, and ends.
_UNKNOWN = b"Don't know how to handle column type: %d meta: %d (%04x)\n"

_ROWS_NAMES = {"write": b"Write", "update": b"Update", "delete": b"Delete"}


def rows_line(kind: int, body: Any, *, is_end: bool) -> bytes:
    """The rest of a rows event's header line."""
    flags = b" flags: STMT_END_F" if is_end else b""
    return b"\t%s: table id %d%s\n" % (_rows_name(kind), body.table_id.value, flags)


def _rows_name(kind: int) -> bytes:
    words = EventType(kind).name.split("_")
    verb = next(_ROWS_NAMES[word] for word in words if word in _ROWS_NAMES)
    return verb + (b"_compressed_rows" if "compressed" in words else b"_rows")


class MariadbRows(Printer):
    """Prints table maps, rows events, and the statements before them."""

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        super().__init__(options, write, loads)
        self.style = Style(MARIADB_CELLS, options.shown_rows, _UNKNOWN)
        self.rows_headers, self.quick = RowsHeaders(), QuickRows(self.style, is_mariadb=True)

    def keep_annotation(self, item: Item, body: AnnotateRowsEvent) -> None:
        """Keep the statement of a rows event until rows follow."""
        if not self.options.skip_annotate_row_events:
            self.state.is_annotated = True
            self.out.keep(item, self.put_annotation)

    def put_annotation(self, item: Item) -> None:
        """Add the statement of a rows event."""
        if self.options.short_form:
            self.out.head.append(b"# Annotate_rows:\n")
        else:
            self.put_header(item)
            self.out.head.append(b"\tAnnotate_rows:\n")
        self.out.head.fill(b"%(lines)s", item)

    def skips_table(self, body: TableMapEvent) -> bool:
        wanted = self.options.table
        return super().skips_table(body) or (bool(wanted) and encode(wanted or "") != encode(body.table_name))

    def print_table_map(self, item: Item, body: TableMapEvent) -> None:
        state, number = self.state, body.table_id.value
        if self.skips_table(body):
            state.ignored_maps |= {number}
            return
        state.ignored_maps -= {number}
        if state.is_annotated:
            state.is_annotated = False
            self.out.put_kept(item)
        line, metadata = self.table_map_text(body)
        self.put_comment(item, line)
        self.out.head.append(metadata)
        self.add_base64(item)

    def table_map_text(self, body: TableMapEvent) -> tuple[bytes, bytes]:
        """The rest of a table map's header line, and the lines after it."""
        database, table = encode(body.schema_name), encode(body.table_name)
        name = identifier(self.rewritten.get(database, database)) + b"." + identifier(table)
        triggers = b" (has triggers)" if body.has_triggers else b""
        line = b"\tTable_map: %s mapped to number %d%s\n" % (name, body.table_id.value, triggers)
        if not self.options.print_table_metadata:
            return line, b""
        return line, metadata_lines(body, is_mariadb=True, old_names=self.version < (10, 6))

    def print_rows(self, item: Item) -> None:
        """Print one rows event; at the end of the statement, everything kept of it."""
        rows_header, state = self.rows_headers.of(item.event), self.state
        body: Any = item.event.body if rows_header is None else rows_header.body
        is_end = bool(body.is_statement_end)
        if body.table_id.value not in state.ignored_maps:
            self._keep_rows(item, body, rows_header)
            state.ends_unknown = is_end and item.event.table_map is None
        if is_end:
            state.ignored_maps, state.is_annotated = frozenset(), False
            self.end_statement()

    @staticmethod
    def rows_line(kind: int, body: Any) -> bytes:
        """The rest of a rows event's header line."""
        return rows_line(kind, body, is_end=body.is_statement_end)

    def _keep_rows(self, item: Item, body: Any, rows_header: RowsHeader | None) -> None:
        if "compressed" in EventType(item.kind).name:
            item.raw = uncompressed(item, body)
        if not self.options.short_form:
            self.put_header(item)
            self.out.head.append(self.rows_line(item.kind, body))
            self.add_base64(item)
        table_map = item.event.table_map
        if self.options.shown_rows:
            self.out.add_rows(self.quick, item, rows_header, self.new_name(table_map))
        elif table_map is not None and not self.options.short_form:
            self.out.count_rows(self.quick, item, rows_header)

    @property
    def shows_row_count(self) -> bool:
        """Whether the row count of a statement is printed."""
        return self.options.prints_row_count and not self.options.short_form

    def end_statement(self) -> None:
        """Write everything kept of a statement's rows events."""
        self.out.end_statement(shows_count=self.shows_row_count, shows_zero=self.state.ends_unknown)
        self.state.ends_unknown = False


def uncompressed(item: Item, body: Any) -> bytes:
    """The plain rows event for a compressed one."""
    packed: Any = body.compressed_images
    after = CHECKSUM_SIZE if item.event.checksum_status != "none" else 0
    front = item.raw[: len(item.raw) - after - packed._io.size()]
    plain = getattr(EventType, EventType(item.kind).name.replace("_compressed", ""))
    at = header_offset("type_code")
    front = front[:at] + bytes([plain]) + front[at + 1 :]
    data = zlib.decompress(packed.deflated.data)
    raw = resized(front + data, len(front) + len(data) + after)
    return raw + crc32(raw).to_bytes(CHECKSUM_SIZE, "little") if after else raw
