"""Prints one log block by block: selects the events to print, and those the event reader must process."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.blocks.payloads import expand
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import Frame
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.transactions import GtidTracker
from binlog_kaitai.reader.reader import Event, LogReader
from binlog_kaitai.render.dump.blocks.chosen import chosen_part, has_pieces, passed_over
from binlog_kaitai.render.dump.blocks.hidden import Hidden
from binlog_kaitai.render.dump.blocks.inside import (
    Inside,
    TablesInside,
    change_of,
    event_inside,
    unpacked_size,
)
from binlog_kaitai.render.dump.blocks.printer import BlockPrinter
from binlog_kaitai.render.dump.blocks.row_events import TableMaps
from binlog_kaitai.render.dump.item import Item, item_of
from binlog_kaitai.render.dump.selection import Selection

if TYPE_CHECKING:
    from binlog_kaitai.columns.kernel.arrays import Bools, Ints


#: Maximum number of bytes and events of a block: each block costs some milliseconds, each event memory.
BLOCK_SIZE, MOST_EVENTS = 16 << 20, 1 << 16


class StoppedError(Exception):
    """The selected events end."""


class Dump(Protocol):
    """The dump that a log belongs to.

    Attributes
    ----------
    reader : LogReader
        The event reader.
    selection : Selection
        Selects the events to print.
    outer : Item or None
        The payload event whose events are being printed.
    """

    reader: LogReader
    selection: Selection
    outer: Item | None

    def show(self, event: Event, shown_at: int | None = None, passes: bool | None = None) -> bool:
        """Print an event if it is selected; False once the selected events end."""

    def end_payload(self) -> None:
        """Print the text after the events of a payload."""


class LogBlocks:
    """Prints the blocks of one log.

    Parameters
    ----------
    context
        Context of the log, shared with events that are printed one by one.

    Attributes
    ----------
    position : int
        Position of the current event.
    printer : BlockPrinter or None
        Prints events in bulk; None to print them one by one.
    """

    def __init__(self, dump: Dump, name: str, position: int, context: Context) -> None:
        self.position = position
        self.printer: BlockPrinter | None = None
        self.context = context
        self._dump = dump
        self._name = name
        self._transactions = GtidTracker()
        self._table_maps = TableMaps()

    def print(self, block: Block) -> None:
        """Print a block.

        Raises
        ------
        StoppedError
            The selected events end in this block.
        """
        if self.printer is None or block.is_special:
            self._print_one_by_one(block)
        else:
            self._print_chosen(self.printer, block)
        self.position = int(block.end_positions[-1])

    def _read(self, block: Block, row: int) -> Iterator[Event]:
        """Read one event, and the events inside it if they are printed."""
        self.position = int(block.positions[row])
        frame = Frame(self.position, block.fixed_header(row), block.raw(row))
        reader = self._dump.reader
        if self._dump.selection.skips(frame.header, int(block.types[row])):
            yield reader.without_content(self._name, frame, self.context)
            return
        events = reader.events_of(self._name, frame, self.context, self._transactions)
        yield next(events)
        if block.types[row] != EventType.transaction_payload_event or self._dump.outer is not None:
            yield from events

    def _print_event(
        self, block: Block, row: int, passes: bool | None = None, *, is_opened: bool = False
    ) -> None:
        for event in islice(self._read(block, row), 1 if is_opened else None):
            if not self._dump.show(event, passes=passes):
                raise StoppedError
        if self._dump.selection.is_waiting:
            self.context.table_maps.clear()  # clients have not seen them

    def _print_one_by_one(self, block: Block) -> None:
        for row in range(len(block)):
            self._print_event(block, row)

    def _print_chosen(self, printer: BlockPrinter, block: Block) -> None:
        """Print the selected events of a block, in order; the event reader decides where only it can."""
        begin = 0
        while begin < len(block):
            part = block.part(begin, len(block))
            row = self._print_part(printer, part)
            if row is None:
                return
            if row:
                self._print_part(printer, part.part(0, row))
            self._print_event(part, row)
            begin += row + 1

    def _print_part(self, printer: BlockPrinter, block: Block) -> int | None:
        """Print a block, unless it has a hidden event that the event reader must process: then return its
        index.
        """
        selection = self._dump.selection
        before = vars(selection).copy()
        others, begin, end = _wanted(selection, block)
        is_one_by_one = others is not None and has_pieces(block)
        is_hidden = np.arange(len(block)) < begin
        if others is not None:
            is_hidden |= others
        shown = np.flatnonzero(~is_hidden[:end])
        passed = np.zeros(len(block), dtype=np.bool_)
        if selection.filters_gtids:
            found = passed_over(selection, block.chosen(shown))
            if found is None:
                is_one_by_one = True
            else:
                passed[shown] = found
        is_hidden |= passed
        hidden = None
        if is_hidden.any() and not is_one_by_one:
            hidden = Hidden(block, is_hidden & (np.arange(len(block)) < end), self._table_maps)
            is_one_by_one = hidden.are_used()
        if is_one_by_one or (hidden is not None and hidden.first_of_reader is not None):
            vars(selection).update(before)
            if not is_one_by_one and hidden is not None:
                return hidden.first_of_reader
            self._print_one_by_one(block)
            return None
        if begin:
            self.context.table_maps.clear()  # clients have not seen them
        self._print_shown(printer, block, shown, passed)
        if hidden is not None:
            hidden.remember(self.context, begin)
        if end < len(block):
            self._print_event(block, end, passes=False)
        return None

    def _print_shown(self, printer: BlockPrinter, block: Block, shown: Ints, passed: Bools) -> None:
        part = chosen_part(block, shown, passed[shown])

        def print_event(row: int, *, is_opened: bool) -> None:
            self._print_event(block, int(shown[row]), bool(passed[shown[row]]), is_opened=is_opened)

        if printer.printer.opens_payloads and _opens(printer, part):
            self._print_opened(printer, part, passed[shown], print_event)
        else:
            with part.held():
                printer.print(part, passed[shown], _Host(self._dump, print_event))

    def _print_opened(
        self, printer: BlockPrinter, part: Block, passed: Bools, print_event: _PrintEvent
    ) -> None:
        """Print events of the log, and those inside its payloads."""
        selection, first = self._dump.selection, 0
        for opened in expand(part, change=change_of(part), block_size=BLOCK_SIZE):
            for begin in range(0, len(opened), MOST_EVENTS):
                piece = opened.part(begin, begin + MOST_EVENTS)
                inside = Inside(piece, part, first)
                first += int(np.count_nonzero(~inside.is_inside))
                others, _, end = _wanted(selection, piece)
                is_stopped = end < len(piece)
                if is_stopped or others is not None:
                    shown = np.arange(end) if others is None else np.flatnonzero(~others[:end])
                    piece, inside = piece.chosen(shown), inside.part(shown)
                host = _OpenedHost(self._dump, print_event, part, piece, inside, printer.tables_inside)
                with piece.held():
                    printer.print(piece, passed[inside.rows] & ~inside.is_inside, host, inside)
                if is_stopped:
                    raise StoppedError


def _wanted(selection: Selection, block: Block) -> tuple[Any, int, int]:
    """The events of other servers, if they are left out, and the range of selected events."""
    header = block.header
    others = selection.of_others(header.numbers("server_id"), block.types)
    timestamps = header.numbers("timestamp").astype(np.int64)
    return others, *selection.range_of(timestamps, block.positions, others)


def _opens(printer: BlockPrinter, part: Block) -> bool:
    """Whether the content of payloads is printed by blocks, too."""
    if EventType.transaction_payload_event not in part.kinds or has_pieces(part):
        return False
    return printer.pays(unpacked_size(part))


class _PrintEvent(Protocol):
    def __call__(self, row: int, *, is_opened: bool) -> None: ...


class _Host:
    """The interface between block printers and a dump."""

    def __init__(self, dump: Dump, print_event: _PrintEvent) -> None:
        self._dump = dump
        self._print = print_event

    def print_event(self, event: int) -> None:
        self._print(event, is_opened=False)

    def begin_stretch(self, event: int) -> None:
        self._dump.end_payload()

    def end_stretch(self, event: int) -> None:
        pass


class _OpenedHost(_Host):
    """The same for a block with opened payloads."""

    def __init__(
        self,
        dump: Dump,
        print_event: _PrintEvent,
        outer: Block,
        piece: Block,
        inside: Inside,
        tables: TablesInside,
    ) -> None:
        super().__init__(dump, print_event)
        self._outer, self._piece, self._inside, self._tables = outer, piece, inside, tables

    def print_event(self, event: int) -> None:
        if not self._inside.is_inside[event]:
            self._print(int(self._inside.rows[event]), is_opened=True)
            return
        context = self._tables.at(int(self._piece.positions[event]))
        if not self._dump.show(event_inside(self._piece, event, self._outer, context), passes=False):
            raise StoppedError

    def begin_stretch(self, event: int) -> None:
        if not self._inside.is_inside[event]:
            super().begin_stretch(event)

    def end_stretch(self, event: int) -> None:
        self._dump.outer = None
        if self._inside.is_inside[event] or self._inside.opens[event]:
            status = "ok" if self._outer.layout.is_checksummed else "none"
            self._dump.outer = item_of(self._outer.event(int(self._inside.rows[event]), checksum=status))
