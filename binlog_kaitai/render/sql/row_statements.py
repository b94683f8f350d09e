"""The statements for the row changes of a page."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from threading import Lock
from typing import NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.groups import distinct, distinct_values
from binlog_kaitai.lines.long_values import LONG
from binlog_kaitai.lines.row_forms import CHANGES, LineWriter, RowLines, unnamed
from binlog_kaitai.lines.row_texts import Failure, table_by_table, up_to_invalid
from binlog_kaitai.log.threads import side_by_side
from binlog_kaitai.render.sql.altered_tables import FittedTable
from binlog_kaitai.render.sql.change_statements import CHECK_ALL, ChangeStatements
from binlog_kaitai.render.sql.script_lines import (
    FIRST,
    LineTexts,
    OmissionReport,
    ScriptLines,
    comment,
    head_key,
    place,
)
from binlog_kaitai.render.sql.side_effects import SideEffects
from binlog_kaitai.render.sql.sql_options import SqlOptions
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import ABSENT, BEFORE, LocatedRows, MismatchError
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.partial_updates import walk_rows
from binlog_kaitai.rows.row_changes import (
    ChangeGroup,
    row_end,
    walked_groups,
    without_history,
)
from binlog_kaitai.rows.row_counts import UNKNOWN, row_counts
from binlog_kaitai.rows.row_criteria import CriteriaChoice
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.schema import NameSource
from binlog_kaitai.values.sql_text import SqlDialect, is_plain

#: Number of rows converted to text at once.
_MAX_ROWS = 1 << 14

#: Maximum bytes of text per byte of values.
_OF_BYTE = 4

#: Maximum bytes of text for the rows of several events; more rows are divided. Events with long values
#: (`long_values`) are written one by one.
_TEXT_OF_EVENTS = _OF_BYTE * LONG

#: Bytes of rows of a table from which on threads share the work.
_SHARED_FROM = 1 << 20


class RowStatements:
    """Writes the row changes of pages, in several threads if that pays.

    `dialect`: that of the server that wrote the events.
    `choice`: selects the wanted changes.
    `fitted`: schema and name of each table whose statements are adapted to its current definition.
    `changed`: the same of each table with changes in the script, with the page and event of the first one.
    `page`: number of the page.
    `side_effects`: what the changes cause besides.
    """

    def __init__(self, options: SqlOptions, report: OmissionReport, threads: int = 1) -> None:
        self._threads = threads
        self._lock = Lock()
        self.dialect = SqlDialect()
        self._options = options
        self.choice = CriteriaChoice(options.wanted)
        self._report = report
        self._beginnings: dict[bytes, int] = {}
        self._noted: set[str] = set()
        self.page = 0
        self.fitted: set[tuple[str, ...]] = set()
        self.changed: dict[tuple[str, ...], tuple[int, int]] = {}
        self.side_effects = SideEffects(undo=options.undo)

    def portions(self, page: RowsPage) -> Iterator[tuple[ScriptLines, int]]:
        """The lines of a page in order, in portions of limited size.

        Each portion comes with the number of the event up to which all lines have been yielded; the last one
        completes the page. Raises `BinlogError` after the lines of all events before the invalid one.
        """
        limits = _limits(page)
        for begin, end in pairwise(limits):
            events, is_last = page.chosen[begin:end], end == len(page.chosen)
            high = page.limit if is_last else int(page.images.rows[page.chosen[end]])
            yield from self._portion(page, events, high)
        if len(limits) < 2:
            yield ScriptLines.joined([]), page.limit

    def _portion(self, page: RowsPage, chosen: Ints, high: int) -> Iterator[tuple[ScriptLines, int]]:
        """The lines of some events, built table by table, then put in order; of a single event in pieces."""
        failures: list[Failure] = []
        parts = table_by_table(page, chosen, self._of_table, failures)
        if len(chosen) == 1:  # it may be very large
            row = int(page.images.rows[chosen[0]])
            yield from ((lines, row) for part in parts for lines in part)
            lines = ScriptLines.joined([])
        else:
            lines = ScriptLines.joined(list(chain.from_iterable(parts)))
        if not failures:
            yield lines, high
            return
        index, error = min(failures, key=lambda failure: failure[0])
        stop = int(page.images.rows[index])
        yield lines.select(np.flatnonzero(lines.events < stop)), stop
        raise error

    def _of_table(
        self, page: RowsPage, table: Table, events: Ints, failures: list[Failure]
    ) -> Iterator[ScriptLines]:
        """The lines of one table; stops at an invalid event."""
        return up_to_invalid(page, self._walked(page, table, events), failures)

    def _walked(self, page: RowsPage, table: Table, chosen: Ints) -> Iterator[ScriptLines]:
        max_rows = min(_MAX_ROWS, _TEXT_OF_EVENTS // _overhead(table) + 2)

        def walked() -> Generator[LocatedRows, None, None]:
            yield from walk_rows(page.images, chosen, table, max_rows)

        statements = partial(self._written, page, table, chosen)
        is_divided = (
            self._threads > 1 and int(page.block.sizes[page.images.rows[chosen]].sum()) >= _SHARED_FROM
        )
        parts = (
            side_by_side(walked(), statements, self._threads, lambda rows: 0)
            if is_divided
            else chain.from_iterable(map(statements, walked()))
        )
        yield from (self._joined(page, table, *part) for part in parts)

    def _written(
        self, page: RowsPage, table: Table, chosen: Ints, rows: LocatedRows
    ) -> Iterator[list[_Statements]]:
        """The statements for the selected ones of some rows of the chosen events; threads call this.

        Raises `MismatchError`: an event has an invalid value; those before it have been yielded.
        """
        statements = []
        try:
            for part, ends in self._parts(table, rows):
                form = self._form(page, table, int(part.events[0]), ends)
                lines = LineWriter(page, table, chosen, form).lines(part)
                walked = _walked_statements(page, form, lines, has_heads=self._options.extended_insert)
                statements.append(walked._replace(changes=_changes(table, part, ends=ends)))
        except CellError as error:
            # The row number is relative to a part, so each event is tried separately.
            events = distinct_values(rows.events).tolist()
            if len(events) == 1:
                raise MismatchError(events[0], error.error) from error
            for index in events:
                begin, end = np.searchsorted(rows.events, [index, index + 1]).tolist()
                yield from self._written(page, table, chosen, rows.part(begin, end))
            return
        yield statements

    def _parts(self, table: Table, rows: LocatedRows) -> Iterator[tuple[LocatedRows, bool]]:
        """The selected ones of some rows, and whether they are updates that become deletes."""
        if not self._options.wanted and row_end(table.schema) is None:
            yield rows, False
            return
        for group, ends in self.selected(table, walked_groups(table, rows)):
            sides = [side.rows for side in (group.before, group.after) if side is not None]
            yield rows.select(np.sort(np.concatenate(sides))), ends

    def selected(self, table: Table, groups: Iterable[ChangeGroup]) -> Iterator[tuple[ChangeGroup, bool]]:
        """The selected changes, and whether they are updates that become deletes."""
        end = row_end(table.schema)
        for group in groups:
            for part, ends in [(group, False)] if end is None else without_history(group, end):
                chosen = self.choice.of_group(table, part) if self._options.wanted and len(part) else part
                if len(chosen):
                    yield chosen, ends

    def _joined(self, page: RowsPage, table: Table, *parts: _Statements) -> ScriptLines:
        lines = []
        for part in parts:
            events = [*part.lines.events[:1].tolist(), *(refusal.event for refusal in part.refusals)]
            if events:
                first = self.page, int(page.images.rows[min(events)])
                self.changed[table.key] = min(self.changed.get(table.key, first), first)
            if len(part.lines.events):
                last = self.page, int(page.images.rows[part.lines.events[-1]])
                self.side_effects.changed(table, part.changes, last, self.dialect)
            lines += [self._script_lines(page, part), self._refused(page, table, part.refusals)]
        return ScriptLines.joined(lines)

    def _script_lines(self, page: RowsPage, part: _Statements) -> ScriptLines:
        lines, keys = part.lines, np.zeros(len(part.lines.events), dtype=np.int64)
        if self._options.extended_insert:
            for number, head in enumerate(part.heads):
                if head:
                    key = head_key(self._beginnings.setdefault(head, len(self._beginnings)), head)
                    keys[part.head_of == number] = key
        numbers = -lines.numbers if self._options.undo else lines.numbers
        texts = LineTexts.of(lines.data, lines.ends)
        return ScriptLines([texts], page.images.rows[lines.events], numbers, keys)

    def _form(self, page: RowsPage, table: Table, event: int, ends: bool) -> ChangeStatements:
        """The form of the statements, or that for updates that become deletes."""
        key = RowStatements, self.dialect, ends
        with self._lock:
            if key not in table.memory:
                if table.schema.names_from is NameSource.NONE and not self._options.allow_unnamed:
                    raise unnamed(page, table, event, ", or use --allow-unnamed to name them c1, c2 …")
                fitted = self._fitted(table)
                table.memory[key] = ChangeStatements(
                    table, self.dialect, self._options, fitted=fitted, ends=ends
                )
            form: ChangeStatements = table.memory[key]
            return form

    def _fitted(self, table: Table) -> FittedTable | None:
        """The table adapted to its current definition, if requested; reports the differences once."""
        if self._options.today is None:
            return None
        fitted = self._options.today.match(table.schema)
        if fitted is None:
            notes = [f"{table.schema.full_name} is not in the --for-table file; its logged columns are used"]
        else:
            self.fitted.add(table.key)
            notes = fitted.notes
        for note in notes:
            if note not in self._noted:
                self._noted.add(note)
                self._report.warn(note)
        return fitted

    def _refused(self, page: RowsPage, table: Table, refusals: Sequence[_Refusal]) -> ScriptLines:
        texts = []
        word = "reverted" if self._options.undo else "replayed"
        rows = [int(page.images.rows[refusal.event]) for refusal in refusals]
        for row, (_, change, reason, count) in zip(rows, refusals, strict=True):
            what = f"{count} row{'s' if count > 1 else ''} of {change} {table.schema.full_name}"
            texts.append(comment(f"cannot be {word}: {what} at {place(page.block, row)}: {reason}"))
            self._report.incomplete(
                f"changes of {table.schema.full_name} cannot be {word}: {reason}",
                place(page.block, row),
                count,
            )
        return ScriptLines.at(texts, rows, FIRST)


class _Refusal(NamedTuple):
    """The rows of an event that cannot be written as statements: their change, number, and the reason."""

    event: int
    change: str
    reason: str
    rows: int


class _Statements(NamedTuple):
    """The statements for some changes, their beginnings, and the number of each one's beginning.

    `changes`: see `SideEffects.changed`.
    """

    lines: RowLines
    heads: list[bytes]
    head_of: Ints
    refusals: list[_Refusal]
    changes: frozenset[str] = frozenset()


def _changes(table: Table, rows: LocatedRows, *, ends: bool) -> frozenset[str]:
    """The kinds of some changes: "key" if one updates a primary key, or no key is known."""
    changes = {CHANGES[kind] for kind in distinct_values(rows.changes).tolist() if kind in CHANGES}
    before = np.flatnonzero(rows.changes == BEFORE)
    if ends and len(before):
        return frozenset(("delete",))
    key = table.schema.primary_key
    for index in key if len(before) else ():
        cells = Cells.of(table, table.schema.columns[index], rows)
        after = cells.part(before + 1)
        if (cells.part(before).differs(after) & (after.starts != ABSENT)).any():
            changes.add("key")
    return frozenset(changes if key or not len(before) else changes | {"key"})


def _walked_statements(
    page: RowsPage, form: ChangeStatements, lines: RowLines, *, has_heads: bool
) -> _Statements:
    programs, program_of = page.images.programs()

    def program(event: int) -> ImageProgram:
        program = programs[int(program_of[event])]
        assert program is not None  # the rows have been walked
        return program

    sizes, refusals = np.diff(lines.ends, prepend=0), []
    if not sizes.all():
        events, counts = np.unique(lines.events[sizes == 0], return_counts=True)
        for event, count in zip(events.tolist(), counts.tolist(), strict=True):
            refusals.append(_Refusal(event, *form.refusal(program(event)), count))
        there = np.flatnonzero(sizes)
        lines = RowLines(lines.events[there], lines.numbers[there], lines.data, lines.ends[there])
    head_of, heads = np.zeros(len(lines.events), dtype=np.int64), list[bytes]()
    if has_heads:
        first, head_of = distinct(program_of[lines.events])
        heads = [form.head_of(program(event)) for event in lines.events[first].tolist()]
    return _Statements(lines, heads, head_of, refusals)


def _limits(page: RowsPage) -> list[int]:
    """Where to divide the chosen events of a page, so that the text of each part has limited size."""
    images, chosen = page.images, page.chosen
    tables = [*(table if isinstance(table, Table) else None for table in images.tables), None]
    overheads, factors = (
        np.array([0 if table is None else of(table) for table in tables], dtype=np.int64)[
            images.table_of[chosen]
        ]
        for of in (_overhead, _most_text)
    )
    sizes = page.block.sizes[images.rows[chosen]]
    is_counted = np.zeros(len(images), dtype=np.bool_)
    is_counted[chosen] = True
    counts = row_counts(images, is_counted & ~images.is_packed)[chosen]
    most = np.where(counts == UNKNOWN, sizes * factors, sizes * _OF_BYTE + counts * overheads)
    offsets = np.cumsum(most)
    limits = [0]
    while limits[-1] < len(offsets):
        before = int(offsets[limits[-1] - 1]) if limits[-1] else 0
        limits.append(
            max(int(np.searchsorted(offsets, before + _TEXT_OF_EVENTS, side="right")), limits[-1] + 1)
        )
    return limits


def _overhead(table: Table) -> int:
    """Bytes of text per row besides its values: names, up to twice each, and character set introducers."""
    names = [column.name for column in table.schema.columns]
    size = 64 + len(CHECK_ALL) + 2 * sum(len(name) + 24 for name in names)
    # In a prepared statement, a character may take ten bytes.
    return size if all(map(is_plain, (*names, *table.key))) else 10 * size


def _most_text(table: Table) -> int:
    """Maximum bytes of text per byte of rows: a row has at least one bit per column."""
    return _OF_BYTE + _overhead(table) // ((len(table.schema.columns) + 7) // 8 or 1)
