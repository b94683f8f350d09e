"""Batch reading: the driver lists files, a task reads one split of one of them."""

from __future__ import annotations

import json
import os
import pickle
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, overload

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.types import conform
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.series import with_places
from binlog_kaitai.pipeline.tasks import report_dropped, spare_modules
from binlog_kaitai.rows.change_schemas import META_FIELDS
from binlog_kaitai.sources.keys import use
from binlog_kaitai.sources.source import Source
from binlog_kaitai.spark.reader_options import TABLE, WITH_DEFINITIONS, Offset, ReadOptions
from binlog_kaitai.spark.schemas import arrow_schema
from binlog_kaitai.spark.skipping import logs_with_rows
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import divide, list_files, read_split


class NumberedPartition(InputPartition):
    """What one task reads, and its number; travels pickled from the driver to the task."""

    def __init__(self, number: int, source: Source) -> None:
        super().__init__((source.path, source.span))
        self.number, self.source = number, source


class BinlogReader(DataSourceReader):
    """Plans and reads a view of binary logs.

    Raises `SourceError`, `UsageError`: a path does not exist, or cannot be read in parts.
    """

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options = options
        self._schema = schema
        use(options.keys)
        # Spark pickles the reader for the tasks before it asks for the partitions.
        files = list_files(options.paths)
        self._files = Files(between(files, options.starting, options.ending))
        self._ddl = with_places(options.ddl, files)

    def partitions(self) -> Sequence[InputPartition]:
        """One partition for each split, in log order. The starts of logs are read only if there is a filter
        on times or GTIDs.
        """
        has_rows = logs_with_rows(self._files, self._options.filters)
        if skipped := has_rows.count(False):
            # Spark shows the output of this process as the driver's.
            message = f"{skipped} of {len(has_rows)} logs are skipped: their times or GTIDs match no filter"
            print(f"binlog-kaitai: {message}", file=sys.stderr)
        return [
            NumberedPartition(number, split)
            for number, splits in enumerate(divide(self._files, self._options.split_size))
            for split in splits
            if has_rows[number]
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition.

        Raises `BinlogError`: the file is damaged, and the mode is FAILFAST; names file and position.
        """
        # Spark calls this with an empty partition if `partitions` found nothing to read.
        if isinstance(partition, NumberedPartition):
            yield from self.batches(partition, arrow_schema(self._schema))

    def batches(self, partition: NumberedPartition, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of one partition with the columns of an Arrow schema."""
        # The start position is for the first log, the stop position for the last one.
        filters = dict(self._options.filters)
        for offset, name, number in (
            (self._options.starting, "start_position", 0),
            (self._options.ending, "stop_position", len(self._files) - 1),
        ):
            if offset is not None:
                filters[name] = offset.position
            if partition.number != number:
                filters.pop(name, None)
        definitions: dict[str, Any] = {"ddl": self._ddl, "scan_ddl": self._options.scan_ddl}
        if self._options.view in WITH_DEFINITIONS:
            definitions["earlier"] = self._files[: partition.number]
        return rows_of(partition.source, replace(self._options, filters=filters), schema, **definitions)


class Files(Sequence[Source]):
    """Logs that are unpickled only if they are needed.

    Each task unpickles the reader. With 100,000 logs, it would spend most of a second on their list, which
    only those tasks need that look for definitions in earlier logs.
    """

    def __init__(self, files: Sequence[Source]) -> None:
        self._files: Sequence[Source] | None = files
        self._count, self._packed = len(files), b""

    def __getstate__(self) -> tuple[int, bytes]:
        return self._count, self._packed or zlib.compress(pickle.dumps(self._files), 1)

    def __setstate__(self, state: tuple[int, bytes]) -> None:
        self._files, (self._count, self._packed) = None, state

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Source: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Source]: ...
    def __getitem__(self, index: int | slice) -> Source | Sequence[Source]:
        if isinstance(index, slice) and index.start is None and self._packed:
            first = Files(())
            first._count, first._files, first._packed = index.indices(len(self))[1], self._files, self._packed
            return first
        if self._files is None:
            self._files = pickle.loads(zlib.decompress(self._packed))
        return self._files[index]

    def __iter__(self) -> Iterator[Source]:
        return (self[number] for number in range(len(self)))


def between(files: list[Source], starting: Offset | None, ending: Offset | None) -> list[Source]:
    """The files from one offset to another.

    Raises `UsageError`: no file has that name.
    """
    first = 0 if starting is None else _index(files, starting, "startingOffsets")
    last = len(files) - 1 if ending is None else _index(files, ending, "endingOffsets")
    return files[first : last + 1]


def _index(files: list[Source], offset: Offset, option: str) -> int:
    names = [os.path.basename(file.name) for file in files]
    if offset.file not in names:
        raise UsageError(f"option {option}: {offset.file} is not among the {len(names)} files")
    return names.index(offset.file)


#: The columns of a damage row that locate the damage.
_DAMAGE_FIELDS = {"file": "file", "_file": "file", "position": "from", "_position": "from"}


def rows_of(
    source: Source, options: ReadOptions, target: pa.Schema, **definitions: Any
) -> Iterator[pa.RecordBatch]:
    """The rows of one task with the target's columns; damage is skipped, except in mode FAILFAST.

    `source`: a split or another part of a log, with its `state` if damage is skipped.
    `definitions`: options of `read_span` that tell where tables are defined.
    Raises `BinlogError`: the log is damaged, and the mode is FAILFAST; names file and position.
    """
    spare_modules()
    use(options.keys)
    view = "changes" if options.view == TABLE else options.view
    arguments = {**options.filters, **definitions, "zero_dates": options.zero_dates}
    if options.table is not None:
        columns = columns_of_table(target, options.corrupt_column)
        arguments |= {"table": options.table, "schema": columns}
        arguments |= {"where": options.where, "masks": options.masks}
    dropped: list[Gap] = []
    for item in (read_split if options.mode == "FAILFAST" else read_around)(source, view, **arguments):
        if not isinstance(item, Gap):
            yield conform(item, target)
        elif options.mode == "PERMISSIVE":
            yield _row_of(item, source, options, target)
        else:
            dropped.append(item)
    report_dropped(dropped, source)


def columns_of_table(target: pa.Schema, corrupt_column: str) -> pa.Schema:
    """The columns of a table's rows as views have them, and `_timestamp`, for rows whose GTID is lost."""
    own = {field.name for field in META_FIELDS} | {corrupt_column}
    metadata = [field for field in META_FIELDS if field.name in ("_timestamp", *target.names)]
    return pa.schema([*metadata, *(field for field in target if field.name not in own)])


def _row_of(damage: Gap, split: Source, options: ReadOptions, target: pa.Schema) -> pa.RecordBatch:
    stop = damage.stop_in(split.size)
    reason = options.masks.reason_of(damage.error)
    fields = {"file": split.name, "from": damage.start, "to": stop, "reason": reason}
    row = {name: fields[key] for name, key in _DAMAGE_FIELDS.items() if name in target.names}
    if options.corrupt_column in target.names:
        row[options.corrupt_column] = json.dumps(fields, ensure_ascii=False)
    return pa.RecordBatch.from_pylist([row], schema=target)
