"""Prints blocks: lines of all events, base64 and rows, each in bulk.

Rules
-----
1. An event's output is defined by the printer: `shape_steps` asks it once for each shape and state.
2. An event without a shape is printed individually, or rejected; so are events in runs that are too short.
3. The events between two such events are a stretch. Its text is assembled by jobs (`row_printer.TextJobs`).
4. After a stretch, the printer is in the same state as if it had printed each event, and so is the context.
5. Rows that turn out to contradict their table map end a stretch before their statement is written; what is
   left of the stretch is printed again, up to the event with these rows, which has no shape then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.adapter import stored_checksum
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import Frame
from binlog_kaitai.core.grammar import EventType, header_length
from binlog_kaitai.dump.block_columns import (
    BlockColumns,
    EventBytes,
    InsidePayloads,
    TablesInside,
    change_of,
    renamed_events,
)
from binlog_kaitai.dump.block_rows import ParsedTableMaps, RowsEvents
from binlog_kaitai.dump.dump_kernels import BASE64, COPY, JOB_SIZE, ROWS_NUMBER, WAITING
from binlog_kaitai.dump.dump_output import Output
from binlog_kaitai.dump.event_shapes import Shapes, StatusTemplates, to_be_read
from binlog_kaitai.dump.printed_event import item_of
from binlog_kaitai.dump.printer import Printer
from binlog_kaitai.dump.row_printer import RowsMismatchError, TextJobs
from binlog_kaitai.dump.selection import DumpSelection, HiddenEvents, SelectionEndedError
from binlog_kaitai.dump.shape_steps import ShapeSteps, StepColumns
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_reader import EventReader
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.transaction_roles import GtidTracker
from binlog_kaitai.rows.table_links import MapsInForce
from binlog_kaitai.text.line_arrays import write_lines

#: The order of an event's jobs: text that is written before its lines, waiting lines, then its lines; at the
#: end of a statement, the text around its base64, the base64, the rows and their count, and a job after which
#: everything may be written. What waits of a statement precedes the base64, and the rows, of the stretch.
(
    _NOW,
    _WAITING_LINES,
    _LINES,
    _BEGIN,
    _WAITING_BODY,
    BODY_PHASE,
    _END,
    _WAITING_ROWS,
    ROWS_PHASE,
    _NUMBER,
    _LAST,
    _PHASES,
) = range(12)
#: The texts of several events that start in the same range of this size, in bytes, may be one job.
_COPIED = 1 << 12
#: Numbers of the waiting texts.
_HEAD, _BODY, _TAIL = range(3)


class TextRanges(NamedTuple):
    """Positions of texts, each with its start and end.

    `of_events` (int64 array of shape (events, 3)): text written with each event: start of its text, start of
    its lines, end of both.
    `constants` (int64 array of shape (n, 2)): `ShapeSteps.texts`.
    """

    of_events: Ints
    constants: Ints


def next_of(chosen: Bools) -> Ints:
    """For each event, the index of the first chosen one at or after it; the number of events if there is
    none.
    """
    count = len(chosen)
    own = np.where(chosen, np.arange(count), count)
    return np.minimum.accumulate(own[::-1])[::-1]


class OrderedJobs:
    """The ordered jobs of a stretch.

    `acts`: the effect of each event.
    `bodies`, `rows`: start and end of the bytes of each event, and of its images, with the program for these.
    `out`: the text that waits: lines are written with the first event that flushes them, base64 and rows of a
    statement with the event that ends it.
    `open_end`: index of that event, -1 for none.
    """

    def __init__(
        self,
        acts: StepColumns,
        texts: TextRanges,
        bodies: tuple[Ints, Ints],
        rows: Ints,
        out: Output,
    ) -> None:
        split = int(np.argmax(acts.flushes)) if out.head and acts.flushes.any() else -1
        count = len(acts.state)
        ends = np.flatnonzero(acts.ends)
        # The event that ends each event's statement; `count` if the statement continues after the stretch.
        end_of = next_of(acts.ends)
        members, printed = np.flatnonzero(acts.has_body), np.flatnonzero(acts.rows >= 0)
        safe = self._safe(acts, end_of)
        begins, first_lines, stops = texts.of_events.T
        shown = np.flatnonzero(stops > begins)
        # Texts between which nothing else is written are one job, as long as it is short.
        others: Ints = np.cumsum(acts.ends) - acts.ends
        between = (others[shown], begins[shown] // _COPIED, shown == split, shown > split)
        is_first = np.any([np.diff(values, prepend=-1) != 0 for values in between], axis=0)
        firsts, lasts = shown[is_first], shown[np.append(is_first[1:], len(shown) > 0)[: len(shown)]]
        cut = np.where(lasts == split, first_lines[lasts], stops[lasts])
        parts: list[tuple[int, Ints, Ints, Ints | int, Ints | int, Ints | int, Bools | int]]
        parts = [(_NOW, lasts, lasts, COPY, begins[firsts], cut, safe[lasts] & (lasts != split))]
        if split >= 0:
            own = np.array([split])
            parts.append((_WAITING_LINES, own, own, WAITING, _HEAD, _HEAD, 0))
            parts.append((_LINES, own, own, COPY, first_lines[own], stops[own], safe[own]))
        ended = ends[: int(out.is_open)]
        self.open_end = int(ended[0]) if len(ended) else -1
        parts.append((_WAITING_BODY, ended, ended, WAITING, _BODY, _BODY, 0))
        parts.append((_WAITING_ROWS, ended, ended, WAITING, _TAIL, _TAIL, 0))
        if len(members) or (len(ended) and out.body):
            parts.append(
                (BODY_PHASE, end_of[members], members, BASE64, bodies[0][members], bodies[1][members], 0)
            )
            used = distinct_values(np.concatenate((end_of[members], ended[: bool(out.body)])))
            used = used[used < count]
            for phase, (begin, end) in zip((_BEGIN, _END), texts.constants[:2], strict=True):
                parts.append((phase, used, used, COPY, begin, end, 0))
        programs = np.zeros(count, dtype=np.int64)
        if len(printed):
            programs[printed] = rows[2][printed]
            headed = printed[acts.extra[printed] >= 0]
            begin, end = texts.constants[acts.extra[headed]].T
            parts.append((ROWS_PHASE, end_of[headed], headed, COPY, begin, end, 0))
            owners, kinds = end_of[printed], acts.rows[printed]
            parts.append((ROWS_PHASE, owners, printed, kinds, rows[0][printed], rows[1][printed], 0))
        counted = np.flatnonzero(acts.counts)
        begin, end = texts.constants[2]
        parts.append((_NUMBER, counted, counted, ROWS_NUMBER, begin, end, 0))
        parts.append((_LAST, ends, ends, COPY, 0, 0, 1))
        keys, events_of, jobs = [], [], []
        for phase, owners, own, kind, starts, stops, is_safe in parts:
            rows_of_jobs = np.empty((len(own), JOB_SIZE), dtype=np.int64)
            for column, values in enumerate((kind, starts, stops, programs[own], is_safe)):
                rows_of_jobs[:, column] = values
            jobs.append(rows_of_jobs)
            keys.append((owners * _PHASES + phase) * count + own)
            events_of.append(own)
        order = np.argsort(np.concatenate(keys), kind="stable")
        self._jobs = np.concatenate(jobs)[order]
        self._event_of = np.concatenate(events_of)[order]
        self._keys = np.concatenate(keys)[order]
        self._count = count

    @staticmethod
    def _safe(acts: StepColumns, end_of: Ints) -> Bools:
        """The events after whose text everything may be written: nothing before waits for a later event."""
        numbers = np.arange(len(end_of))
        latest = np.where(acts.head >= 0, next_of(acts.flushes), -1)
        waits = acts.has_body | (acts.rows >= 0)
        latest = np.maximum(latest, np.where(waits, end_of, -1))
        # At the end of a statement, its base64 and rows follow its text.
        return (np.maximum.accumulate(latest) <= numbers) & ~acts.ends

    def all(self) -> tuple[Ints, Ints]:
        """All jobs, except those of `left`, and the index of each one's event in the stretch."""
        return self._between(0, self._count * _PHASES)

    def left(self, phase: int) -> tuple[Ints, Ints]:
        """The jobs of one phase for the statement that continues after the stretch, with their events."""
        first = self._count * _PHASES + phase
        return self._between(first, first + 1)

    def _between(self, first: int, last: int) -> tuple[Ints, Ints]:
        begin, end = np.searchsorted(self._keys, (first * self._count, last * self._count)).tolist()
        return self._jobs[begin:end], self._event_of[begin:end]


#: The type of each event of a payload that stays closed.
_CLOSED = np.arange(256, dtype=np.uint8)
_CLOSED[EventType.transaction_payload_event] = EventType.unknown_event
#: Amount of work from which on shapes pay off: about 200 events, or 100 KB of rows.
KERNELS_FROM = 448 << 10
#: The cost of printing an event individually, in bytes processed by kernels.
_CALL = 1 << 10
#: Maximum number of bytes and events of a block: each block costs some milliseconds, each event memory.
BLOCK_SIZE, MOST_EVENTS = 16 << 20, 1 << 16
#: Shorter stretches, in events, do not pay off.
_SHORTEST = 24


class BlockPrinter:
    """Prints the blocks of one log with the text of a printer.

    `reader`: reads the events that are printed individually.
    `selection`: selects the events to print.
    `context`: context of the log, kept up to date for these events.
    `position`: position of the current event.
    `shown_at`: position to print for the next event, if it is not its own.
    """

    def __init__(
        self,
        printer: Printer,
        reader: EventReader,
        selection: DumpSelection,
        context: Context,
        threads: int = 1,
    ) -> None:
        self.printer = printer
        self.context = context
        self.position = 0
        self.shown_at: int | None = None
        self._reader, self._selection = reader, selection
        self._transactions = GtidTracker()
        self._programs = printer.row_printer.programs
        self._jobs = TextJobs(self._programs, threads)
        self._table_maps = ParsedTableMaps()
        self._templates = StatusTemplates()
        self._tables_inside = TablesInside(context)
        self._is_in_payload = False
        self._work = 0

    def print(self, block: Block) -> None:
        """Print the selected events of a block.

        Raises `SelectionEndedError`: the selected events end in this block.
        """
        selected = self._selection.of(block)
        begin, end, left_out = selected
        if begin:
            self._print_part(block.part(0, begin), left_out.part(0, begin))
            self.context.table_maps.clear()  # clients have not seen them
        self._print_opened(block.part(begin, end), left_out.part(begin, end))
        if end < len(block):
            self._begin(block, left_out, InsidePayloads(block))
            self._print_alone(end, is_end=True)
        self.position = int(block.end_positions[-1])

    def end_payload(self) -> None:
        """Print the text after the events of a payload."""
        if self._is_in_payload:
            self.printer.end_payload()
        self._is_in_payload = False

    def _print_opened(self, block: Block, left_out: HiddenEvents) -> None:
        """Print events of the log, and those inside its payloads."""
        if EventType.transaction_payload_event not in block.kinds:
            self._print_part(block, left_out)
            return
        # The payloads that are left out stay closed: a block that has not been divided by types yet.
        block = block.part(0, len(block))
        block.types = np.where(left_out.is_hidden | left_out.is_passed, _CLOSED[block.types], block.types)
        first = 0
        for opened in expand(block, change=change_of(block), block_size=BLOCK_SIZE):
            for begin in range(0, len(opened), MOST_EVENTS):
                piece = opened.part(begin, begin + MOST_EVENTS)
                inside = InsidePayloads(piece, block, first)
                first += int(np.count_nonzero(~inside.is_inside))
                _, end, own = self._selection.of(piece, inside.is_inside)
                is_hidden = np.where(inside.is_inside, own.is_hidden, left_out.is_hidden[inside.rows])
                is_passed = left_out.is_passed[inside.rows] & ~inside.is_inside
                shown = HiddenEvents(is_hidden, is_passed).part(0, end)
                self._print_part(piece.part(0, end), shown, inside.part(0, end))
                if end < len(piece):
                    raise SelectionEndedError

    def _print_part(self, block: Block, left_out: HiddenEvents, inside: InsidePayloads | None = None) -> None:
        """Print events of which all that follow from payloads are there."""
        self._work += 4 * int(block.sizes.sum()) + _CALL * len(block)
        with block.held():
            self._begin(block, left_out, inside or InsidePayloads(block))
            begin, stop = 0, len(block)
            if self._pays(block):
                self._find_tables(block)
                if left_out.is_hidden.all() and inside is None:
                    self.end_payload()
                    for event in np.flatnonzero(to_be_read(block, self.maps, self.context.pieces)).tolist():
                        self._print_alone(event)
                    begin = stop
                else:
                    self._find_steps(block)
            while begin < stop:
                end = self._steps.walk(begin, stop) if self._has_tables and self._is_ready() else begin
                if end - begin < _SHORTEST:
                    end = begin + 1
                    self._print_alone(begin)
                else:
                    end = self._print_stretch(begin, end)
                begin = end
            self._remember(stop)

    def _pays(self, block: Block) -> bool:
        """Whether the events of a block may be described by shapes, and enough were printed to do that."""
        options, layout = self.printer.options, block.layout
        is_plain = not (options.require_row_format or options.flashback or block.is_special)
        is_usual = layout.binlog_version == 4 and block.header_length == header_length(4)
        return is_plain and is_usual and len(block) >= _SHORTEST and self._work >= KERNELS_FROM

    def _print_alone(self, event: int, *, is_end: bool = False) -> None:
        """Print one event as the event reader gives it, in the context of those before it.

        Raises `SelectionEndedError`: it is the one that ends the dump.
        """
        self._remember(event)
        self._done = event + 1
        block, inside, printer, reader = self.block, self._inside, self.printer, self._reader
        is_inside = bool(inside.is_inside[event])
        is_hidden, is_passed = (bool(values[event]) for values in self._left_out)
        self.position = int(block.positions[event])
        context = self._context_of(event)
        frame = Frame(self.position, block.fixed_header(event), block.raw(event))
        if is_hidden and not is_inside:
            events = iter((reader.without_content(block.file, frame, context),))
        else:
            events = reader.events_of(block.file, frame, context, self._transactions)
        printed = item_of(next(events))
        if is_inside:
            printed.position = printed.end_position = int(inside.payload_offsets[event])
        else:
            self.end_payload()
        if self.shown_at is not None:
            printed.position, self.shown_at = self.shown_at, None
        printer.check(printed)
        if is_end:
            raise SelectionEndedError
        if is_passed:
            printer.pass_over(printed)
        elif not is_hidden:
            raw = self._renamed(block.part(event, event + 1)).get(0) if printer.rewritten else None
            if raw is not None:
                printed.raw = raw
                printed.checksum = None if printed.checksum is None else stored_checksum(raw)
            printer.process(printed)
            self._is_in_payload |= bool(inside.opens[event])
        if not is_inside and printed.kind != EventType.transaction_payload_event:
            for _ in events:
                """A rows event whose last piece this is; clients do not join them."""

    def _renamed(self, block: Block) -> dict[int, bytes]:
        return renamed_events(block, self.printer.rewritten, rewrites_all=not self.printer.is_mariadb)

    def _is_ready(self) -> bool:
        """Whether a stretch may begin: only text is waiting."""
        return not (self.printer.waiting or self.printer.state.is_annotated)

    def _begin(self, block: Block, left_out: HiddenEvents, inside: InsidePayloads) -> None:
        self.block, self._left_out, self._inside = block, left_out, inside
        self._has_tables, self._done = False, 0

    def _find_tables(self, block: Block) -> None:
        """Find the table maps of a block, and where they are valid."""
        self._table_maps.begin()
        is_inside = bool(self._inside.is_inside[0])
        known = self._context_of(0).table_maps
        in_force = MapsInForce(known, is_after_payload=is_inside, by_id=True)
        self.maps = self._table_maps.read(block, in_force)
        self._closes = np.append(-1, np.flatnonzero(block.closes | self._inside.is_after))
        self._has_tables = True

    def _context_of(self, event: int) -> Context:
        """The context of an event: that of the log, or inside a payload."""
        is_inside = bool(self._inside.is_inside[event])
        return self._tables_inside.of(int(self.block.positions[event])) if is_inside else self.context

    def _find_steps(self, block: Block) -> None:
        """Describe the events of a block by their shapes."""
        self._programs.begin()
        printer, left_out = self.printer, self._left_out
        as_printed = EventBytes(block, self._renamed(block) if printer.rewritten else {})
        style = printer.hexdump_style if printer.options.hexdump else None
        self.lines = lines = BlockColumns(block, as_printed, self._inside, style)
        self.rows = rows = RowsEvents(lines, ~(left_out.is_hidden | left_out.is_passed))
        rows.find(printer, self.maps)
        shapes = Shapes(lines, rows, self.maps, self._templates, left_out, self.context.pieces)
        self._steps = ShapeSteps(printer, lines, shapes, rows, left_out)
        self._images = np.zeros((3, len(block)), dtype=np.int64)
        self._images[:, rows.events] = rows.starts, rows.ends, rows.program_of

    def _print_stretch(self, begin: int, end: int) -> int:
        """Print a stretch, up to a statement whose rows contradict its tables; returns where to go on."""
        if not self._inside.is_inside[begin]:
            self.end_payload()
        acts, out, jobs = self._steps.acts(begin, end), self.printer.out, self._jobs
        ready, texts, left = self._write_lines(begin, acts)
        lines, images = self.lines.as_printed, self._images[:, begin:end]
        starts, sizes = lines.starts[begin:end], lines.sizes[begin:end]
        ordered = OrderedJobs(acts, texts, (starts, starts + sizes), images, out)
        written, (running, event_of) = begin, ordered.left(ROWS_PHASE)
        try:
            left_tail, left_rows = jobs.run(lines.data, ready, running)
            rows_before = out.rows if ordered.open_end >= 0 else 0
            running, event_of = ordered.all()
            texts_waiting = out.head.take(), out.body.take(), out.tail.take()
            for piece in jobs.run_portions(lines.data, ready, running, texts_waiting, rows_before):
                self.printer.write(piece)
        except RowsMismatchError as mismatch:
            if mismatch.done:
                written = begin + int(event_of[mismatch.done - 1]) + 1
            self._steps.leave(begin + int(event_of[mismatch.job]))
        else:
            out.body.extend(jobs.run(lines.data, ready, ordered.left(BODY_PHASE)[0])[0])
            out.tail.extend(left_tail)
            out.rows = left_rows + (0 if ordered.open_end >= 0 else out.rows)
            self._finish(begin, end, acts, left)
            return end
        if 0 <= ordered.open_end < written - begin:
            out.rows = 0
        self._finish(begin, written, acts, b"")
        return written

    def _write_lines(self, begin: int, acts: StepColumns) -> tuple[Bytes, TextRanges, bytes]:
        """The text of all lines, the start and end of each event's text, and the remainder."""
        lines, count = self.lines, len(acts.state)
        flush_of = next_of(acts.flushes)
        now, head, takers = (
            np.flatnonzero(chosen) for chosen in (acts.now >= 0, acts.head >= 0, acts.takes_kept)
        )
        keepers = np.flatnonzero(acts.kept >= 0)
        kept = keepers[np.searchsorted(keepers, takers) - 1] if len(takers) else takers
        lines.show_bytes_at(begin + kept, begin + takers)
        # For each line: the event it is written with, whether it is one of the waiting lines, and which other
        # line it follows.
        parts = [
            (now, np.zeros_like(now), now, now, acts.now[now]),
            (flush_of[takers], np.ones_like(takers), 2 * takers, kept, acts.kept[kept]),
            (flush_of[head], np.ones_like(head), 2 * head + 1, head, acts.head[head]),
        ]
        owners, waits, ranks, shown, program_of = map(np.concatenate, zip(*parts, strict=True))
        offsets = 2 * owners + waits
        if len(now) or len(takers):
            order = np.argsort(2 * count * offsets + ranks, kind="stable")
            offsets, shown, program_of = offsets[order], shown[order], program_of[order]
        shown += begin
        constants = self._steps.texts
        zeros = np.zeros(len(constants), dtype=np.int64)
        ready, ends = write_lines(
            lines.as_printed.data,
            lines.pool,
            lines.programs + constants,
            np.concatenate((zeros, shown)),
            np.concatenate((len(lines.programs) + np.arange(len(constants)), program_of)),
            np.concatenate((zeros, self.block.ranks[shown])),
        )
        limits = np.append(0, ends)
        ranges = np.stack((limits[:-1], limits[1:]), axis=1)[: len(constants)]
        limits = limits[len(constants) :]
        lines_before = np.zeros(2 * count + 3, dtype=np.int64)
        lines_before[1:] = np.cumsum(np.bincount(offsets, minlength=2 * count + 2))
        edges = limits[lines_before]
        events = np.stack((edges[: 2 * count : 2], edges[1 : 2 * count : 2], edges[2 : 2 * count + 1 : 2]), 1)
        left = ready[edges[2 * count] :].tobytes()
        return ready, TextRanges(events, ranges), left

    def _finish(self, begin: int, end: int, acts: StepColumns, left: bytes) -> None:
        """Set the state of printer and context to that after the events from `begin` up to `end`."""
        if end <= begin:
            return
        printer = self.printer
        self._is_in_payload = bool(self._inside.is_inside[end - 1] or self._inside.opens[end - 1])
        printer.state = self._steps.state_after(end - 1)
        printer.out.head.extend((left,))
        keepers = np.flatnonzero(acts.kept[: end - begin] >= 0)
        put = self._steps.put
        if printer.state.is_annotated and len(keepers) and put is not None:
            printer.out.keep(self._steps.printed_event(begin + int(keepers[-1])), put)

    def _remember(self, end: int) -> None:
        """Bring the contexts up to date with the events of stretches up to `end`."""
        begin, self._done = self._done, end
        if not self._has_tables or begin >= end:
            return
        maps, context = self.maps, self._context_of(end - 1)
        closed = int(self._closes[np.searchsorted(self._closes, end) - 1])
        if closed >= begin:
            self.context.table_maps.clear()
            context.table_maps.clear()
        first, last = np.searchsorted(maps.events, (max(begin, closed), end))
        # In the order of the last occurrence of each.
        for number in reversed(dict.fromkeys(maps.numbers[first:last][::-1].tolist())):
            if (stored := maps.stored[number]) is not None:
                context.remember(stored)
