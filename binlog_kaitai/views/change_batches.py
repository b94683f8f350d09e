"""Row changes as record batches, page by page: typed columns, matched to a schema by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.rows.arrow_types import cast, of_numbers
from binlog_kaitai.rows.builders import build_all, plain_value
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, CHANGE_TYPE, META_FIELDS, TIME, own_columns
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import (
    ABSENT,
    AFTER,
    INSERT,
    LocatedRows,
    MismatchError,
)
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.partial_updates import walk_rows, with_documents
from binlog_kaitai.rows.places import Places
from binlog_kaitai.rows.sequences import BY_COMMIT, sequences
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.defaults import UnknownDefaultError, default_of
from binlog_kaitai.values.representations import Value
from binlog_kaitai.views.row_conditions import Where

#: Change types of Delta's change data feed, in the order of the row kinds in `walk`.
CHANGE_TYPES = pa.array(["insert", "update_preimage", "update_postimage", "delete"], pa.string())


def change_types(changes: Bytes) -> pa.DictionaryArray:
    """The change types of row kinds."""
    codes = of_numbers(changes.astype(np.int32)) if changes.any() else repeated(0, len(changes), pa.int32())
    return pa.DictionaryArray.from_arrays(codes, CHANGE_TYPES, safe=False)


_META = {field.name for field in META_FIELDS[1:]}


def meta_columns(
    page: RowsPage, of_rows: Ints, numbers: Ints, is_given: Bools, names: Iterable[str]
) -> dict[str, pa.Array]:
    """The requested metadata columns, from :data:`META_FIELDS` without the first.

    The arguments are each row's event, its number in the event, and whether its image adds a row.
    """
    wanted = [name for name in names if name in _META]
    if not wanted:
        return {}
    places, numbered = page.places(of_rows), page.numbered(of_rows, numbers)
    eras = places.commits if page.era == BY_COMMIT else np.array([page.era])
    columns: dict[str, Callable[[], pa.Array]] = {
        "_commit_timestamp": lambda: _numbers(places.commits, len(of_rows), TIME),
        "_file": lambda: one_name(plain(page.block.file), len(of_rows)),
        "_position": lambda: of_numbers(places.positions),
        "_row": lambda: of_numbers(numbered),
        "_gtid": lambda: _gtids(page, places),
        "_server_id": lambda: _numbers(places.servers, len(of_rows), pa.int64()),
        "_timestamp": lambda: _numbers(places.timestamps, len(of_rows), TIME),
        "_sequence": lambda: sequences(eras, page.block.file, places.positions, numbered, is_given),
    }
    return {name: columns[name]() for name in wanted}


def _numbers(values: Ints, count: int, kind: pa.DataType) -> pa.Array:
    """Numbers as a column, shared with other batches if there is one for all."""
    return of_numbers(values, kind) if len(values) == count else repeated(int(values[0]), count, kind)


def repeated(value: str | int, count: int, kind: pa.DataType) -> pa.Array:
    """A value repeated, shared by many batches."""
    return _repeated(value, 1 << max(count - 1, 1).bit_length(), kind)[:count]


@lru_cache(maxsize=8)
def _repeated(value: str | int, count: int, kind: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind), count)


def _nulls(count: int, kind: pa.DataType) -> pa.Array:
    """Nulls, shared by many columns and batches."""
    return _nulls_of(1 << max(count - 1, 1).bit_length(), kind)[:count]


@lru_cache(maxsize=16)
def _nulls_of(count: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(count, kind)


def one_name(text: str | None, count: int) -> pa.DictionaryArray:
    """A text repeated, or null."""
    codes = repeated(0, count, pa.int32()) if text is not None else pa.nulls(count, pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array([text or ""], pa.string()), safe=False)


def named(codes: Array, texts: pa.Array) -> pa.DictionaryArray:
    """Texts by index; null for a negative index."""
    valid = codes >= 0 if len(codes) and codes.min() < 0 else None
    return pa.DictionaryArray.from_arrays(of_numbers(codes, valid=valid), texts, safe=False)


def _gtids(page: RowsPage, places: Places) -> pa.DictionaryArray:
    """The distinct GTIDs in log order, and the index of each image's GTID."""
    codes, is_gtid = places.gtids, page.gtids.is_given.take(places.choices)
    if not is_gtid.all():
        codes = np.where(is_gtid, np.cumsum(is_gtid) - 1, -1).astype(np.int32).take(codes)
    return named(codes, page.gtids.array(places.choices[is_gtid]))


def table_batches(
    page: RowsPage,
    table: Table,
    events: Ints,
    schema_of: Callable[[Table], pa.Schema],
    zero_dates: str,
    where: Where | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of some events of a table as batches of its schema, with columns matched by name."""
    try:
        schema = schema_of(table)
    except UsageError as error:
        raise page.event(int(events[0])).locate(error) from None
    with page.block.held():
        try:
            for located in walk_rows(page.images, events, table):
                yield from _fitted(page, table, located, zero_dates, schema, where)
        except MismatchError as mismatch:
            raise page.refuse(mismatch.index, mismatch.reason) from None


def _fitted(
    page: RowsPage,
    table: Table,
    located: LocatedRows,
    zero_dates: str,
    schema: pa.Schema,
    where: Where | None,
) -> Iterator[pa.RecordBatch]:
    refused: BinlogError | None = None
    while len(located.events):
        try:
            if where is not None:
                located = located.select(where.rows(_batch(page, table, located, zero_dates, where.needed)))
            if len(located.events):
                yield _batch(page, table, located, zero_dates, schema)
            break
        except CellError as error:
            # Columns are built in turn, so another column may be invalid in an earlier event.
            refused = page.refuse(int(located.events[error.row]), error.error)
            located = located.before(error.row)
    if refused is not None:
        raise refused


def _batch(
    page: RowsPage, table: Table, located: LocatedRows, zero_dates: str, schema: pa.Schema
) -> pa.RecordBatch:
    """Rows of a table as a batch of a schema; raises `CellError`, whose error names the column."""
    is_given = (located.changes == INSERT) | (located.changes == AFTER)  # the image adds a row
    columns = meta_columns(page, located.events, located.numbers, is_given, schema.names)
    known = _defaults(table) if ABSENT_FIELD in schema else {}
    names = own_columns(table.schema, schema)
    own = {name: field for name, field in names.items() if located.has(field.index) or field.index in known}
    arrays = build_all(
        [Cells.of(table, own[name], located) for name in schema.names if name in own], zero_dates
    )
    for field in schema:
        if (column := own.get(field.name)) is not None:
            try:
                array = with_documents(next(arrays), located, column.index)
            except CellError as error:
                raise CellError(error.row, _located(error.error, table, column.name)) from error
            if column.index in known:
                is_left_out = (located.starts_of(column.index) == ABSENT) & (located.changes == INSERT)
                value = plain_value(known[column.index], column, array.type, zero_dates)
                array = pc.if_else(pa.array(is_left_out), pa.scalar(value, array.type), array)
            columns[field.name] = _cast(array, field.type, table, field.name)
        elif field.name == CHANGE_TYPE:
            columns[field.name] = change_types(located.changes)
        elif field == ABSENT_FIELD:
            columns[field.name] = located.absent(list(names), list(known))
        elif field.name not in columns:
            columns[field.name] = _nulls(len(located.events), field.type)
    return joined_columns(columns, len(located.events), schema)


def _defaults(table: Table) -> dict[int, Value]:
    """The values of columns that an INSERT leaves out, by their numbers, as far as they are known."""
    if default_of not in table.memory:
        known: dict[int, Value] = {}
        for column in table.schema.columns:
            with suppress(UnknownDefaultError):
                known[column.index] = default_of(column)
        table.memory[default_of] = known
    defaults: dict[int, Value] = table.memory[default_of]
    return defaults


def joined_columns(columns: dict[str, pa.Array], count: int, schema: pa.Schema) -> pa.RecordBatch:
    if len(schema):
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
    return pa.RecordBatch.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), count, [None]))


def _located(error: BinlogError, table: Table, name: str) -> BinlogError:
    return type(error)(error.reason, field=f"{table.schema.full_name}, column {name}")


def _cast(array: pa.Array, kind: pa.DataType, table: Table, name: str) -> pa.Array:
    if array.type == kind:
        return array
    try:
        return cast(array, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = f"its type changes from {array.type}; {kind}, the common type, does not fit: {error}"
        raise UsageError(f"{table.schema.full_name}, column {name}: {reason}") from error


def page_batches(
    page: RowsPage, schema_of: Callable[[Table], pa.Schema], zero_dates: str, where: Where | None = None
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """The batches of a page in log order, with a new batch for each change of table."""
    for table, events in page.runs():
        if not isinstance(table, Table):
            raise page.refuse(int(events[0]))
        yield from (
            (table, batch) for batch in table_batches(page, table, events, schema_of, zero_dates, where)
        )


def table_batches_of(
    page: RowsPage, schema_of: Callable[[Table], pa.Schema], zero_dates: str
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """The batches of a page, table by table.

    Raises `BinlogError`: the first error by position, after the batches of all events before it.
    """
    stop, error = len(page.images), None
    while True:
        numbers = page.images.table_of[page.chosen[page.chosen < stop]]
        if len(distinct_values(numbers)) < 2:  # already in log order
            yield from _batches_before(page, stop, schema_of, zero_dates)
            break
        try:
            yield from list(_batches_before(page, stop, schema_of, zero_dates))
            break
        except BinlogError as caught:
            # Return no rows after the damage, of any table; the preceding ones are decoded again.
            positions = page.block.positions[page.images.rows]
            position = -1 if caught.position is None else caught.position
            stop = min(stop - 1, int(np.searchsorted(positions, position)))
            error = caught
    if error is not None:
        raise error


def _batches_before(
    page: RowsPage, stop: int, schema_of: Callable[[Table], pa.Schema], zero_dates: str
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """The batches of all events before a given one, table by table."""
    chosen = page.chosen[page.chosen < stop]
    numbers = page.images.table_of[chosen]
    _, first = np.unique(numbers, return_index=True)
    for index in np.sort(first).tolist():
        events = chosen[numbers == numbers[index]]
        table = page.images.table(int(events[0]))
        if not isinstance(table, Table):
            raise page.refuse(int(events[0]))
        yield from ((table, batch) for batch in table_batches(page, table, events, schema_of, zero_dates))
