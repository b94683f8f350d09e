"""The rows of whole logs as Python objects, each with its position, transaction and statement.

Values are decoded into Arrow arrays, as in `read_changes`, and converted to those of `Event.rows` column by
column. The few that Arrow does not distinguish (an impossible date from NULL, bytes from text that looks like
them) are decoded by the event reader. Rows of the same event share one :class:`Origin`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.options import part_of, takes
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.lines.row_texts import Failure, RowChoice, in_order, made_of_walked, up_to_invalid
from binlog_kaitai.log.event_rows import Change, Row
from binlog_kaitai.log.read_options import ChangedRowOptions, CriteriaOptions, Reading
from binlog_kaitai.rows.builders import build_all
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.event_metadata import ORIGINS, STATEMENT, THREAD
from binlog_kaitai.rows.image_walk import ABSENT, AFTER, BEFORE, DELETE, INSERT, LocatedRows
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.partial_updates import with_documents
from binlog_kaitai.rows.row_criteria import CriteriaChoice
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.text.line_arrays import LineProgram, TextColumn, write_lines
from binlog_kaitai.values.column_kinds import DOCUMENTS, Kind
from binlog_kaitai.values.json_documents import JsonDiff, JsonText
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column


class Origin(NamedTuple):
    """What the rows of an event have in common; see :class:`LoggedRow`.

    `statement`: as JSON, because few readers ask for it.
    """

    file: str
    position: int
    timestamp: datetime
    server_id: int
    gtid: str | None
    thread_id: int | None
    statement: bytes


@dataclass(slots=True, repr=False)
class LoggedRow(Row):
    """A changed row, and where the log contains it.

    Attributes
    ----------
    file : str
        Name of the log.
    position : int
        Offset of the rows event in the file, in bytes; in a compressed transaction, that of the event that
        contains it. `file`, `position` and `index` identify a row.
    timestamp : datetime
        From the event's header, in UTC: when the statement started, in whole seconds.
    server_id : int
        The server where the change originated.
    gtid : str or None
        The transaction; None if the log has no GTIDs.
    thread_id : int or None
        The thread id of the connection that made the change, from the transaction's BEGIN (in newer MariaDB,
        from its GTID event); None if the log does not contain it.
    statement : str or None
        The statement, if the server logs statements (MySQL: `binlog_rows_query_log_events`, MariaDB:
        `binlog_annotate_row_events`); invalid UTF-8 is decoded with ``surrogateescape``.
    """

    _origin: Origin

    @property
    def file(self) -> str:
        return self._origin.file

    @property
    def position(self) -> int:
        return self._origin.position

    @property
    def timestamp(self) -> datetime:
        return self._origin.timestamp

    @property
    def server_id(self) -> int:
        return self._origin.server_id

    @property
    def gtid(self) -> str | None:
        return self._origin.gtid

    @property
    def thread_id(self) -> int | None:
        return self._origin.thread_id

    @property
    def statement(self) -> str | None:
        return _statement_of(self._origin.statement)

    def asdict(self) -> dict[str, Any]:
        return {
            **self._origin._asdict(),
            "statement": self.statement,
            **Row.asdict(self),  # `super` fails in a class with slots
        }

    def _location(self) -> str:
        gtid = f", GTID {self.gtid}" if self.gtid else ""
        return f" at {self.position} of {self.file}{gtid}"


@lru_cache(maxsize=4)  # rows of a statement follow each other
def _statement_of(text: bytes) -> str | None:
    statement: str | None = json.loads(text)
    return statement


@takes(ChangedRowOptions)
def read_rows(
    source: SourceLike | Iterable[SourceLike], **options: Unpack[ChangedRowOptions]
) -> Iterator[LoggedRow]:
    """Read the changed rows of logs, in log order.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    **options
        See :class:`ChangedRowOptions`.

    Raises
    ------
    SourceError, UsageError
        Immediately: no log was found, or an argument is invalid.
    BinlogError
        During iteration, after the rows of all events before the damage. A `UsageError` at the end: no table
        has a column that `where` or `column` names.
    """
    reading = Reading.of(source, options)
    choice = CriteriaChoice.of(**part_of(options, CriteriaOptions))
    pages = RowsPages(reading.sources, reading.filters, ddl=options["ddl"], origins=ORIGINS, **reading.pages)

    def rows() -> Iterator[LoggedRow]:
        yield from rows_of_pages(pages, choice)
        if choice is not None:
            choice.check()

    return rows()


def rows_of_pages(pages: RowsPages, choice: RowChoice | None = None) -> Iterator[LoggedRow]:
    """The rows of pages that have all of :data:`ORIGINS`."""
    for page in pages:
        with page.block.held():
            of_table = partial(_of_table, _origins(page), choice)
            for rows in in_order(page, of_table, _Rows.joined):
                yield from rows.rows


def _origins(page: RowsPage) -> dict[int, Origin]:
    """The origin of each event of the page, by its number in `images`."""
    chosen, rows = page.chosen, page.images.rows[page.chosen]
    seconds, servers = (page.headers.numbers(name)[chosen].tolist() for name in ("timestamp", "server_id"))
    times = {second: datetime.fromtimestamp(second, UTC) for second in set(seconds)}
    columns = (
        repeat(page.block.file),
        page.block.positions[rows].tolist(),
        map(times.__getitem__, seconds),
        servers,
        [page.gtids.texts[which] for which in page.gtids.which[rows].tolist()],
        [None if text == b"null" else int(text) for text in _json_values(page, page.origins[THREAD], rows)],
        _json_values(page, page.origins[STATEMENT], rows),
    )
    return dict(zip(chosen.tolist(), map(Origin, *columns), strict=True))


def _json_values(page: RowsPage, column: TextColumn, rows: Ints) -> list[bytes]:
    """The values of some events of the page, given a column by event."""
    program = LineProgram(page.pool).column(column).text(b"\n")
    which = np.zeros(len(rows), dtype=np.int64)
    data, _ = write_lines(page.block.data, page.pool, [program], rows, which, rows)
    return bytes(data).split(b"\n")[:-1]


class _Rows(NamedTuple):
    """Changed rows.

    `events`, `numbers`: int64 arrays, the event of each row, and its number within the event of the log.
    `rows`: can be iterated over once. Objects that are made when they are asked for, and dropped soon after,
    cost the garbage collector nothing.
    """

    events: NDArray[np.int64]
    numbers: NDArray[np.int64]
    rows: Iterator[LoggedRow]

    def select(self, rows: NDArray[np.int64]) -> _Rows:
        """The given rows (row numbers)."""
        every = list(self.rows)
        return _Rows(self.events[rows], self.numbers[rows], (every[row] for row in rows.tolist()))

    @classmethod
    def joined(cls, parts: list[_Rows]) -> _Rows:
        """Concatenate several."""
        events, numbers = (np.concatenate([part[index] for part in parts]) for index in range(2))
        return cls(events, numbers, chain.from_iterable(part.rows for part in parts))


def _of_table(
    origins: dict[int, Origin],
    choice: RowChoice | None,
    page: RowsPage,
    table: Table,
    events: Ints,
    failures: list[Failure],
) -> Iterator[_Rows]:
    def make(located: LocatedRows) -> _Rows:
        first = np.flatnonzero(located.changes != AFTER)
        events, changes = located.events[first], located.changes[first]
        numbers = page.numbered(events, located.numbers[first])
        diffs: Iterable[dict[str, JsonDiff]] = repeat({})
        if located.updates:  # which only the image after an update has
            kinds = zip(first.tolist(), changes.tolist(), strict=True)
            diffs = [_diffs(located, row + 1) if kind == BEFORE else {} for row, kind in kinds]
        places = zip(numbers.tolist(), changes.tolist(), events.tolist(), diffs, strict=False)
        return _Rows(events, numbers, logged(places, _images(table, located)))

    def logged(
        places: Iterable[tuple[int, int, int, dict[str, JsonDiff]]], images: Iterator[dict[str, Value]]
    ) -> Iterator[LoggedRow]:
        schema = table.schema
        for number, kind, event, diffs in places:
            before = None if kind == INSERT else next(images)
            after = None if kind == DELETE else next(images)
            yield LoggedRow(number, _CHANGES[kind], schema, before, after, diffs, origins[event])

    return up_to_invalid(page, made_of_walked(page, table, make, events, choice), failures)


def _diffs(located: LocatedRows, row: int) -> dict[str, JsonDiff]:
    updates = located.update(-1, row)
    return updates if isinstance(updates, dict) else {}


_CHANGES = {INSERT: Change.INSERT, BEFORE: Change.UPDATE, DELETE: Change.DELETE}


def _images(table: Table, located: LocatedRows) -> Iterator[dict[str, Value]]:
    """The values of each image by column name, without columns that the image does not contain."""
    is_absent = (located.starts == ABSENT) | located.unknown if located.updates else located.starts == ABSENT
    is_there = ~is_absent.all(axis=1)[located.lines[:-1]]
    columns = [table.schema.columns[index] for index in np.flatnonzero(is_there).tolist()]
    names = [column.name for column in columns]
    cells = [Cells.of(table, column, located) for column in columns]
    values = [_values(located, cell, array) for cell, array in zip(cells, build_all(cells), strict=True)]
    rows = zip(*values, strict=True) if values else repeat((), len(located.events))
    absent = is_absent[located.lines[:-1][is_there]]
    if not absent.any():
        return map(dict, map(zip, repeat(names), rows))
    return (
        {name: value for name, value, is_missing in zip(names, row, missing, strict=True) if not is_missing}
        for row, missing in zip(rows, absent.T.tolist(), strict=True)
    )


def _values(located: LocatedRows, cells: Cells, array: pa.Array) -> list[Value]:
    """The values of a column in the form of `Event.rows`."""
    array = with_documents(array, located, cells.column.index)
    values = _converted(array, cells.column)
    is_unclear = np.zeros(len(values), dtype=np.bool_)
    if array.null_count:
        is_unclear |= cells.valid & np.asarray(array.is_null())
    if pa.types.is_string(array.type) and _may_be_escaped(array):
        is_unclear |= np.asarray(pc.fill_null(pc.match_substring_regex(array, _ESCAPE), False))
    rows = np.flatnonzero(is_unclear)
    for row, value in zip(rows.tolist(), cells.by_reader(rows), strict=True):
        values[row] = value
    return values


#: How bytes that are part of no character begin in Arrow's strings: those of members and documents as `udc`.
_ESCAPE = r"\\(x|udc)"


def _may_be_escaped(array: pa.StringArray) -> bool:
    data = array.buffers()[2]
    return data is not None and re.search(_ESCAPE.encode(), data) is not None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _converted(array: pa.Array, column: Column) -> list[Value]:
    """Like `array.to_pylist()`, which is slow for most types, with the types of `Event.rows`."""
    if pa.types.is_decimal(array.type) and column.kind != Kind.DECIMAL:
        array = array.cast(pa.uint64())  # BIGINT UNSIGNED
    kind = array.type
    if pa.types.is_null(kind) or pa.types.is_nested(kind):
        return list(array.to_pylist())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers: list[Value] = array.fill_null(0).to_numpy().tolist()
        for row in np.flatnonzero(array.is_null()).tolist() if array.null_count else ():
            numbers[row] = None
        return numbers
    objects = array.to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(kind) and kind.tz:
        since = objects.view("timedelta64[us]").tolist()
        return [None if delta is None else _EPOCH + delta for delta in since]
    values: list[Value] = objects.tolist()
    if column.kind in DOCUMENTS:
        return [None if value is None else JsonText(value) for value in values]
    return values
