"""Prints one log event by event, as the event reader reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import Frame
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.transactions import GtidTracker
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_reader import EventReader, ParsedEvent
from binlog_kaitai.render.dump.printed_event import PrintedEvent
from binlog_kaitai.render.dump.selection import DumpSelection

#: Amount of work from which on blocks pay off: about 200 events, or 100 KB of rows.
KERNELS_FROM = 448 << 10
#: The cost of printing an event individually, in bytes processed by kernels.
_CALL = 1 << 10
#: Maximum number of bytes and events of a block: each block costs some milliseconds, each event memory.
BLOCK_SIZE, MOST_EVENTS = 16 << 20, 1 << 16


class Dump(Protocol):
    """The dump that a log belongs to.

    `reader`: the event reader.
    `selection`: selects the events to print.
    `outer`: the payload event whose events are being printed.
    """

    reader: EventReader
    selection: DumpSelection
    outer: PrintedEvent | None

    def show(self, event: ParsedEvent, shown_at: int | None = None, passes: bool | None = None) -> None:
        """Print an event if it is selected."""

    def end_payload(self) -> None:
        """Print the text after the events of a payload."""


class LogEvents:
    """Prints the events of one log.

    `context`: context of the log, shared with the printer of blocks.
    `position`: position of the current event.
    """

    def __init__(self, dump: Dump, name: str, position: int, context: Context) -> None:
        self.position = position
        self.context = context
        self.dump = dump
        self._name = name
        self._transactions = GtidTracker()
        self._work = 0

    def count(self, block: Block) -> None:
        """Count the work of a block before it is printed."""
        self._work += 4 * block.data.size + _CALL * len(block)

    def pays(self, size: int = 0) -> bool:
        """Whether kernels are worthwhile for the work so far and this many more bytes."""
        return self._work + size >= KERNELS_FROM

    def print(self, block: Block) -> None:
        """Print a block.

        Raises `StoppedError`: the selected events end in this block.
        """
        for row in range(len(block)):
            self.print_event(block, row)
        self.position = int(block.end_positions[-1])

    def events_of(self, block: Block) -> list[ParsedEvent]:
        """The events of a block, to be printed later."""
        return [event for row in range(len(block)) for event in self._read(block, row)]

    def print_event(self, block: Block, row: int, passes: bool | None = None) -> None:
        """Print one event, and the events inside it."""
        for event in self._read(block, row):
            self.dump.show(event, passes=passes)
        if self.dump.selection.is_waiting:
            self.context.table_maps.clear()  # clients have not seen them

    def _read(self, block: Block, row: int) -> Iterator[ParsedEvent]:
        """Read one event, and the events inside it if they are printed."""
        self.position = int(block.positions[row])
        frame = Frame(self.position, block.fixed_header(row), block.raw(row))
        reader = self.dump.reader
        if self.dump.selection.skips(frame.header, int(block.types[row])):
            yield reader.without_content(self._name, frame, self.context)
            return
        events = reader.events_of(self._name, frame, self.context, self._transactions)
        yield next(events)
        if block.types[row] != EventType.transaction_payload_event or self.dump.outer is not None:
            yield from events
