"""Writes a log as an SQL script: its transactions in order or, to undo them, in reverse order.

Strategy
--------
1. Events are read as pages of blocks. Row changes (`row_statements`) and `logged_statements` become lines.
2. A transaction with selected lines gets its BEGIN before the first and its COMMIT after the last of them. It
   may extend over many blocks.
3. To undo changes, the lines of each block are written in reverse to a spool on disk, which is then read
   backward. The lines of an incomplete transaction are removed from it. If not all changes are selected, the
   logs are read to their end, for those that concern the same rows or tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, Unpack

import numpy as np

from binlog_kaitai.core.filters import FilterOptions, Filters
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import ROWS_TYPES
from binlog_kaitai.core.options import part_of, takes
from binlog_kaitai.errors import BinlogError, IncompleteScriptWarning, UsageError, warn
from binlog_kaitai.following.span_pages import FollowedPages
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.lines.long_values import filled
from binlog_kaitai.lines.row_listing import text_column
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, roles_of
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.read_options import (
    CriteriaOptions,
    DefinitionOptions,
    KeyOptions,
    MaskOptions,
    PassOptions,
)
from binlog_kaitai.log.transaction_roles import Outcome
from binlog_kaitai.render.disk_stack import Stack
from binlog_kaitai.render.sql.altered_tables import alterations
from binlog_kaitai.render.sql.later_changes import LaterChanges
from binlog_kaitai.render.sql.logged_statements import Carried, LoggedStatements, Transactions, xa_rows
from binlog_kaitai.render.sql.row_statements import RowStatements
from binlog_kaitai.render.sql.script_lines import (
    CLOSING,
    OPENING,
    PREFIX,
    SUFFIX,
    LineTexts,
    OmissionReport,
    ScriptLines,
    comment,
    distinct_events,
    place,
    plain,
)
from binlog_kaitai.render.sql.sql_options import SqlOptions
from binlog_kaitai.render.sql.statement_text import COMMIT_IF_OK, postamble, preamble
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.sources.source import SourceLike, resolve
from binlog_kaitai.text.line_arrays import LineProgram, write_lines
from binlog_kaitai.text.moment_texts import clock_texts
from binlog_kaitai.text.output_text import zone_name
from binlog_kaitai.values.schema import is_mariadb
from binlog_kaitai.values.sql_text import SqlDialect

#: Used instead of the number of a transaction.
NO_TRANSACTION = -1

_BEGIN, _COMMIT, _ROLLBACK = b"BEGIN;\n", b"COMMIT;\n", b"ROLLBACK;\n"

_UNENDED = "an incomplete transaction is not {}"

#: Flags of rows events, and the variable to turn off while such rows are changed.
_CHECKS = {
    "has_no_foreign_key_checks": "foreign_key_checks",
    "is_sql_foreign_key": "foreign_key_checks",
    "has_no_check_constraint_checks": "check_constraint_checks",
}
_OF_MARIADB = frozenset(("has_no_check_constraint_checks",))

#: Transactions with the event at which each begins, or ends, and which of the latter are rollbacks.
_Begins = tuple[Ints, Ints]
_Ends = tuple[Ints, Ints, Bools]


class SqlScript:
    """Writes the script of some logs.

    `pages`: pages of all blocks of the logs (`every_block`); followed ones without `undo`.
    `report`: receives what is omitted.
    `later`: receives the changes of which not all are selected, with `undo`.
    """

    def __init__(
        self,
        pages: RowsPages | FollowedPages,
        filters: Filters,
        options: SqlOptions,
        report: OmissionReport,
        later: LaterChanges | None = None,
    ) -> None:
        self._pages = pages
        self._options, self._undo = options, options.undo
        self._commit = COMMIT_IF_OK if options.check else _COMMIT
        self._stated = np.zeros(0, dtype=np.int64)  # the transactions that have logged statements
        self._report = report
        self._rows = RowStatements(options, report, pages.threads)
        self._statements = LoggedStatements(options, filters, report)
        self._boundaries = Boundaries()
        self._version = ""
        self._last = Carried()
        self._start = (0, 0)  # position of that transaction, and the timestamp of its first event
        self._owns = np.zeros(0, dtype=np.int64)
        self._own: int | None = None  # the transaction that XA statements begin and end
        self._open: int | None = None  # the transaction whose beginning is written, but not its end
        self._was_open: int | None = None  # the same before the newest lines
        self._open_at = ""
        self._mark = 0  # chunks in the spool below those of the open transaction
        self._spool: Stack | None = None
        self._has_head = False
        self._notes: list[str] = []
        self._later = later
        self._select = self._rows.selected if options.wanted else None

    def __iter__(self) -> Iterator[memoryview | bytes]:
        """The bytes of the script.

        Raises `BinlogError`: like the event reader, after the statements before the damage; with undo, before
        any output.
        """
        return self._backward() if self._undo else self._forward()

    def check(self) -> None:
        """Reject columns in the options that no table had, after everything has been read.

        Raises `UsageError`.
        """
        self._rows.choice.check()
        self._options.masks.warn_unseen(map(".".join, self._rows.changed))

    def _forward(self) -> Iterator[memoryview | bytes]:
        try:
            for page in self._pages:
                with page.block.held():
                    for lines, _ in self._portions(page):
                        yield self._head()
                        yield from filled(lines.forward(), page.block)
                    self._see(page)
        except BinlogError:
            # Nothing of an incomplete transaction may remain.
            yield self._cut_off()
            raise
        yield self._cut_off() + self._head()
        yield self._noted(self._rows.side_effects.notes(())) + postamble()

    def _backward(self) -> Iterator[memoryview | bytes]:
        with closing(Stack()) as self._spool:
            for page in self._pages:
                with page.block.held():
                    for lines, numbers in self._portions(page) if page.limit else ():
                        self._put(page.block, lines, numbers)
                    self._see(page)
            assert isinstance(self._pages, RowsPages)
            note = self._cut_off()
            if self._later is not None:
                self._notes += self._later.notes
            self._notes += self._rows.side_effects.notes(self._pages.definitions.foreign_keys())
            yield self._head() + self._noted(self._notes) + note
            yield from self._spool.backwards()
            yield postamble()

    def _see(self, page: RowsPage) -> None:
        """Take note of what later statements and changes do to rows that the script reverts."""
        if self._later is not None:
            self._later.see(page, self._select)
        for event, row in self._statements.definitions(page):
            number = self._rows.page, row
            self._rows.side_effects.observe(event.body, number)
            for alteration in alterations(event.body, place(page.block, row)) if self._undo else ():
                if alteration.key in self._rows.fitted:
                    continue  # differences are reported, and the statements are for the altered table
                if self._rows.changed.get(alteration.key, number) < number:
                    shown = alteration._replace(text="(left out)") if self._options.masks else alteration
                    self._notes.append(shown.warning)
        self._rows.page += 1

    def _noted(self, notes: Iterable[str]) -> bytes:
        """Comments about what the script does, besides."""
        texts = list(notes)
        for text in texts:
            self._report.doubt(text)
        return b"".join(map(comment, texts))

    def _put(self, block: Block, lines: ScriptLines, numbers: Ints) -> None:
        """Write lines to the spool, those of the open transaction as separate chunks."""
        assert self._spool is not None
        is_open = _equal(numbers, self._open)
        for chosen in (~is_open, is_open):
            if chosen is is_open and self._open != self._was_open:
                self._mark = len(self._spool)
            for piece in filled(lines.backward(np.flatnonzero(chosen)), block, backward=True):
                self._spool.append(piece)

    def _head(self) -> bytes:
        if self._has_head:
            return b""
        self._has_head = True
        word = "reverts the changes in" if self._undo else "replays the changes in"
        names = ", ".join(plain(source.name) for source in self._pages.sources)
        masked = "; columns are masked or left out" if self._options.masks else ""
        heading = f"binlog-kaitai sql: {word} {names}; times are {zone_name()}{masked}"
        return comment(heading) + preamble(self._rows.dialect)

    def _cut_off(self) -> bytes:
        """The replacement for the missing end of a transaction."""
        if self._open is None:
            return b""
        self._open = None
        reason = _UNENDED.format("reverted" if self._undo else "committed")
        self._report.incomplete(reason, self._open_at)
        if self._spool is not None:
            self._spool.cut(self._mark)
            return comment(f"{reason}: {self._open_at}")
        return comment(reason) + _ROLLBACK

    def _portions(self, page: RowsPage) -> Iterator[tuple[ScriptLines, Ints]]:
        """The lines of a page, and their transaction numbers."""
        block = page.block
        if len(block) and block.positions[0] == len(MAGIC):
            yield from self._new_file(block)
        # The first event precedes its own format; only after it is MariaDB recognized.
        self._rows.dialect = SqlDialect.of(self._version, is_mariadb=is_mariadb(block.layout))
        roles = roles_of(block)
        transactions = Transactions(block, roles, self._boundaries, self._last)
        if self._open is not None and transactions.count and self._open < transactions.base:
            yield ScriptLines.at(self._cut_off(), [0], OPENING), np.array([NO_TRANSACTION])
        statements = self._statements.lines(page, roles, self._rows.dialect)
        if not self._undo:
            self._take_own(transactions, np.intersect1d(statements.events, xa_rows(block)))
        low = 0
        for rows, high in self._rows.portions(page):
            inside = np.flatnonzero((statements.events >= low) & (statements.events < high))
            contents = ScriptLines.joined([rows, statements.select(inside)])
            yield self._bracketed(page, transactions, contents, rows, range(low, high))
            low = high
        if transactions.count:
            if transactions.carried.number != self._last.number:
                row = int(transactions.first[-1])
                self._start = int(block.positions[row]), block.fixed_header(row).timestamp
            self._last = transactions.carried

    def _new_file(self, block: Block) -> Iterator[tuple[ScriptLines, Ints]]:
        self._boundaries = Boundaries()
        if note := self._cut_off():
            yield ScriptLines.at(note, [0], OPENING), np.array([NO_TRANSACTION])
        self._version = getattr(block.event(0).body, "server_version", "")

    def _take_own(self, transactions: Transactions, rows: Ints) -> None:
        """Record which transactions XA statements begin and end; only one can continue in the next block."""
        numbers = transactions.number_of[rows]
        if self._own is not None:
            numbers = np.append(numbers, self._own)
        self._owns = distinct_values(numbers)
        self._own = int(self._owns[-1]) if len(self._owns) else None

    def _bracketed(
        self,
        page: RowsPage,
        transactions: Transactions,
        contents: ScriptLines,
        rows: ScriptLines,
        span: range,
    ) -> tuple[ScriptLines, Ints]:
        """Lines with BEGIN and COMMIT of their transactions.

        `contents`, `rows`: all lines, and those of them that are row changes.
        `span`: the range of events that this call completes.
        """
        number_of = transactions.number_of
        changed = distinct_events(rows.events, len(page.block))
        events = distinct_events(contents.events, len(page.block))
        events = events[number_of[events] >= 0]
        numbers, first = self._first_lines(transactions, events, changed)
        self._was_open = self._open
        stated = number_of[np.setdiff1d(events, changed)]
        self._stated = np.append(self._stated[_equal(self._stated, self._was_open)], stated)
        ends = self._ends(transactions, numbers, span)
        self._note_open(page, transactions)
        is_new = ~_equal(numbers, self._was_open)
        make = self._undo_brackets if self._undo else self._redo_brackets
        brackets = make(page, transactions, (numbers[is_new], first[is_new]), ends)
        whole = ScriptLines.joined([contents, *self._checks(page, changed, number_of), *brackets])
        of_line = number_of[whole.events]
        if self._undo and ends[2].any():
            return self._without_rolled_back(page, whole, of_line, ends)
        return whole, of_line

    def _first_lines(self, transactions: Transactions, events: Ints, changed: Ints) -> _Begins:
        """The transactions that need BEGIN and COMMIT, each with the first of its events that have lines.

        A statement that is a transaction of its own needs neither, nor does one that XA statements begin and
        end.

        `events`, `changed`: events of transactions with lines, and those of them with row changes.
        """
        base, number_of = transactions.base, transactions.number_of
        first = events[np.flatnonzero(np.diff(number_of[events], prepend=NO_TRANSACTION))]
        numbers = number_of[first]
        takes = transactions.is_begun.copy()
        takes[number_of[changed[number_of[changed] >= 0]] - base] = True
        takes[self._owns[self._owns >= base] - base] = False
        is_taken = takes[numbers - base]
        return numbers[is_taken], first[is_taken]

    def _ends(self, transactions: Transactions, numbers: Ints, span: range) -> _Ends:
        """Those of some transactions, and the open one, that end in a range; the last one may now be open."""
        base = transactions.base
        if self._open is not None and self._open >= base:
            numbers = np.union1d(numbers, [self._open])
        rows = transactions.closing[numbers - base]
        is_done = (rows >= 0) & (rows < span.stop)
        if len(numbers):
            self._open = None if is_done[-1] else int(numbers[-1])
        is_rollback = transactions.outcomes[numbers - base] == Outcome.ROLLBACK
        return numbers[is_done], rows[is_done], is_rollback[is_done]

    def _note_open(self, page: RowsPage, transactions: Transactions) -> None:
        """Note where the open transaction begins, in case its end is missing."""
        if self._open is None or self._open == self._was_open:
            return
        begins_before = transactions.continues and self._open == transactions.base
        row = int(transactions.first[self._open - transactions.base])
        position = self._start[0] if begins_before else int(page.block.positions[row])
        self._open_at = f"{plain(page.block.file)}:{position}"

    def _redo_brackets(
        self, page: RowsPage, transactions: Transactions, begins: _Begins, ends: _Ends
    ) -> list[ScriptLines]:
        numbers, first = begins
        finished, rows, is_rollback = ends
        for row in rows[transactions.is_cut[finished - transactions.base]].tolist():
            self._report.incomplete(_UNENDED.format("committed"), place(page.block, row))
        headings = self._headings(page, transactions, numbers)
        is_stated = np.isin(finished, self._stated)
        return [
            ScriptLines.at(headings, first, OPENING),
            ScriptLines.at(_COMMIT, rows[~is_rollback & ~is_stated], CLOSING),
            ScriptLines.at(COMMIT_IF_OK, rows[~is_rollback & is_stated], CLOSING),
            ScriptLines.at(_ROLLBACK, rows[is_rollback], CLOSING),
        ]

    def _undo_brackets(
        self, page: RowsPage, transactions: Transactions, begins: _Begins, ends: _Ends
    ) -> list[ScriptLines]:
        """Start and end of a transaction in reverse: the end is written first."""
        _, first = begins
        numbers, rows, _ = ends
        headings = self._headings(page, transactions, numbers)
        return [ScriptLines.at(headings, rows, OPENING), ScriptLines.at(self._commit, first, CLOSING)]

    def _without_rolled_back(
        self, page: RowsPage, lines: ScriptLines, of_line: Ints, ends: _Ends
    ) -> tuple[ScriptLines, Ints]:
        numbers, rows, is_rollback = ends
        gone, rows = numbers[is_rollback], rows[is_rollback]
        reason = "a rolled-back transaction is not reverted; its changes to non-transactional tables remain"
        for row in rows.tolist():
            self._report.incomplete(reason, place(page.block, row))
        if self._was_open is not None and self._was_open in gone:
            assert self._spool is not None
            self._spool.cut(self._mark)
        keeps = np.flatnonzero(~np.isin(of_line, gone))
        notes = ScriptLines.at(
            [comment(f"{reason}: {place(page.block, row)}") for row in rows.tolist()], rows, OPENING
        )
        kept = np.append(of_line[keeps], np.full(len(rows), NO_TRANSACTION))
        return ScriptLines.joined([lines.select(keeps), notes]), kept

    def _headings(self, page: RowsPage, transactions: Transactions, numbers: Ints) -> LineTexts:
        """A comment with position and time of each transaction, and its BEGIN."""
        block = page.block
        rows = transactions.first[numbers - transactions.base]
        positions, stamps = block.positions[rows], block.header_of(rows).numbers("timestamp")
        if transactions.continues and len(numbers) and numbers[0] == transactions.base:
            positions[0], stamps[0] = self._start
        pool, every = page.pool, np.arange(len(rows))
        has_gtid = page.gtids.is_given[page.gtids.which[rows]].astype(np.int64)
        start, time = pool.numbers(positions), text_column(*clock_texts(stamps), pool)
        file = comment(f"{block.file}:")[:-1]
        programs = [LineProgram(pool).text(file).column(start).text(", ").column(time) for _ in range(2)]
        programs[1].text(", GTID ").column(pool.unquoted(page.gtids.column(rows)))
        programs = [program.text(b"\n" + _BEGIN) for program in programs]
        text, ends = write_lines(block.data, pool, programs, every, has_gtid, every)
        return LineTexts.of(text, ends)

    def _checks(self, page: RowsPage, events: Ints, number_of: Ints) -> Iterator[ScriptLines]:
        """The checks to disable for rows that the server changed with checks disabled."""
        if not len(events):
            return
        block = page.block
        for flag, name in _CHECKS.items():
            if flag in _OF_MARIADB and not self._rows.dialect.is_mariadb:
                continue
            is_off = np.zeros(len(block), dtype=np.bool_)
            for kind in set(block.kinds) & ROWS_TYPES:
                body = block.body(kind)
                if flag in body:
                    is_off[block.rows_of(kind)] = body.numbers(flag).astype(np.bool_)
            if not is_off.any():
                continue
            # Once for consecutive events of a transaction.
            keys = np.where(is_off[events], number_of[events], NO_TRANSACTION - 1)
            limits = np.flatnonzero(np.diff(keys, prepend=NO_TRANSACTION - 2, append=NO_TRANSACTION - 2))
            first, last = events[limits[:-1]], events[limits[1:] - 1]
            chosen = is_off[first]
            if self._undo:
                first, last = last, first
            for value, rows_of, where in ((0, first, PREFIX), (1, last, SUFFIX)):
                text = f"SET {name} = {value};\n".encode()
                yield ScriptLines.at(text, rows_of[chosen], where)


def _equal(numbers: Ints, number: int | None) -> Bools:
    """Which of some numbers equal another one, as a bool array; False throughout if that is None."""
    return np.zeros(len(numbers), dtype=np.bool_) if number is None else numbers == number


class WriteOptions(KeyOptions, DefinitionOptions, PassOptions, total=False):
    """The keywords of :func:`write_sql`."""


@takes(WriteOptions)
def write_sql(
    source: SourceLike | Iterable[SourceLike],
    filters: Filters,
    options: SqlOptions,
    report: OmissionReport,
    *,
    ends: list[End] | None = None,
    **others: Unpack[WriteOptions],
) -> Iterator[memoryview | bytes]:
    """Write the script of some logs, see :class:`SqlScript`.

    `source`: as for `binlog_kaitai.open`.
    `ends`: receives how each file ended.
    `**others`: see :class:`WriteOptions`.
    """
    logs = resolve(source, others.pop("keys"))
    by_all_columns = options.check or options.for_table is not None
    is_partial = options.undo and (filters or options.wanted)
    later = LaterChanges(by_all_columns=by_all_columns) if is_partial else None
    own: dict[str, Any] = {"past_stop": None if later is None else later.stopped, "masks": options.masks}
    pages = RowsPages(logs, filters, every_block=True, follows_xa=False, ends=ends, **own, **others)
    yield from _complete(SqlScript(pages, filters, options, report, later), report)


def write_followed(
    pages: FollowedPages, filters: Filters, options: SqlOptions, report: OmissionReport
) -> Iterator[memoryview | bytes]:
    """Write the script of logs that a server is writing, see :class:`SqlScript`, transaction by transaction.

    Raises `UsageError`: changes cannot be undone while more are written.
    """
    if options.undo:
        raise UsageError("--undo cannot be used with --follow: it begins with the last change")
    yield from _complete(SqlScript(pages, filters, options, report), report)


def _complete(script: SqlScript, report: OmissionReport) -> Iterator[memoryview | bytes]:
    yield from script
    script.check()
    report.finish()


class ScriptOptions(WriteOptions, FilterOptions, CriteriaOptions, MaskOptions, total=False):
    """The keywords of :func:`sql_script`."""


@takes(ScriptOptions)
def sql_script(
    source: SourceLike | Iterable[SourceLike],
    *,
    undo: bool = False,
    allow_unnamed: bool = False,
    **options: Unpack[ScriptOptions],
) -> Iterator[bytes]:
    """Generate statements that repeat the changes of logs, or undo them, like the command ``sql``.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    undo
        Undo the changes, last one first.
    allow_unnamed
        Write c1, c2 … for unknown column names, which are otherwise an error.
    **options
        See :class:`ScriptOptions`.

    Returns
    -------
    iterator of bytes
        The script in pieces, for ``mysql --binary-mode``. The bytes of a piece are a copy.

    Raises
    ------
    UsageError
        Immediately: an argument is invalid.
    BinlogError
        During iteration: no log was found, or a log is damaged; with `undo`, before the first piece.

    Warns
    -----
    IncompleteScriptWarning
        A selected change cannot be written as a statement; a comment in the script names it.
    """
    chosen = {**part_of(options, CriteriaOptions), **part_of(options, MaskOptions)}
    wanted = SqlOptions(undo=undo, allow_unnamed=allow_unnamed, **chosen)
    report = OmissionReport(lambda text: warn(text, IncompleteScriptWarning))
    filters, others = part_of(options, FilterOptions), part_of(options, WriteOptions)
    return map(bytes, write_sql(source, Filters.of(**filters), wanted, report, **others))
