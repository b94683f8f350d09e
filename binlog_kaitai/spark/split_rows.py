"""Reads the rows of one split in a task, as Arrow batches for Spark."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.lake.types import conform
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.sources.source import Source
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.views.change_schemas import META_FIELDS
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import read_split

#: The columns of a damage row that locate the damage.
_DAMAGE_FIELDS = {"file": "file", "_file": "file", "position": "from", "_position": "from"}


def rows_of(
    split: Source, options: ReadOptions, target: pa.Schema, **definitions: Any
) -> Iterator[pa.RecordBatch]:
    """The rows of one split with the target's columns; damage is skipped, except in mode FAILFAST.

    `split`: or another part of a log, with its `state` if damage is skipped.
    `definitions`: options of `read_span` that tell where tables are defined.
    Raises `BinlogError`: the log is damaged, and the mode is FAILFAST; names file and position.
    """
    columns = None if options.table is None else columns_of_table(target, options.corrupt_column)
    dropped: list[Gap] = []
    for item in _read(split, options, columns, definitions):
        if not isinstance(item, Gap):
            yield conform(item, target)
        elif options.mode == "PERMISSIVE":
            yield _row_of(item, split, options, target)
        else:
            dropped.append(item)
    report_dropped(dropped, split)


def arrow_rows_of(
    split: Source, options: ReadOptions, columns: pa.Schema, **definitions: Any
) -> Iterator[pa.RecordBatch]:
    """The rows of one split of a table as Arrow has them, with the given columns; damage is dropped."""
    dropped: list[Gap] = []
    for item in _read(split, options, columns, definitions):
        if isinstance(item, Gap):
            dropped.append(item)
        else:
            yield item
    report_dropped(dropped, split)


def _read(
    split: Source, options: ReadOptions, columns: pa.Schema | None, definitions: Mapping[str, Any]
) -> Iterator[pa.RecordBatch | Gap]:
    """The rows of one split, of a table with its columns, and the damage that is skipped."""
    view = "changes" if options.view == TABLE else options.view
    arguments = {**options.filters, **definitions, "zero_dates": options.zero_dates}
    if columns is not None:
        arguments |= {"table": options.table, "schema": columns}
        arguments |= {"where": options.where, "masks": options.masks}
    read = read_split if options.mode == "FAILFAST" else read_around
    return read(split, view, **arguments)


def columns_of_table(target: pa.Schema, corrupt_column: str) -> pa.Schema:
    """The full columns of a table's rows, including metadata columns that the target lacks."""
    own = {field.name for field in META_FIELDS} | {corrupt_column}
    return pa.schema([*META_FIELDS, *(field for field in target if field.name not in own)])


def _row_of(damage: Gap, split: Source, options: ReadOptions, target: pa.Schema) -> pa.RecordBatch:
    stop = damage.stop_in(split.size)
    reason = options.masks.reason_of(damage.error)
    found = {"file": split.name, "from": damage.start, "to": stop, "reason": reason}
    row = {name: found[key] for name, key in _DAMAGE_FIELDS.items() if name in target.names}
    if options.corrupt_column in target.names:
        row[options.corrupt_column] = json.dumps(found, ensure_ascii=False)
    return pa.RecordBatch.from_pylist([row], schema=target)


def report_dropped(dropped: Sequence[Gap], split: Source) -> None:
    """Report dropped damage, if there is any, on the worker's stderr, where Spark shows what tasks print."""
    if not dropped:
        return
    size = sum(one.stop_in(split.size) - one.start for one in dropped)
    positions = ", ".join(f"{one.start} ({one.error.reason})" for one in dropped[:10])
    print(
        f"binlog-kaitai: {split.name}: dropped {len(dropped)} damaged ranges, {size} bytes, at {positions}",
        file=sys.stderr,
    )
