"""One event to print, in the form the client sees, and the fields of its text.

A template names fields, as in ``Xid = %(xid)d``; they are read from one event, or from all events of a type
in a block. Everything else that affects a text is the same for all events of a shape; see `event_shapes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.adapter import stored_checksum
from binlog_kaitai.core.framing import resized
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.dump.client_values import comment, microseconds, second_of, timestamp
from binlog_kaitai.kernels.arrays import Ints, Unsigned
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.payloads import PayloadHeaders, payload_headers
from binlog_kaitai.text.line_arrays import Field, Pool, TextColumn
from binlog_kaitai.text.text_kernels import BYTES, find_clean

#: The status variables of a statement by the grammar's names; each has a class of its own.
StatusVariables = dict[str, Any]


class FieldOf(Protocol):
    """A field of the events of one type."""

    def of(self, printed: PrintedEvent) -> bytes | int:
        """Its value, for ``%`` formatting."""

    def column(self, columns: BodyColumns) -> Field:
        """Its values in a block."""


@dataclass(frozen=True)
class Number:
    """An integer, by the grammar's name; 0 if the event does not have it."""

    name: str

    def of(self, printed: PrintedEvent) -> int:
        return getattr(printed.event.body, self.name) or 0

    def column(self, columns: BodyColumns) -> Field:
        return columns.pool.numbers(columns.body.numbers(self.name))


@dataclass(frozen=True)
class LocalTime:
    """Microseconds since 1970-01-01 UTC, as local time."""

    name: str

    def of(self, printed: PrintedEvent) -> bytes | int:
        return microseconds(getattr(printed.event.body, self.name) or 0)

    def column(self, columns: BodyColumns) -> Field:
        return columns.moments(columns.body.numbers(self.name))


@dataclass(frozen=True)
class Bytes:
    """Bytes, unchanged."""

    name: str

    def of(self, printed: PrintedEvent) -> bytes:
        return bytes(getattr(printed.event.body, self.name))

    def column(self, columns: BodyColumns) -> Field:
        return columns.pool.ranges(*columns.body.ranges(self.name))


@dataclass(frozen=True)
class InLines(Bytes):
    """Bytes split over comment lines.

    `front`: prefix of each line.
    `special`: the bytes that need conversion.
    `make`: converts bytes to lines.
    """

    front: bytes
    special: bytes
    make: Callable[[bytes], bytes]

    def of(self, printed: PrintedEvent) -> bytes:
        return self.make(super().of(printed))

    def column(self, columns: BodyColumns) -> Field:
        return columns.lines(*columns.body.ranges(self.name), self)


@dataclass(frozen=True)
class Status:
    """A numeric status variable; 0 if the statement does not have it.

    `variables`: the variables that contain it.
    `digits`: number of digits to print, 0 for as many as needed.
    """

    name: str
    variables: tuple[str, ...]
    digits: int = 0

    def of(self, printed: PrintedEvent) -> bytes | int:
        variables = (printed.status[name] for name in self.variables if name in printed.status)
        number = getattr(next(variables, None), self.name, 0)
        return b"%0*d" % (self.digits, number) if self.digits else number

    def column(self, columns: BodyColumns) -> Field:
        values = columns.status[self.name]
        return columns.pool.fractions(values) if self.digits else columns.pool.numbers(values)


@dataclass(frozen=True)
class PayloadSize(Number):
    """A size stated in a transaction payload, by its name in `payload_headers`."""

    of_headers: str

    def column(self, columns: BodyColumns) -> Field:
        return columns.pool.numbers(getattr(columns.payload_headers(), self.of_headers))


def comment_lines(query: bytes) -> bytes:
    """The statement of a rows event, as `mysqlbinlog` prints it."""
    return b"".join(b"# " + comment(line) + b"\n" for line in query.split(b"\n"))


def annotation_lines(query: bytes) -> bytes:
    """The statement of a rows event, as `mariadb-binlog` prints it."""
    return b"".join(b"#Q> " + line + b"\n" for line in re.split(rb"[\r\n]+", query) if line)


#: For all events.
HEADER: Mapping[str, Callable[[PrintedEvent], bytes | int]] = {
    "position": lambda printed: printed.position,
    "time": lambda printed: timestamp(printed.timestamp),
    "seconds": lambda printed: printed.timestamp,
    "server_id": lambda printed: printed.event.fixed_header.server_id,
    "end_position": lambda printed: printed.end_position,
    "checksum": lambda printed: b"%08x" % (printed.checksum or 0),
}


def _numbers(*names: str) -> dict[str, FieldOf]:
    return {name: Number(name) for name in names}


_GTID: dict[str, FieldOf] = {
    **_numbers("gno", "last_committed", "sequence_number"),
    "transaction_length": Number("len_transaction"),
    "original": Number("original_commit_timestamp"),
    "original_time": LocalTime("original_commit_timestamp"),
    "immediate": Number("immediate_commit_timestamp"),
    "immediate_time": LocalTime("immediate_commit_timestamp"),
}
#: Variables with the microseconds of a statement, and with the transaction number.
MICROSECONDS, XIDS = ("microseconds", "mariadb_microseconds"), ("ddl_xid", "mariadb_xid")
_QUERY: dict[str, FieldOf] = {
    **_numbers("thread_id", "execution_time", "error_code"),
    "query": Bytes("query"),
    "microseconds": Status("microseconds", MICROSECONDS),
    "fraction": Status("microseconds", MICROSECONDS, 6),
    "xid": Status("xid", XIDS),
}

#: By type of event.
FIELDS: Mapping[int, Mapping[str, FieldOf]] = {
    EventType.xid_event: _numbers("xid"),
    EventType.query_event: _QUERY,
    EventType.query_compressed_event: _QUERY,
    EventType.execute_load_query_event: _QUERY,
    EventType.gtid_log_event: _GTID,
    EventType.anonymous_gtid_log_event: _GTID,
    EventType.gtid_tagged_log_event: _GTID,
    EventType.gtid_event: _numbers(
        "sequence_number", "commit_id", "start_alter_sequence_number", "thread_id"
    ),
    EventType.rows_query_log_event: {"lines": InLines("query", b"# ", b"\r\\\x08\t\0\n", comment_lines)},
    EventType.annotate_rows_event: {"lines": InLines("query", b"#Q> ", b"\r\n", annotation_lines)},
    EventType.transaction_payload_event: {
        "payload_size": PayloadSize("len_payload", "payload_sizes"),
        "uncompressed_size": PayloadSize("len_uncompressed", "uncompressed_sizes"),
    },
}


class BodyColumns:
    """The fields of the events of one type, each computed on first use.

    It does not refer to its `BlockColumns`: such a cycle would keep the memory of block after block.
    """

    def __init__(
        self, kind: int, block: Block, pool: Pool, header: dict[str, Field], status: dict[str, Ints]
    ) -> None:
        self.pool, self.status = pool, status
        self.body = block.body(kind)
        self._kind, self._block, self._header = kind, block, header
        self._fields: dict[str, Field] = {}

    def __getitem__(self, name: str) -> Field:
        if name in self._header:
            return self._header[name]
        if name not in self._fields:
            self._fields[name] = FIELDS[self._kind][name].column(self)
        return self._fields[name]

    def payload_headers(self) -> PayloadHeaders:
        """The header fields of transaction payloads."""
        return payload_headers(self._block, self._block.rows_of(self._kind))

    def moments(self, micros: Unsigned) -> Field:
        """Microseconds since 1970-01-01 UTC as `client_values.microseconds` writes them."""
        moments = micros.astype(np.int64)
        seconds = moments // _MILLION
        second = text_of_seconds(self.pool, seconds, lambda value: second_of(value)[0])
        zone = text_of_seconds(self.pool, seconds, lambda value: second_of(value)[1])
        return second, b".", self.pool.fractions(moments - seconds * _MILLION), b" ", zone

    def lines(self, starts: Ints, lengths: Ints, field: InLines) -> Field:
        """Bytes split over lines: unchanged from the block, or converted if some need escaping."""
        data = self._block.data
        starts, lengths = np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64)
        is_plain = np.array([byte not in field.special for byte in range(256)], dtype=np.bool_)
        clean = np.empty(len(starts), dtype=np.bool_)
        find_clean.run(data, starts, lengths, is_plain, clean)
        clean &= lengths > 0
        for row in np.flatnonzero(~clean).tolist():
            text = field.make(bytes(data[starts[row] : starts[row] + lengths[row]]))
            offset, lengths[row] = self.pool.add(text)
            starts[row] = -offset - 1
        codes = clean.astype(np.int64)
        front, end = (self.pool.choice(codes, [b"", text]) for text in (field.front, b"\n"))
        return front, TextColumn(BYTES, starts, lengths), end


def text_of_seconds(
    pool: Pool, seconds: Ints, text: Callable[[int], bytes], *, by_event: bool = False
) -> TextColumn:
    """Apply a function of seconds; consecutive values are often the same."""
    changes = np.flatnonzero(np.diff(seconds, prepend=seconds[:1] - 1))
    texts = [text(second) for second in seconds[changes].tolist()]
    codes = np.repeat(np.arange(len(changes)), np.diff(changes, append=len(seconds)))
    return pool.choice(codes, texts, by_event=by_event)


_MILLION = 10**6


class FieldValues(dict[bytes, bytes | int]):
    """The fields of one event, each read on first use."""

    def __init__(self, printed: PrintedEvent) -> None:
        super().__init__()
        self._item = printed

    def __missing__(self, key: bytes) -> bytes | int:
        name = key.decode()
        of = HEADER.get(name) or FIELDS[self._item.kind][name].of
        value = self[key] = of(self._item)
        return value


@dataclass(slots=True)
class PrintedEvent:
    """An event, with the values the client prints instead of those in the log.

    `position`: the value after ``# at``.
    `end_position`: the value after ``end_log_pos``.
    `raw`: the bytes for base64 and hexdump.
    `checksum`: the printed checksum; None for none.
    """

    event: ParsedEvent
    kind: int
    position: int
    end_position: int
    raw: bytes
    checksum: int | None
    _values: FieldValues | None = field(default=None, init=False)
    _status: StatusVariables | None = field(default=None, init=False)

    @property
    def values(self) -> FieldValues:
        """The fields of its text."""
        if self._values is None:
            self._values = FieldValues(self)
        return self._values

    @property
    def status(self) -> StatusVariables:
        """The status variables of a statement by the grammar's names, without unknown ones."""
        if self._status is None:
            status_vars = self.event.body.status_vars
            variables = () if status_vars is None else status_vars.variables
            self._status = {var.key.name: var.value for var in variables if hasattr(var.key, "name")}
        return self._status

    @property
    def timestamp(self) -> int:
        return self.event.fixed_header.timestamp


def item_of(event: ParsedEvent) -> PrintedEvent:
    """An event of the log itself."""
    header, layout = event.fixed_header, event.layout
    kind = layout.effective_type(event.type_code)
    checksum = stored_checksum(event.raw) if _shows_checksum(event, kind) else None
    end = header.next_position
    if layout.binlog_version == 3 and end:
        end += header.len_event  # such headers contain the start position
    return PrintedEvent(event, kind, event.position, end, event.raw, checksum)


def _shows_checksum(event: ParsedEvent, kind: int) -> bool:
    # The event that turns checksums off has one.
    if kind == EventType.format_description_event:
        return bool(event.body.has_checksums)
    return event.checksum_status != "none"


def renamed(raw: bytes, length_offset: int, start: int, end: int, new: bytes) -> bytes:
    """An event with the name between two offsets replaced; `length_offset` is the offset of its length."""
    raw = raw[:length_offset] + bytes([len(new)]) + raw[length_offset + 1 : start] + new + raw[end:]
    return resized(raw, len(raw))


def with_checksum(raw: bytes) -> bytes:
    """An event with its trailing checksum recomputed."""
    covered = raw[:-CHECKSUM_SIZE]
    return covered + crc32(covered).to_bytes(CHECKSUM_SIZE, "little")
