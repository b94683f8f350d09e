"""Bytes of events, as a hostile writer would lay them out: no server writes such logs."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from binlog_kaitai.core.framing import MAGIC, Framer
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType

CORPUS = Path(__file__).parents[2] / "tests" / "corpus"

#: The first event of the MySQL and MariaDB logs is taken from these.
_MYSQL, _MARIADB = "mysql-9.7/rotate", "mariadb-11.8/rotate"

_HEADER = struct.Struct("<IBIIIH")


class Log:
    """A log that grows event by event.

    `is_mariadb`: whose format description it begins with.
    `has_checksums`: without them, commands check more.
    """

    def __init__(self, *, is_mariadb: bool = False, has_checksums: bool = True) -> None:
        first = min((CORPUS / (_MARIADB if is_mariadb else _MYSQL)).glob("*.000*"))
        with first.open("rb") as stream:
            raw = bytearray(next(iter(Framer.of_file(stream))).raw)
        self.has_checksums = has_checksums
        raw[-CHECKSUM_SIZE - 1] = has_checksums
        raw[-CHECKSUM_SIZE:] = zlib.crc32(raw[:-CHECKSUM_SIZE]).to_bytes(CHECKSUM_SIZE, "little")
        self.data = bytearray(MAGIC) + raw

    @property
    def is_full(self) -> bool:
        """Whether the log has the size of the inputs."""
        return len(self.data) >= SIZE

    def until_full(self, first: int = 0) -> Iterator[int]:
        """Numbers, of which each stands for more events, until the log is full."""
        for number in count(first):
            yield number
            if self.is_full:
                return

    def add(self, kind: EventType, body: bytes) -> None:
        self.data += event(kind, body, len(self.data), has_checksum=self.has_checksums)

    def query(self, text: bytes, database: bytes = b"d") -> None:
        self.add(EventType.query_event, statement(text, database))

    def map(
        self, table: int, types: bytes, metadata: bytes = b"", more: bytes = b"", name: bytes = b"t"
    ) -> None:
        self.add(EventType.table_map_event, table_map(table, types, metadata, more, name))

    def insert(self, table: int, columns: int, present: bytes, images: bytes) -> None:
        self.add(EventType.write_rows_event, rows(table, columns, present, images))

    def xid(self) -> None:
        self.add(EventType.xid_event, bytes(8))


#: Bytes of a plain input.
SIZE = 2_000_000


def event(kind: int, body: bytes, position: int = 0, *, has_checksum: bool = False) -> bytes:
    """An event at an offset of its log."""
    size = _HEADER.size + len(body) + CHECKSUM_SIZE * has_checksum
    raw = _HEADER.pack(1_700_000_000, kind, 1, size, (position + size) & 0xFFFFFFFF, 0) + body
    return raw + zlib.crc32(raw).to_bytes(CHECKSUM_SIZE, "little") if has_checksum else raw


def packed(number: int) -> bytes:
    """A length-encoded integer."""
    if number < 251:
        return bytes([number])
    if number < 1 << 16:
        return b"\xfc" + number.to_bytes(2, "little")
    return (
        b"\xfd" + number.to_bytes(3, "little") if number < 1 << 24 else b"\xfe" + number.to_bytes(8, "little")
    )


def statement(text: bytes, database: bytes = b"d", thread: int = 7) -> bytes:
    """The body of a QUERY_EVENT."""
    return struct.pack("<IIBHH", thread, 0, len(database), 0, 0) + database + b"\0" + text


def table_map(table: int, types: bytes, metadata: bytes, more: bytes, name: bytes) -> bytes:
    """The body of a TABLE_MAP_EVENT of nullable columns in the schema d."""
    null_bits = b"\xff" * ((len(types) + 7) // 8)
    names = b"\x01d\0" + packed(len(name)) + name + b"\0"
    columns = packed(len(types)) + types + packed(len(metadata)) + metadata + null_bits
    return table.to_bytes(6, "little") + b"\x01\0" + names + columns + more


def named(names: list[bytes]) -> bytes:
    """The optional metadata with the columns' names."""
    value = b"".join(packed(len(name)) + name for name in names)
    return b"\x04" + packed(len(value)) + value


def members(kind: int, lists: list[list[bytes]]) -> bytes:
    """The optional metadata with the members of SET (5) or ENUM (6) columns."""
    value = b"".join(
        packed(len(names)) + b"".join(packed(len(name)) + name for name in names) for names in lists
    )
    return bytes([kind]) + packed(len(value)) + value


def rows(table: int, columns: int, present: bytes, images: bytes) -> bytes:
    """The body of a rows event of version 2; of an update, `present` has both bitmaps."""
    return table.to_bytes(6, "little") + b"\x01\0\x02\0" + packed(columns) + present + images


def bits(columns: int, *chosen: int) -> bytes:
    """A bitmap with the chosen columns; with none given, all of them."""
    value = sum(1 << column for column in chosen) if chosen else (1 << columns) - 1
    return value.to_bytes((columns + 7) // 8, "little")


def payload(content_size: int, frames: bytes) -> bytes:
    """The body of a TRANSACTION_PAYLOAD_EVENT with zstd frames of some uncompressed size."""
    fields = b""
    for kind, number in ((2, 0), (3, content_size), (1, len(frames))):
        value = packed(number)
        fields += bytes([kind]) + packed(len(value)) + value
    return fields + b"\0" + frames
