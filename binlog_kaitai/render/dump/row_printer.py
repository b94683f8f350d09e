"""Prints rows, base64 and lines with the kernel `put_jobs`.

Strategy
--------
1. Rows events of one table begin with the same bytes: table ID, flags, columns. The grammar parses each such
   header once (`RowsHeader`) and reuses it for events that begin with the same bytes.
2. For a header and a table map, a program describes the text around each value, and how the value is printed.
3. The kernel writes the text. The functions of `client_values` format the few values that it leaves out. Rows
   that contradict their table map are refused with the error of the grammar.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import parse_cell
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.log.decoders import is_partial, length_prefix
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.threads import side_by_side
from binlog_kaitai.render.dump.client_values import (
    diff_text,
    document_text,
    escapes_of,
    other_text,
    quoted_pieces,
)
from binlog_kaitai.render.dump.row_comments import (
    RowProgram,
    RowPrograms,
    RowsHeader,
    images_of,
    refusal_of,
    table_name,
)
from binlog_kaitai.rows.text import dump_kernels as kernels
from binlog_kaitai.rows.text.base64_kernel import PAIRS
from binlog_kaitai.rows.text.dump_kernels import COUNT, FULL, JSON, ROWS, STOPPED, STRING
from binlog_kaitai.rows.text.float_texts import NO_ROOM, SCRATCH
from binlog_kaitai.rows.text.json_kernels import LEVEL, MAX_DEPTH, put_document
from binlog_kaitai.values.column_kinds import Kind, of_type

#: Initial size of the text buffer, in bytes; a larger one is released.
_ROOM, _MOST_ROOM = 1 << 20, 1 << 26

#: Bytes of events whose text one thread writes at a time.
_PORTION = 512 << 10


class RowsMismatchError(Exception):
    """Rows that must be rejected.

    `job`: index of the job.
    `done`: how many jobs are done and written.
    `reason`: what is wrong with a value; None if the rows contradict their table map.
    """

    def __init__(self, job: int, done: int, reason: BinlogError | None = None) -> None:
        super().__init__(job, done, reason)
        self.job, self.done, self.reason = job, done, reason


class TextJobs:
    """Runs jobs; `run_portions` in several threads.

    `rows`: how many rows were written since the count was last printed.
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

    def run(
        self, data: Bytes, ready: Bytes, jobs: Ints, waiting: Sequence[Iterable[bytes]] = ()
    ) -> Iterator[bytes]:
        """The text of jobs, in pieces, each as soon as it may be written.

        `data`, `ready`, `jobs`: see `put_jobs`.
        `waiting`: the texts of WAITING jobs, by number.
        Raises `RowsMismatchError`: a rows event contradicts its table map; everything that may be written has
        been.
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
            is_full, reason = state[4] == FULL, None
            text: bytes | Iterable[bytes] | None = None
            if state[4] == STOPPED and jobs[state[kernels.JOB], 0] == kernels.WAITING:
                text = waiting[int(jobs[state[kernels.JOB], 1])]
                state[kernels.JOB] += 1
            elif state[4] == STOPPED:
                try:
                    text = self._cell(data, jobs, state)
                except BinlogError as error:
                    reason = error
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
                raise RowsMismatchError(int(state[kernels.JOB]), int(state[kernels.SAFE_JOB]), reason)
            elif not safe:
                self._grow(2 * len(self._out), end)

    def run_portions(
        self, data: Bytes, ready: Bytes, jobs: Ints, waiting: Sequence[Iterable[bytes]]
    ) -> Iterator[bytes]:
        """Like `run`, in several threads if there is enough to do; does not set `rows`."""
        limits = _portions(jobs, self.rows) if self._threads > 1 else []
        if len(limits) < 3:
            yield from self.run(data, ready, jobs, waiting)
            return
        self.programs.arrays()

        def portions() -> Generator[tuple[int, int], None, None]:
            yield from pairwise(limits)

        def run(portion: tuple[int, int]) -> Iterator[bytes]:
            begin, end = portion
            own = TextJobs(self.programs)
            own.rows = 0 if begin else self.rows
            try:
                yield from own.run(data, ready, jobs[begin:end], waiting)
            except RowsMismatchError as mismatch:
                done = begin + mismatch.done
                raise RowsMismatchError(begin + mismatch.job, done, mismatch.reason) from None

        yield from side_by_side(portions(), run, self._threads, lambda portion: 0)

    def _grow(self, size: int, used: int) -> None:
        if size > len(self._out):
            grown = np.empty(max(size, 2 * len(self._out)), dtype=np.uint8)
            grown[:used] = self._out[:used]
            self._out = grown

    def _cell(self, data: Bytes, jobs: Ints, state: Ints) -> bytes | Iterable[bytes]:
        """The line of a value that the kernel leaves out, in pieces if it is long.

        Raises `BinlogError`: the value cannot be decoded.
        """
        job = jobs[state[kernels.JOB]]
        program = self.programs[int(job[3])]
        place = int(state[0])
        step = int(state[2]) - int(self.programs.arrays()[1][int(job[3]), 0])
        kind, fixed, prefix, detail = program.steps[step].tolist()
        size = prefix + int(length_prefix(data, place, prefix)) if prefix else fixed
        value: bytes | Iterable[bytes]
        index, raw = program.columns[step], data[place : place + size]
        if kind == STRING:
            value = quoted_pieces(data, place + prefix, place + size, self._escapes)
        elif kind == JSON and state[6] >= 0 and is_partial(data, int(state[6]), detail):
            diffs = parse_cell(program.table_map, index, raw.tobytes(), is_partial=True)
            value = diff_text(diffs, index + 1, self._escapes)
        else:
            value = self._value(program, index, raw, prefix)
        state[0] += size
        state[2] += 1
        first, after, null, _ = program.texts[step].tolist()
        front, back = program.pool[first:after], program.pool[after:null]
        return front + value + back if isinstance(value, bytes) else chain((front,), value, (back,))

    def _value(self, program: RowProgram, index: int, raw: Bytes, prefix: int) -> bytes:
        table_map = program.table_map
        kind = of_type(table_map.columns[index].real_type).kind
        document = self._document(raw, prefix, len(raw)) if kind == Kind.JSON else None
        if document is not None:
            return document_text(document, self._escapes)
        cell = parse_cell(table_map, index, raw.tobytes())
        try:
            return other_text(kind, cell, self._escapes)
        except BinlogError:
            raise
        except Exception as error:  # generated code may raise anything on hostile bytes
            raise GrammarError(f"the value cannot be read: {error}") from error

    def _document(self, data: Bytes, start: int, end: int) -> str | None:
        """The text of a JSON document; None for one that the kernel leaves out."""
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
        return self._documents[:size].tobytes().decode()


def _portions(jobs: Ints, rows: int) -> list[int]:
    """Where jobs can be divided: where all text so far may be written, and no row count is pending."""
    numbers = np.arange(len(jobs))
    kinds, is_safe = jobs[:, 0], jobs[:, 4] != 0
    if (kinds == kernels.ROWS_NUMBER).any():
        printed, counted = (
            np.maximum.accumulate(np.where(np.isin(kinds, some), numbers, -1))
            for some in ((kernels.ROWS_NUMBER,), (kernels.ROWS, kernels.COUNT))
        )
        is_safe &= (printed >= counted) & ((printed >= 0) | (rows == 0))
    ends = np.flatnonzero(is_safe) + 1
    sizes = np.cumsum(np.where(kinds == kernels.COPY, 0, jobs[:, 2] - jobs[:, 1]))
    steps = np.arange(_PORTION, int(sizes[-1]), _PORTION) if len(sizes) else sizes
    after = np.searchsorted(sizes[ends - 1], steps)
    limits = np.unique(np.concatenate(([0], ends[after[after < len(ends)]], [len(jobs)])))
    return [int(limit) for limit in limits]


_NOTHING = np.zeros(0, dtype=np.uint8)


class RowPrinter:
    """Prints the rows of events, one after another."""

    def __init__(self, verbose: int, *, is_mariadb: bool) -> None:
        self.programs = RowPrograms(verbose, is_mariadb=is_mariadb)
        self.jobs = TextJobs(self.programs)

    def pieces(
        self, event: ParsedEvent, rows_header: RowsHeader | None, name: bytes | None = None
    ) -> tuple[Iterable[bytes], int]:
        """The rows of an event in pieces, to be used before the next call, and their number.

        `name`: the database name, if it differs from the table map's.
        Raises `BinlogError`: the rows contradict the table map.
        """
        if event.table_map is None:
            return (b"### Row event for unknown table #%d" % event.body.table_id.value,), 0
        table = table_name(event.table_map, name)
        reason: BinlogError = GrammarError("the rows cannot be read")
        if rows_header is not None:
            start, end = images_of(event, rows_header)
            body = rows_header.body
            if body.is_write and (start == end or not body.columns.num_present):
                return (b"### INSERT INTO " + table + b" VALUES ()\n",), 1
            try:
                program = self.program_of(event, rows_header, name)
                if start < end:
                    return self._run(np.array([[ROWS, start, end, program, 0]]), event)
                if not len(self.programs[program].steps):
                    return (self.programs[program].row_without_columns,), 1
                reason = self.programs[program].mismatch
            except RowsMismatchError as mismatch:
                reason = mismatch.reason or self.programs[program].mismatch
            except BinlogError as error:
                reason = error
        raise event.locate(refusal_of(event, table, reason))

    def count(self, event: ParsedEvent, rows_header: RowsHeader | None) -> int:
        """How many rows `mariadb-binlog` counts in an event whose rows it does not print."""
        if rows_header is None:
            return 0
        start, end = images_of(event, rows_header)
        try:
            program = self.program_of(event, rows_header)
            if start < end:
                return self._run(np.array([[COUNT, start, end, program, 0]]), event)[1]
        except (BinlogError, RowsMismatchError):
            return 0
        return int(not len(self.programs[program].steps))

    def program_of(self, event: ParsedEvent, rows_header: RowsHeader, name: bytes | None = None) -> int:
        """The number of the program for an event; raises as `RowPrograms.number_of`."""
        self.programs.begin()
        table_map: Any = event.table_map
        return self.programs.number_of(rows_header, table_map, name)

    def _run(self, jobs: Ints, event: ParsedEvent) -> tuple[Iterable[bytes], int]:
        """The text, and the number of rows."""
        self.jobs.rows = 0
        pieces = self.jobs.run(np.frombuffer(event.raw, dtype=np.uint8), _NOTHING, jobs)
        first = next(pieces)  # after which all rows are known to be valid
        return chain((first,), pieces), self.jobs.rows
