"""Reads the rows of one split in a task, as Arrow batches for Spark."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.sources.source import Source
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.spark.schemas import conform
from binlog_kaitai.views.change_schemas import META_FIELDS
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import read_split

#: The columns of a damage row that locate the damage.
_DAMAGE_FIELDS = {"file": "file", "_file": "file", "position": "from", "_position": "from"}


def rows_of(
    split: Source, earlier: Sequence[Source], options: ReadOptions, target: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of one split with the target's columns.

    Parameters
    ----------
    earlier
        The preceding logs, which may define tables.

    Raises
    ------
    BinlogError
        The log is damaged, and the mode is FAILFAST; names file and position.
    """
    view, arguments = _view_and_arguments(earlier, options)
    if options.table is not None:
        arguments["schema"] = columns_of_table(target, options.corrupt_column)
        arguments |= {"where": options.where, "masks": options.masks}
    if options.mode == "FAILFAST":
        for batch in read_split(split, view, **arguments):
            yield conform(batch, target)
    else:
        yield from rows_around(split, view, arguments, options, target)


def arrow_rows_of(
    split: Source, earlier: Sequence[Source], options: ReadOptions, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of one split of a table as Arrow batches; damage is dropped, except in mode FAILFAST."""
    view, arguments = _view_and_arguments(earlier, options)
    arguments |= {"schema": schema, "masks": options.masks}
    if options.mode == "FAILFAST":
        yield from read_split(split, view, **arguments)
        return
    dropped: list[Gap] = []
    for item in read_around(split, view, **arguments):
        if isinstance(item, Gap):
            dropped.append(item)
        else:
            yield item
    if dropped:
        report_dropped(dropped, split)


def _view_and_arguments(earlier: Sequence[Source], options: ReadOptions) -> tuple[str, dict[str, Any]]:
    """The view of a split to read, and arguments of `binlog_kaitai.views.splits.read_span`."""
    view = "changes" if options.view == TABLE else options.view
    arguments = dict(options.filters)
    if view in ("changes", "ddl"):
        arguments |= {
            "table": options.table or options.filters.get("table"),
            "earlier": earlier,
            "ddl": options.ddl,
            "scan_ddl": options.scan_ddl,
            "zero_dates": options.zero_dates,
        }
    return view, arguments


def rows_around(
    split: Source, view: str, arguments: dict[str, Any], options: ReadOptions, target: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of one split, skipping damage, which is returned as rows or counted.

    Parameters
    ----------
    arguments
        Of `binlog_kaitai.views.splits.read_span`.
    """
    dropped: list[Gap] = []
    for item in read_around(split, view, **arguments):
        if not isinstance(item, Gap):
            yield conform(item, target)
        elif options.mode == "PERMISSIVE":
            yield _row_of(item, split, options, target)
        else:
            dropped.append(item)
    if dropped:
        report_dropped(dropped, split)


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
    """Report dropped damage on the worker's stderr, where Spark shows the output of tasks."""
    size = sum(one.stop_in(split.size) - one.start for one in dropped)
    positions = ", ".join(f"{one.start} ({one.error.reason})" for one in dropped[:10])
    print(
        f"binlog-kaitai: {split.name}: dropped {len(dropped)} damaged ranges, {size} bytes, at {positions}",
        file=sys.stderr,
    )
