"""Streams: the logs that a server is writing, followed in micro-batches.

Built on `binlog_kaitai.following`: offsets are checkpoints, a batch is the range between two of them, and a
task reads one of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following import Checkpoint, Follower, Step
from binlog_kaitai.following.backlog import BacklogMeter
from binlog_kaitai.spark.interpreter import spare_modules
from binlog_kaitai.spark.limits import (
    ASKED_BY_SPARK,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from binlog_kaitai.spark.stream_options import READER, Following

if TYPE_CHECKING:
    from binlog_kaitai.spark.spooling import QuerySpool


class StepPartition(InputPartition):
    """One step, for one task; travels pickled from the driver to the task."""

    def __init__(self, number: int, step: Step) -> None:
        super().__init__(number)
        self.number = number
        self.step = step


class FollowingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans offsets and partitions; subclasses read the steps.

    Parameters
    ----------
    follows_definitions
        Whether column names are needed.
    """

    def __init__(self, options: Following, *, follows_definitions: bool) -> None:
        self._options = options
        self._until = options.until
        self._initial: dict[str, Any] | None = None
        self._planned_end: dict[str, Any] | None = None
        self._is_limited = options.limits_first_batch
        self._spool: QuerySpool | None = None
        if options.server is not None:
            if not ASKED_BY_SPARK:
                raise UsageError("a stream from a server requires PySpark 4.2 or newer")
            from binlog_kaitai.spark.spooling import QuerySpool

            self._spool = QuerySpool(options.server, options.paths[0], options.starting)
        self._follower = Follower(
            options.paths,
            fails_on_loss=options.fails_on_data_loss,
            follows_definitions=follows_definitions,
            ddl=options.ddl,
            split_size=options.split_size,
            at_once=options.at_once,
            passes_damage=options.mode != "FAILFAST",
        )
        self._meter = BacklogMeter(self._follower)
        self._reached: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        if ASKED_BY_SPARK:
            return self._first_offset()
        if self._initial is None:  # Spark 4.1 requests the end of the first batch before its start
            self._initial = self._first_offset()
        return self._initial

    def _first_offset(self) -> dict[str, Any]:
        starting: str | Mapping[str, Any] = self._options.starting
        added = {}
        if self._spool is not None:
            added[READER], starting = self._spool.begin()
        if not isinstance(starting, str):
            checkpoint = self._follower.place(starting)
        else:
            checkpoint = self._follower.latest() if starting == "latest" else self._follower.earliest()
        return {**checkpoint.as_dict(), **added}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._options.max_files is not None:
            return ReadMaxFiles(self._options.max_files)
        return ReadMaxBytes(self._options.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        if self._spool is not None:
            self._spool.is_bounded = True
        else:
            self._until = self._follower.end()

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, Any]:
        """The end of the next batch; `start` if nothing is new.

        Raises
        ------
        SourceError
            The logs do not continue where the last batch ended.
        """
        if start is None:  # Spark 4.1: the batch begins where the last one ended
            limit = self.getDefaultReadLimit() if self._is_limited else ReadAllAvailable()
            self._is_limited = True
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
        until = self._until
        if self._spool is not None:
            self._spool.resume(start)
            until = self._spool.end()
        checkpoint, added = _parse(start)
        end = self._follower.advance(checkpoint, max_bytes=size, max_files=files, until=until)
        self._reached = {**end.as_dict(), **added}
        return self._reached

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """The end of the newest log, and what remains after the batch that has just been planned."""
        file, size = self._follower.end() if self._spool is None else self._spool.end()
        found: dict[str, Any] = {"file": file, "position": size}
        if self._reached is not None:
            backlog = self._meter.after(checkpoint_of(self._reached))
            found |= {f"{name}_behind": value for name, value in asdict(backlog).items()}
        return found

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A partition for each step between two offsets.

        Raises
        ------
        SourceError
            A log no longer exists.
        """
        if self._spool is not None:
            self._spool.resume(start)
        self._planned_end = end  # Spark 4.1 calls this before it requests the next end, also after a restart
        steps = self._follower.steps(_parse(start)[0], _parse(end)[0])
        return [StepPartition(number, step) for number, step in enumerate(steps)]

    def commit(self, end: dict[str, Any]) -> None:
        if self._spool is not None:
            self._spool.done(end)

    def stop(self) -> None:
        if self._spool is not None:
            self._spool.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one step.

        Raises
        ------
        BinlogError
            The log is damaged; names file and position.
        """
        # Spark calls this with an empty partition if there is nothing to read.
        if isinstance(partition, StepPartition):
            spare_modules()
            yield from self.read_step(partition)

    def read_step(self, partition: StepPartition) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError


def checkpoint_of(offset: dict[str, Any]) -> Checkpoint:
    """The checkpoint in an offset of a query."""
    return _parse(offset)[0]


def _parse(offset: dict[str, Any]) -> tuple[Checkpoint, dict[str, Any]]:
    """The checkpoint in an offset, and the name of its query."""
    added = {READER: offset[READER]} if READER in offset else {}
    return Checkpoint.of({name: value for name, value in offset.items() if name != READER}), added
