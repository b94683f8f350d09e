"""The changes view as Arrow record batches: of one table with typed columns, or of all tables as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Unpack

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import ZERO_DATES, FiltersWithoutTable, ZeroDates
from binlog_kaitai.core.options import takes
from binlog_kaitai.errors import UsageError
from binlog_kaitai.log.block_reader import BLOCK_SIZE
from binlog_kaitai.log.read_options import LogOptions, PassOptions, Reading
from binlog_kaitai.log.threads import default_threads
from binlog_kaitai.rows.change_schemas import CHANGES_SCHEMA, check_schema, merged_schema, own_columns
from binlog_kaitai.rows.log_definitions import tables_of
from binlog_kaitai.rows.log_pages import ROWS_BLOCK_SIZE, RowsPage, RowsPages
from binlog_kaitai.rows.rolled_back_rows import is_readable_again
from binlog_kaitai.rows.row_masks import NO_MASKS, Masks
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.views.change_batches import joined_columns, meta_columns, named, page_batches
from binlog_kaitai.views.notebook_readers import shown_in_notebooks
from binlog_kaitai.views.row_conditions import Where, chosen_columns

if TYPE_CHECKING:
    from binlog_kaitai.lines.row_texts import Objects


class ChangeOptions(LogOptions, PassOptions, FiltersWithoutTable, total=False):
    """The keywords of :func:`read_changes`."""


@shown_in_notebooks
@takes(ChangeOptions)
def read_changes(
    source: SourceLike | Iterable[SourceLike],
    *,
    table: str | None = None,
    tables: Iterable[str] | None = None,
    columns: Sequence[str] | None = None,
    where: pc.Expression | None = None,
    zero_dates: ZeroDates = "null",
    bit1_as_boolean: bool = False,
    **options: Unpack[ChangeOptions],
) -> pa.RecordBatchReader:
    """Read row changes as record batches: of one table with its columns, or of all tables as JSON.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    table
        ``schema.table``: read only its changes, with its columns. If its definition changes in the logs, the
        result has the columns of all definitions, by name, with nulls for rows without a column of that name;
        the logs are searched for definitions first. A log that can be read only once must have one
        definition.
    tables
        Read only changes of these tables, as JSON; instead of `table`.
    columns
        Names of the columns to read, in this order; all by default. The values of other columns are not
        decoded, so damage in them is not detected.
    where
        A condition on the columns of the view, such as ``pc.field("id") == 42`` (`pyarrow.compute`): read
        only rows that match it. The two images of an update are separate rows, which match independently. Of
        other rows, only the columns of the condition are decoded.
    zero_dates
        Treatment of dates that are not in the calendar (0000-00-00, 2020-02-31): ``"null"``, ``"error"``, or
        ``"text"``, which returns all columns with dates as strings in MySQL's format.
    bit1_as_boolean
        Return BIT(1) as bool, like Debezium and the servers' JDBC drivers, not as an integer.
    **options
        See :class:`ChangeOptions`.

    Returns
    -------
    pyarrow.RecordBatchReader
        Its schema is available immediately; batches are read on request.

    Raises
    ------
    SourceError, UsageError
        Immediately: no log was found, or an argument is invalid.
    BinlogError
        During iteration, after the batches of all events before the damage.

    Warns
    -----
    FilterWarning
        At the end: a filter matched nothing; the warning names the tables in the logs.
    """
    if zero_dates not in ZERO_DATES:
        raise UsageError(f"zero_dates must be {' or '.join(ZERO_DATES)}, not {zero_dates!r}")
    if table is not None and tables is not None:
        raise UsageError("use either table (typed columns) or tables (JSON), not both")
    options["threads"] = default_threads(options["threads"])
    reading = Reading.of(source, {**options, "table": tables if table is None else table})
    size = BLOCK_SIZE if table is None else ROWS_BLOCK_SIZE
    pages = RowsPages(reading.sources, reading.filters, ddl=options["ddl"], block_size=size, **reading.pages)
    if table is None:
        schema = chosen_columns(CHANGES_SCHEMA, columns)
        condition = None if where is None else Where.of(where, CHANGES_SCHEMA)
        return pa.RecordBatchReader.from_batches(schema, json_batches(pages, schema, condition))
    upcoming: RowsPages | Iterable[RowsPage] = pages
    is_whole = not all(map(is_readable_again, pages.sources))
    if not is_whole:
        known = tables_of(pages.sources, table, options["ddl"])
    else:  # a source that can be read only once gets the schema of its first definition
        following = iter(pages)
        first = list(islice(following, 1))
        known = islice((map_ for page in first for map_, _ in page.runs() if isinstance(map_, Table)), 1)
        upcoming = chain(first, following)
    whole = merged_schema(known, zero_dates, bit1_as_boolean=bit1_as_boolean)
    schema = chosen_columns(whole, columns)
    condition = None if where is None else Where.of(where, whole)
    batches = _chosen_batches(upcoming, schema, zero_dates, condition, whole if is_whole else None)
    return pa.RecordBatchReader.from_batches(schema, batches)


def _chosen_batches(
    pages: RowsPages | Iterable[RowsPage],
    schema: pa.Schema,
    zero_dates: str,
    where: Where | None,
    whole: pa.Schema | None,
) -> Iterator[pa.RecordBatch]:
    """Rows of one table; with `whole`, the table must not have columns outside the schema."""

    def schema_of(table: Table) -> pa.Schema:
        missing = set() if whole is None else set(own_columns(table.schema, whole)) - set(whole.names)
        if missing:
            reason = f"{table.schema.full_name} has new columns: {', '.join(sorted(missing))}"
            reason += "; a log that can be read once only must have one definition of the table"
            raise UsageError(reason)
        return schema

    def batches_of(page: RowsPage) -> Iterator[pa.RecordBatch]:
        return (batch for _, batch in page_batches(page, schema_of, zero_dates, where))

    return (
        pages.each(batches_of)
        if isinstance(pages, RowsPages)
        else chain.from_iterable(map(batches_of, pages))
    )


def typed_batches(
    pages: Iterable[RowsPage],
    schema: pa.Schema,
    zero_dates: str,
    where: Where | None = None,
    masks: Masks = NO_MASKS,
) -> Iterator[pa.RecordBatch]:
    """The rows of one table as batches of a schema: columns by name, null where the table lacks one.

    `masks`: columns to mask; `schema` has their types after masking, and `where` is not about them.
    Raises `UsageError`: the table has none of the schema's columns.
    """

    def schema_of(table: Table) -> pa.Schema:
        check_schema(table.schema, schema)
        if where is not None:
            check_schema(table.schema, where.needed)
        return masks.readable(table.schema, schema, zero_dates) if masks else schema

    for page in pages:
        for table, batch in page_batches(page, schema_of, zero_dates, where):
            yield masks.applied(table.schema, batch, schema) if masks else batch


def json_batches(
    pages: RowsPages, schema: pa.Schema = CHANGES_SCHEMA, where: Where | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of all tables as batches with columns of :data:`CHANGES_SCHEMA`."""
    # Typed columns do not need the modules that write text.
    from binlog_kaitai.lines.row_texts import CHANGE_NAMES, page_objects

    changes = pa.array(CHANGE_NAMES, pa.string())

    names = {*schema.names, *(where.needed.names if where is not None else ())}

    def batches_of(page: RowsPage) -> Iterator[pa.RecordBatch]:
        for objects in page_objects(page, has_images=not names.isdisjoint(("before", "after"))):
            columns = _of_objects(page, objects, names)
            columns["change"] = named(objects.changes, changes)
            batch = joined_columns(columns, len(objects.events), schema)
            if where is not None:
                needed = joined_columns(columns, len(objects.events), where.needed)
                batch = batch.take(pa.array(where.rows(needed)))
            if batch.num_rows:
                yield batch

    return pages.each(batches_of)


def _of_objects(page: RowsPage, objects: Objects, names: Iterable[str]) -> dict[str, pa.Array]:
    """The given columns of changes, if any of them requires objects."""
    keys = [table.key if isinstance(table, Table) else ("", "") for table in page.images.tables]
    codes = page.images.table_of[objects.events].astype(np.int32)
    texts = [pa.array([plain(key[part]) for key in keys], pa.string()) for part in range(2)]
    return {
        **meta_columns(page, objects.events, objects.numbers, objects.is_given, names),
        "schema": named(codes, texts[0]),
        "table": named(codes, texts[1]),
        "before": objects.before,
        "after": objects.after,
    }
