"""Spans of a log, which can be read alone, and what the first events of a log state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from binlog_kaitai.core.adapter import checksum_status, crc32_of, gtid_set, gtid_text
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import Frame, Framer
from binlog_kaitai.core.grammar import BinlogEvent, EventType, header_length, parse_event, read_header
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.core.tree import Node
from binlog_kaitai.errors import BAD_CHECKSUM, BinlogError, ChecksumError

#: Event types that contain the GTIDs before a log.
PREVIOUS_TYPES = (EventType.previous_gtids_log_event, EventType.gtid_list_event)

#: Maximum number of events before the first transaction.
_MAX_HEADER_EVENTS = 64


@dataclass(frozen=True)
class Span:
    """A range of a log that can be read alone, and the state at its start.

    `start`: offset of the first event; 0 for the start of the log.
    `end`: offset after the last event; None for the end of the log at the time of reading.
    `is_exact`: start and end are split points. Otherwise, the span stands for the transactions that begin in
    the range; `binlog_kaitai.views.splits` finds where these begin and end.
    `binlog_version`: 1, 3 or 4.
    `formats`: the format description events in force, oldest first; empty at the start of the log.
    `gaps`: ranges to skip, ascending.
    `definitions`: table definitions from earlier statements, as far as a checkpoint has them; see
    `binlog_kaitai.ddl.definitions`.
    `include`, `exclude`: only, or without, the transactions with these GTIDs; ``""`` for all of them.
    `era`: that of its changes in the column `_sequence`, see `binlog_kaitai.rows.sequences`.
    """

    start: int = 0
    end: int | None = None
    is_exact: bool = True
    binlog_version: int = 4
    formats: tuple[bytes, ...] = field(default=(), repr=False)
    gaps: tuple[tuple[int, int], ...] = ()
    definitions: str = field(default="", repr=False)
    include: str = ""
    exclude: str = ""
    era: int = 0

    @property
    def pieces(self) -> Iterator[tuple[int, int | None]]:
        """The ranges between the gaps, which may be empty; the last end is None at the end of the log."""
        start = self.start
        for gap_start, gap_end in self.gaps:
            yield start, gap_start
            start = gap_end
        yield start, self.end

    def context(self) -> Context:
        """The state at the start.

        Raises `GrammarError`: a format description event cannot be decoded.
        """
        context = Context(self.binlog_version)
        for raw in self.formats:
            context.observe(raw, read_header(raw, self.binlog_version))
        return context

    def rest(self, position: int) -> Span:
        """The part from an offset between events on, with the formats of the whole."""
        gaps = tuple(gap for gap in self.gaps if gap[1] > position)
        return replace(self, start=max(self.start, position), gaps=gaps)

    def restrict(self, filters: Mapping[str, Any]) -> dict[str, Any]:
        """Filters, as `Filters.of` takes them, restricted to the GTIDs of the span."""
        chosen = dict(filters)
        if self.include:
            wanted, own = GtidSet.parse(self.include), chosen.get("include_gtids")
            both = wanted.without(wanted.without(GtidSet.parse(own))) if own else wanted
            chosen["include_gtids"] = str(both) or None
            if not both:
                chosen["exclude_gtids"] = self.include
        if self.exclude:
            chosen["exclude_gtids"] = ",".join(filter(None, (chosen.get("exclude_gtids"), self.exclude)))
        return chosen


@dataclass
class LogHeader:
    """What the events before the first transaction of a log state.

    `binlog_version`: 1, 3 or 4.
    `format`: the first format description event; None before version 4, or if the log ends before it.
    `log_id`: CRC32 of the first event, which stays the same when the log is closed.
    `server_id`: the server that wrote the first event; None if the log has no complete event.
    `begun`, `first`: times of the first event, and of the first one of a transaction, in seconds since 1970;
    0 if unknown.
    `is_in_use`: the log is being written, or its server was killed.
    `is_relay_log`: the events, and the positions in their headers, come from another log: that of a relay
    log's source, or the one whose stream was saved.
    `is_encrypted`: the following events are encrypted.
    `previous`: the GTIDs in all logs before it; None if unknown. MariaDB states only the last one of each
    server; all numbers up to it are included.
    `has_gtids`: the first transaction begins with a GTID event.
    `first_gtid`: its GTID; None if it has none.
    `damage`: the first error in these events, unless it is in the first format description.
    """

    binlog_version: int = 4
    format: bytes | None = None
    log_id: int = 0
    server_id: int | None = None
    begun: int = 0
    first: int = 0
    is_in_use: bool = False
    is_relay_log: bool = False
    is_encrypted: bool = False
    previous: GtidSet | None = None
    has_gtids: bool = False
    first_gtid: str | None = None
    damage: BinlogError | None = None

    def span(self, start: int) -> Span:
        """The rest of the log from an offset on, with the first format description."""
        formats = () if self.format is None or not start else (self.format,)
        return Span(start, binlog_version=self.binlog_version, formats=formats)

    def context(self) -> Context:
        """The state after the first format description."""
        return self.span(1).context()

    def checked(self) -> LogHeader | None:
        """The header; None while the log's first event is incomplete. Raises `damage` before the GTIDs."""
        if self.damage is not None and self.previous is None:
            raise self.damage
        return None if self.server_id is None else self


def read_log_header(stream: BinaryIO, name: str, *, reads_gtids: bool = True) -> LogHeader:
    """The header of a log, from a stream at its first byte.

    `reads_gtids`: read `previous` and `first_gtid`, too.
    Raises `NotABinlogError`, `EncryptedError`, `GrammarError`: the stream does not begin like a log, or its
    format description cannot be decoded. Other errors become `damage`.
    """
    framer = Framer.of_file(stream)
    context = Context(framer.binlog_version, framer.start)
    log = LogHeader(framer.binlog_version)
    position, kind = 0, -1
    try:
        for _ in range(_MAX_HEADER_EVENTS):
            position = framer.position
            if (header := framer.peek()) is None:
                break
            kind = context.layout.effective_type(header.type_code)
            is_of_transaction = kind not in BETWEEN and header.len_event >= header_length(log.binlog_version)
            log.begun = log.begun or header.timestamp
            if is_of_transaction:
                context.check_readable()
                log.first, log.has_gtids = header.timestamp, kind in GTID_TYPES
                if not (log.has_gtids and reads_gtids):
                    break
            if (frame := next(iter(framer), None)) is None:
                break
            _take_in(log, frame, context, name, reads_gtids=reads_gtids)
            if is_of_transaction:
                break
    except BinlogError as error:
        is_framed = framer.position > position
        error = error.at(file=name, position=position, event_type=type_name(kind) if is_framed else None)
        if log.format is None and kind == EventType.format_description_event and is_framed:
            raise error from error.__cause__
        log.damage = log.damage or error
    log.is_in_use = context.is_in_use
    log.is_relay_log |= context.is_relay_log
    log.is_encrypted = context.is_encrypted
    return log


def _take_in(log: LogHeader, frame: Frame, context: Context, name: str, *, reads_gtids: bool) -> None:
    raw, header = frame.raw, frame.header
    if log.server_id is None:
        log.log_id, log.server_id = crc32_of(raw, header), header.server_id
    is_wrong = checksum_status(raw, header, context.layout) == "bad"
    context.observe(raw, header)
    kind = context.layout.effective_type(header.type_code)
    if kind == EventType.rotate_event and log.format is None:
        log.is_relay_log = True
    if kind == EventType.format_description_event:
        log.format = log.format or raw
    if is_wrong and log.damage is None:
        damage = ChecksumError(BAD_CHECKSUM, field="checksum")
        log.damage = damage.at(file=name, position=frame.position, event_type=type_name(kind))
    if log.damage is not None or not reads_gtids:
        return
    if kind in PREVIOUS_TYPES:
        log.previous = previous_gtids(parse_event(raw, header.type_code, context.layout))
    elif kind in GTID_TYPES:
        log.first_gtid = gtid_text(parse_event(raw, header.type_code, context.layout))


def previous_gtids(event: BinlogEvent) -> GtidSet:
    """The GTIDs before a log, from the event that contains them.

    MariaDB logs the last GTID of each server in each domain: the set has all numbers up to it.

    Raises `GrammarError`: the event is damaged.
    """
    body: Node = event.body.content
    if event.event_type.value == EventType.previous_gtids_log_event:
        return gtid_set(body.gtids)
    gtids = GtidSet()
    for gtid in body.gtids:
        gtids.add_range(f"{gtid.domain_id}-{gtid.server_id}", 1, gtid.sequence_number + 1)
    return gtids
