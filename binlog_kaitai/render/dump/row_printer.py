"""Prints rows, base64 and lines with the kernel `text_jobs`.

Strategy
--------
1. Rows events of one table begin with the same bytes: table ID, flags, columns. The grammar parses each such
   header once (`RowsHeader`) and reuses it for events that begin with the same bytes.
2. For a header and a table map, a program describes the text around each value, and how the value is printed.
3. The kernel writes the text. The functions of `client_values` format values of rare types; rows that
   contradict their table map go to `row_comments`, whose errors name the position.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import TableMapEvent, parse_cell
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.log.decoders import length_prefix
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.mapped_memory import PIECE
from binlog_kaitai.log.threads import side_by_side
from binlog_kaitai.render.dump.client_values import CellText, escapes_of, json_cell, quoted_pieces
from binlog_kaitai.render.dump.row_comments import (
    MOST,
    RowProgram,
    RowPrograms,
    RowsHeader,
    RowStyle,
    counted_rows,
    images_end,
    rows_text,
)
from binlog_kaitai.rows.text import dump_kernels as kernels
from binlog_kaitai.rows.text.base64_kernel import PAIRS
from binlog_kaitai.rows.text.dump_kernels import COUNT, FULL, ROWS, STOPPED, STRING
from binlog_kaitai.rows.text.float_texts import NO_ROOM, SCRATCH
from binlog_kaitai.rows.text.json_kernels import LEVEL, MAX_DEPTH, put_document
from binlog_kaitai.values.column_kinds import Kind, of_type

#: Initial size of the text buffer, in bytes; a larger one is released.
_ROOM, _MOST_ROOM = 1 << 20, 1 << 26

#: Bytes of events whose text one thread writes at a time.
_PORTION = 512 << 10

#: Amount of work from which on kernels are used: about 200 events, or 100 KB of rows.
KERNELS_FROM = 448 << 10


class RowsMismatchError(Exception):
    """Rows that the event reader must print or reject.

    Attributes
    ----------
    job : int
        Index of the job.
    done : int
        How many jobs are done and written.
    """

    def __init__(self, job: int, done: int) -> None:
        super().__init__(job, done)
        self.job, self.done = job, done


class TextJobs:
    """Runs jobs; `run_portions` in several threads.

    Attributes
    ----------
    rows : int
        How many rows were written since the count was last printed.
    """

    def __init__(self, programs: RowPrograms, threads: int = 1) -> None:
        self.programs = programs
        self.rows = 0
        self._threads = threads
        self._escapes = escapes_of(is_mariadb=programs.is_mariadb)
        self._out = np.empty(0, dtype=np.uint8)
        self._scratch = np.zeros(SCRATCH, dtype=np.int64)
        self._documents = np.empty(0, dtype=np.uint8)
        self._stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)

    def run(self, data: Bytes, ready: Bytes, jobs: Ints) -> Iterator[bytes]:
        """The text of jobs, in pieces, each as soon as it may be written.

        Parameters
        ----------
        data, ready, jobs
            See `text_jobs.put_jobs`.

        Raises
        ------
        RowsMismatchError
            A rows event contradicts its table map; everything that may be written has been.
        """
        if not len(self._out) or len(self._out) > _MOST_ROOM:
            self._out = np.empty(_ROOM, dtype=np.uint8)
        put_jobs, end = kernels.put_jobs.compiled, 0
        state = np.zeros(kernels.JOBS_STATE_SIZE, dtype=np.int64)
        state[kernels.NUMBER] = self.rows
        arrays, workspace = self.programs.arrays(), (self._escapes, self._scratch, self._stack)
        held: list[Iterable[bytes]] = []  # the text before that in `_out`
        while True:
            end = put_jobs(data, ready, jobs, PAIRS, *arrays, *workspace, state, self._out, end)
            if state[kernels.JOB] == len(jobs):
                self.rows = int(state[kernels.NUMBER])
                yield from chain(*held, (self._out[:end].tobytes(),))
                return
            is_full = state[4] == FULL
            text = None if is_full or state[4] != STOPPED else self._cell(data, jobs, state)
            safe = 0 if isinstance(text, bytes) else int(state[kernels.SAFE_END])
            if safe:
                yield from chain(*held, (self._out[:safe].tobytes(),))
                held.clear()
                self._out[: end - safe] = self._out[safe:end].copy()
                end, state[kernels.SAFE_END] = end - safe, 0
            if isinstance(text, bytes):
                self._grow(end + len(text), end)
                self._out[end : end + len(text)] = np.frombuffer(text, dtype=np.uint8)
                end += len(text)
            elif text is not None:
                held += (self._out[:end].tobytes(),), text
                end = 0
            elif not is_full:
                raise RowsMismatchError(int(state[kernels.JOB]), int(state[kernels.SAFE_JOB]))
            elif not safe:
                self._grow(2 * len(self._out), end)

    def run_portions(self, data: Bytes, ready: Bytes, jobs: Ints) -> Iterator[bytes]:
        """Like `run`, in several threads if there is enough to do; does not use or set `rows`."""
        limits = _portions(jobs) if self._threads > 1 else []
        if len(limits) < 3:
            yield from self.run(data, ready, jobs)
            return
        self.programs.arrays()

        def portions() -> Generator[tuple[int, int], None, None]:
            yield from pairwise(limits)

        def run(portion: tuple[int, int]) -> Iterator[bytes]:
            begin, end = portion
            try:
                yield from TextJobs(self.programs).run(data, ready, jobs[begin:end])
            except RowsMismatchError as mismatch:
                raise RowsMismatchError(begin + mismatch.job, begin + mismatch.done) from None

        yield from side_by_side(portions(), run, self._threads, lambda portion: 0)

    def _grow(self, size: int, used: int) -> None:
        if size > len(self._out):
            grown = np.empty(max(size, 2 * len(self._out)), dtype=np.uint8)
            grown[:used] = self._out[:used]
            self._out = grown

    def _cell(self, data: Bytes, jobs: Ints, state: Ints) -> bytes | Iterable[bytes] | None:
        """The line of a value that the kernel leaves out, in pieces if it is long; None if it cannot be
        decoded.
        """
        job = jobs[state[kernels.JOB]]
        program = self.programs[int(job[3])]
        place, end = int(state[0]), int(job[2])
        step = int(state[2]) - int(self.programs.arrays()[1][int(job[3]), 0])
        kind, fixed, prefix, _ = program.steps[step].tolist()
        size = prefix + int(length_prefix(data, place, prefix)) if prefix else fixed
        if place + size > end:
            return None
        value: bytes | Iterable[bytes] | None
        if kind == STRING and size > PIECE:
            start = place + prefix
            value = quoted_pieces(data, start, place + size, is_mariadb=self.programs.is_mariadb)
        else:
            value = self._value(program, program.columns[step], data[place : place + size], prefix)
        if value is None:
            return None
        state[0] += size
        state[2] += 1
        first, after, null, _ = program.texts[step].tolist()
        front, back = program.pool[first:after], program.pool[after:null]
        return front + value + back if isinstance(value, bytes) else chain((front,), value, (back,))

    def _value(self, program: RowProgram, index: int, raw: Bytes, prefix: int) -> bytes | None:
        """A value formatted by `client_values`; None if it cannot be decoded."""
        table_map = program.table_map
        column = table_map.columns[index]
        kind = of_type(column.real_type).kind
        text: CellText = self.programs.style.texts[kind]
        try:
            value = None
            if kind == Kind.JSON:
                value = self._document(raw, prefix, len(raw))
            if value is None:
                value = text(parse_cell(table_map, index, raw.tobytes()), column)
        except Exception:  # from the grammar, or generated code on hostile bytes; `row_comments` reports it
            return None
        return value

    def _document(self, data: Bytes, start: int, end: int) -> bytes | None:
        """A JSON document as formatted by `client_values`; None for one that the kernel leaves out."""
        room = 2 * (end - start) + (1 << 12)
        while start < end:
            if room > len(self._documents):
                self._documents = np.empty(room, dtype=np.uint8)
            text = self._documents
            size, _ = put_document.compiled(data, start, end, text, 0, self._stack, text[:0], 0)
            if size != NO_ROOM:
                break
            room = 2 * len(self._documents)
        if start >= end or size < 0:
            return None
        return json_cell(self._documents[:size].tobytes().decode())


def _portions(jobs: Ints) -> list[int]:
    """Where jobs can be divided: where all text so far may be written, and no row count is pending."""
    numbers = np.arange(len(jobs))
    kinds, is_safe = jobs[:, 0], jobs[:, 4] != 0
    if (kinds == kernels.ROWS_NUMBER).any():
        printed, counted = (
            np.maximum.accumulate(np.where(np.isin(kinds, some), numbers, -1))
            for some in ((kernels.ROWS_NUMBER,), (kernels.ROWS, kernels.COUNT))
        )
        is_safe &= printed >= counted
    ends = np.flatnonzero(is_safe) + 1
    sizes = np.cumsum(np.where(kinds == kernels.COPY, 0, jobs[:, 2] - jobs[:, 1]))
    steps = np.arange(_PORTION, int(sizes[-1]), _PORTION) if len(sizes) else sizes
    after = np.searchsorted(sizes[ends - 1], steps)
    limits = np.unique(np.concatenate(([0], ends[after[after < len(ends)]], [len(jobs)])))
    return [int(limit) for limit in limits]


#: The cost of printing an event without the kernel, in bytes that the kernel could print.
_CALL = 1 << 12
_NOTHING = np.zeros(0, dtype=np.uint8)


class _Written(NamedTuple):
    """The text of rows in pieces, and their number."""

    pieces: Iterable[bytes]
    rows: int


class RowPrinter:
    """Prints the rows of events; the style's formatting of values matches the kernel's."""

    def __init__(self, style: RowStyle, *, is_mariadb: bool) -> None:
        self.style = style
        self.programs = RowPrograms(style, is_mariadb=is_mariadb)
        self.jobs = TextJobs(self.programs)
        self._tables: dict[int, tuple[TableMapEvent, bytes]] = {}
        self._work = 0

    def note_table(self, event: ParsedEvent) -> None:
        """Register a table map."""
        start = event.layout.header_length_of(event.type_code)
        self.note(event.body, event.raw[start : images_end(event)])

    def note(self, body: TableMapEvent, content: bytes) -> None:
        """Register the body of a table map, and its bytes."""
        if len(self._tables) >= MOST:
            self._tables.clear()
        self._tables[body.table_id.value] = body, content

    def content_of(self, body: TableMapEvent) -> tuple[TableMapEvent, bytes | None]:
        """A table map, with its bytes if they are known."""
        noted, content = self._tables.get(body.table_id.value, (None, b""))
        return body, content if noted is body else None

    def pieces(
        self, event: ParsedEvent, rows_header: RowsHeader | None, name: bytes | None = None
    ) -> tuple[Iterable[bytes], int]:
        """The rows of an event in pieces, to be used before the next call, and their number.

        Raises as :func:`rows_text`.
        """
        written = None
        if rows_header is not None:
            self._work += 4 * len(event.raw) + _CALL
            program = self._program(event, rows_header, name) if self._work >= KERNELS_FROM else -1
            written = None if program < 0 else self._run(ROWS, event, rows_header, program)
        if written is None:
            text, rows = rows_text(event, self.style, name)
            return (text,), rows
        return written

    def count(self, event: ParsedEvent, rows_header: RowsHeader | None) -> int:
        """How many rows `mariadb-binlog` counts in an event whose rows it does not print."""
        program = (
            -1
            if rows_header is None or self._work < KERNELS_FROM
            else self._program(event, rows_header, None)
        )
        self._work += 4 * len(event.raw) + _CALL
        if rows_header is None or program < 0 or self.programs[program].has_unmeasured:
            return counted_rows(event)
        written = self._run(COUNT, event, rows_header, program)
        return counted_rows(event) if written is None else written.rows

    def _program(self, event: ParsedEvent, rows_header: RowsHeader, name: bytes | None) -> int:
        if event.table_map is None:
            return -1
        body, content = self.content_of(event.table_map)
        if content is None:
            return -1
        self.programs.begin()
        return self.programs.number_of(rows_header, body, content, name)

    def _run(self, kind: int, event: ParsedEvent, rows_header: RowsHeader, program: int) -> _Written | None:
        """The text; None if the images contradict the table map."""
        start = event.layout.header_length_of(event.type_code) + len(rows_header.content)
        jobs = np.array([[kind, start, images_end(event), program, 0]], dtype=np.int64)
        data = np.frombuffer(event.raw, dtype=np.uint8)
        rows, self.jobs.rows = self.jobs.rows, 0
        try:
            pieces = self.jobs.run(data, _NOTHING, jobs)
            first = next(pieces)  # after which all rows are known to be valid
            return _Written(chain((first,), pieces), self.jobs.rows)
        except RowsMismatchError:
            return None
        finally:
            self.jobs.rows = rows
