"""`--rewrite-db`: renames databases in the bytes of events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.framing import resized
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.core.tree import extents
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.text import encode


def rewrite(item: Item, names: Mapping[bytes, bytes], *, rewrites_all: bool = True) -> None:
    """Rename the database in the bytes of an event that names it.

    Without `rewrites_all`, only table maps are rewritten, and keep their checksums.
    """
    if not rewrites_all and item.kind != EventType.table_map_event:
        return
    body: Any = item.event.body
    name = getattr(body, "schema_name", None)
    new = None if name is None else names.get(encode(name))
    if new is None:
        return
    event = item.event
    parsed = event.parsed
    fields = extents(body)
    base = len(event.raw) - parsed.body._io.size() - (CHECKSUM_SIZE if parsed.checksum is not None else 0)
    start, end, _ = fields["schema_name"]
    assert end is not None
    item.raw = renamed(item.raw, base + fields["len_schema_name"].start, base + start, base + end, new)
    if item.checksum is not None and rewrites_all:
        item.raw, item.checksum = with_checksum(item.raw)


def renamed(raw: bytes, length_at: int, start: int, end: int, new: bytes) -> bytes:
    """An event with the name between two offsets replaced; `length_at` is the offset of its length."""
    raw = raw[:length_at] + bytes([len(new)]) + raw[length_at + 1 : start] + new + raw[end:]
    return resized(raw, len(raw))


def with_checksum(raw: bytes) -> tuple[bytes, int]:
    """An event with its trailing checksum recomputed, and that checksum."""
    covered = raw[:-CHECKSUM_SIZE]
    checksum = crc32(covered)
    return covered + checksum.to_bytes(CHECKSUM_SIZE, "little"), checksum
