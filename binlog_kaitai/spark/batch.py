"""Batch reading: the driver lists files, a task reads one split of one of them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from binlog_kaitai.columns.splits.split import LogFile, Split, divide, list_files
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.interpreter import spare_modules
from binlog_kaitai.spark.options import Offset, ReadOptions
from binlog_kaitai.spark.pushdown import Pushed, chosen_splits, masked, narrowed
from binlog_kaitai.spark.rows import rows_of
from binlog_kaitai.spark.schemas import arrow_schema
from binlog_kaitai.spark.skipping import logs_with_rows

if TYPE_CHECKING:
    import pyarrow as pa

_log = logging.getLogger(__name__)


class SplitPartition(InputPartition):
    """One split, for one task; travels pickled from the driver to the task."""

    def __init__(self, split: Split) -> None:
        super().__init__((split.file.path, split.start, split.stop))
        self.split = split


class BinlogReader(DataSourceReader):
    """Plans and reads a view of binary logs.

    Raises
    ------
    SourceError, UsageError
        A path is not there, or cannot be read in parts.
    """

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options = options
        self._schema = schema
        self._pushed: list[Pushed] = []
        # Spark pickles the reader for the tasks before it asks for the partitions.
        self._files = between(list_files(options.paths), options.starting, options.ending)

    def partitions(self) -> Sequence[InputPartition]:
        """A partition a split, in the order of the logs; of these heads are read, and only where a filter is
        about times or GTIDs.
        """
        options, pushed = self._options, self._pushed
        splits = divide(self._files, options.split_size)
        has_rows = logs_with_rows(self._files, narrowed(dict(options.filters), pushed, options.view), pushed)
        chosen = [one for one in chosen_splits(splits, pushed) if has_rows[one.number]]
        if pushed:
            told = ", ".join(map(str, pushed))
            _log.warning("pushed: %s; %d of %d splits are read", told, len(chosen), len(splits))
        return [SplitPartition(split) for split in chosen]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition.

        Raises
        ------
        BinlogError
            The file is damaged, and the mode FAILFAST; names file and position.
        """
        # Spark calls this with an empty partition where `partitions` found nothing to read.
        if not isinstance(partition, SplitPartition):
            return
        spare_modules()
        split = partition.split
        filters = dict(self._options.filters)
        for offset, name in (
            (self._options.starting, "start_position"),
            (self._options.ending, "stop_position"),
        ):
            if offset is not None:
                filters[name] = offset.position
        options = replace(self._options, filters=narrowed(filters, self._pushed, self._options.view))
        target = arrow_schema(self._schema)
        for batch in rows_of(split, self._files[: split.number], options, target):
            rows = masked(batch, self._pushed)
            if len(rows):
                yield rows


class PushingReader(BinlogReader):
    """The same, which takes over filters of the query.

    Spark keeps what became of them with the DataFrame: a later query of the same one without filters that
    can be pushed gets the rows of the earlier one. So this is for who asks for it.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Takes over what it can; gives what is left to Spark."""
        for one in filters:
            pushed = Pushed.of(one, self._schema.fieldNames())
            if pushed is None:
                yield one
            else:
                self._pushed.append(pushed)


def between(files: list[LogFile], starting: Offset | None, ending: Offset | None) -> list[LogFile]:
    """The files from one offset to another.

    Raises
    ------
    UsageError
        There is no file of that name.
    """
    first = 0 if starting is None else _index(files, starting, "startingOffsets")
    last = len(files) - 1 if ending is None else _index(files, ending, "endingOffsets")
    return files[first : last + 1]


def _index(files: list[LogFile], offset: Offset, option: str) -> int:
    names: list[Any] = [os.path.basename(file.path) for file in files]
    if offset.file not in names:
        raise UsageError(f"option {option}: there is no {offset.file} among {len(names)} files")
    return names.index(offset.file)
