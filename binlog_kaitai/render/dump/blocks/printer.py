"""Prints blocks: the lines of all events, base64 and rows where they are due, each in one go.

Rules
-----
1. An event that has no program is the reader's to print, or to refuse; so are all where a few lie alone.
2. What lies between two such events is a stretch. Its text is put together by jobs (`columns.text.jobs`).
3. The printer's state is kept as the printer keeps it, so that either goes on where the other stopped.
4. Rows that turn out not to follow their table map end a stretch before their statement goes out.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.compile import COMPILE_FROM, note_work
from binlog_kaitai.columns.kernels import BAD
from binlog_kaitai.columns.lines import Program, write_lines
from binlog_kaitai.columns.text.jobs import BASE64, COPY, JOB_SIZE, ROWS_NUMBER
from binlog_kaitai.context import Context
from binlog_kaitai.grammar import EventType, header_length
from binlog_kaitai.render.dump.blocks.columns import Lines
from binlog_kaitai.render.dump.blocks.rows import RowsEvents, TableMaps
from binlog_kaitai.render.dump.jobs import Jobs, MisfitError
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.printer import BINLOG, XID_LINE, XID_STATEMENT
from binlog_kaitai.render.dump.row_programs import Heads, Programs

#: Shorter stretches are not worth it, in events; nor is a block with more events that do not follow their
#: table maps.
_SHORTEST, _MOST_MISFITS = 24, 8
#: What an event costs that the reader prints, in bytes that kernels go through.
_CALL = 1 << 10
#: What jobs of an event come in which order: its lines; then, where a statement ends, the beginning of its
#: base64 and its end, rows and their number, and a job behind which all may go out.
_HEAD, _BEGIN, _BODY, _END, _ROWS, _NUMBER, _LAST, _PHASES = range(8)
_NOT_PLAIN = ("hexdump", "short_form", "rewrite_databases", "database", "table", "require_row_format",
              "flashback")  # fmt: skip

#: Prints the event of this number by the reader.
PrintEvent = Callable[[int], None]


def is_plain(options: DumpOptions) -> bool:
    """Whether all events are printed as they are, or left out for what their headers or GTIDs tell."""
    return not any(getattr(options, name) for name in _NOT_PLAIN)


class _TroubleError(Exception):
    """Rows of an event are the reader's; the events before `written` have been printed."""

    def __init__(self, event: int, written: int) -> None:
        super().__init__(event, written)
        self.event, self.written = event, written


class BlockPrinter:
    """Prints events of blocks; each dress adds its types.

    Parameters
    ----------
    printer
        Whose text it is; its state is kept as it keeps it.
    context
        Of the reader of the same log.
    """

    #: Which rows jobs there are: ROWS, COUNT or none.
    rows_job: int | None = None
    #: Whether the places of events that are passed over wait for one that is not.
    keeps_places = False
    #: Whether the number of rows is printed behind them.
    rows_number = b""

    def __init__(self, printer: Any, context: Context) -> None:
        self.printer = printer
        self.context = context
        self.programs = Programs(printer.style, is_mariadb=printer.quick.programs.is_mariadb)
        self._jobs = Jobs(self.programs)
        self._heads = Heads()
        self._table_maps = TableMaps()
        self._work = 0

    # What the dresses add --------------------------------------------------------------------------------

    def begin_dress(self) -> None:
        """Make the programs of a block's events."""
        raise NotImplementedError

    def begin_stretch(self, begin: int, end: int) -> None:
        """Fill in what depends on what was printed before."""
        raise NotImplementedError

    def finish_dress(self, begin: int, end: int, left: bytes) -> None:
        """Leave the printer as it is behind these events; `left` is not printed yet."""
        raise NotImplementedError

    def is_ready(self, event: int) -> bool:
        """Whether a stretch may begin with an event: nothing but rows waits for it."""
        return not self.context.pieces.is_open

    def more_lines(self, events: Any) -> list[tuple[Any, Any, Any, Any]]:
        """Lines that stand behind others: for each the event that owns it, and event, program and row.

        Those whose owner lies behind the last event wait for what comes next.
        """
        return []

    def add_xids(self) -> None:
        """Make the program of the ends of transactions, which both dresses print alike."""
        lines = self.lines
        fits, body = lines.fits(EventType.xid_event)
        events = lines.block.rows_of(EventType.xid_event)
        if len(events):
            program = lines.program().fill(XID_LINE, {"xid": lines.pool.numbers(body.numbers("xid"))})
            program.text(XID_STATEMENT + self.printer.delimiter + b"\n")
            lines.add(program, events[fits], np.flatnonzero(fits))

    def begin_text(self) -> None:
        """Print what was to wait for the next text."""

    # ----------------------------------------------------------------------------------------------------

    def print(
        self, block: Block, is_passed: Any, print_event: PrintEvent, begin_stretch: Callable[[], None]
    ) -> None:
        """Print the events of a block, but those inside payloads: the reader's.

        Of those that are passed over only the place is printed; what they are does not count.
        """
        at, stop = 0, len(block)
        self._work += block.data.size // 2 + _CALL * len(block)
        note_work(_CALL * len(block))
        is_usual = block.layout.header_length == header_length(4) and block.layout.binlog_version == 4
        if block.is_special or not is_usual or self._work < COMPILE_FROM:
            for event in range(at, stop):
                print_event(event)
            return
        self._begin(block, is_passed)
        others = np.flatnonzero(self.lines.program_of[:stop] < 0).tolist()
        misfits = 0
        while at < stop:
            other = bisect_left(others, at)
            end = others[other] if other < len(others) else stop
            if end - at < _SHORTEST or misfits > _MOST_MISFITS or not self.is_ready(at):
                print_event(at)
                at += 1
                continue
            begin_stretch()
            try:
                self._print_stretch(at, end)
                at = end
            except _TroubleError as found:
                insort(others, found.event)
                misfits += 1
                at = found.written

    def _begin(self, block: Block, is_passed: Any) -> None:
        self.block, self.is_passed = block, is_passed
        self.programs.begin()
        self._table_maps.begin()
        self.lines = lines = Lines(block)
        self.maps = self._table_maps.read(lines)
        self.rows = rows = RowsEvents(lines)
        rows.find(self.programs, self._heads, self.printer.quick, self.context, self.maps)
        self.begin_dress()
        lines.program_of[is_passed] = 0
        self._number_of_row = np.full(len(block), -1, dtype=np.int64)
        self._number_of_row[rows.events] = np.arange(len(rows.events))
        self.has_body = np.zeros(len(block), dtype=np.bool_)
        if self.printer.options.prints_base64:
            for kind in self.body_kinds():
                self.has_body[block.rows_of(kind)] = True
            self.has_body[rows.events] = True
        lines.program_of[block.checksums == BAD] = -1
        self._constants = [Program(lines.pool).text(text) for text in self._texts()]

    def body_kinds(self) -> list[int]:
        """The types whose events are in BINLOG statements, besides rows."""
        return [EventType.table_map_event]

    def _texts(self) -> list[bytes]:
        """Texts of jobs: around base64, in front of the number of rows, and of the heads of rows events."""
        extra = [b"".join(self.extra(head)) for head in self.rows.heads]
        return [BINLOG, b"'" + self.printer.delimiter + b"\n", self.rows_number, *extra]

    def extra(self, head: Any) -> list[bytes]:
        """What stands in front of the rows of an event."""
        return []

    def _print_stretch(self, begin: int, end: int) -> None:
        self.begin_stretch(begin, end)
        events = np.arange(begin, end)
        ready, limits, constants, left = self._write_lines(events)
        plan = _Plan(self, events, limits, constants)
        printer, jobs = self.printer, self._jobs
        written = begin
        try:
            is_open = bool(printer.body or printer.tail or printer.rows) and plan.ends.any()
            first = int(np.argmax(plan.ends)) if is_open else -1
            if is_open:
                jobs.rows = printer.rows
                body = b"".join(self._run(plan, ready, plan.members(first, _BODY)))
                tail = b"".join(self._run(plan, ready, plan.members(first, _ROWS)))
                rows = jobs.rows
            jobs.rows = 0
            left_body = list(self._run(plan, ready, plan.left(_BODY)))
            left_tail = list(self._run(plan, ready, plan.left(_ROWS)))
            left_rows, jobs.rows = jobs.rows, 0
            if is_open:
                self.begin_text()
                printer.write(bytes(ready[limits[0, 0] : limits[first, 1]]))
                printer.head.clear()
                printer.body.extend([body] if body else [])
                printer.tail.extend([tail] if tail else [])
                printer.rows = rows
                printer.end_statement()
                written = int(events[first]) + 1
            for piece in self._run(plan, ready, plan.main(first)):
                if piece:
                    self.begin_text()
                    printer.write(piece)
        except MisfitError as misfit:
            done = misfit.done
            if done:
                written = int(events[plan.last.event_of[done - 1]]) + 1
            trouble = int(events[plan.last.event_of[misfit.job]])
            self._finish(begin, written, b"")
            raise _TroubleError(trouble, written) from None
        printer.body.extend(piece for piece in left_body if piece)
        printer.tail.extend(piece for piece in left_tail if piece)
        printer.rows += left_rows
        self._finish(begin, end, left)

    def _run(self, plan: _Plan, ready: Any, jobs: _JobList) -> Any:
        plan.last = jobs
        return self._jobs.run(self.block.data, ready, jobs.jobs) if len(jobs.jobs) else ()

    def _write_lines(self, events: Any) -> tuple[Any, Any, Any, bytes]:
        """The text of all events, where that of each begins and ends, and of the constants; what is left."""
        lines, count = self.lines, len(self._constants)
        numbers = np.arange(count)
        parts = [(events, events, lines.program_of[events], lines.row_of[events]), *self.more_lines(events)]
        owners, shown, program_of, row_of = (np.concatenate(values) for values in zip(*parts, strict=True))
        if len(parts) > 1:
            order = np.argsort(owners, kind="stable")
            owners, shown, program_of, row_of = (
                values[order] for values in (owners, shown, program_of, row_of)
            )
        zeros = np.zeros(count, dtype=np.int64)
        programs = lines.programs + self._constants
        ready, ends = write_lines(
            self.block.data,
            lines.pool,
            programs,
            np.concatenate((zeros, shown)),
            np.concatenate((len(lines.programs) + numbers, program_of)),
            np.concatenate((zeros, row_of)),
        )
        limits = np.stack((np.append(0, ends[:-1]), ends), axis=1)
        constants, of_lines = limits[:count], limits[count:]
        if len(parts) > 1:
            last = np.searchsorted(owners, events, side="right") - 1
            first = np.searchsorted(owners, events)
            of_lines = np.stack((of_lines[first, 0], of_lines[last, 1]), axis=1)
        if self.keeps_places:
            shown = np.flatnonzero(~self.is_passed[events])
            first = int(shown[-1]) + 1 if len(shown) else 0
            of_lines[first:] = of_lines[first - 1, 1] if first else of_lines[0, 0]
        left = ready[of_lines[-1, 1] :].tobytes()
        return ready, of_lines, constants, left

    def _finish(self, begin: int, end: int, left: bytes) -> None:
        """Leave printer and context as they are behind the events from `begin` up to `end`."""
        if end <= begin:
            return
        events, made, which = self.maps
        first, last = np.searchsorted(events, (begin, end))
        seen: dict[int, tuple[Any, bytes]] = {}
        for number in which[first:last][::-1].tolist() if len(made) > 1 else which[first:last][-1:].tolist():
            body, content = made[number]
            seen.setdefault(body.table_id.value, (body, content))
        for body, content in reversed(seen.values()):
            self.context.remember(body)
            self.printer.quick.note(body, content)
            self.printer.ignored_maps.discard(body.table_id.value)
        self.finish_dress(begin, end, left)


class _JobList:
    """Jobs, and the numbers of their events in the stretch."""

    def __init__(self, jobs: Any, event_of: Any) -> None:
        self.jobs, self.event_of = jobs, event_of


class _Plan:
    """The jobs of a stretch in their order."""

    def __init__(self, blocks: BlockPrinter, events: Any, limits: Any, constants: Any) -> None:
        block, rows = blocks.block, blocks.rows
        count = len(events)
        row_of = blocks._number_of_row[events]
        is_rows = row_of >= 0
        self.ends = np.zeros(count, dtype=np.bool_)
        self.ends[is_rows] = rows.is_end[row_of[is_rows]]
        numbers = np.arange(count)
        ends = np.flatnonzero(self.ends)
        # The end of the statement that an event is in; `count` for the one that goes on behind the stretch.
        end_of = np.append(ends, count)[np.searchsorted(ends, numbers)]
        has_body = blocks.has_body[events]
        waiting = np.cumsum(is_rows | has_body)
        at_end = np.append(0, waiting[ends])[np.searchsorted(ends, numbers)]
        parts = [(_HEAD, numbers, numbers, COPY, limits[:, 0], limits[:, 1], waiting == at_end)]
        members = np.flatnonzero(has_body)
        if len(members):
            begins = block.starts[events[members]]
            sizes = block.sizes[events[members]]
            parts.append((_BODY, end_of[members], members, BASE64, begins, begins + sizes, 0))
            used = np.unique(end_of[members])
            used = used[used < count]
            for phase, constant in ((_BEGIN, constants[0]), (_END, constants[1])):
                parts.append((phase, used, used, COPY, constant[0], constant[1], 0))
        programs = np.zeros(count, dtype=np.int64)
        if blocks.rows_job is not None:
            found = np.flatnonzero(is_rows)
            which = row_of[found]
            programs[found] = rows.program_of[which]
            extra = constants[3:][rows.head_of[which]]
            is_told = extra[:, 1] > extra[:, 0]
            told = found[is_told]
            parts.append((_ROWS, end_of[told], told, COPY, extra[is_told, 0], extra[is_told, 1], 0))
            parts.append(
                (_ROWS, end_of[found], found, blocks.rows_job, rows.starts[which], rows.ends[which], 0)
            )
            if blocks.rows_number:
                parts.append((_NUMBER, ends, ends, ROWS_NUMBER, constants[2][0], constants[2][1], 0))
        parts.append((_LAST, ends, ends, COPY, 0, 0, 1))
        keys, events_of, jobs, phases = [], [], [], []
        for phase, owners, own, kind, starts, stops, is_safe in parts:
            made = np.empty((len(own), JOB_SIZE), dtype=np.int64)
            made[:, 0], made[:, 1], made[:, 2], made[:, 3] = kind, starts, stops, programs[own]
            made[:, 4] = is_safe
            jobs.append(made)
            keys.append((owners * _PHASES + phase) * count + own)
            events_of.append(own)
            phases.append(np.full(len(own), phase))
        order = np.argsort(np.concatenate(keys), kind="stable")
        self._jobs = np.concatenate(jobs)[order]
        self._event_of = np.concatenate(events_of)[order]
        self._keys = np.concatenate(keys)[order]
        self._count = count
        self.last = self._between(0, 0)

    def _between(self, first: int, last: int) -> _JobList:
        """The jobs with keys from one up to another."""
        begin, end = np.searchsorted(self._keys, (first, last)).tolist()
        return _JobList(self._jobs[begin:end], self._event_of[begin:end])

    def members(self, owner: int, phase: int) -> _JobList:
        """The jobs of a phase of the statement that an event ends."""
        key = owner * _PHASES + phase
        return self._between(key * self._count, (key + 1) * self._count)

    def left(self, phase: int) -> _JobList:
        """The jobs of a phase of the statement that goes on behind the stretch."""
        return self.members(self._count, phase)

    def main(self, after: int) -> _JobList:
        """All others, behind the statement that an event ends, -1 for all."""
        return self._between((after + 1) * _PHASES * self._count, self._count * _PHASES * self._count)
