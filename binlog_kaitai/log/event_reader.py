"""The event reader: parses one event at a time, completely, with the grammar.

Iterating an :class:`EventReader` yields a :class:`ParsedEvent` for every event of every file. Each event
inside a compressed transaction follows the payload event that contains it; a rows event that MariaDB split
into pieces follows its last piece. Framing and checksums are checked as events are read; a body is parsed on
first access.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import count, islice, pairwise
from types import TracebackType
from typing import Any, BinaryIO, Self

from kaitaistruct import KaitaiStruct

from binlog_kaitai.core.adapter import checksum_status, gtid_text
from binlog_kaitai.core.context import Context, closing_statement
from binlog_kaitai.core.event_types import QUERY_TYPES, type_name
from binlog_kaitai.core.framing import Frame, Framer, nearest_events
from binlog_kaitai.core.grammar import (
    ROWS_TYPES,
    BinlogEvent,
    EventHeader,
    EventType,
    Format,
    TableMapEvent,
    parse_event,
    read_header,
)
from binlog_kaitai.core.payload import read_payload
from binlog_kaitai.core.rows_events import RowNumbers
from binlog_kaitai.core.spans import Span
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.core.tree import described_fields
from binlog_kaitai.errors import (
    BAD_CHECKSUM,
    BinlogError,
    ChecksumError,
    GrammarError,
    UsageError,
    out_of_memory,
    reading,
)
from binlog_kaitai.log.log_end import End, classify_end
from binlog_kaitai.log.transaction_roles import FIXED_ROLES, GtidTracker, Role, beginning_of, meaning_of
from binlog_kaitai.sources.source import Source
from binlog_kaitai.text.notebook import html_table


class ParsedEvent:
    """One event of a log.

    Attributes
    ----------
    file : str
        Name of the source.
    position, end_position : int
        Start and end offset in the file, in bytes; correct past 4 GiB. For an event inside a transaction
        payload, those of the payload event; for a rows event made of pieces, those of the last piece.
    payload_index : int or None
        Index inside its transaction payload, from 0; 0 for a rows event made of pieces; None for an
        event of the file itself.
    type_code : int
        Type code in the header.
    type : str
        The server's name of its type, such as ``"GTID_LOG_EVENT"``; ``"UNKNOWN_EVENT"`` for types that the
        grammar does not know.
    checksum_status : str
        ``"ok"``, ``"bad"`` or ``"none"``.
    gtid : str or None
        GTID of the transaction it belongs to: ``uuid:number``, ``uuid:tag:number``, in MariaDB
        ``domain-server-sequence``; None outside of transactions and in anonymous ones.
    raw : bytes
        All bytes of the event.
    row_numbers : tuple of RowNumbers and int, or None
        For a rows event inside a transaction payload: the payload's row numbering, and the index of this
        event
        among the payload's rows events, from 0.
    """

    __slots__ = (
        "__dict__",
        "checksum_status",
        "end_position",
        "file",
        "fixed_header",
        "gtid",
        "layout",
        "payload_index",
        "position",
        "raw",
        "row_numbers",
        "table_map",
    )

    def __init__(
        self,
        file: str,
        frame: Frame,
        layout: Format,
        table_map: TableMapEvent | None,
        checksum_status: str = "none",
    ) -> None:
        self.file = file
        self.position = frame.position
        self.end_position = frame.end_position
        self.fixed_header = frame.header
        self.raw = frame.raw
        self.layout = layout
        self.table_map = table_map
        self.checksum_status = checksum_status
        self.payload_index: int | None = None
        self.gtid: str | None = None
        self.row_numbers: tuple[RowNumbers[ParsedEvent], int] | None = None

    @property
    def type_code(self) -> int:
        return self.fixed_header.type_code

    @property
    def type(self) -> str:
        return type_name(self.layout.effective_type(self.type_code))

    @cached_property
    def parsed(self) -> BinlogEvent:
        """The complete event as an object of the grammar.

        Raises
        ------
        GrammarError
            The bytes violate the grammar.
        """
        try:
            return parse_event(self.raw, self.type_code, self.layout, self.table_map)
        except BinlogError as error:
            raise self.locate(error) from error.__cause__

    @property
    def header(self) -> EventHeader:
        """The header, as a generated object."""
        return self.parsed.header

    @property
    def body(self) -> Any:
        """The body, as an object of the generated class for its type."""
        return self.parsed.body.content

    @property
    def checksum(self) -> int | None:
        """The CRC32 at the end of the event; None if the log has no checksums."""
        return self.parsed.checksum

    @property
    def stated_gtid(self) -> str | None:
        """The GTID of the transaction that a GTID event begins; None if it is anonymous.

        Raises
        ------
        GrammarError
            The event cannot be parsed.
        """
        try:
            return gtid_text(self.parsed)
        except GrammarError as error:
            raise self.locate(error) from error.__cause__

    def locate(self, error: BinlogError) -> BinlogError:
        """Add the location of this event to an error."""
        return error.at(file=self.file, position=self.position, event_type=self.type)

    def __repr__(self) -> str:
        return f"<{self.type} at {self.position} of {self.file}, {len(self.raw)} bytes>"

    def _repr_html_(self) -> str:
        gtid = f", GTID {self.gtid}" if self.gtid else ""
        caption = f"{self.type} at {self.position} of {self.file}{gtid}, checksum {self.checksum_status}"
        try:
            parts = {"header": self.header, "body": self.body}
        except BinlogError as error:
            return html_table(caption, ("error",), [(str(error),)])
        fields = [(f"{part}.{name}", value) for part, node in parts.items() for name, value in _fields(node)]
        return html_table(caption, ("field", "value"), fields)


def _fields(node: object) -> Iterable[tuple[str, str]]:
    """The fields of a header or body; a body of unknown type is bytes."""
    return described_fields(node) if isinstance(node, KaitaiStruct) else [("bytes", repr(node))]


def _step(transactions: GtidTracker, event: ParsedEvent) -> str | None:
    """The GTID in force at an event."""
    kind = event.layout.effective_type(event.type_code)
    if kind in GTID_TYPES:
        gtid, is_of_mariadb = event.stated_gtid, kind == EventType.gtid_event
        transactions.begin(gtid, is_begun=is_of_mariadb and not event.body.is_standalone)
    elif transactions.gtid is not None:
        transactions.follow(_role(event, kind))
    return transactions.gtid


def _role(event: ParsedEvent, kind: int) -> Role:
    """The role of an event in a log with GTIDs; none for a statement that cannot be read."""
    if kind not in QUERY_TYPES:
        return Role(FIXED_ROLES[kind])
    if (statement := closing_statement(event.raw, kind, event.layout)) is not None:
        return meaning_of(statement)[0]
    try:
        body = event.body
    except BinlogError:
        return Role.PART
    if kind == EventType.query_compressed_event:
        return meaning_of(beginning_of(body.compressed_query.deflated.data))[0]
    return meaning_of(body.query)[0]


class EventReader(AbstractContextManager["EventReader"]):
    """The events of one or many logs, in order.

    `sources`: the files, in reading order.
    `ends`: the ends of the files read so far.
    """

    #: The class of the events this reader creates.
    event_class: type[ParsedEvent] = ParsedEvent

    def __init__(
        self, sources: list[Source], *, verify_checksums: bool = True, start_position: int | None = None
    ) -> None:
        self.sources = sources
        self._start_position = start_position or 0
        self.ends: list[End] = []
        self._verify_checksums = verify_checksums
        self._stream: BinaryIO | None = None

    def __iter__(self) -> Iterator[ParsedEvent]:
        for number, source in enumerate(self.sources):
            for event in self._read(source, start=0 if number else self._start_position):
                if source.repeated is None or event.gtid is None or event.gtid not in source.repeated:
                    yield event

    def read_from(self, source: Source, stops: Sequence[int] = ()) -> Generator[ParsedEvent, None, None]:
        """Read one source, or its span, from the last of the given offsets on; without them, completely.

        At each of the other offsets, one event that later ones depend on is read.
        """
        yield from self._read(source, stops)

    def close(self) -> None:
        """Close the current file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __repr__(self) -> str:
        names = ", ".join(source.name for source in self.sources)
        return f"<{type(self).__name__} of {names}; {len(self.ends)} of {len(self.sources)} read to the end>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, source: Source, stops: Sequence[int] = (), start: int = 0) -> Iterator[ParsedEvent]:
        with reading(source.name):
            self._stream = source.open()
            try:
                yield from self._read_stream(source, self._stream, stops, start)
            finally:
                self.close()

    def _read_stream(
        self, source: Source, stream: BinaryIO, stops: Sequence[int], start: int
    ) -> Iterator[ParsedEvent]:
        position, name, span = 0, source.name, source.span or Span()
        try:
            if span.start == 0:
                framer = Framer.of_file(stream)
                context = Context(framer.binlog_version, framer.start)
            else:
                stream.seek(span.start)
                framer, context = Framer(stream, span.binlog_version, span.start), span.context()
            transactions = GtidTracker()
            for stop, following in pairwise(stops):
                framer.skip_to(stop)
                for frame in islice(framer, 1):
                    self._take_in(name, frame, context)
                framer.skip_to(following)
            for frame in framer:
                position = frame.position
                if position < start:
                    if framer.position > start:
                        raise UsageError(nearest_events(start, position, framer.position))
                    self.pass_over(name, frame, context, transactions)
                else:
                    yield from self.events_of(name, frame, context, transactions)
                position = framer.position
                if position == span.end:
                    return
            if start > framer.position:
                raise UsageError(f"no event begins at {start}: the log ends at {position}")
            self.ends.append(classify_end(name, framer.tail, context, stream))
        except BinlogError as error:
            raise error.at(file=name, position=position) from error.__cause__
        except MemoryError as error:
            raise out_of_memory(error).at(file=name, position=position) from error

    def events_of(
        self, name: str, frame: Frame, context: Context, transactions: GtidTracker
    ) -> Iterator[ParsedEvent]:
        """Yield one event and the events inside it, and update the context."""
        event = self._take_in(name, frame, context)
        event.gtid = _step(transactions, event)
        yield event
        yield from _read_pieces(event, context)
        if event.type_code == EventType.transaction_payload_event:
            yield from self._read_payload(event, context, transactions)

    def pass_over(self, name: str, frame: Frame, context: Context, transactions: GtidTracker) -> ParsedEvent:
        """Update the context with an event that precedes the start position."""
        verifies, self._verify_checksums = self._verify_checksums, False
        try:
            event = self.without_content(name, frame, context)
            event.gtid = _step(transactions, event)
        finally:
            self._verify_checksums = verifies
        return event

    def without_content(self, name: str, frame: Frame, context: Context) -> ParsedEvent:
        """Yield one event whose body is not needed, updating the context as `events_of` does."""
        event = self._take_in(name, frame, context)
        for _ in _read_pieces(event, context):
            pass
        return event

    def _take_in(
        self, name: str, frame: Frame, context: Context, outer: ParsedEvent | None = None
    ) -> ParsedEvent:
        context.check_readable()
        table_map = context.table_map_of(frame.raw, frame.header.type_code)
        event = self.event_class(name, frame, context.layout, table_map)
        if outer is not None:  # errors inside a payload also name the position in the file
            event.position, event.end_position = outer.position, outer.end_position
        try:
            event.checksum_status = status = checksum_status(frame.raw, frame.header, context.layout)
        except BinlogError as error:
            raise event.locate(error) from error.__cause__
        if status == "bad" and self._verify_checksums:
            raise event.locate(ChecksumError(BAD_CHECKSUM, field="checksum"))
        try:
            parsed = context.observe(frame.raw, frame.header)
        except BinlogError as error:
            raise event.locate(error) from error.__cause__
        if parsed is not None:
            event.__dict__["parsed"] = parsed
        return event

    def _read_payload(
        self, outer: ParsedEvent, context: Context, transactions: GtidTracker
    ) -> Iterator[ParsedEvent]:
        layout = context.layout
        inner_context, ordinals = context.for_payload(), count()
        numbers = RowNumbers(lambda: _rows_inside(outer, layout))
        try:
            for index, frame in enumerate(read_payload(outer.body, layout)):
                event = self._take_in(outer.file, frame, inner_context, outer)
                if layout.effective_type(event.type_code) in ROWS_TYPES:
                    event.row_numbers = numbers, next(ordinals)
                event.payload_index = index
                event.gtid = _step(transactions, event)
                yield event
        except BinlogError as error:
            raise outer.locate(error) from error.__cause__
        except MemoryError as error:
            raise outer.locate(out_of_memory(error)) from error


def _rows_inside(outer: ParsedEvent, layout: Format) -> Iterator[ParsedEvent]:
    """The rows events of a transaction payload, read again."""
    inside = EventReader([])._read_payload(outer, Context.of(layout), GtidTracker())
    return (event for event in inside if event.row_numbers is not None)


def _read_pieces(event: ParsedEvent, context: Context) -> Iterator[ParsedEvent]:
    """The reassembled rows event whose last piece this is."""
    try:
        if event.type_code != EventType.partial_row_data_event:
            context.pieces.interrupt()
            return
        raw = context.pieces.take(event.body, context.layout)
        if raw is None:
            return
        header = read_header(raw, context.layout.binlog_version)
        table_map = context.table_map_of(raw, header.type_code)
        frame = Frame(event.position, header, raw)
        whole = type(event)(event.file, frame, context.layout.without_checksums(), table_map)
        whole.end_position, whole.payload_index, whole.gtid = event.end_position, 0, event.gtid
    except BinlogError as error:
        raise event.locate(error) from error.__cause__
    yield whole
