"""Loads logs into a lake of Parquet files with Structured Streaming, each transaction exactly once.

Spark divides the work, runs the tasks, and records the offsets of a batch in its checkpoint before the batch
starts. A task writes the files of one span to a staging folder and reports their names. The driver commits
them to the lake (`binlog_kaitai.lake.commits`); then Spark records the end of the batch. A batch that was
killed is therefore repeated from the same offsets, unless it was already decided.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following import Follower
from binlog_kaitai.lake import VIEWS
from binlog_kaitai.lake.commits import PRIVATE, Lake
from binlog_kaitai.lake.rules import NO_RULES, Rules, keep_rules
from binlog_kaitai.sources.source import Source, with_state
from binlog_kaitai.spark import limits
from binlog_kaitai.spark.progress import PipelineMeter, Progress
from binlog_kaitai.spark.registration import register_source
from binlog_kaitai.spark.stream import FollowingReader, StepPartition
from binlog_kaitai.spark.stream_options import Following

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from binlog_kaitai.lake.write import Written
    from binlog_kaitai.snapshot.snapshot_files import Snapshot

_FORMAT = "binlog_lake"


@dataclass(frozen=True)
class Job:
    """What to load into which lake.

    Attributes
    ----------
    folder : str
        The lake's folder; all tasks must see it under this name.
    views : sequence of str
        Of `VIEWS`.
    tables : sequence of str
        Only changes of these tables, as ``schema.table``; all if empty.
    format : str
        One of `lake.FORMATS`.
    snapshot_readers : int
        A new lake begins with the contents of the server's tables, read over so many connections; 0: with the
        logs.
    rules : Rules
        What the lake leaves out, masks and renames.
    dump : str or None
        A new lake begins with the rows of this dump.
    """

    following: Following
    folder: str
    views: Sequence[str] = VIEWS
    tables: Sequence[str] = ()
    zero_dates: str = "null"
    format: str = "parquet"
    snapshot_readers: int = 0
    rules: Rules = NO_RULES
    dump: str | None = None

    def as_json(self) -> str:
        return json.dumps({**asdict(self), "rules": self.rules.as_dict()})

    @classmethod
    def of_json(cls, text: str) -> Job:
        found = json.loads(text)
        following = found.pop("following")
        following["paths"] = tuple(following["paths"])
        rules = Rules.of_dict(found.pop("rules"))
        return cls(Following(**following), **found, rules=rules)


class LakeDataSource(DataSource):
    """A stream of the files that tasks have written, a row for each step."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def schema(self) -> str:
        return "number int, piece string"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return _LakeReader(Job.of_json(self.options["job"]))


class _LakeReader(FollowingReader):
    def __init__(self, job: Job) -> None:
        super().__init__(job.following, follows_definitions=True)
        self._job = job

    def read_step(self, partition: StepPartition) -> Iterator[pa.RecordBatch]:
        # Modules that only tasks need are imported below: each query has three driver processes without
        # tasks.
        job, step = self._job, partition.step
        job.rules.check_effects(step.effects)
        staging = Lake(Path(job.folder)).new_staging()
        piece: dict[str, Any] = {
            "staging": str(staging),
            "source": {"file": step.source.path, "start": step.start, "end": step.end},
            "table_effects": [asdict(one) for one in step.effects],
            "files": {},
            "keys": {},
            "incomplete": {},
            "names": job.rules.names_after(step.effects),
        }
        write = self._write if job.following.mode == "FAILFAST" else self._write_around
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for written in write(step.source, staging, piece):
                piece["files"].update(written.files)
                piece["keys"].update(written.keys)
                piece["incomplete"].update(written.incomplete)
                piece["names"].update(written.names)
        # The driver prints them: nobody reads what the workers print.
        piece["warnings"] = list(dict.fromkeys(str(one.message) for one in caught))
        yield pa.RecordBatch.from_pydict(
            {"number": pa.array([partition.number], pa.int32()), "piece": [json.dumps(piece)]}
        )

    def _write(self, source: Source, staging: Path, piece: dict[str, Any]) -> Iterator[Written]:
        from binlog_kaitai.lake.types import DIALECTS
        from binlog_kaitai.lake.write import write_lake

        job, span = self._job, source.span or Span()
        for view in job.views:
            yield write_lake(
                source,
                staging,
                views=[view],
                definitions=restore(span.definitions, job.following.ddl),
                zero_dates=job.zero_dates,
                filters={**_gtids(span), "table": list(job.tables) if view == "changes" else None},
                dialect=DIALECTS[job.format],
                era=span.era,
                rules=job.rules,
            )

    def _write_around(self, source: Source, staging: Path, piece: dict[str, Any]) -> Iterator[Written]:
        from binlog_kaitai.lake.types import DIALECTS
        from binlog_kaitai.lake.write import write_around, write_damage
        from binlog_kaitai.spark.split_rows import report_dropped
        from binlog_kaitai.views.splits import definitions_in

        job, split = self._job, with_state(source)
        written, damages = write_around(
            split,
            staging,
            views=job.views,
            definitions_at=definitions_in(split, job.following.ddl),
            zero_dates=job.zero_dates,
            tables=job.tables,
            filters=_gtids(source.span or Span()),
            dialect=DIALECTS[job.format],
            rules=job.rules,
        )
        piece["damaged_ranges"] = len(damages)
        if damages and job.following.mode == "PERMISSIVE":
            written.files |= write_damage(damages, split, staging, job.rules)
        elif damages:
            report_dropped(damages, split)
        yield written


def _gtids(span: Span) -> dict[str, str | None]:
    return {"include_gtids": span.include or None, "exclude_gtids": span.exclude or None}


def _stop_at_end(query: StreamingQuery) -> None:
    """Stop a query like ``Trigger.AvailableNow``, which on Spark 4.1 would be one batch without limits."""
    with suppress(PySparkException):  # raised to the caller that waits for the end of the query
        query.processAllAvailable()
    query.stop()


@dataclass
class Pipeline:
    """One run of a job; raises `UsageError` if a package that its format needs is missing.

    Attributes
    ----------
    on_batch : callable
        Called with the record of each batch once it is in the lake.
    on_progress : callable or None
        Called with the progress that each batch made, after `on_batch`.
    on_snapshot : callable
        Called with lines on the progress of a snapshot, and on what an interrupted one has left.
    """

    job: Job
    on_batch: Callable[[dict[str, Any]], object] = lambda record: None
    on_progress: Callable[[Progress], object] | None = None
    on_snapshot: Callable[[str], object] = lambda line: None
    lake: Lake = field(init=False)

    def __post_init__(self) -> None:
        folder, tables = Path(self.job.folder), None
        if self.job.format == "iceberg":
            from binlog_kaitai.lake.iceberg import IcebergTables

            tables = IcebergTables(folder)
        self.lake = Lake(folder, self.job.format, tables)

    def start(self, spark: SparkSession, *, interval: str | None = None) -> StreamingQuery:
        """Start; the lake is locked for this process until :meth:`close`.

        Parameters
        ----------
        interval
            Follow the logs with one batch per interval, such as ``"10 seconds"``; None: end once everything
            that exists now is in the lake.

        Raises
        ------
        UsageError
            The folder cannot be used for a lake, or is locked by another process.
        """
        from binlog_kaitai.spark.formats import check_format

        check_format(spark, self.job.format)
        self.lake.open()
        try:
            is_new = self.lake.newest() is None
            keep_rules(self.lake.folder / PRIVATE / "rules.json", self.job.rules, is_new=is_new)
        except UsageError:
            self.lake.close()
            raise
        register_source(spark, LakeDataSource)
        context = getattr(spark, "_sc", None)  # a client of Spark Connect has none
        at_once = context.defaultParallelism if context else 1
        following = replace(self.job.following, at_once=at_once, limits_first_batch=True)
        if (snapshot := self._snapshot()) is not None:
            starting = {"file": snapshot.log, "position": snapshot.position}
            following = replace(following, starting=starting, ddl=following.ddl or snapshot.ddl)
        ends_itself = interval is None and not limits.ASKED_BY_SPARK
        if ends_itself:
            following = replace(following, until=Follower(following.paths).end())
        job = replace(self.job, following=following)
        stream = spark.readStream.format(_FORMAT).option("job", job.as_json()).load()
        writer = stream.writeStream.foreachBatch(self._take)
        writer = writer.option("checkpointLocation", str(self.lake.checkpoint.absolute()))
        if interval is None and not ends_itself:
            return writer.trigger(availableNow=True).start()
        query = writer.trigger(processingTime=interval or "0 seconds").start()
        if ends_itself:
            Thread(target=_stop_at_end, args=(query,), daemon=True).start()
        return query

    def _snapshot(self) -> Snapshot | None:
        """The snapshot that the lake begins with; a new lake takes it now.

        Until the first batch is decided, the lake is empty: it contains the snapshot, and the first changes.
        """
        from binlog_kaitai.core.filters import TableSet
        from binlog_kaitai.lake.types import DIALECTS
        from binlog_kaitai.snapshot.server_snapshot import take_snapshot
        from binlog_kaitai.snapshot.snapshot_files import Snapshot

        job, folder = self.job, self.lake.snapshot
        found = Snapshot.load(folder)
        if found is not None and self.lake.newest() is None:
            found.check_rules(job.rules)
        if found is not None or not (job.snapshot_readers or job.dump):
            return found
        if self.lake.newest() is not None or any((self.lake.checkpoint / "offsets").glob("[0-9]*")):
            raise UsageError(f"{job.folder} was begun without a snapshot; use another directory")
        tables, dialect = TableSet.of(job.tables), DIALECTS[job.format]
        if job.dump is not None:
            from binlog_kaitai.snapshot import snapshot_of_dump
            from binlog_kaitai.spark.spooling import log_header

            return snapshot_of_dump(
                Path(job.dump),
                folder,
                tables=tables,
                dialect=dialect,
                zero_dates=job.zero_dates,
                rules=job.rules,
                header_of=lambda log: log_header(job.following, log),
                report=self.on_snapshot,
            )
        assert job.following.server is not None
        return take_snapshot(
            job.following.server,
            folder,
            tables=tables,
            dialect=dialect,
            zero_dates=job.zero_dates,
            readers=job.snapshot_readers,
            rules=job.rules,
            report=self.on_snapshot,
        )

    def close(self) -> None:
        self.lake.close()

    def _take(self, pieces: DataFrame, batch: int) -> None:
        begun = time.monotonic()
        found: list[dict[str, Any]] = []
        texts: list[str] = []
        if not self.lake.is_decided(batch):
            rows = sorted(pieces.collect(), key=lambda row: row["number"])
            found = [json.loads(row["piece"]) for row in rows]
            texts = [text for one in found for text in one.pop("warnings")]
            if batch == 0 and (snapshot := self._snapshot()) is not None:
                found.insert(0, snapshot.piece(self.lake.snapshot))
            if self.job.format == "delta":
                from binlog_kaitai.spark.formats import append_batch

                append_batch(pieces.sparkSession, self.lake, batch, found)
        record = self.lake.commit(batch, found)
        seconds = time.monotonic() - begun
        self.on_batch(record)
        if self.on_progress is not None:
            self.on_progress(Progress.of(record, seconds, self._meter.after(batch), texts))

    @cached_property
    def _meter(self) -> PipelineMeter:
        return PipelineMeter(self.job.following.paths, self.lake.checkpoint / "offsets")
