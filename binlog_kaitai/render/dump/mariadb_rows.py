"""Rows events in the dress of `mariadb-binlog`."""

from __future__ import annotations

import re
import zlib
from typing import Any

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.framing import resized
from binlog_kaitai.grammar import CHECKSUM_SIZE, EventType, header_offset
from binlog_kaitai.render.dump.cells import MARIADB_CELLS
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.metadata import metadata_lines
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.printer import Printer, Write
from binlog_kaitai.render.dump.quick import QuickRows
from binlog_kaitai.render.dump.row_programs import Head, Heads
from binlog_kaitai.render.dump.rows import Style, rows_text
from binlog_kaitai.render.dump.text import encode, identifier

#: Behind the rows of a statement.
ROWS_NUMBER = b"# Number of rows: "
_ROWS_NAMES = {"write": b"Write", "update": b"Update", "delete": b"Delete"}


def rows_line(kind: int, body: Any, *, is_end: bool) -> bytes:
    """What stands behind the header of a rows event."""
    flags = b" flags: STMT_END_F" if is_end else b""
    return b"\t%s: table id %d%s\n" % (_rows_name(kind), body.table_id.value, flags)


def _rows_name(kind: int) -> bytes:
    words = EventType(kind).name.split("_")
    verb = next(_ROWS_NAMES[word] for word in words if word in _ROWS_NAMES)
    return verb + (b"_compressed_rows" if "compressed" in words else b"_rows")


class MariadbRows(Printer):
    """Prints table maps, rows events, and the statements behind them."""

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        super().__init__(options, write, loads)
        self.style = Style(MARIADB_CELLS, options.shown_rows, b"")
        self.heads, self.quick = Heads(), QuickRows(self.style, is_mariadb=True)
        self.annotation: Item | None = None
        self.ends_unknown = False  # the last rows of a statement are of a table that the text does not have

    def keep_annotation(self, item: Item, body: Any) -> None:
        """Keep the statement of rows until there are any."""
        if not self.options.skip_annotate_row_events:
            self.annotation = item

    def _print_annotation(self, item: Item) -> None:
        kept, self.annotation = self.annotation, None
        if kept is None:
            return
        kept.position = item.position
        line = b"# Annotate_rows:\n" if self.options.short_form else self.header(kept) + b"\tAnnotate_rows:\n"
        self.head.append(line)
        self.head.append(self.annotation_text(bytes(kept.event.body.query)))

    @staticmethod
    def annotation_text(query: bytes) -> bytes:
        """A statement of rows in lines."""
        return b"".join(b"#Q> " + one + b"\n" for one in re.split(rb"[\r\n]+", query) if one)

    def skips_table(self, body: Any) -> bool:
        wanted = self.options.table
        return super().skips_table(body) or (bool(wanted) and encode(wanted or "") != encode(body.table_name))

    def print_table_map(self, item: Item, body: Any) -> None:
        if self.skips_table(body):
            self.ignored_maps.add(body.table_id.value)
            return
        self.ignored_maps.discard(body.table_id.value)
        self._print_annotation(item)
        line, metadata = self.table_map_text(body)
        self.put_comment(item, line)
        self.head.append(metadata)
        self._add_base64(item)

    def table_map_text(self, body: Any) -> tuple[bytes, bytes]:
        """What stands behind the header of a table map, and what follows it."""
        database, table = encode(body.schema_name), encode(body.table_name)
        name = identifier(self.rewritten.get(database, database)) + b"." + identifier(table)
        triggers = b" (has triggers)" if body.has_triggers else b""
        line = b"\tTable_map: %s mapped to number %d%s\n" % (name, body.table_id.value, triggers)
        if not self.options.print_table_metadata:
            return line, b""
        return line, metadata_lines(body, is_mariadb=True, old_names=self.version < (10, 6))

    def _add_base64(self, item: Item) -> None:
        if self.options.prints_base64:
            self.body.append(self.base64(item))

    def print_rows(self, item: Item) -> None:
        """One rows event; at the statement's end, all that has been kept of it."""
        head = self.heads.of(item.event)
        body: Any = item.event.body if head is None else head.body
        is_end = bool(body.is_statement_end)
        if body.table_id.value not in self.ignored_maps:
            self._keep_rows(item, body, head)
            self.ends_unknown = is_end and item.event.table_map is None
        if is_end:
            self.ignored_maps.clear()
            self.annotation = None
            self.end_statement()

    @staticmethod
    def rows_line(kind: int, body: Any) -> bytes:
        """What stands behind the header of a rows event."""
        return rows_line(kind, body, is_end=body.is_statement_end)

    def _keep_rows(self, item: Item, body: Any, head: Head | None) -> None:
        if "compressed" in EventType(item.kind).name:
            item.raw = uncompressed(item, body)
        if not self.options.short_form:
            self.head.append(self.header(item) + self.rows_line(item.kind, body))
            self._add_base64(item)
        table_map = item.event.table_map
        if self.options.shown_rows:
            name = self.new_name(table_map)
            found = (
                rows_text(item.event, self.style, name)
                if head is None
                else self.quick.text(item.event, head, name)
            )
            self.tail.append(found.text)
            self.rows += found.rows
        elif table_map is not None and not self.options.short_form:
            self.rows += self.quick.count(item.event, head)

    def end_statement(self) -> None:
        super().end_statement()
        shows_rows = self.options.prints_row_count and not self.options.short_form
        if (self.rows or self.ends_unknown) and shows_rows:
            self.write(ROWS_NUMBER + b"%d\n" % self.rows)
        self.rows, self.ends_unknown = 0, False


def uncompressed(item: Item, body: Any) -> bytes:
    """A compressed rows event as the plain one that it stands for."""
    packed: Any = body.compressed_images
    behind = CHECKSUM_SIZE if item.event.checksum_status != "none" else 0
    front = item.raw[: len(item.raw) - behind - packed._io.size()]
    plain = getattr(EventType, EventType(item.kind).name.replace("_compressed", ""))
    at = header_offset("type_code")
    front = front[:at] + bytes([plain]) + front[at + 1 :]
    data = zlib.decompress(packed.deflated.data)
    raw = resized(front + data, len(front) + len(data) + behind)
    return raw + crc32(raw).to_bytes(CHECKSUM_SIZE, "little") if behind else raw
