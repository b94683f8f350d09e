"""Streams: views of the logs that a server is writing, followed in micro-batches.

Built on `binlog_kaitai.following`: offsets are checkpoints, a batch is the range between two of them, and a
task reads one of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.spans import Span
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.place import Offset
from binlog_kaitai.pipeline.followed_logs import Following, followed_logs
from binlog_kaitai.sources.keys import use
from binlog_kaitai.sources.source import with_state
from binlog_kaitai.spark.batch import NumberedPartition, rows_of
from binlog_kaitai.spark.reader_options import WITH_DEFINITIONS, ReadOptions
from binlog_kaitai.spark.schemas import arrow_schema
from binlog_kaitai.views.splits import definitions_in

# Limits of a batch. Spark 4.1 passes none: it requests an end without giving the start, the limits or the
# trigger. There a stream applies its own limits.
try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )

    ASKED_BY_SPARK = True
except ImportError:
    ASKED_BY_SPARK = False

    class ReadLimit:  # type: ignore[no-redef]
        """How much a batch reads."""

    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef]
        """Everything available."""

    @dataclass
    class ReadMaxBytes(ReadLimit):  # type: ignore[no-redef]
        """Maximum number of bytes."""

        max_bytes: int

    @dataclass
    class ReadMaxFiles(ReadLimit):  # type: ignore[no-redef]
        """Maximum number of logs."""

        max_files: int

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Ends where the logs ended when the query started."""


class BinlogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A view of the logs that a server is writing: plans offsets and partitions, and reads these."""

    def __init__(self, options: ReadOptions, following: Following, schema: StructType) -> None:
        if following.server is not None and not ASKED_BY_SPARK:
            raise UsageError("a stream from a server requires PySpark 4.2 or newer")
        self._options = options
        self._following = following
        self._schema = schema
        use(options.keys)
        self._logs = followed_logs(following, follows_definitions=options.view in WITH_DEFINITIONS)
        self._initial: Offset | None = None
        self._planned_end: Offset | None = None
        self._reached: Offset | None = None

    def initialOffset(self) -> Offset:  # noqa: N802
        if ASKED_BY_SPARK:
            return self._logs.first()
        if self._initial is None:  # Spark 4.1 requests the end of the first batch before its start
            self._initial = self._logs.first()
        return self._initial

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._following.max_files is not None:
            return ReadMaxFiles(self._following.max_files)
        return ReadMaxBytes(self._following.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._logs.end_here()

    def latestOffset(  # noqa: N802
        self, start: Offset | None = None, limit: ReadLimit | None = None
    ) -> Offset:
        """The end of the next batch; `start` if nothing is new.

        Raises `SourceError`: the logs do not continue where the last batch ended.
        """
        if start is None:
            # Spark 4.1: the batch begins where the last one ended. The first one of a run may be the only
            # one, with ``Trigger.AvailableNow``, so it takes everything.
            limit = ReadAllAvailable() if self._reached is None else self.getDefaultReadLimit()
            start = self._planned_end or self.initialOffset()
        size = files = None
        match limit:
            case ReadMaxBytes():
                size = limit.max_bytes
            case ReadMaxFiles():
                # Both options may be given, but Spark supports only one limit.
                files, size = limit.max_files, self._following.max_bytes
            case ReadAllAvailable():
                pass
            case _:
                raise UsageError(f"unsupported read limit: {limit}")
        self._reached = self._logs.next(start, size, files)
        return self._reached

    def reportLatestOffset(self) -> Offset:  # noqa: N802
        """The end of the newest log, and what remains after the batch that has just been planned."""
        file, size = self._logs.end()
        backlog = {} if self._reached is None else asdict(self._logs.backlog(self._reached))
        return {"file": file, "position": size, **{f"{name}_behind": left for name, left in backlog.items()}}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """A partition for each step between two offsets.

        Raises `SourceError`: a log no longer exists.
        """
        self._planned_end = end  # Spark 4.1 calls this before it requests the next end, also after a restart
        steps = self._logs.steps(start, end)
        return [NumberedPartition(number, step.source) for number, step in enumerate(steps)]

    def commit(self, end: Offset) -> None:
        self._logs.done(end)

    def stop(self) -> None:
        self._logs.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one step.

        Raises `BinlogError`: the log is damaged; names file and position.
        """
        # Spark calls this with an empty partition if there is nothing to read.
        if isinstance(partition, NumberedPartition):
            use(self._options.keys)
            source, mode = partition.source, self._options.mode
            span, split = source.span or Span(), source if mode == "FAILFAST" else with_state(source)
            options = replace(self._options, filters=span.restrict(self._options.filters))
            definitions_at = definitions_in(split, options.ddl)
            yield from rows_of(split, options, arrow_schema(self._schema), definitions_at=definitions_at)
