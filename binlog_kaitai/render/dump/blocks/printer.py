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
from typing import Any, Protocol

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.compile import COMPILE_FROM
from binlog_kaitai.columns.kernels import BAD
from binlog_kaitai.columns.lines import Program, write_lines
from binlog_kaitai.columns.rows.tables import last_of_each
from binlog_kaitai.context import Context
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import EventType, header_length
from binlog_kaitai.render.dump.blocks.columns import Lines
from binlog_kaitai.render.dump.blocks.inside import Inside, TablesInside
from binlog_kaitai.render.dump.blocks.plan import BODY_PHASE, ROWS_PHASE, JobList, Plan
from binlog_kaitai.render.dump.blocks.renamed import Renamed
from binlog_kaitai.render.dump.blocks.rows import RowsEvents, TableMaps
from binlog_kaitai.render.dump.jobs import Jobs, MisfitError
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.printer import BINLOG, UNREADABLE, XID_LINE, XID_STATEMENT
from binlog_kaitai.render.dump.row_programs import Heads, Programs

#: Shorter stretches are not worth it, in events; nor is a block with more events that do not follow their
#: table maps.
_SHORTEST, _MOST_MISFITS = 24, 8
#: The scope of tables that are not inside a payload; that of others is the payload's place in the log.
_OUTSIDE = -1
#: What an event costs that the reader prints, in bytes that kernels go through.
_CALL = 1 << 10
_NOT_PLAIN = ("short_form", "require_row_format", "flashback")


class Host(Protocol):
    """Whose events are printed; it knows them by their numbers in the block."""

    def print_event(self, event: int) -> None:
        """Print one event by the reader."""

    def begin_stretch(self, event: int) -> None:
        """Do what is to be done before an event that is printed without the reader."""

    def end_stretch(self, event: int) -> None:
        """Take in that events up to this one were printed so."""


def is_plain(options: DumpOptions) -> bool:
    """Whether all events are printed as they are, or left out for what their headers or GTIDs tell."""
    is_usual = options.prints_row_count and options.prints_row_positions and not options.filters_domains
    return is_usual and not any(getattr(options, name) for name in _NOT_PLAIN)


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
    #: Whether payloads are to be opened for it, and what stands behind the events inside each.
    opens_payloads = False
    behind_payload = b""

    def __init__(self, printer: Any, context: Context) -> None:
        self.printer = printer
        self.context = context
        self.programs = Programs(printer.style, is_mariadb=printer.quick.programs.is_mariadb)
        self._jobs = Jobs(self.programs)
        self._heads = Heads()
        self._table_maps = TableMaps()
        self.tables_inside = TablesInside(context)
        self._work = 0

    # What the dresses add --------------------------------------------------------------------------------

    def is_usual(self, block: Block) -> bool:
        """Whether the events of a block are laid out and marked as servers do nowadays."""
        return block.layout.header_length == header_length(4) and block.layout.binlog_version == 4

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

    def pays(self, size: int) -> bool:
        """Whether so many bytes more are printed by kernels."""
        return self._work + size >= COMPILE_FROM

    def print(self, block: Block, is_passed: Any, host: Host, inside: Inside | None = None) -> None:
        """Print the events of a block; those inside payloads only if they were opened.

        Of those that are passed over only the place is printed; what they are does not count.
        """
        at, stop, self.host = 0, len(block), host
        self._work += block.data.size // 2 + _CALL * len(block)
        if block.is_special or not self.is_usual(block) or self._work < COMPILE_FROM:
            self._print_by_reader(at, stop)
            return
        try:
            self._begin(block, is_passed, inside)
        except (BinlogError, *UNREADABLE):  # the reader says which event it is
            self._print_by_reader(at, stop)
            return
        others = np.flatnonzero(self.lines.program_of[:stop] < 0).tolist()
        misfits = 0
        while at < stop:
            other = bisect_left(others, at)
            end = others[other] if other < len(others) else stop
            if end - at < _SHORTEST or misfits > _MOST_MISFITS or not self.is_ready(at):
                host.print_event(at)
                at += 1
                continue
            host.begin_stretch(at)
            try:
                self.begin_stretch(at, end)
            except (BinlogError, *UNREADABLE):
                self._print_by_reader(at, end)
                at = end
                continue
            try:
                self._print_stretch(at, end)
                at = end
            except _TroubleError as found:
                insort(others, found.event)
                misfits += 1
                at = found.written

    def _print_by_reader(self, begin: int, end: int) -> None:
        for event in range(begin, end):
            self.host.print_event(event)

    def _begin(self, block: Block, is_passed: Any, inside: Inside | None) -> None:
        self.block, self.is_passed = block, is_passed
        self.programs.begin()
        self._table_maps.begin()
        printer = self.printer
        shows_bytes = printer.options.hexdump
        rewrites = {"rewrites_all": printer.rewrites_all, "keeps_all": shows_bytes}
        as_printed = Renamed(block, printer.rewritten, **rewrites)
        style = printer.hexdump_style if shows_bytes else None
        self.lines = lines = Lines(block, as_printed, inside, style)
        self.maps = self._table_maps.read(block)
        self.rows = rows = RowsEvents(lines)
        self._scopes = None if inside is None else np.where(inside.is_inside, block.positions, _OUTSIDE)
        rows.find(self.programs, self._heads, printer, self._earlier_tables(), self.maps, self._scopes)
        self.is_quiet = is_passed.copy()
        self._leave_out_tables()
        self.begin_dress()
        lines.program_of[self.is_quiet] = 0
        if inside is not None:
            # What stands behind a payload does not wait.
            lines.program_of[self.is_quiet & inside.is_behind] = -1
            self._behind_payload = lines.number(Program(lines.pool).text(self.behind_payload))
        self.number_of_row = np.full(len(block), -1, dtype=np.int64)
        self.number_of_row[rows.events] = np.arange(len(rows.events))
        self.has_body = np.zeros(len(block), dtype=np.bool_)
        if printer.options.prints_base64:
            for kind in self.body_kinds():
                self.has_body[block.rows_of(kind)] = True
            self.has_body[rows.events] = True
            self.has_body[self.is_quiet] = self.has_body[rows.events[rows.is_left_out]] = False
        lines.program_of[block.checksums == BAD] = -1
        self._constants = [Program(lines.pool).text(text) for text in self._texts()]

    def _earlier_tables(self) -> list[tuple[int, Any]]:
        """The table maps before the block, each with its scope."""
        found = [(_OUTSIDE, body) for body in self.context.table_maps.values()]
        if self._scopes is not None:
            place = self.tables_inside.place
            found += [(place, body) for body in self.tables_inside.at(place).table_maps.values()]
        return found

    def _leave_out_tables(self) -> None:
        """Find the table maps and rows that `--database` and `--table` leave out."""
        (events, made, which), rows = self.maps, self.rows
        self._skips_map = np.array([self.printer.skips_table(body) for body, _ in made], dtype=np.bool_)
        skipped = events[self._skips_map[which]]
        rows.leave_out(skipped, self.printer.ignored_maps)
        # What ends a statement has its text printed, whatever its own rows are.
        self.is_quiet[skipped] = self.is_quiet[rows.events[rows.is_left_out & ~rows.is_end]] = True

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
        events = np.arange(begin, end)
        ready, limits, constants, left = self._write_lines(events)
        plan = Plan(self, events, limits, constants)
        printer, jobs = self.printer, self._jobs
        written = begin
        try:
            is_open = bool(printer.body or printer.tail or printer.rows) and plan.ends.any()
            first = int(np.argmax(plan.ends)) if is_open else -1
            if is_open:
                jobs.rows = printer.rows
                body = b"".join(self._run(plan, ready, plan.members(first, BODY_PHASE)))
                tail = b"".join(self._run(plan, ready, plan.members(first, ROWS_PHASE)))
                rows = jobs.rows
            jobs.rows = 0
            left_body = list(self._run(plan, ready, plan.left(BODY_PHASE)))
            left_tail = list(self._run(plan, ready, plan.left(ROWS_PHASE)))
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

    def _run(self, plan: Plan, ready: Any, jobs: JobList) -> Any:
        plan.last = jobs
        return self._jobs.run(self.lines.as_printed.data, ready, jobs.jobs) if len(jobs.jobs) else ()

    def _write_lines(self, events: Any) -> tuple[Any, Any, Any, bytes]:
        """The text of all events, where that of each begins and ends, and of the constants; what is left."""
        lines, count = self.lines, len(self._constants)
        numbers = np.arange(count)
        parts = [
            *self._lines_ahead(events),
            (events, events, lines.program_of[events], lines.row_of[events]),
            *self.more_lines(events),
        ]
        owners, shown, program_of, row_of = (np.concatenate(values) for values in zip(*parts, strict=True))
        if len(parts) > 1:
            order = np.argsort(owners, kind="stable")
            owners, shown, program_of, row_of = (
                values[order] for values in (owners, shown, program_of, row_of)
            )
        zeros = np.zeros(count, dtype=np.int64)
        programs = lines.programs + self._constants
        ready, ends = write_lines(
            lines.as_printed.data,
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
            shown = np.flatnonzero(~self.is_quiet[events])
            first = int(shown[-1]) + 1 if len(shown) else 0
            of_lines[first:] = of_lines[first - 1, 1] if first else of_lines[0, 0]
        left = ready[of_lines[-1, 1] :].tobytes()
        return ready, of_lines, constants, left

    def _lines_ahead(self, events: Any) -> list[tuple[Any, Any, Any, Any]]:
        """Lines that stand in front of others, as `more_lines` has them; not of the first event."""
        inside = self.lines.inside
        if inside is None:
            return []
        owners = events[1:][inside.is_behind[events[1:]]]
        nothing = np.zeros(len(owners), dtype=np.int64)
        return [(owners, owners, nothing + self._behind_payload, nothing)]

    def _finish(self, begin: int, end: int, left: bytes) -> None:
        """Leave printer and context as they are behind the events from `begin` up to `end`."""
        if end <= begin:
            return
        self.host.end_stretch(end - 1)
        events, made, which = self.maps
        first, last = np.searchsorted(events, (begin, end))
        own, scopes = which[first:last], self._scopes
        if scopes is None:
            self._remember(self.context, own, made)
        else:
            scopes = scopes[events[first:last]]
            inside = scopes[scopes != _OUTSIDE]
            self._remember(self.context, own[scopes == _OUTSIDE], made)
            for place in inside[-1:].tolist():
                self._remember(self.tables_inside.at(place), own[scopes == place], made)
        self._note_left_out(begin, end)
        self.finish_dress(begin, end, left)

    def _remember(self, context: Context, numbers: Any, made: list[tuple[Any, bytes]]) -> None:
        """Take the last of each table's maps into a context."""
        ids = np.array([body.table_id.value for body, _ in made], dtype=np.int64)
        for number in numbers[last_of_each(ids[numbers])].tolist() if len(numbers) else ():
            body, content = made[number]
            context.remember(body)
            self.printer.quick.note(body, content)

    def _note_left_out(self, begin: int, end: int) -> None:
        """Leave the printer's tables whose rows are left out as they are behind some events."""
        (events, made, which), ignored = self.maps, self.printer.ignored_maps
        ends = self.rows.events[self.rows.is_end]
        last = int(np.searchsorted(ends, end)) - 1
        if last >= 0 and ends[last] >= begin:
            ignored.clear()
            begin = int(ends[last])
        first, last = np.searchsorted(events, (begin, end)).tolist()
        for number in which[first:last].tolist():
            change = ignored.add if self._skips_map[number] else ignored.discard
            change(made[number][0].table_id.value)
