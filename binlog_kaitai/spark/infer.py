"""The columns of one table, found on the driver with little reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from binlog_kaitai.columns.blocks.payloads import expand
from binlog_kaitai.columns.change_schemas import ABSENT_FIELD, META_FIELDS, merged_schema
from binlog_kaitai.columns.rows.pages import new_definitions
from binlog_kaitai.columns.rows.scan import tables_of
from binlog_kaitai.columns.rows.tables import Table, Tables
from binlog_kaitai.columns.splits.cuts import Cut, Gap, Log
from binlog_kaitai.columns.splits.split import LogFile, list_files, opened, source_of
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.schema import NameSource
from binlog_kaitai.spark.options import ReadOptions

#: Logs of no more bytes than this in all are read whole.
SMALL = 1 << 20

#: Of larger ones the end is looked at: as much of the newest ones, and if that does not do, of the newest.
WINDOWS, LARGE_WINDOW = (256 << 10,) * 3, 1 << 20

_HELP = (
    "give its columns by .schema(...), its CREATE TABLE by option('ddl', ...), or option('inferSchema', True)"
)


def table_columns(options: ReadOptions) -> pa.Schema:
    """The columns of the changes of a table: `META_FIELDS`, its own, and `ABSENT_FIELD` if that is wanted.

    Its own are of its newest definition; with the option ``inferSchema``, and for logs that are small in all,
    of all its definitions.

    Raises
    ------
    UsageError
        They are not found without reading more; says what to do.
    """
    columns = _columns(options)
    return columns.append(ABSENT_FIELD) if options.tells_absent else columns


def _columns(options: ReadOptions) -> pa.Schema:
    name = options.table or ""
    files = list_files(options.paths)
    if options.infers or sum(file.size for file in files) <= SMALL:
        tables = tables_of([source_of(file) for file in files], name, options.ddl)
        schema = merged_schema(tables, options.zero_dates)
        if len(schema) == len(META_FIELDS):
            raise UsageError(f"the logs have no change of {name}")
        return schema
    found = list(_newest(files, name, options.ddl))
    if not found:
        raise UsageError(f"{name} is not in the last {LARGE_WINDOW >> 20} MiB of the logs: {_HELP}")
    named = [table for table in found if table.schema.names_from is not NameSource.NONE]
    if not named:
        raise UsageError(f"the log does not name the columns of {name} (binlog_row_metadata): {_HELP}")
    return merged_schema(named, options.zero_dates)


def _newest(files: Sequence[LogFile], name: str, ddl: str | None) -> Iterator[Table]:
    """The definitions in the end of the newest log that has any, newest first."""
    newest = [*zip(files[::-1], WINDOWS, strict=False), (files[-1], LARGE_WINDOW)]
    for file, window in newest:
        found: dict[int, Table] = {}
        try:
            with opened(file) as log:
                for table in _tables_at_end(log, window, ddl):
                    if table.schema.full_name == name:
                        found.pop(id(table), None)
                        found[id(table)] = table
        except BinlogError:
            continue  # whoever reads the rows is told
        if found:
            yield from reversed(found.values())
            return


def _tables_at_end(log: Log, window: int, ddl: str | None) -> Iterator[Table]:
    tables, nothing = Tables(new_definitions(ddl)), np.zeros(0, dtype=np.int64)
    start: int | None = 0
    if log.size > window:
        start = log.search.event(log.size - window, log.head.context().layout)
    if start is None:
        return
    for block in log.blocks(Cut(start, log.head.formats if start else ())):
        for part in () if isinstance(block, Gap) else expand(block):
            found, _ = tables.take(part, nothing, nothing)
            yield from (table for table in found if isinstance(table, Table))
