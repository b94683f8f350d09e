"""Streams: the logs that a server is writing, followed in micro-batches.

Built on `binlog_kaitai.following`: offsets are checkpoints, a batch is the range between two of them, and a
task reads one of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following import Step
from binlog_kaitai.spark.followed_logs import FollowedLogs
from binlog_kaitai.spark.interpreter import spare_modules
from binlog_kaitai.spark.limits import (
    ASKED_BY_SPARK,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from binlog_kaitai.spark.stream_options import Following


class StepPartition(InputPartition):
    """One step, for one task; travels pickled from the driver to the task."""

    def __init__(self, number: int, step: Step) -> None:
        super().__init__(number)
        self.number = number
        self.step = step


class FollowingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans offsets and partitions; subclasses read the steps.

    `follows_definitions`: whether column names are needed.
    """

    def __init__(self, options: Following, *, follows_definitions: bool) -> None:
        if options.server is not None and not ASKED_BY_SPARK:
            raise UsageError("a stream from a server requires PySpark 4.2 or newer")
        self._options = options
        self._logs = FollowedLogs(options, follows_definitions=follows_definitions)
        self._initial: dict[str, Any] | None = None
        self._planned_end: dict[str, Any] | None = None
        self._reached: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        if ASKED_BY_SPARK:
            return self._logs.first()
        if self._initial is None:  # Spark 4.1 requests the end of the first batch before its start
            self._initial = self._logs.first()
        return self._initial

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._options.max_files is not None:
            return ReadMaxFiles(self._options.max_files)
        return ReadMaxBytes(self._options.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._logs.end_here()

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, Any]:
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
                files, size = limit.max_files, self._options.max_bytes
            case ReadAllAvailable():
                pass
            case _:
                raise UsageError(f"unsupported read limit: {limit}")
        self._reached = self._logs.next(start, size, files)
        return self._reached

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """The end of the newest log, and what remains after the batch that has just been planned."""
        file, size = self._logs.end()
        backlog = {} if self._reached is None else self._logs.backlog_fields(self._reached)
        return {"file": file, "position": size, **backlog}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A partition for each step between two offsets.

        Raises `SourceError`: a log no longer exists.
        """
        self._planned_end = end  # Spark 4.1 calls this before it requests the next end, also after a restart
        steps = self._logs.steps(start, end)
        return [StepPartition(number, step) for number, step in enumerate(steps)]

    def commit(self, end: dict[str, Any]) -> None:
        self._logs.done(end)

    def stop(self) -> None:
        self._logs.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one step.

        Raises `BinlogError`: the log is damaged; names file and position.
        """
        # Spark calls this with an empty partition if there is nothing to read.
        if isinstance(partition, StepPartition):
            spare_modules()
            yield from self.read_step(partition)

    def read_step(self, partition: StepPartition) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError
