"""The statements for the row changes of a page."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain, pairwise
from threading import Lock

import numpy as np

from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.event_rows import rows_of
from binlog_kaitai.log.groups import distinct_values
from binlog_kaitai.log.threads import side_by_side
from binlog_kaitai.render.sql.altered_tables import FittedTable
from binlog_kaitai.render.sql.change_statements import (
    CHECK,
    ChangeStatements,
    RefusedError,
    WrittenStatements,
)
from binlog_kaitai.render.sql.row_changes import (
    ChangeGroup,
    read_groups,
    row_end,
    walked_groups,
    without_history,
)
from binlog_kaitai.render.sql.script_lines import FIRST, OmissionReport, ScriptLines, comment, head_key, place
from binlog_kaitai.render.sql.sql_options import CriteriaChoice, SqlOptions
from binlog_kaitai.rows.column_cells import CellError
from binlog_kaitai.rows.image_walk import LocatedRows, MismatchError, walk
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.row_counts import UNKNOWN, row_counts
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.rows.text.long_values import LONG
from binlog_kaitai.values.schema import NameSource
from binlog_kaitai.values.sql_text import SqlDialect, is_plain
from binlog_kaitai.views.row_texts import Failure, by_kernels_or_reader

#: Number of rows converted to text at once.
_MAX_ROWS = 1 << 14

#: Maximum bytes of text per byte of values.
_OF_BYTE = 4

#: Maximum bytes of text for the rows of several events; more rows are divided. Events with long values
#: (`long_values`) are written one by one.
_ROOM = _OF_BYTE * LONG

#: Bytes of rows of a table from which on threads share the work.
_MANY = 1 << 20

#: Number of cached writers.
_MAX_WRITERS = 1 << 10

#: Some changes, with their statements or why there are none.
_Text = tuple[ChangeGroup, WrittenStatements | RefusedError]


class RowStatements:
    """Writes the row changes of pages, in several threads if that pays.

    Attributes
    ----------
    dialect : SqlDialect
        That of the server that wrote the events.
    choice : RowChoice
        Selects the wanted changes.
    fitted : set
        Schema and name of each table whose statements are adapted to its current definition.
    changed : dict
        Schema and name of each table with changes in the script, with the numbers of the first one's page and
        event.
    """

    def __init__(self, options: SqlOptions, report: OmissionReport, threads: int = 1) -> None:
        self._threads = threads
        self._lock = Lock()
        self.dialect = SqlDialect()
        self._options = options
        self.choice = CriteriaChoice(options.wanted)
        self._report = report
        self._writers: dict[tuple[int, SqlDialect], tuple[Table, ChangeStatements]] = {}
        self._beginnings: dict[bytes, int] = {}
        self._noted: set[str] = set()
        self._page = -1
        self.fitted: set[tuple[str, ...]] = set()
        self.changed: dict[tuple[str, ...], tuple[int, int]] = {}

    def portions(self, page: RowsPage) -> Iterator[tuple[ScriptLines, int]]:
        """The lines of a page in order, in portions of limited size.

        Each portion comes with the number of the event up to which all lines have been yielded; the last one
        completes the page.

        Raises
        ------
        BinlogError
            After the lines of all events before the invalid one.
        """
        self._page += 1
        limits = _limits(page)
        for begin, end in pairwise(limits):
            events, is_last = page.chosen[begin:end], end == len(page.chosen)
            high = page.limit if is_last else int(page.images.rows[page.chosen[end]])
            if len(events) > 1:
                yield from self._together(page, events, high)
            else:
                yield from self._alone(page, events, high)
        if len(limits) < 2:
            yield ScriptLines.joined([]), page.limit

    def _alone(self, page: RowsPage, events: Ints, high: int) -> Iterator[tuple[ScriptLines, int]]:
        """The lines of one event, which may be very large, in pieces."""
        failures: list[Failure] = []
        table, row = page.images.table(int(events[0])), int(page.images.rows[events[0]])
        if not isinstance(table, Table):
            yield ScriptLines.joined([]), row
            raise page.refuse(int(events[0]))
        for lines in self._of_table(page, table, events, failures):
            yield lines, row
        for _, error in failures:
            raise error
        yield ScriptLines.joined([]), high

    def _together(self, page: RowsPage, chosen: Ints, high: int) -> Iterator[tuple[ScriptLines, int]]:
        """The lines of many events, built table by table, then put in order."""
        numbers = page.images.table_of[chosen]
        failures: list[Failure] = []
        parts: list[ScriptLines] = []
        for number in distinct_values(numbers).tolist():
            events = chosen[numbers == number]
            table = page.images.table(int(events[0]))
            if isinstance(table, Table):
                parts += self._of_table(page, table, events, failures)
            else:
                failures.append(Failure(int(events[0]), page.refuse(int(events[0]))))
        lines = ScriptLines.joined(parts)
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

        def by_reader(index: int) -> Iterator[ScriptLines]:
            rows = list(rows_of(page.event(index), table.schema))
            yield self._joined(page, table, self._texts(page, table, list(read_groups(rows, index))))

        return by_kernels_or_reader(
            page, events, failures, lambda chosen: self._walked(page, table, chosen), by_reader
        )

    def _walked(self, page: RowsPage, table: Table, chosen: Ints) -> Iterator[ScriptLines]:
        max_rows = min(_MAX_ROWS, _ROOM // _overhead(table) + 2)

        def walked() -> Generator[LocatedRows, None, None]:
            yield from walk(page.images, chosen, len(table.schema.columns), max_rows)

        def texts(rows: LocatedRows) -> Iterator[list[_Text]]:
            try:
                yield self._texts(page, table, list(walked_groups(table, rows)))
            except CellError as error:
                yield from self._before(page, table, rows, error)

        is_divided = self._threads > 1 and int(page.block.sizes[page.images.rows[chosen]].sum()) >= _MANY
        parts = (
            side_by_side(walked(), texts, self._threads, lambda rows: 0)
            if is_divided
            else chain.from_iterable(map(texts, walked()))
        )
        yield from (self._joined(page, table, part) for part in parts)

    def _before(
        self, page: RowsPage, table: Table, rows: LocatedRows, error: CellError
    ) -> Iterator[list[_Text]]:
        """The texts of all events before one with an invalid value, which the event reader reports."""
        # The row number is relative to a group, so each event is tried separately.
        for index in distinct_values(rows.events).tolist():
            begin, end = np.searchsorted(rows.events, [index, index + 1])
            try:
                yield self._texts(page, table, list(walked_groups(table, rows.part(int(begin), int(end)))))
            except CellError:
                raise MismatchError(index) from error

    def _texts(self, page: RowsPage, table: Table, groups: list[ChangeGroup]) -> list[_Text]:
        """The selected ones of some groups with their text; several threads call this."""
        end = row_end(table.schema)
        if end is not None:
            groups = [one for group in groups for one in without_history(group, end)]
        chosen = [one for group in groups if len(one := self.choice.of_group(table, group))]
        if not chosen:
            return []
        with self._lock:
            writer = self._writer(page, table, int(chosen[0].events[0]))
        return [(group, _written_or_refused(writer, group)) for group in chosen]

    def _joined(self, page: RowsPage, table: Table, texts: list[_Text]) -> ScriptLines:
        if texts:
            first = min(int(page.images.rows[group.events.min()]) for group, _ in texts)
            known = self.changed.get(table.key, (self._page, first))
            self.changed[table.key] = min(known, (self._page, first))
        return ScriptLines.joined([self._written(page, table, *one) for one in texts])

    def _writer(self, page: RowsPage, table: Table, event: int) -> ChangeStatements:
        key = id(table), self.dialect
        if key not in self._writers:
            if table.schema.names_from is NameSource.NONE and not self._options.allow_unnamed:
                position = int(page.block.positions[page.images.rows[event]])
                raise UsageError(_why_unnamed(table), file=page.block.file, position=position)
            if len(self._writers) >= _MAX_WRITERS:
                self._writers.clear()
            # Keep a reference to the table, so that no other can get its id.
            fitted = self._fitted(table)
            writer = ChangeStatements(table, self.dialect, undo=self._options.undo, fitted=fitted)
            self._writers[key] = table, writer
        return self._writers[key][1]

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

    def _written(
        self, page: RowsPage, table: Table, group: ChangeGroup, written: WrittenStatements | RefusedError
    ) -> ScriptLines:
        rows = page.images.rows[group.events]
        if isinstance(written, RefusedError):
            return self._refused(page, table, group, str(written))
        texts, head = written.lines, written.head
        numbers = -group.numbers if self._options.undo else group.numbers
        key = 0
        if head and self._options.is_extended:
            key = head_key(self._beginnings.setdefault(head, len(self._beginnings)), head)
        return ScriptLines([texts], rows, numbers, np.full(len(rows), key, dtype=np.int64))

    def _refused(self, page: RowsPage, table: Table, group: ChangeGroup, reason: str) -> ScriptLines:
        events, counts = np.unique(group.events, return_counts=True)
        texts = []
        word = "reverted" if self._options.undo else "replayed"
        for index, count in zip(events.tolist(), counts.tolist(), strict=True):
            row = int(page.images.rows[index])
            what = f"{count} row{'s' if count > 1 else ''} of {group.change.value} {table.schema.full_name}"
            texts.append(comment(f"cannot be {word}: {what} at {place(page.block, row)}: {reason}"))
            self._report.incomplete(
                f"changes of {table.schema.full_name} cannot be {word}: {reason}",
                place(page.block, row),
                count,
            )
        return ScriptLines.at(texts, page.images.rows[events], FIRST)


def _written_or_refused(writer: ChangeStatements, group: ChangeGroup) -> WrittenStatements | RefusedError:
    try:
        return writer.write(group)
    except RefusedError as refused:
        return refused


def _why_unnamed(table: Table) -> str:
    name = table.schema.full_name
    if table.mismatch:
        reason = f"the definition of {name} does not match these rows: {table.mismatch}; "
        reason += "pass its CREATE TABLE from when they were logged with --ddl FILE"
    else:
        reason = f"the log does not have the column names of {name}; "
        reason += "pass its CREATE TABLE with --ddl FILE"
    return f"{reason}, or use --allow-unnamed to name them c1, c2 …"


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
        limits.append(max(int(np.searchsorted(offsets, before + _ROOM, side="right")), limits[-1] + 1))
    return limits


def _overhead(table: Table) -> int:
    """Bytes of text per row besides its values: names, up to twice each, and character set introducers."""
    names = [column.name for column in table.schema.columns]
    size = 64 + len(CHECK) + 2 * sum(len(name) + 24 for name in names)
    # In a prepared statement, a character may take ten bytes.
    return size if all(map(is_plain, (*names, *table.key))) else 10 * size


def _most_text(table: Table) -> int:
    """Maximum bytes of text per byte of rows: a row has at least one bit per column."""
    return _OF_BYTE + _overhead(table) // ((len(table.schema.columns) + 7) // 8 or 1)
