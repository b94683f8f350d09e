"""Batch reading: the driver lists files, a task reads one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from binlog_kaitai import sources
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.options import ReadOptions
from binlog_kaitai.spark.schemas import arrow_schema, conform

if TYPE_CHECKING:
    import pyarrow as pa


class FilePartition(InputPartition):
    """One file, for one task; travels pickled from the driver to the task."""

    def __init__(self, path: str, filters: dict[str, Any]) -> None:
        super().__init__(path)
        self.path = path
        self.filters = filters


class BinlogReader(DataSourceReader):
    """Plans and reads a view of binary logs."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options = options
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """A partition a file, in the order of the log.

        Raises
        ------
        SourceError
            A path is not there.
        """
        logs = sources.resolve(self._options.paths)
        paths = [log.path for log in logs if log.path is not None]
        if len(paths) < len(logs):
            raise UsageError("a Spark task can read a file, but not a stream")
        last = len(paths) - 1
        return [
            FilePartition(path, self._options.filters_for(is_first=index == 0, is_last=index == last))
            for index, path in enumerate(paths)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition.

        Raises
        ------
        BinlogError
            The file is damaged; names file and position.
        """
        # Spark calls this with an empty partition where `partitions` found nothing to read.
        if not isinstance(partition, FilePartition):
            return
        from binlog_kaitai.columns import read_events

        target = arrow_schema(self._schema)
        with read_events(partition.path, **partition.filters) as batches:
            for batch in batches:
                yield conform(batch, target)
