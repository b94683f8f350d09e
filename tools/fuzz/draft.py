"""The events of a log that is being mutated, and their conversion to bytes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from binlog_kaitai.core.adapter import crc32_of
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    ROWS_TYPES,
    EventType,
    Format,
    TableMapEvent,
    header_length,
    header_offset,
    header_struct,
    parse_event,
    read_header,
    rows_table_id,
)
from binlog_kaitai.errors import BinlogError


@dataclass(frozen=True)
class Item:
    """An event.

    Attributes
    ----------
    raw : bytes
        Its bytes, with space for the checksum if there is one.
    has_checksum : bool
        Whether it ends with a CRC32.
    has_position : bool
        Whether its header has a position, which MariaDB 11.8 omits.
    stated : tuple of (str, int)
        Fields of the header with fixed values, instead of the correct ones.
    is_sealed : bool
        Whether the CRC32 is corrected.
    """

    raw: bytes
    has_checksum: bool
    has_position: bool = True
    stated: tuple[tuple[str, int], ...] = ()
    is_sealed: bool = True

    @property
    def type_code(self) -> int:
        return self.raw[header_offset("type_code")]

    @property
    def body_end(self) -> int:
        """Start of the checksum, or end of the event."""
        return len(self.raw) - CHECKSUM_SIZE * self.has_checksum

    def with_raw(self, raw: bytes) -> Item:
        return replace(self, raw=raw)


@dataclass
class Draft:
    """A log, or the content of a compressed transaction.

    Attributes
    ----------
    binlog_version : int
    layout : Format
        In force after the original format description event.
    items : list of Item
    edits : list of (int, int, bytes)
        Changes of the finished bytes: start, end, and replacement.
    """

    binlog_version: int
    layout: Format
    items: list[Item]
    edits: list[tuple[int, int, bytes]] = field(default_factory=list)

    def layout_of(self, index: int) -> Format:
        """The format in force at an event."""
        item = self.items[index]
        if item.type_code == EventType.format_description_event:
            return Format.of_version(self.binlog_version)
        return self.layout if item.has_checksum else self.layout.without_checksums()

    def table_map_of(self, index: int) -> TableMapEvent | None:
        """The table map of a rows event."""
        raw, layout = self.items[index].raw, self.layout
        kind = layout.effective_type(self.items[index].type_code)
        wanted = rows_table_id(raw, kind, layout) if kind in ROWS_TYPES else None
        for item in reversed(self.items[:index] if wanted is not None else []):
            if item.type_code == EventType.table_map_event:
                table_map = _table_map(item.raw, layout if item.has_checksum else layout.without_checksums())
                if table_map is not None and table_map.table_id.value == wanted:
                    return table_map
        return None

    def log(self) -> bytes:
        """The bytes of the log."""
        data = bytearray(MAGIC)
        for item in self.items:
            data += finished(item, len(data), self.binlog_version)
        for begin, end, new in self.edits:
            data[begin:end] = new
        return bytes(data)

    def content(self) -> bytes:
        """The bytes of the events alone, with their original positions."""
        return b"".join(finished(item, None, self.binlog_version) for item in self.items)


@lru_cache(maxsize=1 << 10)
def _table_map(raw: bytes, layout: Format) -> TableMapEvent | None:
    try:
        content = parse_event(raw, EventType.table_map_event, layout).body.content
    except BinlogError:
        return None
    return content if isinstance(content, TableMapEvent) else None


def finished(item: Item, position: int | None, binlog_version: int) -> bytes:
    """An event at an offset of a log, with its size, end position, and checksum."""
    raw, size = item.raw, len(item.raw)
    if size < header_length(binlog_version):
        return raw
    header, stated = read_header(raw, binlog_version), dict(item.stated)
    header = header._replace(len_event=size)
    if item.has_position and position is not None:
        header = header._replace(next_position=(position + size) & 0xFFFFFFFF)
    header = header._replace(**stated)
    packed = header_struct(binlog_version)
    raw = packed.pack(*header[: len(header) if binlog_version > 1 else 4]) + raw[packed.size :]
    if item.has_checksum and item.is_sealed and size >= packed.size + CHECKSUM_SIZE:
        raw = raw[:-CHECKSUM_SIZE] + crc32_of(raw, header).to_bytes(CHECKSUM_SIZE, "little")
    return raw
