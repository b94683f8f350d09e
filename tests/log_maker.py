"""Builds logs from the events of other logs, with positions and checksums as a server writes them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, Format, header_length, header_offset
from tests.corpus_files import case
from tests.support import blocks


@dataclass
class LogMaker:
    """A log that grows event by event.

    Attributes
    ----------
    layout : Format
        The format of the log that provides the header.
    data : bytearray
        All bytes so far.
    sets_positions : bool
        Whether events without a position get one.
    """

    layout: Format
    data: bytearray = field(default_factory=lambda: bytearray(MAGIC))
    sets_positions: bool = True

    def add(self, raw: bytes, *, as_is: bool = False) -> None:
        """Append an event; its position and checksum are made anew."""
        sets = self.sets_positions
        self.data += raw if as_is else placed(raw, len(self.data), self.layout, sets_position=sets)

    def add_all(self, events: Iterable[bytes]) -> None:
        for raw in events:
            self.add(raw)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.data)
        return path


def placed(raw: bytes, position: int, layout: Format, *, sets_position: bool = True) -> bytes:
    """An event as it would be at an offset of a log; without `sets_position`, one that has none gets none."""
    event = bytearray(raw)
    for name, value in (("len_event", len(raw)), ("next_position", position + len(raw) & 0xFFFFFFFF)):
        offset = header_offset(name)
        if name == "next_position" and not sets_position and not any(raw[offset : offset + 4]):
            continue
        event[offset : offset + 4] = value.to_bytes(4, "little")
    if layout.is_checksummed:
        event[-CHECKSUM_SIZE:] = zlib.crc32(event[:-CHECKSUM_SIZE]).to_bytes(CHECKSUM_SIZE, "little")
    return bytes(event)


def events_of(path: Path) -> tuple[Format, list[list[bytes]]]:
    """The events of a log by transaction; first those before all transactions."""
    found: list[list[bytes]] = [[]]
    for block in blocks(path):
        for row, kind in enumerate(block.types.tolist()):
            if kind in (EventType.gtid_log_event, EventType.gtid_event, EventType.anonymous_gtid_log_event):
                found.append([])
            found[-1].append(block.raw(row))
        layout = block.layout
    return layout, found


def carrier(model: bytes, content: bytes, layout: Format) -> bytes:
    """A ROWS_QUERY_LOG_EVENT with any text; `model` is an event to take the header from."""
    event = bytearray(model[: header_length(4)])
    event[header_offset("type_code")] = EventType.rows_query_log_event
    return bytes(event) + b"\0" + content + bytes(CHECKSUM_SIZE if layout.is_checksummed else 0)


def log_of_statements(*texts: bytes | None) -> bytes:
    """A log of statements without GTIDs; None is an XID event."""
    layout, (head, *_) = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    log = LogMaker(layout)
    log.add(head[0])
    log.add_all(statement(text, layout) for text in texts)
    return bytes(log.data)


def statement(text: bytes | None, layout: Format) -> bytes:
    """A QUERY_EVENT without a default database; None is an XID event."""
    kind = EventType.xid_event if text is None else EventType.query_event
    body = bytes(8) if text is None else bytes(13) + b"\0" + text
    return bytes(4) + bytes([kind]) + bytes(14) + body + bytes(CHECKSUM_SIZE * layout.is_checksummed)
