"""Prints rows, base64 and lines of many events.

Strategy
--------
1. Rows events of one table begin with the same bytes: table ID, flags, columns. The grammar parses each such
   header once (`RowsHeader`) and reuses it for events that begin with the same bytes.
2. For a header and a table, a program describes the text around each value, and how the value is printed.
3. The walk over row images finds the values of all rows of a portion of jobs, and the kernel of `rows` writes
   their text. The functions of `client_values` format the few values that it leaves out. Rows that contradict
   their table map are refused with the error of the grammar.
4. Another kernel puts the text of all jobs in order.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from binlog_kaitai.core.grammar import parse_cell
from binlog_kaitai.dump.client_values import diff_text, other_text, quoted_pieces
from binlog_kaitai.dump.dump_kernels import (
    BASE64,
    COPY,
    COUNT,
    ROWS,
    ROWS_NUMBER,
    WAITING,
    put_jobs,
)
from binlog_kaitai.dump.row_comments import (
    RowPrograms,
    RowsHeader,
    images_of,
    refusal_of,
    table_name,
)
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.kernels.arrays import Bytes, Ints, view_of
from binlog_kaitai.lines.long_values import LONG
from binlog_kaitai.lines.row_forms import LineBuffer, flat, for_lines, with_left_texts
from binlog_kaitai.lines.row_line_kernel import FIRST, KIND, PREFIX, SECOND, SIZE, LineRows, put_row_lines
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.threads import side_by_side
from binlog_kaitai.rows.image_walk import (
    AFTER,
    WHICH,
    LocatedRows,
    MismatchError,
    WalkInput,
    count_images,
    located,
)
from binlog_kaitai.text.base64_kernel import LINE, PAIRS
from binlog_kaitai.text.listed_values import BYTES, CLIENT
from binlog_kaitai.values.column_kinds import Kind, of_type
from binlog_kaitai.values.decoders import is_partial, length_prefix

#: Bytes of events whose text is written at a time.
_PORTION = 256 << 10

#: Maximum number of rows that are located at once, about how many times as long their text is, and the
#: largest buffer for it to begin with, in bytes.
_MAX_ROWS, _EXPANSION, _MOST = 1 << 16, 16, 1 << 26

#: The text of rows from this length on is not copied among the other text.
_LARGE = 1 << 14

_NOTHING = np.zeros(0, dtype=np.uint8)


def as_text(data: Bytes) -> bytes:
    """Text without a copy: a view, which can be written, joined and kept like bytes."""
    return cast("bytes", view_of(data))


class RowsMismatchError(Exception):
    """Rows that must be rejected.

    `job`: index of the job.
    `done`: how many jobs are done and written.
    `reason`: what is wrong with a value; None if the rows contradict their table map.
    """

    def __init__(self, job: int, done: int = 0, reason: BinlogError | None = None) -> None:
        super().__init__(job, done, reason)
        self.job, self.done, self.reason = job, done, reason


class RowTexts(NamedTuple):
    """The text of the rows of some events, one after another.

    `ends`, `counts` (int64 arrays): end of the text of each event, and number of its rows.
    `long`: long values, and their offsets in the text.
    """

    text: Bytes
    ends: Ints
    counts: Ints
    long: list[tuple[int, Iterable[bytes]]]

    def between(self, begin: int, end: int) -> Iterator[bytes]:
        """A range of the text, in pieces."""
        for offset, value in self.long:
            if begin <= offset < end:
                yield as_text(self.text[begin:offset])
                yield from value
                begin = offset
        yield as_text(self.text[begin:end])


class TextJobs:
    """Runs jobs; `run_portions` in several threads."""

    def __init__(self, programs: RowPrograms, threads: int = 1) -> None:
        self.programs, self._threads = programs, threads

    def run(
        self, data: Bytes, ready: Bytes, jobs: Ints, waiting: Sequence[Iterable[bytes]] = (), rows: int = 0
    ) -> tuple[Iterator[bytes], int]:
        """The text of jobs, in pieces, and the number of rows since it was last printed.

        `data`, `ready`, `jobs`: see `put_jobs`; ROWS have ranges of `data`.
        `waiting`: the texts of WAITING jobs, by number.
        `rows`: the number of rows before.
        Raises `RowsMismatchError`: a rows event contradicts its table map.
        """
        kinds, starts, ends, program_of, _ = (np.ascontiguousarray(column) for column in jobs.T)
        counts = np.zeros(len(jobs), dtype=np.int64)
        is_rows, is_counted = kinds == ROWS, kinds == COUNT
        chosen, events = np.flatnonzero(is_rows), np.stack((starts, ends, program_of))
        try:
            texts = self.texts(data, events.take(chosen, axis=1))
        except RowsMismatchError as mismatch:
            raise RowsMismatchError(int(chosen[mismatch.job]), reason=mismatch.reason) from None
        counts[chosen] = texts.counts
        if is_counted.any():
            counts[is_counted] = self.counts(data, events.compress(is_counted, axis=1))
        starts[chosen], ends[chosen] = np.append(0, texts.ends)[:-1], texts.ends
        numbers, printed = np.zeros(len(jobs), dtype=np.int64), np.flatnonzero(kinds == ROWS_NUMBER)
        if len(printed):
            totals = rows + np.cumsum(counts)
            numbers[printed] = np.diff(totals[printed], prepend=0)
        left = rows + int(counts.sum() - numbers.sum())
        is_needed = (ends > starts) | (kinds == WAITING)
        is_needed[printed] = numbers[printed] > 0
        # The text of rows that follow each other is one job.
        chosen = np.flatnonzero(is_needed & ~is_counted)
        is_rows = is_rows[chosen]
        first = np.flatnonzero(~(is_rows & np.append(False, is_rows[:-1])))
        lasts = chosen[np.append(first[1:], len(chosen))[: len(first)] - 1]
        jobs, numbers = np.stack((kinds, starts, ends), axis=1)[chosen[first]], numbers[chosen[first]]
        jobs[:, 2] = ends[lasts]
        return self._pieces(data, ready, jobs, numbers, texts, waiting), left

    @staticmethod
    def _pieces(
        data: Bytes,
        ready: Bytes,
        jobs: Ints,
        numbers: Ints,
        texts: RowTexts,
        waiting: Sequence[Iterable[bytes]],
    ) -> Iterator[bytes]:
        kinds, sizes = jobs[:, 0], jobs[:, 2] - jobs[:, 1]
        room = np.where(kinds == BASE64, sizes // LINE * 77 + 77, sizes + 24)
        is_alone = (kinds == WAITING) | ((kinds == ROWS) & ((sizes >= _LARGE) | bool(texts.long)))
        begin = 0
        for job in [*np.flatnonzero(is_alone).tolist(), len(jobs)]:
            if begin < job:
                out = np.empty(int(room[begin:job].sum()) + 16, dtype=np.uint8)
                size = put_jobs.run(data, ready, texts.text, jobs[begin:job], numbers[begin:job], PAIRS, out)
                yield as_text(out[:size])
            if job < len(jobs):
                kind, start, end = jobs[job, :3].tolist()
                yield from waiting[start] if kind == WAITING else texts.between(start, end)
            begin = job + 1

    def texts(self, data: Bytes, events: Ints, *, only_first: bool = False) -> RowTexts:
        """The text of the rows of events; with `only_first`, of the first row of the first one.

        `events` (int64 array of shape (3, n)): start and end of the images of each event, and its program.
        Raises `RowsMismatchError`: an event (its index here) contradicts its table map.
        """
        arrays, count = self.programs.arrays(), events.shape[1]
        walked = WalkInput(data, events[0], events[1], np.arange(count), events[2], *arrays.printed)
        expected = min(_EXPANSION * int((events[1] - events[0]).sum()), _MOST)
        parts, size, long = list[Bytes](), 0, list[tuple[int, Iterable[bytes]]]()
        limits, counts = np.zeros((2, count), dtype=np.int64)
        most, some = (2, 1) if only_first else (_MAX_ROWS, None)
        try:
            for batch in islice(located(walked, arrays.width, most), some):
                rows = np.flatnonzero(batch.changes != AFTER)
                event_of = batch.events[rows]
                lines = LineRows(data, *flat(batch.starts), rows, event_of, rows, events[2])
                written = arrays.lines._replace(pieces=for_lines(arrays.lines.pieces, batch))
                buffer = LineBuffer(CLIENT, len(rows), expected, len(written.pieces))
                while not put_row_lines.run(CLIENT, lines, written, LONG, buffer.memory):
                    buffer.grow()
                text, line_ends, left = buffer.lines()
                values = [self._left(batch, rows, events[2], *value) for value in left[:, :2].tolist()]
                short = [value if isinstance(value, bytes) else b"" for value in values]
                offsets = (size + left[:, 2] + np.cumsum([0, *map(len, short)])[:-1]).tolist()
                pairs = zip(offsets, values, strict=True)
                long += [(offset, value) for offset, value in pairs if not isinstance(value, bytes)]
                if len(left):
                    text, line_ends = with_left_texts(text, line_ends, left, short)
                parts.append(text)
                limits[event_of] = size + line_ends
                counts += np.bincount(event_of, minlength=count)
                size += len(text)
        except MismatchError as mismatch:
            raise RowsMismatchError(mismatch.index) from None
        text = parts[0] if len(parts) == 1 else np.concatenate([_NOTHING, *parts])
        return RowTexts(text, limits, counts, long)

    def _left(
        self, rows: LocatedRows, first: Ints, program_of: Ints, line: int, number: int
    ) -> bytes | Iterable[bytes]:
        """The text of a value that the kernel leaves out, in pieces if it is long.

        `first`, `line`, `number`: the first image of each row; the value's row, and the piece that writes it.
        """
        piece, event = self.programs.arrays().lines.pieces[number], int(rows.events[first[line]])
        try:
            table_map = self.programs[int(program_of[event])].stored.body
            return self._value(rows, int(first[line] + piece[SECOND]), piece.tolist(), table_map)
        except BinlogError as error:
            raise RowsMismatchError(event, reason=error) from None

    def _value(
        self, rows: LocatedRows, row: int, piece: list[int], table_map: Any
    ) -> bytes | Iterable[bytes]:
        index, prefix, escapes = piece[FIRST], piece[PREFIX], self.programs.escapes
        start, option = int(rows.starts_of(index)[row]), int(rows.options[row])
        end = start + (prefix + int(length_prefix(rows.data, start, prefix)) if prefix else piece[SIZE])
        if piece[KIND] == BYTES:
            return quoted_pieces(rows.data, start + prefix, end, escapes)
        column, raw = table_map.columns[index], rows.data[start:end].tobytes()
        kind = of_type(column.real_type).kind
        if kind == Kind.JSON and option >= 0 and is_partial(rows.data, option, column.json_ordinal):
            return diff_text(parse_cell(table_map, index, raw, is_partial=True), index + 1, escapes)
        cell = parse_cell(table_map, index, raw)
        try:
            return other_text(kind, cell, escapes)
        except BinlogError:
            raise
        except Exception as error:  # generated code may raise anything on hostile bytes
            raise GrammarError(f"the value cannot be read: {error}") from error

    def counts(self, data: Bytes, events: Ints) -> Ints:
        """How many rows `mariadb-binlog` counts in events whose rows it does not print; see `texts`."""
        numbers, programs = np.arange(events.shape[1]), self.programs.arrays().counted
        counts = count_images(WalkInput(data, events[0], events[1], numbers, events[2], *programs))
        # Without any bytes, it counts a row that is inserted, and none that is deleted or changed.
        is_empty, inserts = events[0] == events[1], programs[0][events[2], WHICH] == 2
        return np.where(is_empty, inserts, np.where(counts < 0, ~counts, counts))

    def run_portions(
        self, data: Bytes, ready: Bytes, jobs: Ints, waiting: Sequence[Iterable[bytes]], rows: int
    ) -> Iterator[bytes]:
        """The text of jobs as `run` gives it, some at a time, in several threads if there is enough to do."""
        self.programs.arrays()
        limits = _portions(jobs, rows)

        def portions() -> Generator[tuple[int, int], None, None]:
            yield from pairwise(limits)

        def run(portion: tuple[int, int]) -> Iterator[bytes]:
            begin, end = portion
            try:
                return self.run(data, ready, jobs[begin:end], waiting, 0 if begin else rows)[0]
            except RowsMismatchError as mismatch:
                raise RowsMismatchError(begin + mismatch.job, begin, mismatch.reason) from None

        if self._threads > 1 and len(limits) > 2:
            yield from side_by_side(portions(), run, self._threads, lambda portion: 0)
        else:
            for portion in portions():
                yield from run(portion)


def _portions(jobs: Ints, rows: int) -> list[int]:
    """Where jobs can be divided: where all text so far may be written, and no row count is pending."""
    numbers = np.arange(len(jobs))
    kinds, is_safe = jobs[:, 0], jobs[:, 4] != 0
    if (kinds == ROWS_NUMBER).any():
        printed, counted = (
            np.maximum.accumulate(np.where(np.isin(kinds, some), numbers, -1))
            for some in ((ROWS_NUMBER,), (ROWS, COUNT))
        )
        is_safe &= (printed >= counted) & ((printed >= 0) | (rows == 0))
    ends = np.flatnonzero(is_safe) + 1
    # Rows become many times as long, and take longer.
    sizes = np.cumsum((jobs[:, 2] - jobs[:, 1]) // np.where(kinds == COPY, 8, 1))
    steps = np.arange(_PORTION, int(sizes[-1]), _PORTION) if len(sizes) else sizes
    after = np.searchsorted(sizes[ends - 1], steps)
    limits = np.unique(np.concatenate(([0], ends[after[after < len(ends)]], [len(jobs)])))
    return [int(limit) for limit in limits]


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
            if start == end:
                return (), 0
            try:
                program = self.program_of(event, rows_header, name)
                data, place = np.frombuffer(event.raw, dtype=np.uint8), np.array([[start], [end], [program]])
                texts = self.jobs.texts(data, place, only_first=self.programs[program].is_cut)
                return texts.between(0, len(texts.text)), int(texts.counts[0])
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
        except BinlogError:
            return 0
        data = np.frombuffer(event.raw, dtype=np.uint8)
        return int(self.jobs.counts(data, np.array([[start], [end], [program]]))[0])

    def program_of(self, event: ParsedEvent, rows_header: RowsHeader, name: bytes | None = None) -> int:
        """The number of the program for an event; raises as `RowPrograms.number_of`."""
        self.programs.begin()
        table_map: Any = event.table_map
        return self.programs.number_of(rows_header, table_map, name)
