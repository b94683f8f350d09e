"""Finds the columns of a table on the driver, reading as little as possible."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.errors import BinlogError, DefinitionWarning, UsageError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.split_points import Log
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, merged_schema
from binlog_kaitai.rows.log_definitions import tables_of
from binlog_kaitai.rows.table_maps import Table, Tables
from binlog_kaitai.sources.source import Source, series_of
from binlog_kaitai.spark.reader_options import ReadOptions
from binlog_kaitai.values.schema import NameSource
from binlog_kaitai.views.splits import list_files, opened

#: Logs of at most this total size, in bytes, are read in full.
SMALL = 1 << 20

#: Of larger ones, only the end is read: these sizes for the newest logs, then a larger one for the newest.
WINDOWS, LARGE_WINDOW = (256 << 10,) * 3, 1 << 20

_HELP = (
    "give its columns by .schema(...), its CREATE TABLE by option('ddl', ...), or option('inferSchema', True)"
)


def table_columns(options: ReadOptions) -> pa.Schema:
    """The columns of the changes of a table: `META_FIELDS`, its own, and `ABSENT_FIELD` if requested.

    Its own columns are those of its newest definition. They are those of all its definitions with the option
    ``inferSchema``, if the logs are small in total, and if the newest logs do not name them: then the
    statements of all logs are followed, unless ``scanDdl`` is false. Unnamed columns are ``c1``, ``c2``, ...

    Raises `UsageError`: they cannot be found without reading more; the message says what to do.
    """
    tables = _tables(options)
    schemas = [table.schema for table in tables]
    merged = merged_schema(tables, options.zero_dates, bit1_as_boolean=options.bit1_as_boolean)
    columns = options.masks.schema(schemas, merged)
    return columns.append(ABSENT_FIELD) if options.lists_absent else columns


def _tables(options: ReadOptions) -> list[Table]:
    """The definitions from which the columns are taken."""
    name = options.table or ""
    files = list_files(options.paths)
    reads_all = options.infers or sum(file.size for file in files) <= SMALL
    tables = [] if reads_all else list(_newest(files, name, options.ddl))
    if not reads_all and not tables:
        raise UsageError(f"{name} is not in the last {LARGE_WINDOW >> 20} MiB of the logs: {_HELP}")
    named = [table for table in tables if _is_named(table)]
    if reads_all or (not named and options.scan_ddl):
        tables = list(tables_of(files, name, options.ddl))
        named = [table for table in tables if _is_named(table)]
        if not tables:
            raise UsageError(f"the logs have no change of {name}")
        return _warned(tables, named)
    return named or _warned(tables, named)


def _warned(tables: list[Table], named: list[Table]) -> list[Table]:
    if not named:
        reason = "neither the log (binlog_row_metadata) nor a DDL statement has its column names"
        advice = "they are c1, c2, ...; give its CREATE TABLE by option('ddl', ...)"
        message = f"{tables[0].schema.full_name}: {reason}: {advice}"
        warnings.warn(message, DefinitionWarning, stacklevel=2)
    return tables


def _is_named(table: Table) -> bool:
    return table.schema.names_from is not NameSource.NONE


def _newest(files: Sequence[Source], name: str, ddl: str | None) -> Iterator[Table]:
    """The definitions at the end of each series' newest log that has any, newest first."""
    series: dict[tuple[str, str], list[Source]] = {}
    for file in files:
        series.setdefault(series_of(file.name), []).append(file)
    for own in series.values():
        yield from _newest_of_series(own, name, ddl)


def _newest_of_series(files: Sequence[Source], name: str, ddl: str | None) -> Iterator[Table]:
    newest = [*zip(files[::-1], WINDOWS, strict=False), (files[-1], LARGE_WINDOW)]
    for file, window in newest:
        by_id: dict[int, Table] = {}
        try:
            with opened(file) as log:
                for table in _tables_at_end(log, window, ddl):
                    if table.schema.full_name == name:
                        by_id.pop(id(table), None)
                        by_id[id(table)] = table
        except BinlogError:
            continue  # the reader of the rows raises the error
        if by_id:
            yield from reversed(by_id.values())
            return


def _tables_at_end(log: Log, window: int, ddl: str | None) -> Iterator[Table]:
    definitions = restore("", ddl)
    definitions.skip_to(log.name, log.size - min(window, log.size) + 1)
    tables, nothing = Tables(definitions), np.zeros(0, dtype=np.int64)
    start: int | None = 0
    if log.size > window:
        start = log.search.event(log.size - window, log.log_header.context().layout)
    if start is None:
        return
    for block in log.blocks(log.log_header.span(start)):
        for part in () if isinstance(block, Gap) else expand(block):
            defined, _ = tables.take(part, nothing)
            yield from (table for table in defined if isinstance(table, Table))
