"""The views as streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.spans import Span
from binlog_kaitai.sources.keys import use
from binlog_kaitai.sources.source import Source, with_state
from binlog_kaitai.spark.reader_options import WITH_DEFINITIONS, ReadOptions
from binlog_kaitai.spark.schemas import arrow_schema
from binlog_kaitai.spark.split_rows import rows_of
from binlog_kaitai.spark.stream import FollowingReader, StepPartition
from binlog_kaitai.spark.stream_options import Following
from binlog_kaitai.views.splits import definitions_in


class BinlogStreamReader(FollowingReader):
    """A view of the logs that a server is writing."""

    def __init__(self, options: ReadOptions, following: Following, schema: StructType) -> None:
        super().__init__(following, follows_definitions=options.view in WITH_DEFINITIONS)
        self._read_options = options
        self._schema = schema
        use(options.keys)

    def read_step(self, partition: StepPartition) -> Iterator[pa.RecordBatch]:
        options, source = self._read_options, partition.step.source
        use(options.keys)
        yield from span_rows(source, options, arrow_schema(self._schema))


def span_rows(source: Source, options: ReadOptions, target: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of one followed span in a view, with the target's columns.

    Raises `BinlogError`: the log is damaged, and the mode is FAILFAST.
    """
    options = replace(options, filters=(source.span or Span()).restrict(options.filters))
    split = source if options.mode == "FAILFAST" else with_state(source)
    return rows_of(split, options, target, definitions_at=definitions_in(split, options.ddl))
