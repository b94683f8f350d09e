"""The views as streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.sources.keys import use
from binlog_kaitai.sources.source import Source, with_state
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.spark.schemas import arrow_schema, conform
from binlog_kaitai.spark.split_rows import columns_of_table, rows_around
from binlog_kaitai.spark.stream import FollowingReader, StepPartition
from binlog_kaitai.spark.stream_options import Following
from binlog_kaitai.views.splits import definitions_in

_WITH_DEFINITIONS = ("changes", "ddl", TABLE)


class BinlogStreamReader(FollowingReader):
    """A view of the logs that a server is writing."""

    def __init__(self, options: ReadOptions, following: Following, schema: StructType) -> None:
        super().__init__(following, follows_definitions=options.view in _WITH_DEFINITIONS)
        self._read_options = options
        self._schema = schema
        use(options.keys)

    def read_step(self, partition: StepPartition) -> Iterator[pa.RecordBatch]:
        use(self._read_options.keys)
        target = arrow_schema(self._schema)
        for batch in span_batches(partition.step.source, self._read_options, target):
            yield conform(batch, target)


def span_batches(source: Source, options: ReadOptions, target: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of one span in a view.

    Parameters
    ----------
    target
        For the view of one table, its columns.

    Raises
    ------
    BinlogError
        While reading: the log is damaged.
    """
    from binlog_kaitai.rows.log_pages import RowsPages
    from binlog_kaitai.views.changes_view import json_batches, typed_batches
    from binlog_kaitai.views.ddl_view import ddl_batches, pages_of_ddl
    from binlog_kaitai.views.events_view import read_events
    from binlog_kaitai.views.transactions_view import read_transactions

    span = source.span or Span()
    filters = span.restrict(options.filters)
    if options.mode != "FAILFAST":
        yield from _around(source, options, filters, target)
        return
    if options.view == "events":
        yield from read_events(source, **filters)
        return
    if options.view == "transactions":
        yield from read_transactions(source, **filters)
        return
    if options.table is not None:
        filters["table"] = options.table
    definitions = restore(span.definitions, options.ddl)
    if options.view == "ddl":
        chosen = Filters.of(**filters)
        yield from ddl_batches(pages_of_ddl(source, chosen, era=span.era), chosen, definitions)
        return
    pages = RowsPages(source, Filters.of(**filters), definitions=definitions, era=span.era)
    if options.view == "changes":
        yield from json_batches(pages)
    else:
        columns = columns_of_table(target, options.corrupt_column)
        yield from typed_batches(pages, columns, options.zero_dates, masks=options.masks)


def _around(
    source: Source, options: ReadOptions, filters: dict[str, Any], target: pa.Schema
) -> Iterator[pa.RecordBatch]:
    arguments = {**filters, "definitions_at": definitions_in(source, options.ddl)}
    view = "changes" if options.view == TABLE else options.view
    if view == "changes":
        arguments |= {"zero_dates": options.zero_dates, "table": options.table or filters.get("table")}
    if options.table is not None:
        arguments["schema"] = columns_of_table(target, options.corrupt_column)
        arguments["masks"] = options.masks
    yield from rows_around(with_state(source), view, arguments, options, target)
