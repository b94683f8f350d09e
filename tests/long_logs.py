"""Logs with one event of any length, as sparse files full of zeros."""

from __future__ import annotations

import zlib
from pathlib import Path

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_length, header_offset
from tests.corpus_files import case
from tests.log_maker import LogMaker, events_of, placed

#: The body of a table map: table 7, `shop.blobs`, an INT and a LONGBLOB; and of an event with a row of it.
_TABLE_MAP = bytes([7, 0, 0, 0, 0, 0, 1, 0]) + b"\x04shop\0\x05blobs\0\x02\x03\xfc\x01\x04\0"
_ROW = bytes([7, 0, 0, 0, 0, 0, 1, 0, 2, 0, 2, 0xFF, 0]) + (5).to_bytes(4, "little")
_STATEMENT = bytes(8) + b"\x04" + bytes(4) + b"shop\0insert into blobs values (1, '"


def log_of_value(path: Path, size: int, after: int = 0) -> Path:
    """A transaction with one row, whose value has so many zero bytes, `after` of which the file lacks."""
    return _write(path, EventType.write_rows_event, _ROW + size.to_bytes(4, "little"), size, after)


def log_of_statement(path: Path, size: int) -> Path:
    """A transaction with a statement that has so many zero bytes in it."""
    return _write(path, EventType.query_event, _STATEMENT, size, 0)


def _write(path: Path, kind: int, start: bytes, zeros: int, after: int) -> Path:
    layout, (head, first, *_) = events_of(case("mysql-9.7", "rotate").logs[0])
    log = LogMaker(layout)
    log.add_all([*head, *first[:2], _event(EventType.table_map_event, _TABLE_MAP + bytes(CHECKSUM_SIZE))])
    with path.open("wb") as file:
        file.write(log.data)
        size = header_length(4) + len(start) + zeros + CHECKSUM_SIZE
        event = bytearray(_event(kind, start))
        for name, value in (("len_event", size), ("next_position", file.tell() + size)):
            at = header_offset(name)
            event[at : at + 4] = value.to_bytes(4, "little")
        file.write(event)
        crc = zlib.crc32(event)
        for at in range(0, zeros, 1 << 20):
            crc = zlib.crc32(bytes(min(1 << 20, zeros - at)), crc)
        file.seek(zeros, 1)
        if after:
            file.truncate(file.tell() - after)
            return path
        file.write(crc.to_bytes(CHECKSUM_SIZE, "little"))
        file.write(placed(_event(EventType.xid_event, bytes(8 + CHECKSUM_SIZE)), file.tell(), layout))
    return path


def _event(kind: int, body: bytes) -> bytes:
    head = bytearray(header_length(4))
    head[header_offset("type_code")] = kind
    return bytes(head) + body
