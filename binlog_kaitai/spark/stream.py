"""Streams: the logs that a server is writing, followed in micro-batches.

What Spark asks of a stream is what `binlog_kaitai.following` knows: offsets are marks, a batch is what lies
between two of them, and a task reads one of its spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following import Checkpoint, Follower, Span
from binlog_kaitai.following.follower import SPLIT_SIZE
from binlog_kaitai.spark.interpreter import spare_modules


class SpanPartition(InputPartition):
    """One span, for one task; travels pickled from the driver to the task."""

    def __init__(self, number: int, span: Span) -> None:
        super().__init__(number)
        self.number = number
        self.span = span


#: As much is read in a batch, in bytes, so that looking for its end does not take long.
MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class Following:
    """Which logs to follow, and how.

    Attributes
    ----------
    max_bytes : int
        How much a batch reads at most, but one transaction at least.
    max_files : int or None
        Of how many logs.
    starting : str or dict
        ``"earliest"``, ``"latest"``, or a place as `Follower.place` takes it.
    fails_on_data_loss : bool
        Logs that are gone before they were read end the query.
    ddl : str or None
        Definitions to begin with.
    split_size : int
        Bytes of a task, about.
    at_once : int
        As many tasks run at a time.
    mode : str
        One of `binlog_kaitai.spark.reader_options.MODES`.
    """

    paths: tuple[str, ...]
    max_bytes: int = MAX_BYTES
    max_files: int | None = None
    starting: str | dict[str, Any] = "earliest"
    fails_on_data_loss: bool = True
    ddl: str | None = None
    split_size: int = SPLIT_SIZE
    at_once: int = 1
    mode: str = "FAILFAST"


class FollowingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets and partitions; how a span is read is for subclasses to say.

    Parameters
    ----------
    follows_definitions
        Whether the names of columns matter.
    """

    def __init__(self, options: Following, *, follows_definitions: bool) -> None:
        self._options = options
        self._until: tuple[str, int] | None = None
        self._follower = Follower(
            options.paths,
            fails_on_loss=options.fails_on_data_loss,
            follows_definitions=follows_definitions,
            ddl=options.ddl,
            split_size=options.split_size,
            at_once=options.at_once,
            passes_damage=options.mode != "FAILFAST",
        )

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        starting = self._options.starting
        if not isinstance(starting, str):
            checkpoint = self._follower.place(starting)
        else:
            checkpoint = self._follower.latest() if starting == "latest" else self._follower.earliest()
        return checkpoint.as_dict()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._options.max_files is not None:
            return ReadMaxFiles(self._options.max_files)
        return ReadMaxBytes(self._options.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._until = self._follower.end()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The end of the next batch; `start` where nothing is new.

        Raises
        ------
        SourceError
            The logs do not go on where the last batch ended.
        """
        size = files = None
        match limit:
            case ReadMaxBytes():
                size = limit.max_bytes
            case ReadMaxFiles():
                # Both options may be given; Spark knows one limit only.
                files, size = limit.max_files, self._options.max_bytes
            case ReadAllAvailable():
                pass
            case _:
                raise UsageError(f"unsupported read limit: {limit}")
        checkpoint = Checkpoint.of(start)
        end = self._follower.advance(checkpoint, max_bytes=size, max_files=files, until=self._until)
        return end.as_dict()

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        file, size = self._follower.end()
        return {"file": file, "position": size}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A partition for each span between two offsets.

        Raises
        ------
        SourceError
            It is not there any more.
        """
        spans = self._follower.spans(Checkpoint.of(start), Checkpoint.of(end))
        return [SpanPartition(number, span) for number, span in enumerate(spans)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one span.

        Raises
        ------
        BinlogError
            The log is damaged; names file and position.
        """
        # Spark calls this with an empty partition where there is nothing to read.
        if isinstance(partition, SpanPartition):
            spare_modules()
            yield from self.read_span(partition)

    def read_span(self, partition: SpanPartition) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError
