"""Prints one log block by block: selects the events to print, and those the event reader must process."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.core.grammar import EventType, header_length
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.render.dump.block_printer import BlockPrinter
from binlog_kaitai.render.dump.block_rows import ParsedTableMaps
from binlog_kaitai.render.dump.block_selection import HiddenEvents, chosen_part, has_pieces, passed_over
from binlog_kaitai.render.dump.event_by_event import BLOCK_SIZE, MOST_EVENTS, LogEvents
from binlog_kaitai.render.dump.opened_payloads import InsidePayloads, change_of, unpacked_size
from binlog_kaitai.render.dump.selection import DumpSelection, SelectionEndedError


class LogBlocks:
    """Prints the blocks of one log: `printer` in bulk, `log` the events that only the event reader can."""

    def __init__(self, log: LogEvents, printer: BlockPrinter) -> None:
        self._log = log
        self._printer = printer
        self._table_maps = ParsedTableMaps()

    def print(self, block: Block) -> None:
        """Print the selected events of a block, in order; the event reader decides where only it can.

        Raises `StoppedError`: the selected events end in this block.
        """
        begin = 0
        if block.header_length != header_length(4) or block.layout.binlog_version != 4:
            self._log.print(block)
            return
        while begin < len(block):
            part = block.part(begin, len(block))
            row = self._print_part(part)
            if row is None:
                break
            if row:
                self._print_part(part.part(0, row))
            self._log.print_event(part, row)
            begin += row + 1
        self._log.position = int(block.end_positions[-1])

    def _print_part(self, block: Block) -> int | None:
        """Print a block, unless it has a hidden event that the event reader must process: then return its
        index.
        """
        selection = self._log.dump.selection
        before = vars(selection).copy()
        others, begin, end = _wanted(selection, block)
        is_one_by_one = others is not None and has_pieces(block)
        is_hidden = np.arange(len(block)) < begin
        if others is not None:
            is_hidden |= others
        shown = np.flatnonzero(~is_hidden[:end])
        passed = np.zeros(len(block), dtype=np.bool_)
        if selection.filters_gtids:
            passed_shown = passed_over(selection, block.chosen(shown))
            if passed_shown is None:
                is_one_by_one = True
            else:
                passed[shown] = passed_shown
        is_hidden |= passed
        hidden = None
        if is_hidden.any() and not is_one_by_one:
            hidden = HiddenEvents(block, is_hidden & (np.arange(len(block)) < end), self._table_maps)
            is_one_by_one = hidden.are_used()
        if is_one_by_one or (hidden is not None and hidden.first_of_reader is not None):
            vars(selection).update(before)
            if not is_one_by_one and hidden is not None:
                return hidden.first_of_reader
            self._log.print(block)
            return None
        if begin:
            self._log.context.table_maps.clear()  # clients have not seen them
        self._print_shown(block, shown, passed)
        if hidden is not None:
            hidden.remember(self._log.context, begin)
        if end < len(block):
            self._log.print_event(block, end, passes=False)
        return None

    def _print_shown(self, block: Block, shown: Ints, passed: Bools) -> None:
        part, printer = chosen_part(block, shown, passed[shown]), self._printer
        has_payloads = EventType.transaction_payload_event in part.kinds
        if not self._log.pays(unpacked_size(part) if has_payloads else 0) or has_pieces(block):
            for row in shown.tolist():
                self._log.print_event(block, row, bool(passed[row]))
        elif has_payloads:
            self._print_opened(part, passed[shown])
        else:
            with part.held():
                printer.print(part, passed[shown])

    def _print_opened(self, part: Block, passed: Bools) -> None:
        """Print events of the log, and those inside its payloads."""
        dump, printer, first = self._log.dump, self._printer, 0
        for opened in expand(part, change=change_of(part), block_size=BLOCK_SIZE):
            for begin in range(0, len(opened), MOST_EVENTS):
                piece = opened.part(begin, begin + MOST_EVENTS)
                inside = InsidePayloads(piece, part, first)
                first += int(np.count_nonzero(~inside.is_inside))
                others, _, end = _wanted(dump.selection, piece)
                is_stopped = end < len(piece)
                if is_stopped or others is not None:
                    shown = np.arange(end) if others is None else np.flatnonzero(~others[:end])
                    piece, inside = piece.chosen(shown), inside.part(shown)
                with piece.held():
                    printer.print(piece, passed[inside.rows] & ~inside.is_inside, inside)
                if is_stopped:
                    raise SelectionEndedError


def _wanted(selection: DumpSelection, block: Block) -> tuple[Bools | None, int, int]:
    """The events of other servers, if they are left out, and the range of selected events."""
    header = block.header
    others = selection.of_others(header.numbers("server_id"), block.types)
    timestamps = header.numbers("timestamp").astype(np.int64)
    return others, *selection.range_of(timestamps, block.positions, others)
