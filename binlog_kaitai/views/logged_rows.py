"""The rows of whole logs as Python objects, each with its position, transaction and statement.

Values are decoded into Arrow arrays, as in `read_changes`, and converted to those of `Event.rows`. The few
that Arrow does not distinguish (an impossible date from NULL, bytes from text that looks like them) are
decoded by the event reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.options import takes
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.event_rows import Change, Row, rows_of
from binlog_kaitai.log.line_arrays import LineProgram, write_lines
from binlog_kaitai.log.read_options import Reading, ReadOptions
from binlog_kaitai.rows.builders import build_all
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.event_metadata import ORIGINS, STATEMENT, THREAD
from binlog_kaitai.rows.image_walk import ABSENT, AFTER, BEFORE, DELETE, INSERT, LocatedRows
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.values.column_kinds import DOCUMENTS, Kind
from binlog_kaitai.values.json_documents import JsonDiff, JsonText
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column
from binlog_kaitai.views.row_texts import Failure, in_order, made_of_table


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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

    file: str
    position: int
    timestamp: datetime
    server_id: int
    gtid: str | None
    thread_id: int | None
    statement: str | None

    def _location(self) -> str:
        gtid = f", GTID {self.gtid}" if self.gtid else ""
        return f" at {self.position} of {self.file}{gtid}"


@takes(ReadOptions)
def read_rows(
    source: SourceLike | Iterable[SourceLike], **options: Unpack[ReadOptions]
) -> Iterator[LoggedRow]:
    """Read the changed rows of logs, in log order.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    **options
        See :class:`ReadOptions`.

    Raises
    ------
    SourceError, UsageError
        Immediately: no log was found, or an argument is invalid.
    BinlogError
        During iteration, after the rows of all events before the damage.
    """
    reading = Reading.of(source, options)
    pages = RowsPages(reading.sources, reading.filters, ddl=options["ddl"], origins=ORIGINS, **reading.pages)
    return rows_of_pages(pages)


def rows_of_pages(pages: RowsPages) -> Iterator[LoggedRow]:
    """The rows of pages that have all of :data:`ORIGINS`."""
    for page in pages:
        with page.block.held():
            origins = _origins(page)
            for rows in in_order(page, _of_table, _Rows.joined):
                yield from _logged(page, rows, origins)


#: What the log says of an event besides its rows, by the names of :data:`ORIGINS`, as parsed from JSON.
Origin = dict[str, Any]


def _origins(page: RowsPage) -> dict[int, Origin]:
    """Metadata of each event of the page, by its number in `images`."""
    rows = page.images.rows[page.chosen]
    origins: dict[int, Origin] = {event: {} for event in page.chosen.tolist()}
    for name, column in page.origins.items():
        program = LineProgram(page.pool).column(column)
        which = np.zeros(len(rows), dtype=np.int64)
        data, ends = write_lines(page.block.data, page.pool, [program], rows, which, rows)
        text, begin = bytes(data), 0
        for values, end in zip(origins.values(), ends.tolist(), strict=True):
            values[name] = json.loads(text[begin:end])
            begin = end
    return origins


class _Image(NamedTuple):
    """The content of a row, without its position."""

    table: Table
    change: Change
    before: dict[str, Value] | None
    after: dict[str, Value] | None
    diffs: dict[str, JsonDiff]


class _Rows(NamedTuple):
    """Changed rows: the event of each, its number within the event (int64 arrays), and its images."""

    events: NDArray[np.int64]
    numbers: NDArray[np.int64]
    images: list[_Image]

    def select(self, rows: NDArray[np.int64]) -> _Rows:
        """The given rows (row numbers)."""
        return _Rows(self.events[rows], self.numbers[rows], [self.images[row] for row in rows.tolist()])

    @classmethod
    def joined(cls, parts: list[_Rows]) -> _Rows:
        """Concatenate several."""
        events, numbers = (np.concatenate([part[at] for part in parts]) for at in range(2))
        return cls(events, numbers, [image for part in parts for image in part.images])


def _logged(page: RowsPage, rows: _Rows, origins: dict[int, Origin]) -> Iterator[LoggedRow]:
    event, location = -1, Origin()
    numbers = page.numbered(rows.events, rows.numbers)
    for of_event, number, image in zip(rows.events.tolist(), numbers.tolist(), rows.images, strict=True):
        if of_event != event:
            event, row = of_event, int(page.images.rows[of_event])
            header, origin = page.block.fixed_header(row), origins[event]
            location = {
                "file": page.block.file,
                "position": int(page.block.positions[row]),
                "timestamp": datetime.fromtimestamp(header.timestamp, UTC),
                "server_id": header.server_id,
                "gtid": page.gtid(row),
                "thread_id": origin[THREAD],
                "statement": origin[STATEMENT],
            }
        table, change, before, after, diffs = image
        yield LoggedRow(number, change, table.schema, before, after, diffs, **location)


def _of_table(page: RowsPage, table: Table, events: Ints, failures: list[Failure]) -> Iterator[_Rows]:
    def by_reader(index: int) -> Iterator[_Rows]:
        rows = list(rows_of(page.event(index), table.schema))
        if rows:
            images = [_Image(table, row.change, row.before, row.after, row.diffs) for row in rows]
            numbers = np.array([row.index for row in rows], dtype=np.int64)
            yield _Rows(np.full(len(rows), index, dtype=np.int64), numbers, images)

    return made_of_table(page, table, events, failures, lambda found: _made(table, found), by_reader)


def _made(table: Table, located: LocatedRows) -> _Rows:
    images = _images(table, located)
    first = np.flatnonzero(located.changes != AFTER)
    rows = []
    for at, change in zip(first.tolist(), located.changes[first].tolist(), strict=True):
        before = None if change == INSERT else images[at]
        after = None if change == DELETE else images[at + (change == BEFORE)]
        rows.append(_Image(table, _CHANGES[change], before, after, {}))
    return _Rows(located.events[first], located.numbers[first], rows)


_CHANGES = {INSERT: Change.INSERT, BEFORE: Change.UPDATE, DELETE: Change.DELETE}


def _images(table: Table, located: LocatedRows) -> list[dict[str, Value]]:
    """The values of each image by column name, without columns that the image does not contain."""
    columns = [
        column for column in table.schema.columns if not (located.starts[column.index] == ABSENT).all()
    ]
    names = [column.name for column in columns]
    cells = [Cells.of(table, column, located) for column in columns]
    values = [_values(one, array) for one, array in zip(cells, build_all(cells), strict=True)]
    rows = zip(*values, strict=True) if values else (() for _ in range(len(located.events)))
    if not any((one.starts == ABSENT).any() for one in cells):
        return [dict(zip(names, row, strict=True)) for row in rows]
    absent = [(one.starts == ABSENT).tolist() for one in cells]
    return [
        {name: value for name, value, is_absent in zip(names, row, missing, strict=True) if not is_absent}
        for row, missing in zip(rows, zip(*absent, strict=True), strict=True)
    ]


def _values(cells: Cells, array: pa.Array) -> list[Value]:
    """The values of a column in the form of `Event.rows`."""
    found = _converted(array, cells.column)
    is_unclear = cells.valid & np.asarray(array.is_null())
    if pa.types.is_string(array.type):
        is_unclear |= np.asarray(pc.fill_null(pc.match_substring(array, "\\x"), False))
    rows = np.flatnonzero(is_unclear)
    for row, value in zip(rows.tolist(), cells.by_reader(rows), strict=True):
        found[row] = value
    return found


def _converted(array: pa.Array, column: Column) -> list[Value]:
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz:
        times = array.view(pa.timestamp("us")).to_pylist()
        return [None if one is None else one.replace(tzinfo=UTC) for one in times]
    if not array.null_count and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return list(array.to_numpy().tolist())
    values = array.to_pylist()
    if column.kind in DOCUMENTS:
        return [None if one is None else JsonText(one) for one in values]
    if pa.types.is_decimal(kind) and column.kind != Kind.DECIMAL:
        return [None if one is None else int(one) for one in values]
    return list(values)
