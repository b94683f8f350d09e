"""The changes view as Arrow record batches: of one table with typed columns, or of all tables as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from binlog_kaitai.columns.blocks.reader import BLOCK_SIZE
from binlog_kaitai.columns.kernel.decoders import is_partial
from binlog_kaitai.columns.lines import plain
from binlog_kaitai.columns.rows.arrow_types import cast
from binlog_kaitai.columns.rows.builders import build_all, plain_value
from binlog_kaitai.columns.rows.cells import CellError, Cells
from binlog_kaitai.columns.rows.definitions_of import is_readable_again, tables_of
from binlog_kaitai.columns.rows.images import Found, MisfitError, walk
from binlog_kaitai.columns.rows.pages import RowsPage, RowsPages
from binlog_kaitai.columns.rows.tables import Table
from binlog_kaitai.columns.rows.walk import ABSENT, AFTER, BEFORE, DELETE, INSERT
from binlog_kaitai.columns.views.change_meta import change_types, meta_columns, named
from binlog_kaitai.columns.views.change_schemas import (
    ABSENT_FIELD,
    CHANGES_SCHEMA,
    META_FIELDS,
    check_schema,
    merged_schema,
    own_columns,
)
from binlog_kaitai.core.filters import ZERO_DATES, Filters
from binlog_kaitai.errors import BinlogError, GrammarError, UsageError
from binlog_kaitai.reader.rows import Row, rows_of
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.values.schema import Column

#: What an image before or after is: by itself, and in an update.
_BEFORE_OF, _AFTER_OF = (DELETE, BEFORE), (INSERT, AFTER)

#: In blocks of a table's rows. Much of what is done for a block does not depend on how much it holds.
_BLOCK_SIZE = 4 * BLOCK_SIZE


def table_batches(
    page: RowsPage, table: Table, events: Any, zero_dates: str, schema: Any
) -> Iterator[pa.RecordBatch]:
    """The rows of some events about one table as batches of a schema, fitted by name."""
    for found in walk(page.images, events, len(table.schema.columns)):
        yield from _fitted(page, table, found, zero_dates, schema)


def _fitted(
    page: RowsPage, table: Table, found: Found, zero_dates: str, schema: Any
) -> Iterator[pa.RecordBatch]:
    columns = [change_types(found.changes), *meta_columns(page, found.events, found.numbers)]
    own = own_columns(table.schema, schema)
    fields = list(schema)[len(META_FIELDS) :]
    used = [own[field.name] for field in fields if field.name in own]
    arrays = column_arrays(page, found, table, used, zero_dates)
    for field in fields:
        if (column := own.get(field.name)) is None:
            is_asked = field == ABSENT_FIELD
            columns.append(found.absent(list(own)) if is_asked else pa.nulls(len(found.events), field.type))
            continue
        try:
            array = next(arrays)
        except CellError as error:
            before = found.before(error.row)
            if len(before.events):
                yield from _fitted(page, table, before, zero_dates, schema)
            own_words = _placed(error.error, table, column.name)
            raise page.refuse(int(found.events[error.row]), own_words) from error
        columns.append(_cast(array, field.type, table, field.name))
    yield pa.RecordBatch.from_arrays(columns, schema=schema)


def column_arrays(
    page: RowsPage, found: Found, table: Table, columns: Sequence[Column], zero_dates: str
) -> Iterator[Any]:
    """The values of columns, one after the other; null where the image does not have them.

    Raises
    ------
    CellError
        A value is none.
    """
    cells, changed = [], []
    for column in columns:
        one, rows = Cells.of(table, column, found), _changed_in_parts(found, table, column)
        if len(rows):
            starts = one.starts.copy()
            starts[rows] = ABSENT
            one = Cells(table, column, found.data, starts)
        cells.append(one)
        changed.append(rows)
    for array, rows, column in zip(build_all(cells, zero_dates), changed, columns, strict=True):
        if len(rows):
            values = array.to_pylist()
            for row, value in zip(rows.tolist(), _by_reader(page, found, table, column, rows), strict=True):
                values[row] = value
            yield pa.array(values, array.type)
        else:
            yield array


def _changed_in_parts(found: Found, table: Table, column: Column) -> Any:
    """The rows in which a JSON column is given as what changed in it."""
    if column.index not in table.json_columns:
        return np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero((found.options >= 0) & (found.starts[column.index] >= 0))
    ordinal = table.json_columns.index(column.index)
    return rows[is_partial(found.data, found.options[rows], ordinal)]


def _by_reader(page: RowsPage, found: Found, table: Table, column: Column, rows: Any) -> Iterator[Any]:
    """Values of the images after, by the reader; None where the change cannot be applied."""
    event, images = -1, list[Row]()
    for row in rows.tolist():
        if found.events[row] != event:
            event = int(found.events[row])
            try:
                images = list(rows_of(page.event(event), table.schema))
            except BinlogError as error:
                raise CellError(row, error) from error
        after = images[int(found.numbers[row])].after or {}
        yield plain_value(after.get(column.name), column, pa.string())


def reader_batches(
    page: RowsPage, table: Table, index: int, zero_dates: str, schema: Any
) -> Iterator[pa.RecordBatch]:
    """The rows of one event that kernels cannot walk, by the reader; raises what is wrong with it."""
    event = page.event(index)
    changes, numbers, images = [], [], []
    for row in rows_of(event, table.schema):
        for change, image in ((_BEFORE_OF, row.before), (_AFTER_OF, row.after)):
            if image is not None:
                changes.append(change[row.before is not None and row.after is not None])
                numbers.append(row.index)
                images.append(image)
    count = len(images)
    if not count:
        return
    events = np.full(count, index, dtype=np.int64)
    columns = [change_types(np.array(changes)), *meta_columns(page, events, np.array(numbers))]
    own = own_columns(table.schema, schema)
    for field in list(schema)[len(META_FIELDS) :]:
        column = own.get(field.name)
        if column is None:
            names = [[name for name, one in own.items() if one.name not in image] or None for image in images]
            is_asked = field == ABSENT_FIELD
            columns.append(pa.array(names, field.type) if is_asked else pa.nulls(count, field.type))
            continue
        try:
            values = [plain_value(image.get(column.name), column, field.type, zero_dates) for image in images]
        except GrammarError as error:
            raise event.locate(_placed(error, table, column.name)) from error
        columns.append(pa.array(values, field.type))
    yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _placed(error: BinlogError, table: Table, name: str) -> BinlogError:
    return type(error)(error.reason, field=f"{table.schema.full_name}, column {name}")


def read_changes(
    source: SourceLike | Iterable[SourceLike],
    *,
    table: str | None = None,
    ddl: str | None = None,
    zero_dates: str = "null",
    verify_checksums: bool = True,
    **filters: Any,
) -> pa.RecordBatchReader:
    """Read row changes as record batches.

    Parameters
    ----------
    source
        What :func:`binlog_kaitai.open` takes.
    table
        ``schema.table``: only its changes, with its columns. Where its definition changes in the logs, there
        are the columns of all definitions, by name, and nulls where a row has none of that name; the logs
        are looked through for that first. A log that can be read once only must have one definition.
    ddl
        Text of CREATE TABLE statements, such as mysqldump writes, for logs that do not name columns.
    zero_dates
        What becomes of dates that no calendar has (0000-00-00, 2020-02-31): ``"null"``, ``"error"``, or
        ``"text"``, which makes all columns with dates text as MySQL prints it.
    verify_checksums
        Raise on an event whose CRC32 does not fit.
    filters
        As :meth:`Filters.of` takes them.

    Raises
    ------
    SourceError, UsageError
        At once: nothing is there to read, or an argument makes no sense.
    BinlogError
        While reading, after the batches of all events before the damage.
    """
    if zero_dates not in ZERO_DATES:
        raise UsageError(f"zero_dates is {' or '.join(ZERO_DATES)}, not {zero_dates!r}")
    chosen = Filters.of(table=table, **filters)
    size = BLOCK_SIZE if table is None else _BLOCK_SIZE
    pages = RowsPages(source, chosen, ddl=ddl, verify_checksums=verify_checksums, block_size=size)
    if table is None:
        return pa.RecordBatchReader.from_batches(CHANGES_SCHEMA, json_batches(pages))
    if all(map(is_readable_again, pages.sources)):
        schema = merged_schema(tables_of(pages.sources, table, ddl), zero_dates)
        return pa.RecordBatchReader.from_batches(schema, typed_batches(pages, schema, zero_dates))
    # Of what can be read once only, the first definition must do.
    ahead = iter(pages)
    first = list(islice(ahead, 1))
    known = (found for page in first for found, _ in page.runs() if isinstance(found, Table))
    schema = merged_schema(islice(known, 1), zero_dates)
    batches = typed_batches(chain(first, ahead), schema, zero_dates, is_whole=True)
    return pa.RecordBatchReader.from_batches(schema, batches)


def typed_batches(
    pages: Iterable[RowsPage], schema: pa.Schema, zero_dates: str, *, is_whole: bool = False
) -> Iterator[pa.RecordBatch]:
    """The rows of one table as batches of a schema: columns by name, null where the table has none of it.

    Raises
    ------
    UsageError
        The table has none of the schema's columns; with `is_whole`: it has others besides them.
    """

    def schema_of(table: Table) -> pa.Schema:
        check_schema(table.schema, schema)
        missing = set(own_columns(table.schema, schema)) - set(schema.names) if is_whole else ()
        if missing:
            reason = f"{table.schema.full_name} has new columns: {', '.join(sorted(missing))}"
            reason += "; a log that can be read once only must have one definition of the table"
            raise UsageError(reason)
        return schema

    for page in pages:
        yield from (batch for _, batch in page_batches(page, schema_of, zero_dates))


def json_batches(pages: Iterable[RowsPage]) -> Iterator[pa.RecordBatch]:
    """The rows of all tables as batches of :data:`CHANGES_SCHEMA`."""
    # Typed columns do without all that makes text.
    from binlog_kaitai.columns.views.row_objects import page_objects

    for page in pages:
        for objects in page_objects(page):
            tables = page.images.table_of[objects.events]
            keys = [one.key if isinstance(one, Table) else ("", "") for one in page.images.tables]
            codes = tables.astype(np.int32)
            texts = [pa.array([plain(key[at]) for key in keys], pa.string()) for at in range(2)]
            names = [named(codes, own) for own in texts]
            meta = meta_columns(page, objects.events, objects.numbers)
            columns = [*meta, *names, objects.changes.dictionary_encode(), objects.before, objects.after]
            yield pa.RecordBatch.from_arrays(columns, schema=CHANGES_SCHEMA)


def _cast(array: Any, kind: pa.DataType, table: Table, name: str) -> Any:
    if array.type == kind:
        return array
    try:
        return cast(array, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = f"its type changes from {array.type} to one that has {kind} only in common: {error}"
        raise UsageError(f"{table.schema.full_name}, column {name}: {reason}") from error


def page_batches(
    page: RowsPage, schema_of: Callable[[Table], pa.Schema], zero_dates: str
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """The batches of a page in the order of the log, a new one wherever the table is another."""
    for table, events in page.runs():
        if not isinstance(table, Table):
            raise page.refuse(int(events[0]))
        yield from _batches_of(page, table, events, schema_of, zero_dates)


def table_batches_of(
    page: RowsPage, schema_of: Callable[[Table], pa.Schema], zero_dates: str
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """The batches of a page table by table.

    Raises
    ------
    BinlogError
        The first one by position, after the batches of all events before it.
    """
    stop, error = len(page.images), None
    while True:
        numbers = page.images.table_of[page.chosen[page.chosen < stop]]
        if len(np.unique(numbers)) < 2:  # in the order of the log anyhow
            yield from _batches_before(page, stop, schema_of, zero_dates)
            break
        try:
            yield from list(_batches_before(page, stop, schema_of, zero_dates))
            break
        except BinlogError as caught:
            # Nothing after the damage, of any table; what precedes it is made once more.
            positions = page.block.positions[page.images.rows]
            place = -1 if caught.position is None else caught.position
            stop = min(stop - 1, int(np.searchsorted(positions, place)))
            error = caught
    if error is not None:
        raise error


def _batches_before(
    page: RowsPage, stop: int, schema_of: Callable[[Table], pa.Schema], zero_dates: str
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """The batches of all events before one, table by table."""
    chosen = page.chosen[page.chosen < stop]
    numbers = page.images.table_of[chosen]
    _, first = np.unique(numbers, return_index=True)
    for at in np.sort(first).tolist():
        events = chosen[numbers == numbers[at]]
        table = page.images.table(int(events[0]))
        if not isinstance(table, Table):
            raise page.refuse(int(events[0]))
        yield from _batches_of(page, table, events, schema_of, zero_dates)


def _batches_of(
    page: RowsPage, table: Table, events: Any, schema_of: Callable[[Table], pa.Schema], zero_dates: str
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    try:
        schema = schema_of(table)
    except UsageError as error:
        raise page.event(int(events[0])).locate(error) from None
    with page.block.held():
        for batch in _table_or_reader_batches(page, table, events, zero_dates, schema):
            yield table, batch


def _table_or_reader_batches(
    page: RowsPage, table: Table, events: Any, zero_dates: str, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    while len(events):
        try:
            yield from table_batches(page, table, events, zero_dates, schema)
            return
        except MisfitError as misfit:
            yield from reader_batches(page, table, misfit.index, zero_dates, schema)
            events = events[events > misfit.index]
