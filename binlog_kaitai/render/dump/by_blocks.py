"""One log printed block by block: which of its events are printed, and what the reader has to see."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.blocks.payloads import expand
from binlog_kaitai.columns.kernels import BAD
from binlog_kaitai.columns.rows.tables import last_of_each
from binlog_kaitai.context import Context
from binlog_kaitai.framing import Frame
from binlog_kaitai.grammar import EventType
from binlog_kaitai.reader import Event, LogReader
from binlog_kaitai.render.dump.blocks.chosen import chosen_part, has_pieces, passed_over
from binlog_kaitai.render.dump.blocks.inside import Inside, dress_of, event_inside, unpacked_size
from binlog_kaitai.render.dump.blocks.printer import BlockPrinter
from binlog_kaitai.render.dump.item import Item, item_of
from binlog_kaitai.render.dump.selection import Selection
from binlog_kaitai.transactions import GtidTracker

#: Most bytes and events of a block: each block costs some milliseconds, each event memory.
BLOCK_SIZE, MOST_EVENTS = 16 << 20, 1 << 16


class StoppedError(Exception):
    """The wanted events end."""


class Dump(Protocol):
    """Whose log it is.

    Attributes
    ----------
    reader : LogReader
        Reads events one by one.
    selection : Selection
        Which events are printed.
    outer : Item or None
        The payload event whose events are being printed.
    """

    reader: LogReader
    selection: Selection
    outer: Item | None

    def show(self, event: Event, shown_at: int | None = None, passes: bool | None = None) -> bool:
        """Print an event if it is wanted; False where the wanted events end."""

    def end_payload(self) -> None:
        """Print what stands behind the events of a payload."""


class LogBlocks:
    """Prints the blocks of one log.

    Parameters
    ----------
    context
        Of the log, for what is printed one by one, too.

    Attributes
    ----------
    position : int
        Of the event that is at hand.
    printer : BlockPrinter or None
        Prints events of a block; None for one by one.
    """

    def __init__(self, dump: Dump, name: str, position: int, context: Context) -> None:
        self.position = position
        self.printer: BlockPrinter | None = None
        self.context = context
        self._dump = dump
        self._name = name
        self._transactions = GtidTracker()

    def print(self, block: Block) -> None:
        """Print a block.

        Raises
        ------
        StoppedError
            The wanted events end in it.
        """
        if self.printer is None or block.is_special:
            self._print_one_by_one(block)
        else:
            self._print_chosen(self.printer, block)
        self.position = int(block.end_positions[-1])

    def _read(self, block: Block, row: int) -> Iterator[Event]:
        self.position = int(block.positions[row])
        frame = Frame(self.position, block.fixed_header(row), block.raw(row))
        yield from self._dump.reader.events_of(self._name, frame, self.context, self._transactions)

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
        selection = self._dump.selection
        others, begin, end = _wanted(selection, block)
        passed, is_one_by_one = None, others is not None and has_pieces(block)
        if selection.filters_gtids:
            passed = passed_over(selection, block)
            is_one_by_one |= passed is None
        if is_one_by_one:
            self._print_one_by_one(block)
            return
        is_hidden = np.arange(len(block)) < begin
        if others is not None:
            is_hidden |= others
        shown = np.flatnonzero(~is_hidden[:end])
        if passed is not None:
            is_hidden |= passed
        for row in _remembered(block, is_hidden[:end]):
            for _ in self._read(block, row):
                pass
        if begin:
            self.context.table_maps.clear()  # clients have not seen them
        if passed is None:
            passed = np.zeros(len(block), dtype=np.bool_)
        part = chosen_part(block, shown, passed[shown])

        def print_event(row: int, *, is_opened: bool) -> None:
            self._print_event(block, int(shown[row]), bool(passed[shown[row]]), is_opened=is_opened)

        if printer.opens_payloads and _opens(printer, part):
            self._print_opened(printer, part, passed[shown], print_event)
        else:
            with part.held():
                printer.print(part, passed[shown], _Host(self._dump, print_event))
        if end < len(block):
            self._print_event(block, end, passes=False)

    def _print_opened(
        self, printer: BlockPrinter, part: Block, passed: Any, print_event: _PrintEvent
    ) -> None:
        """Print events of the log, and those inside its payloads."""
        selection, first = self._dump.selection, 0
        for opened in expand(part, dress=dress_of(part), block_size=BLOCK_SIZE):
            for begin in range(0, len(opened), MOST_EVENTS):
                piece = opened.part(begin, begin + MOST_EVENTS)
                inside = Inside(piece, part, first)
                first += int(np.count_nonzero(~inside.is_inside))
                others, _, end = _wanted(selection, piece)
                is_stopped = end < len(piece)
                if is_stopped or others is not None:
                    shown = np.arange(end) if others is None else np.flatnonzero(~others[:end])
                    piece, inside = piece.chosen(shown), inside.part(shown)
                host = _OpenedHost(self._dump, print_event, part, piece, inside, self.context)
                with piece.held():
                    printer.print(piece, passed[inside.rows] & ~inside.is_inside, host, inside)
                if is_stopped:
                    raise StoppedError


def _wanted(selection: Selection, block: Block) -> tuple[Any, int, int]:
    """The events of other servers, if they are left out, and the range of those wanted."""
    header = block.header
    others = selection.of_others(header.numbers("server_id"), block.types)
    timestamps = header.numbers("timestamp").astype(np.int64)
    return others, *selection.range_of(timestamps, block.positions, others)


def _opens(printer: BlockPrinter, part: Block) -> bool:
    """Whether what is inside payloads is printed by blocks, too."""
    if EventType.transaction_payload_event not in part.kinds or has_pieces(part):
        return False
    return printer.pays(unpacked_size(part))


def _remembered(block: Block, is_hidden: Any) -> list[int]:
    """The events among those that nobody prints that the reader has to see."""
    if not is_hidden.any():
        return []
    kind, count = EventType.table_map_event, len(is_hidden)
    events = block.rows_of(kind)
    own = np.flatnonzero(is_hidden[events[events < count]])
    ids = block.body(kind).numbers("table_id.value")[own]
    others = is_hidden & (
        (block.types[:count] == EventType.partial_row_data_event) | (block.checksums[:count] == BAD)
    )
    wanted = np.union1d(events[own][last_of_each(ids)], np.flatnonzero(others))
    found: list[int] = wanted.tolist()
    return found


class _PrintEvent(Protocol):
    def __call__(self, row: int, *, is_opened: bool) -> None: ...


class _Host:
    """What block printers ask of a dump."""

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
    """The same for a block whose payloads were opened."""

    def __init__(
        self,
        dump: Dump,
        print_event: _PrintEvent,
        outer: Block,
        piece: Block,
        inside: Inside,
        context: Context,
    ) -> None:
        super().__init__(dump, print_event)
        self._outer, self._piece, self._inside, self._context = outer, piece, inside, context

    def print_event(self, event: int) -> None:
        if not self._inside.is_inside[event]:
            self._print(int(self._inside.rows[event]), is_opened=True)
        elif not self._dump.show(event_inside(self._piece, event, self._outer, self._context), passes=False):
            raise StoppedError

    def begin_stretch(self, event: int) -> None:
        if not self._inside.is_inside[event]:
            super().begin_stretch(event)

    def end_stretch(self, event: int) -> None:
        self._dump.outer = None
        if self._inside.is_inside[event] or self._inside.opens[event]:
            status = "ok" if self._outer.layout.is_checksummed else "none"
            self._dump.outer = item_of(self._outer.event(int(self._inside.rows[event]), checksum=status))
