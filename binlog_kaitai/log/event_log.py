"""Public log reader: events whose rows have column names.

The event reader knows only the event and its table map. If a log has no column names (`binlog_row_metadata`
MINIMAL, the server's default), earlier statements provide them: this module follows these statements, as
`read_changes` does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import BinaryIO, Unpack

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.framing import Frame
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.options import part_of, takes
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definition_changes import changes_of
from binlog_kaitai.errors import BinlogError, FilterWarning, warn
from binlog_kaitai.log import event_reader as reader
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.event_rows import Row, has_rows, rows_of, schema_of
from binlog_kaitai.log.read_options import LogOptions, ReaderOptions
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.log.transaction_roles import GtidTracker
from binlog_kaitai.sources.source import Source, SourceLike, resolve
from binlog_kaitai.text.notebook import html_table
from binlog_kaitai.values.schema import Schema, is_mariadb

_NO_FILTERS = Filters()

#: Number of events that a notebook shows of a reader.
_SHOWN = 20

#: Every statement that can change a definition contains one of these words.
_CHANGING = re.compile(rb"create|alter|drop|rename", re.IGNORECASE)


class EarlierStatements:
    """Statements of one server's logs that may change definitions; parsed only when rows are requested."""

    def __init__(self, initial: Definitions) -> None:
        self._initial = initial
        self._events: list[reader.ParsedEvent] = []
        self._definitions = initial.copy()
        self._applied = 0

    def __len__(self) -> int:
        return len(self._events)

    def observe(self, event: reader.ParsedEvent) -> None:
        """Store an event that may hold such a statement; compressed text is not inspected here."""
        kind = event.layout.effective_type(event.type_code)
        if kind == EventType.query_compressed_event or (kind in QUERY_TYPES and _CHANGING.search(event.raw)):
            self._events.append(event)

    def definitions(self, count: int) -> Definitions:
        """The table definitions after the first `count` statements."""
        if count < self._applied:
            self._definitions, self._applied = self._initial.copy(), 0
        for event in self._events[self._applied : count]:
            try:
                self._definitions.observe_query(event.body)
            except BinlogError as error:
                self._definitions.observe_query(error)
            self._definitions.reach(event.file, event.position)
        self._applied = count
        return self._definitions


class Event(reader.ParsedEvent):
    """One event of a log; a rows event yields its rows with column names."""

    __slots__ = ("_count", "_statements")

    _statements: EarlierStatements | None
    _count: int

    @cached_property
    def schema(self) -> Schema | None:
        """The columns of a rows event's table at that time; None for other events.

        Names come from the log itself, else from earlier statements, else from `ddl`, else they are c1, c2 …
        Types that logs do not distinguish, such as MariaDB's UUID and BINARY(16), also come from definitions.

        Raises
        ------
        GrammarError
            The table map is missing.
        """
        if not has_rows(self):
            return None
        schema = schema_of(self)
        if self._statements is None or self.table_map is None:
            return schema
        definitions = self._statements.definitions(self._count)
        definition = definitions.of(schema.schema_name, schema.table_name, self.table_map)
        if definition is None:
            return schema
        return Schema.of(self.table_map, definition, is_mariadb=is_mariadb(self.layout))

    def rows(self) -> Iterator[Row]:
        """The rows of a rows event, values by column name; nothing for other events.

        All rows are decoded before the first is given, so an event with an invalid one gives none.

        Raises
        ------
        GrammarError
            The rows do not match the table map, or a value is invalid; the error names table and column.
        """
        if (schema := self.schema) is not None:
            yield from rows_of(self, schema)


class LogReader(reader.EventReader):
    """The events of one or many logs, in order. Made by :func:`open`."""

    event_class = Event

    def __init__(
        self,
        sources: list[Source],
        *,
        verify_checksums: bool = True,
        ddl: str | None = None,
        start_position: int | None = None,
        filters: Filters = _NO_FILTERS,
    ) -> None:
        super().__init__(sources, verify_checksums=verify_checksums, start_position=start_position)
        self._filters = filters
        self._definitions = SeriesDefinitions(sources, ddl)
        self._series: dict[Definitions, EarlierStatements] = {}
        self._statements: EarlierStatements | None = None

    def __iter__(self) -> Iterator[Event]:
        self._series = {}  # a new iteration starts over
        self._definitions.restart()
        events: Iterator[Event] = super().__iter__()  # type: ignore[assignment]
        return self._of_tables(events) if self._filters else events

    def _of_tables(self, events: Iterator[Event]) -> Iterator[Event]:
        is_any = False
        for event in filter(self._takes, events):
            is_any = True
            yield event
        if not is_any:
            warn(f"table {', '.join(self._filters.tables)}: not found in these logs", FilterWarning)

    def _takes(self, event: reader.ParsedEvent) -> bool:
        """Whether an event names one of the tables, or changes its definition; always without `table`."""
        if not self._filters:
            return True
        kind = event.layout.effective_type(event.type_code)
        named = event.body if kind == EventType.table_map_event else event.table_map
        if named is not None:
            return self._filters.takes_names(named.schema_name, named.table_name)
        if kind not in QUERY_TYPES:
            return False
        try:
            statement = event.body
        except BinlogError as error:
            statement = error  # it may be about any table
        return any(change.is_taken_by(self._filters) for change in changes_of(statement, Definitions()))

    def _repr_html_(self) -> str:
        """The first events, unless they can be read only once."""
        columns = "position", "time (UTC)", "type", "GTID", "bytes"
        if not self.sources or self.sources[0].path is None:
            return html_table(repr(self), columns, ())
        again = reader.EventReader(self.sources, start_position=self._start_position)
        rows: list[tuple[object, ...]] = []
        try:
            for event in islice(filter(self._takes, again), _SHOWN):
                time = datetime.fromtimestamp(event.header.timestamp, UTC)
                rows.append((event.position, f"{time:%F %T}", event.type, event.gtid or "", len(event.raw)))
        except BinlogError as error:
            rows.append(("", "", str(error), "", ""))
        finally:
            again.close()
        return html_table(repr(self), columns, rows)

    def read_from(self, source: Source, stops: Sequence[int] = ()) -> Generator[Event, None, None]:
        return super().read_from(source, stops)  # type: ignore[return-value]

    def know(self, definitions: Callable[[], SeriesDefinitions]) -> None:
        """Set the initial table definitions, unless statements have already been followed."""
        if not self._series:
            self._definitions = definitions()

    def pass_over(
        self, name: str, frame: Frame, context: Context, transactions: GtidTracker
    ) -> reader.ParsedEvent:
        event = super().pass_over(name, frame, context, transactions)
        self._statements_of(name, frame).observe(event)
        return event

    def _read_stream(
        self, source: Source, stream: BinaryIO, stops: Sequence[int], start: int
    ) -> Iterator[reader.ParsedEvent]:
        self._statements = None
        return super()._read_stream(source, stream, stops, start)

    def _statements_of(self, name: str, frame: Frame) -> EarlierStatements:
        if self._statements is None:
            initial = self._definitions.of(name, frame.header.server_id)
            self._statements = self._series.setdefault(initial, EarlierStatements(initial))
        return self._statements

    def events_of(
        self, name: str, frame: Frame, context: Context, transactions: GtidTracker
    ) -> Iterator[reader.ParsedEvent]:
        statements = self._statements_of(name, frame)
        for event in super().events_of(name, frame, context, transactions):
            if isinstance(event, Event):
                event._statements, event._count = statements, len(statements)
            statements.observe(event)
            yield event


@takes(LogOptions)
def open(
    source: SourceLike | Iterable[SourceLike],
    *,
    start_position: int | None = None,
    table: str | Iterable[str] = (),
    **options: Unpack[LogOptions],
) -> LogReader:
    """Open binary logs to read them event by event.

    Parameters
    ----------
    source
        A path, glob pattern, directory, ``.index`` file, ``"-"`` for stdin, bytes, binary file object, or
        several of these.
    start_position
        Where to start in the first log: the offset of an event, in bytes. Earlier events are scanned for the
        format, table maps, statements and the GTID in force, so that later events decode the same.
    table
        Only rows events and table maps of these tables, and statements that change their definitions: names
        as for the other functions.
    **options
        See :class:`LogOptions`.

    Raises
    ------
    SourceError, UsageError
        Immediately, if there is nothing to read, or the position is not a non-negative integer.
    BinlogError
        While iterating; a `UsageError` if no event begins at `start_position`.
    """
    Filters(start_position=start_position)
    sources, filters = resolve(source, options["keys"]), Filters.of(table=table)
    return LogReader(
        sources, start_position=start_position, filters=filters, **part_of(options, ReaderOptions)
    )


#: Logs smaller than this are read from the start, in bytes.
_LARGE = 16 << 20

#: In logs without GTIDs, no table map stays in force across these events.
_BOUNDARIES = (EventType.query_event, EventType.xid_event)


def stops_before(source: Source, position: int) -> list[int]:
    """Offsets at which reading must stop on the way to an event, because the event depends on them.

    These are the format descriptions and the start of the event's transaction; [] if the log is best read
    from its start.
    """
    if source.path is None or not os.path.isfile(source.path) or os.path.getsize(source.path) < _LARGE:
        return []
    formats: list[int] = []
    transaction = statement = 0
    with source.open() as stream:
        try:
            for block in BlockReader.of_file(stream, source.name):
                if int(block.positions[0]) > position:
                    break
                if block.is_special:
                    formats.append(int(block.positions[0]))
                before = block.positions <= position
                gtids = block.positions[before & np.isin(block.types, list(GTID_TYPES))]
                others = block.positions[before & np.isin(block.types, _BOUNDARIES)]
                transaction = int(gtids[-1]) if len(gtids) else transaction
                statement = int(others[-1]) if len(others) else statement
        except BinlogError:
            pass  # the reader reports the damage, or stops before it
    start = transaction or statement
    return [*formats, start] if start and formats else []
