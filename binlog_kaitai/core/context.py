"""State that earlier events of a log establish for later ones.

This is all of it: the format in force, the table maps that rows events may refer to, whether the log was
closed, and whether the rest is encrypted.
"""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import ClassVar

from binlog_kaitai.core.adapter import crc32_of, stored_checksum
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    ROWS_TYPES,
    BinlogEvent,
    EventType,
    Format,
    FormatDescriptionEvent,
    Header,
    TableMapEvent,
    header_length,
    parse_event,
    parse_structure,
    read_header,
    rows_table_id,
)
from binlog_kaitai.core.rows_events import Pieces
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.core.tree import Node
from binlog_kaitai.errors import EncryptedError

#: MySQL statements lock far fewer tables than this; the bound protects against hostile logs.
MAX_TABLE_MAPS = 16_384

#: Columns of the table maps whose bodies are kept; they take 2 KB each.
MAX_PARSED_COLUMNS = 1 << 13

#: The types of events after which a log is read differently.
FORMAT_TYPES = frozenset((EventType.format_description_event, EventType.start_encryption_event))

#: The types of events that change the context.
CONTEXT_TYPES = FORMAT_TYPES | {EventType.table_map_event}

#: Events that end the validity of earlier table maps. Servers close their tables at the end of each
#: statement, and a transaction begins or ends only when they are closed. Rows therefore never depend on an
#: earlier transaction, and a log can be read from the start of any transaction.
#: A transaction payload is a transaction, with table maps of its own.
TABLES_CLOSE = (
    BETWEEN
    | GTID_TYPES
    | {EventType.xid_event, EventType.xa_prepare_log_event, EventType.transaction_payload_event}
)

#: The same for these statements, matched whole; a zero byte ends the schema name that precedes them.
CLOSING_STATEMENTS = (b"\0BEGIN", b"\0COMMIT")


class StoredTableMap:
    """A table map as its bytes, a thousandth of its body; the bodies that were used last are kept.

    Equal ones share a body: a process that reads log after log meets the same table maps again and again.
    """

    __slots__ = ("_parameters", "content", "num_columns", "table_id")

    _bodies: ClassVar[dict[tuple[bytes, int, int], TableMapEvent]] = {}  # in the order of their last use
    _columns: ClassVar[int] = 0  # of these
    _lock: ClassVar[Lock] = Lock()

    def __init__(self, body: TableMapEvent) -> None:
        self.content: bytes = body._io._io.getvalue()  # type: ignore[attr-defined]
        self._parameters = body.len_post_header, body.server_year_bits
        self.table_id: int = body.table_id.value
        self.num_columns: int = body.num_columns.value
        self._keep(body)

    @property
    def body(self) -> TableMapEvent:
        """The body of the event."""
        body = self._bodies.get((self.content, *self._parameters))
        if body is None:
            body = parse_structure(partial(TableMapEvent, *self._parameters), self.content)
        return self._keep(body)

    def _keep(self, body: TableMapEvent) -> TableMapEvent:
        kept, of_all, key = self._bodies, StoredTableMap, (self.content, *self._parameters)
        with self._lock:
            of_all._columns += self.num_columns if kept.pop(key, None) is None else 0
            kept[key] = body
            while of_all._columns > MAX_PARSED_COLUMNS and len(kept) > 1:
                oldest = next(iter(kept))
                of_all._columns -= kept.pop(oldest).num_columns.value
        return body


class Context:
    """The state of reading one log, or one transaction payload inside it.

    `binlog_version`: 1, 3 or 4.
    `start`: what `read_start` has read of the log.
    `layout`: layout of the next event.
    `is_in_use`: the first format description event says that the file is being written, or was never closed.
    `is_relay_log`: the events, and the positions in their headers, come from another server.
    `has_exact_positions`: the headers of this log's events say where the events end. Servers without
    checksums wrote other numbers inside transactions.
    `is_encrypted`: the following events are encrypted and cannot be read.
    `table_maps`: the table map events still in force, the newest for each table ID.
    `lacks_table_maps`: bytes were passed over that may have been a table map; see `lose_table_maps`.
    `pieces`: the pieces so far of a rows event that is split over several events.
    """

    def __init__(self, binlog_version: int, start: bytes = b"") -> None:
        self.layout = Format.of_version(binlog_version)
        if len(start) > header_length(4):
            first = read_header(start, 4)
            rotate = start[: first.len_event]
            # Whether it has a checksum depends on the replica, and not on the format that follows.
            is_checksummed = stored_checksum(rotate) == crc32_of(rotate, first)
            self.layout = Format.before_description(is_checksummed=is_checksummed)
        self.is_in_use = False
        self.is_relay_log = False
        self.has_exact_positions = binlog_version > 3  # until a format description says otherwise
        self.table_maps: dict[int, StoredTableMap] = {}
        self.lacks_table_maps = False
        self.pieces = Pieces()
        self._described = False
        self._server_version = ""
        self.is_encrypted = False
        self._key_ids: tuple[str, ...] = ("1",)

    @classmethod
    def of(cls, layout: Format) -> Context:
        """The context before any event, with a known format."""
        context = cls(layout.binlog_version)
        context.layout = layout
        return context

    def for_payload(self) -> Context:
        """The context of the events inside a transaction payload: no checksums, table maps of their own."""
        return Context.of(self.layout.without_checksums())

    def table_map_of(self, raw: bytes, type_code: int) -> TableMapEvent | None:
        """The table map that a rows event refers to; None for other events, or if it is missing."""
        if self.layout.effective_type(type_code) not in ROWS_TYPES:
            return None
        table_id = rows_table_id(raw, type_code, self.layout)
        table_map = None if table_id is None else self.table_maps.get(table_id)
        return None if table_map is None else table_map.body

    def check_readable(self, file: str | None = None, position: int | None = None) -> None:
        """Reject events after a START_ENCRYPTION_EVENT: even their headers and checksums are encrypted.

        The error names the file and the offset, if they are given.
        """
        if self.is_encrypted:
            key_id = self._key_ids[0]
            keys = "--keyring FILE" if is_of_percona(self._server_version) else "--key-file FILE"
            raise EncryptedError(
                f"the event is encrypted with key {key_id!r}, which was not given: pass the server's key file"
                f" ({keys}) or the key (--key {key_id}=HEX)",
                file=file,
                position=position,
            )

    def observe(self, raw: bytes, header: Header) -> BinlogEvent | None:
        """Update the context with the next event of the log; returns the parsed event if it had to be parsed.

        Raises `GrammarError`: an event that later ones depend on cannot be read.
        Raises `EncryptedError`: the event follows a START_ENCRYPTION_EVENT and is still encrypted.
        """
        self.check_readable()
        kind = self.layout.effective_type(header.type_code)
        if self.table_maps and (
            kind in TABLES_CLOSE or closing_statement(raw, kind, self.layout) is not None
        ):
            self.table_maps.clear()
        if kind not in CONTEXT_TYPES:
            return None
        event = parse_event(raw, header.type_code, self.layout)
        content = event.body.content
        if isinstance(content, TableMapEvent):
            self.remember(StoredTableMap(content))
        elif isinstance(content, FormatDescriptionEvent):
            self.layout = Format.described_by(content)
            if not self._described:
                self._server_version = content.server_version
            self.table_maps.clear()
            # Only a relay log has a second one, written by the source of its events.
            self.is_relay_log = self._described or event.header.is_relay_log
            self.has_exact_positions = not self.is_relay_log and content.checksum_algorithm is not None
            if not self._described:
                self.is_in_use = event.header.is_in_use
                self._described = True
        else:
            # A copy sent by a server is decrypted, and this event is flagged to be ignored.
            self.is_encrypted = not event.header.is_ignorable
            start: Node = content
            self._key_ids = key_ids(start.key_version, self._server_version)
        return event

    def lose_table_maps(self) -> None:
        """Forget all table maps: one may have been skipped, and an earlier one with its ID is not valid."""
        self.table_maps.clear()
        self.lacks_table_maps = True

    def remember(self, table_map: StoredTableMap) -> None:
        """Store a table map event."""
        self.table_maps.pop(table_map.table_id, None)
        self.table_maps[table_map.table_id] = table_map
        if len(self.table_maps) > MAX_TABLE_MAPS:
            del self.table_maps[next(iter(self.table_maps))]


def closing_statement(raw: bytes, kind: int, layout: Format) -> bytes | None:
    """``b"BEGIN"`` or ``b"COMMIT"`` if an event is one of these statements; its body is not parsed."""
    if kind != EventType.query_event:
        return None
    end = len(raw) - (CHECKSUM_SIZE if layout.is_checksummed else 0)
    return next((text[1:] for text in CLOSING_STATEMENTS if raw.endswith(text, 0, end)), None)


def is_of_percona(server_version: str) -> bool:
    """Whether a log with a START_ENCRYPTION_EVENT was written by Percona Server rather than MariaDB."""
    return "MariaDB" not in server_version


def key_ids(key_version: int, server_version: str) -> tuple[str, ...]:
    """Possible names of the key of a log with a START_ENCRYPTION_EVENT, its exact name first."""
    if is_of_percona(server_version):
        return f"percona_binlog:{key_version}", "percona_binlog"
    return (f"1:{key_version}", "1") if key_version > 1 else ("1", "1:1")
