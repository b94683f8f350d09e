"""Blocks of MariaDB's logs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.lines import Column, Program
from binlog_kaitai.columns.text.jobs import COUNT, ROWS
from binlog_kaitai.columns.text_kernels import TEXT
from binlog_kaitai.context import Context
from binlog_kaitai.grammar import ROWS_TYPES, EventType
from binlog_kaitai.render.dump.blocks.columns import clean_bytes
from binlog_kaitai.render.dump.blocks.printer import BlockPrinter
from binlog_kaitai.render.dump.blocks.queries import Queries
from binlog_kaitai.render.dump.item import item_of
from binlog_kaitai.render.dump.mariadb import GTID_LINE, MariadbPrinter, gtid_details
from binlog_kaitai.render.dump.mariadb_rows import ROWS_NUMBER

#: What the line of a GTID event depends on.
_GTID_FLAGS = ("has_commit_id", "is_ddl", "is_transactional", "has_waited", "is_start_alter",
               "is_commit_alter", "is_rollback_alter", "has_thread_id", "is_standalone")  # fmt: skip
_XA_FLAGS = ("is_prepared_xa", "is_completed_xa")
_GTID_NUMBERS = ("domain_id", "sequence_number", "commit_id", "start_alter_sequence_number", "thread_id")
_ONE_LINE = clean_bytes(b"\r\n")
_MILLION = 10**6


class MariadbQueries(Queries):
    """Prints statements as `mariadb-binlog` does, by its version."""

    printer: MariadbPrinter
    xid_name = "mariadb_xid"

    @property
    def _is_new(self) -> bool:
        return self.printer.version >= (10, 6)

    def fractions(self, micros: Any) -> tuple[Any, dict[int, Column]]:
        kinds = ((micros > 0) & (micros < _MILLION)).astype(np.int64)
        pool, shown = self._lines.pool, np.maximum(micros, 0)
        return kinds, {1: pool.fractions(shown) if self._is_new else pool.numbers(shown)}

    def xid_line(self, *, has_xid: bool) -> bytes:
        return b"\txid=%(xid)d" if self._is_new else b""


class MariadbBlocks(BlockPrinter):
    """Prints blocks in the dress of `mariadb-binlog`."""

    printer: MariadbPrinter

    def __init__(self, printer: MariadbPrinter, context: Context) -> None:
        super().__init__(printer, context)
        self.queries = MariadbQueries(printer, printer.statements)
        self.rows_job = ROWS if printer.options.shown_rows else COUNT
        self.rows_number = ROWS_NUMBER
        self._printed_kinds = np.array([*printer.printers, *ROWS_TYPES], dtype=np.uint8)

    def is_usual(self, block: Block) -> bool:
        # An event to skip does nothing of what its type would do; servers mark only types of others so.
        is_skipped = block.header.numbers("is_ignorable") != 0
        return super().is_usual(block) and not (is_skipped & np.isin(block.types, self._printed_kinds)).any()

    def begin_dress(self) -> None:
        lines = self.lines
        self._add_gtids()
        self.add_xids()
        self._add_annotations()
        self._add_table_maps()
        self._add_rows()
        self.queries.begin(lines)
        lines.program_of[self.queries.left_out] = 0
        self._find_flushers()
        skipped = lines.block.header.numbers("is_skipped_for_replication")
        lines.program_of[np.broadcast_to(skipped, len(lines.block)).astype(np.bool_)] = -1

    def _add_gtids(self) -> None:
        lines, kind = self.lines, EventType.gtid_event
        fits, body = lines.fits(kind)
        events = self._gtid_events = lines.block.rows_of(kind)
        if not len(events):
            return
        count = len(events)
        flags = {name: np.broadcast_to(np.asarray(body[name], dtype=np.bool_), count) for name in
                 (*_GTID_FLAGS, *_XA_FLAGS, "is_parallel_allowed")}  # fmt: skip
        numbers = {name: np.where(body.mask(name), body.numbers(name), 0) for name in _GTID_NUMBERS}
        servers = lines.server_ids[events]
        self._settings = np.stack(
            (flags["is_parallel_allowed"].astype(np.int64), numbers["domain_id"].astype(np.int64), servers)
        )
        self._setting_places = np.zeros((2, count), dtype=np.int64)
        fields: Any = {name: lines.pool.numbers(values) for name, values in numbers.items()}
        fields["server_id"] = lines.pool.numbers(servers)
        key = np.zeros(count, dtype=np.int64)
        for bit, name in enumerate(_GTID_FLAGS):
            key |= flags[name].astype(np.int64) << bit
        fits = fits & ~flags["is_prepared_xa"] & ~flags["is_completed_xa"]
        end = self.printer.delimiter + b"\n"
        for bits in np.unique(key[fits]).tolist():
            rows = np.flatnonzero(fits & (key == bits))
            told = SimpleNamespace(**{name: bits >> bit & 1 for bit, name in enumerate(_GTID_FLAGS)})
            program = lines.program().fill(GTID_LINE + gtid_details(told), fields)
            program.column(Column(TEXT, *self._setting_places))
            program.fill(self.printer.number_statement(), fields).text(end)
            program.text(b"" if told.is_standalone else b"START TRANSACTION\n" + end)
            lines.add(program, events[rows], rows)

    def _add_annotations(self) -> None:
        """Statements of rows: of the event itself only the place is printed, the rest with a table map."""
        lines, kind = self.lines, EventType.annotate_rows_event
        events = self._annotations = lines.block.rows_of(kind)
        fits, body = lines.fits(kind)
        self._annotation_programs = np.full(len(events), -1, dtype=np.int64)
        self._annotation_rows = np.arange(len(events))
        lines.program_of[events[fits]] = 0
        if not len(events) or self.printer.options.skip_annotate_row_events:
            return
        starts, lengths = body.ranges("query")
        clean = fits & lines.clean(starts, lengths, _ONE_LINE)
        front = b"\tAnnotate_rows:\n"
        program = lines.program(with_place=False).text(front + b"#Q> ")
        program.column(lines.pool.ranges(starts, lengths)).text(b"\n")
        self._annotation_programs[clean] = lines.number(program)
        others = np.flatnonzero(fits & ~clean)
        if len(others):
            ranges = zip(starts[others].tolist(), lengths[others].tolist(), strict=True)
            data = lines.block.data
            texts = [self.printer.annotation_text(bytes(data[at : at + size])) for at, size in ranges]
            program = lines.program(with_place=False).text(front).column(lines.pool.verbatim(texts))
            self._annotation_programs[others] = lines.number(program)
            self._annotation_rows[others] = np.arange(len(others))

    def _add_table_maps(self) -> None:
        lines = self.lines
        events, made, which = self.maps
        lines.program_of[events] = 0
        self._map_program = -1
        if len(events):
            texts = [b"".join(self.printer.table_map_text(body)) for body, _ in made]
            program = lines.program(with_place=False).column(lines.pool.choice(which, texts))
            self._map_program = lines.number(program)

    def _add_rows(self) -> None:
        rows, lines = self.rows, self.lines
        programs = rows.program_of
        if self.rows_job == COUNT and len(programs):
            # The client gives up counting where the reader does.
            unmeasured = np.array([*(one.has_unmeasured for one in self.programs), False])
            programs[unmeasured[programs]] = -1
        self._rows_program = -1
        lines.program_of[rows.events[rows.is_left_out]] = 0
        found = np.flatnonzero((programs >= 0) & ~rows.is_left_out)
        if len(found):
            texts = [self.printer.rows_line(head.kind, head.body) for head in rows.heads]
            program = lines.program(with_place=False).column(lines.pool.choice(rows.head_of, texts))
            self._rows_program = lines.number(program)
            lines.program_of[rows.events[found]] = 0

    def _find_flushers(self) -> None:
        """The lines of rows events wait for the end of their statement, or for a table map."""
        rows, types = self.rows, self.block.types
        goes_on = rows.events[~rows.is_end]
        flushes = np.ones(len(types), dtype=np.bool_)
        flushes[goes_on] = False
        flushes[self._annotations] = False
        flushes[self.is_passed] = False
        self._flushers = np.flatnonzero(flushes)
        self._may_flush = types == EventType.table_map_event
        self._may_flush[rows.events[rows.is_end]] = True
        flushers = self._next_flusher(goes_on)
        flushers = flushers[flushers < len(types)]
        self.lines.program_of[flushers[~self._may_flush[flushers]]] = -1

    def _next_flusher(self, events: Any) -> Any:
        """The first event from each of some on that such lines are printed with."""
        return np.append(self._flushers, len(self.block))[np.searchsorted(self._flushers, events)]

    def is_ready(self, event: int) -> bool:
        printer = self.printer
        if printer.head:
            flusher = self._next_flusher(np.array([event]))[0]
            if flusher < len(self.block) and not self._may_flush[flusher]:
                return False
        return (
            super().is_ready(event)
            and printer.annotation is None
            and not printer.session.is_replication_skipped
        )

    def begin_stretch(self, begin: int, end: int) -> None:
        self.queries.step_through(begin, end)
        first, last = np.searchsorted(self._gtid_events, (begin, end)).tolist()
        if first == last:
            return
        session = self.printer.session
        before = session.is_parallel_allowed, session.domain_id, session.server_id
        settings = self._settings[:, first:last]
        changes = np.flatnonzero((settings[:, 1:] != settings[:, :-1]).any(axis=0)) + 1 + first
        pool = self.lines.pool
        self._setting_places[:, first:last] = np.array([[-pool.place(b"")[0] - 1], [0]])
        for index in [first, *changes.tolist()]:
            is_allowed, domain, server = self._settings[:, index].tolist()
            place, length = pool.place(self.printer.gtid_session(bool(is_allowed), domain, server))
            self._setting_places[:, index] = -place - 1, length
        session.is_parallel_allowed, session.domain_id, session.server_id = before

    def more_lines(self, events: Any) -> list[tuple[Any, Any, Any, Any]]:
        begin, end = int(events[0]), int(events[-1]) + 1
        parts = [self._waiting_lines(begin, end)] if self.printer.head else []
        first, last = np.searchsorted(self.rows.events, (begin, end)).tolist()
        if first < last:
            own = np.flatnonzero(~self.rows.is_left_out[first:last]) + first
            rows = self.rows.events[own]
            programs = np.full(len(own), self._rows_program, dtype=np.int64)
            parts.append((np.minimum(self._next_flusher(rows), end), rows, programs, own))
        return parts + self._lines_of_tables(begin, end)

    def _waiting_lines(self, begin: int, end: int) -> tuple[Any, Any, Any, Any]:
        """The lines of rows events before the stretch."""
        lines = self.lines
        program = Program(lines.pool).text(b"".join(self.printer.head))
        owner = np.minimum(self._next_flusher(np.array([begin])), end)
        number = np.array([lines.number(program)])
        return owner, np.array([begin]), number, np.zeros(1, dtype=np.int64)

    def _lines_of_tables(self, begin: int, end: int) -> list[tuple[Any, Any, Any, Any]]:
        first, last = np.searchsorted(self.maps[0], (begin, end)).tolist()
        own = first + np.flatnonzero(~self.is_quiet[self.maps[0][first:last]])
        if not len(own):
            return []
        lines, maps = self.lines, self.maps[0][own]
        shown = self._annotations_of(begin, maps)
        told = np.flatnonzero(shown >= 0)
        annotations = shown[told]
        lines.show_bytes_at(self._annotations[annotations], maps[told])
        programs, rows = self._annotation_programs[annotations], self._annotation_rows[annotations]
        return [
            (maps[told], self._annotations[annotations], programs, rows),
            (maps, maps, np.full(len(maps), self._map_program, dtype=np.int64), own),
        ]

    def _annotations_of(self, begin: int, events: Any) -> Any:
        """Which annotation is printed with each of some events, -1 for none.

        It is the last one before, if no table map and no end of a statement have used it up, and if it is
        not before the event `begin`.
        """
        found = np.searchsorted(self._annotations, events) - 1
        places = np.append(self._annotations, -1)[found]
        ends = self.rows.events[self.rows.is_end]
        maps = self.maps[0]
        users = np.sort(np.concatenate((maps[~self.is_quiet[maps]], ends)))
        before = np.append(users, -1)[np.searchsorted(users, events) - 1]
        is_told = (places > before) & (places >= begin)
        is_told &= np.append(self._annotation_programs, -1)[found] >= 0
        return np.where(is_told, found, -1)

    def finish_dress(self, begin: int, end: int, left: bytes) -> None:
        if left or self._next_flusher(np.array([begin]))[0] < end:
            self.printer.head = [left] if left else []
        self.queries.set_session(begin, end)
        index = int(np.searchsorted(self._gtid_events, end)) - 1
        if index >= 0 and self._gtid_events[index] >= begin:
            is_allowed, domain, server = self._settings[:, index].tolist()
            self.printer.gtid_session(bool(is_allowed), domain, server)
        waiting = int(self._annotations_of(begin, np.array([end]))[0])
        if waiting >= 0:
            status = "ok" if self.block.layout.is_checksummed else "none"
            event = self.block.event(int(self._annotations[waiting]), checksum=status)
            self.printer.annotation = item_of(event)
