"""Row changes as JSON objects, many at a time: what `rows_of` and `row_object` give one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from binlog_kaitai.columns.gather import take_ranges
from binlog_kaitai.columns.lines import plain
from binlog_kaitai.columns.rows.cells import CellError, Cells
from binlog_kaitai.columns.rows.images import Found, MisfitError, walk
from binlog_kaitai.columns.rows.json_values import joined, json_values, key_text
from binlog_kaitai.columns.rows.pages import RowsPage, RowsPages
from binlog_kaitai.columns.rows.tables import Table
from binlog_kaitai.columns.rows.walk import ABSENT, AFTER, BEFORE, DELETE, INSERT
from binlog_kaitai.columns.views.row_lines import CHANGES, Lines, found_lines, lines_of, origin_texts
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.reader.ends import End
from binlog_kaitai.reader.rows import Row, row_object, row_objects, rows_of, to_json
from binlog_kaitai.sources.source import Source, SourceLike


class Made(Protocol):
    """Something made of changed rows: each one's event and its number in that, int64 arrays."""

    @property
    def events(self) -> Any: ...
    @property
    def numbers(self) -> Any: ...

    def taken(self, rows: Any) -> Self:
        """Some of the rows."""
        ...


_Made = TypeVar("_Made", bound=Made)

#: Text takes several times the room of values, so that fewer rows are made at a time.
_MAX_ROWS = 1 << 14


class Objects(NamedTuple):
    """Changed rows as columns, in the order of the log.

    Attributes
    ----------
    events : int64 array
        Number of the event of each row in the page's images.
    numbers : int64 array
        Number of each row in its event.
    changes : Arrow array of text
    before, after : Arrow arrays of text
        JSON objects; null where the change has no such image.
    diffs : Arrow array of text
        JSON object of the changes of documents; null where there are none.
    """

    events: NDArray[np.int64]
    numbers: NDArray[np.int64]
    changes: Any
    before: Any
    after: Any
    diffs: Any

    def taken(self, rows: Any) -> Objects:
        """Some of the rows."""
        return Objects(*(one[rows] if isinstance(one, np.ndarray) else one.take(rows) for one in self))

    @classmethod
    def joined(cls, parts: list[Objects]) -> Objects:
        """Several in one."""
        return cls(*map(_concatenated, zip(*parts, strict=True)))


class Choice(Protocol):
    """Which of the rows that the filters take are wanted, by their values."""

    def of_found(self, table: Table, found: Found) -> Found:
        """Those of rows that the kernels have walked; raises CellError for a value that cannot be read."""
        ...

    def of_rows(self, table: Table, rows: Sequence[Row]) -> Sequence[Row]:
        """Those of rows that the reader has made."""
        ...


class Failure(NamedTuple):
    """An event of `Images` (its number) whose rows cannot be read, and why."""

    event: int
    error: BinlogError


def page_objects(page: RowsPage, *, has_images: bool = True) -> Iterator[Objects]:
    """The rows of a page as objects; without images these are null, and no values are read for them.

    Raises
    ------
    BinlogError
        After the rows of all events before the one that is wrong.
    """
    with page.block.held():
        yield from in_order(page, _table_objects if has_images else _table_changes, Objects.joined)


def in_order(
    page: RowsPage,
    of_table: Callable[[RowsPage, Table, Any, list[Failure]], Iterator[_Made]],
    join: Callable[[list[_Made]], _Made],
) -> Iterator[_Made]:
    """What is made of the rows of each table, put into the order of the log; raises as `page_objects`."""
    numbers = page.images.table_of[page.chosen]
    failures: list[Failure] = []
    parts: list[Iterator[_Made]] = []
    for number in np.unique(numbers).tolist():
        events = page.chosen[numbers == number]
        table = page.images.table(int(events[0]))
        if isinstance(table, Table):
            parts.append(of_table(page, table, events, failures))
        else:
            failures.append(Failure(int(events[0]), page.refuse(int(events[0]))))
    if len(parts) == 1 and not failures:
        yield from parts[0]
    elif found := [one for part in parts for one in part]:
        whole = join(found)
        stop = min((failure.event for failure in failures), default=len(page.images))
        order = np.lexsort((whole.numbers, whole.events))
        yield whole.taken(order[whole.events[order] < stop])
    if failures:
        raise min(failures, key=lambda failure: failure.event).error


def _concatenated(arrays: Any) -> Any:
    return np.concatenate(arrays) if isinstance(arrays[0], np.ndarray) else pa.concat_arrays(arrays)


def _table_objects(page: RowsPage, table: Table, events: Any, failures: list[Failure]) -> Iterator[Objects]:
    """The rows of one table; stops at an event that is wrong."""

    def make(found: Found) -> Objects:
        return _objects(found, _images(table, found))

    return made_of_table(page, table, events, failures, make, lambda index: _by_reader(page, table, index))


def _table_changes(page: RowsPage, table: Table, events: Any, failures: list[Failure]) -> Iterator[Objects]:
    """The same without images."""

    def make(found: Found) -> Objects:
        return _objects(found, pa.nulls(len(found.events), pa.string()))

    return made_of_table(page, table, events, failures, make, lambda index: _by_reader(page, table, index))


def made_of_table(
    page: RowsPage,
    table: Table,
    events: Any,
    failures: list[Failure],
    make: Callable[[Found], _Made],
    by_reader: Callable[[int], Iterable[_Made]],
    choice: Choice | None = None,
) -> Iterator[_Made]:
    """What is made of the rows of one table, or of one event by the reader; stops at one that is wrong."""
    for chosen, is_walked in page.images.divided(events):
        while len(chosen):
            index = int(chosen[0])
            try:
                if is_walked:
                    for walked in walk(page.images, chosen, len(table.schema.columns), _MAX_ROWS):
                        yield from _made(make, choice, table, walked)
                    break
            except MisfitError as misfit:
                index = misfit.index
            try:
                yield from by_reader(index)
            except BinlogError as error:
                failures.append(Failure(index, error))
                return
            chosen = chosen[chosen > index]


def _made(
    make: Callable[[Found], _Made], choice: Choice | None, table: Table, found: Found
) -> Iterator[_Made]:
    """What is made of the wanted ones of some rows; stops at an event with a value that cannot be read."""
    wrong = None
    if choice is not None:
        found, wrong = _chosen(choice, table, found)
    try:
        if len(found.events):
            yield make(found)
    except CellError as error:
        before = found.before(error.row)
        if len(before.events):
            yield make(before)
        raise MisfitError(int(found.events[error.row])) from error
    if wrong is not None:
        raise MisfitError(wrong)


def _chosen(choice: Choice, table: Table, found: Found) -> tuple[Found, int | None]:
    """The wanted rows, up to an event with a value that the choice cannot read, and that event's number."""
    try:
        return choice.of_found(table, found), None
    except CellError:
        # The error's row counts among those that the choice looked at: each event is tried.
        for index in np.unique(found.events).tolist():
            begin, end = np.searchsorted(found.events, [index, index + 1]).tolist()
            try:
                choice.of_found(table, found.part(begin, end))
            except CellError:
                return choice.of_found(table, found.part(0, begin)), index
        raise


def _by_reader(page: RowsPage, table: Table, index: int) -> Iterator[Objects]:
    rows = list(row_objects(page.event(index), table.schema))
    if not rows:
        return

    def texts(key: str) -> Any:
        values = [row.get(key) for row in rows]
        made = [None if one is None else plain(to_json(one)) for one in values]
        return pa.array(made, pa.string())

    events = np.full(len(rows), index, dtype=np.int64)
    numbers = np.array([row["row"] for row in rows], dtype=np.int64)
    changes = pa.array([row["change"] for row in rows], pa.string())
    yield Objects(events, numbers, changes, texts("before"), texts("after"), texts("diffs"))


def _objects(found: Found, images: pa.Array) -> Objects:
    changes = found.changes
    rows = np.flatnonzero(changes != AFTER)
    kinds = changes[rows]
    names = pa.DictionaryArray.from_arrays(
        pa.array(kinds.astype(np.int32)), pa.array([CHANGES.get(kind, "") for kind in range(4)])
    ).cast(pa.string())
    before = pa.array(rows, mask=kinds == INSERT)
    after = pa.array(np.where(kinds == BEFORE, rows + 1, rows), mask=kinds == DELETE)
    nothing = pa.nulls(len(rows), pa.string())
    taken = images.take(before), images.take(after)
    return Objects(found.events[rows], found.numbers[rows], names, *taken, nothing)


def _images(table: Table, found: Found) -> Any:
    """The JSON object of each image."""
    count = len(found.events)
    pieces: list[Any] = []
    mended: list[Any] = []
    for column in table.schema.columns:
        starts = found.starts[column.index]
        values = pc.fill_null(json_values(Cells(table, column, found.data, starts)), "null")
        is_absent = starts == ABSENT
        key = key_text(column.name)
        if is_absent.all():
            continue
        if is_absent.any() or mended:
            present = joined(pa.scalar(", " + key), values)
            mended.append(pc.if_else(pa.array(is_absent), "", present))
        else:
            pieces += [pa.scalar((", " if pieces else "") + key), values]
    if not pieces and not mended:
        return pa.array(["{}"] * count)
    if not mended:
        return joined("{", *pieces, "}")
    body = joined(*pieces, *mended, pa.array([""] * count))
    return joined("{", body if pieces else pc.utf8_slice_codeunits(body, 2), "}")


def write_rows(
    source: SourceLike | Iterable[SourceLike],
    filters: Filters | None = None,
    *,
    ddl: str | None = None,
    origins: Iterable[str] = (),
    choice: Choice | None = None,
    ends: list[End] | None = None,
    progress: Callable[[Source, int], object] = lambda source, position: None,
) -> Iterator[Any]:
    """The lines of ``rows --format json``, many at a time, as buffers of bytes.

    Parameters
    ----------
    origins
        What a line says besides of where its row comes from, see `columns.rows.origins`.
    choice
        Which of the rows that the filters take are wanted; all by default.

    Raises
    ------
    BinlogError
        As the reader does, after the lines of all events before.
    """
    pages = RowsPages(source, filters or Filters(), ddl=ddl, origins=origins, progress=progress)
    if ends is not None:
        pages.ends = ends
    for page in pages:
        yield from page_lines(page, choice)


def page_lines(page: RowsPage, choice: Choice | None = None) -> Iterator[Any]:
    """The lines of one page, as :func:`write_rows` gives them."""
    of_table = partial(_table_lines, choice=choice)
    with page.block.held():
        for lines in in_order(page, of_table, Lines.joined):
            yield memoryview(lines.data)


def _table_lines(
    page: RowsPage, table: Table, events: Any, failures: list[Failure], choice: Choice | None
) -> Iterator[Lines]:
    def make(found: Found) -> Lines:
        lines = found_lines(page, table, found)
        return _lines(page, _objects(found, _images(table, found))) if lines is None else lines

    def by_reader(index: int) -> Iterator[Lines]:
        first, event = int(page.first_numbers[index]), page.event(index)
        origins = {
            name: json.loads(texts[0].as_py())
            for name, texts in _origin_texts(page, page.images.rows[index : index + 1])
        }
        rows = rows_of(event, table.schema)
        chosen = rows if choice is None else choice.of_rows(table, list(rows))
        objects = [
            (index, row.index, _with_origins({**row_object(event, row), "row": first + row.index}, origins))
            for row in chosen
        ]
        yield lines_of(objects)

    return made_of_table(page, table, events, failures, make, by_reader, choice)


def _lines(page: RowsPage, objects: Objects) -> Lines:
    """An object a line, with the keys of `binlog_kaitai.reader.rows.row_object`."""
    begins = np.flatnonzero(np.diff(objects.events, prepend=-1))
    which = pa.array(np.repeat(np.arange(len(begins)), np.diff(begins, append=len(objects.events))))
    events = objects.events[begins]
    rows, block, header = page.images.rows[events], page.block, page.block.header
    file = plain(to_json({"file": block.file}))[:-1]
    heads = joined(file + ', "position": ', _numbers(block.positions[rows]))
    tables = joined(
        '"timestamp": ',
        _numbers(header.numbers("timestamp")[rows]),
        ', "gtid": ',
        _gtids(page, rows),
        ', "server_id": ',
        _numbers(header.numbers("server_id")[rows]),
        ", ",
        *_origins(page, rows),
        pa.array(list(map(_names, page.images.tables))).take(pa.array(page.images.table_of[events])),
    )
    lines = joined(
        heads.take(which),
        ', "row": ',
        _numbers(page.numbered(objects.events, objects.numbers)),
        ", ",
        tables.take(which),
        ', "change": "',
        objects.changes,
        '", "before": ',
        pc.fill_null(objects.before, "null"),
        ', "after": ',
        pc.fill_null(objects.after, "null"),
        pc.fill_null(joined(', "diffs": ', objects.diffs), ""),
        "}\n",
    )
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[1 : len(lines) + 1].astype(np.int64)
    text = np.frombuffer(data, dtype=np.uint8)[: int(ends[-1])]
    return Lines(objects.events, objects.numbers, text, ends)


def _numbers(values: Any) -> Any:
    return pa.array(values).cast(pa.string())


def _names(table: Table | BinlogError) -> str:
    schema, name = table.key if isinstance(table, Table) else ("", "")
    return plain(to_json({"schema": schema, "table": name}))[1:-1]


def _origins(page: RowsPage, rows: Any) -> Iterator[Any]:
    """Pieces of the objects of some events of the block: what was asked for of their origins."""
    for name, texts in _origin_texts(page, rows):
        yield from (f'"{name}": ', texts, ", ")


def _origin_texts(page: RowsPage, rows: Any) -> Iterator[tuple[str, Any]]:
    for name, column in page.origins.items():
        data, ends = origin_texts(page, column, rows)
        buffers = [None, pa.py_buffer(np.append(0, ends).astype(np.int32)), pa.py_buffer(data)]
        yield name, pa.Array.from_buffers(pa.string(), len(rows), buffers)


def _with_origins(row: dict[str, Any], origins: dict[str, Any]) -> dict[str, Any]:
    """The object of a row with its origins where the lines of the kernels have them."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        found[key] = value
        if key == "server_id":
            found |= origins
    return found


def _gtids(page: RowsPage, rows: Any) -> Any:
    """JSON text of the GTIDs of some events of the block."""
    starts = -page.gtids.first[rows] - 1
    data, offsets = take_ranges(page.pool.array(), starts, page.gtids.second[rows])
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(rows), buffers)
