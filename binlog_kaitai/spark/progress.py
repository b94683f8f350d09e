"""The progress of a pipeline: what each batch loaded, how fast, and what remains."""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from binlog_kaitai.errors import BinlogError, writing_to
from binlog_kaitai.following import Checkpoint, Follower
from binlog_kaitai.following.backlog import Backlog, BacklogMeter
from binlog_kaitai.following.effects import LOGGED_AS_TEXT, Kind
from binlog_kaitai.live.metrics import MetricsFile
from binlog_kaitai.spark.stream import checkpoint_of

_PREFIX = "binlog_kaitai_pipeline_"
_METRICS = {
    "batches_total": ("counter", "Batches loaded since the start."),
    "rows_total": ("counter", "Rows written since the start, by table of the lake."),
    "bytes_total": ("counter", "Bytes of logs loaded since the start."),
    "damaged_ranges_total": ("counter", "Ranges of logs that could not be read, since the start."),
    "batch": ("gauge", "Number of the last batch."),
    "batch_seconds": ("gauge", "Time that the last batch took, from its tasks to its commit."),
    "batch_timestamp_seconds": ("gauge", "When the last batch was in the lake, in seconds since 1970."),
    "logs_behind": ("gauge", "Logs with bytes that the lake lacks, after the last batch."),
    "bytes_behind": ("gauge", "Bytes of logs that the lake lacks, after the last batch."),
    "gtids_behind": ("gauge", "Transactions with GTIDs that the lake lacks, after the last batch."),
    "seconds_behind": ("gauge", "Time from the first event that the lake lacks to the newest event."),
}


@dataclass(frozen=True)
class Progress:
    """One batch.

    Attributes
    ----------
    batch : int
        Its number.
    rows : dict of str to int
        Rows by table of the lake: ``events``, ``changes/shop.orders`` and so on.
    bytes : int
        Bytes of the logs.
    seconds : float
        From the start of its tasks to its commit.
    damaged_ranges : int
        Ranges of the logs that could not be read.
    backlog : Backlog or None
        What remains; None if the logs cannot be listed.
    warnings : tuple of str
        What the user should know about the rows.
    tables : frozenset of str
        Tables with changes, by their names on the server.
    """

    batch: int
    rows: dict[str, int]
    bytes: int
    seconds: float
    damaged_ranges: int
    backlog: Backlog | None
    warnings: tuple[str, ...] = ()
    tables: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, record: Mapping[str, Any], seconds: float, backlog: Backlog | None, texts: Iterable[str] = ()
    ) -> Progress:
        """The progress that the record of a batch describes, with the warnings of its tasks."""
        rows: Counter[str] = Counter()
        for file in record["files"]:
            rows[os.path.dirname(os.path.dirname(file["to"]))] += file["rows"]
        for piece in record["pieces"]:
            rows.update(piece.get("rows", {}))
        sources = [piece["source"] for piece in record["pieces"] if "source" in piece]
        return cls(
            record["batch"],
            dict(sorted(rows.items())),
            sum(one["end"] - one["start"] for one in sources),
            seconds,
            sum(piece.get("damaged_ranges", 0) for piece in record["pieces"]),
            backlog,
            tuple(dict.fromkeys((*texts, *_logged_as_text(record)))),
            frozenset(name for piece in record["pieces"] for name in piece["keys"]),
        )

    def line(self) -> str:
        """One line for people."""
        rate = f" ({size_text(self.bytes / self.seconds)}/s)" if self.seconds > 0 else ""
        found = f"batch {self.batch}: {sum(self.rows.values()):,} rows of {len(self.rows)} tables, "
        found += f"{size_text(self.bytes)} in {self.seconds:.1f} s{rate}"
        if self.damaged_ranges:
            found += f", {self.damaged_ranges} damaged ranges"
        return found if self.backlog is None else f"{found}; {_backlog_text(self.backlog)}"

    def as_json(self) -> str:
        """One line for programs."""
        found = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **asdict(self)}
        found["seconds"] = round(self.seconds, 3)
        del found["tables"]
        backlog = found.pop("backlog") or {}
        return json.dumps(found | {f"{name}_behind": value for name, value in backlog.items()})


class ProgressFiles:
    """Files that report each batch.

    Parameters
    ----------
    lines
        Gets a line of JSON for each batch, appended.
    metrics
        Has metrics in Prometheus' text format, replaced after each batch.

    Raises
    ------
    UsageError
        The package `prometheus_client` is missing.
    """

    def __init__(self, lines: Path | None = None, metrics: Path | None = None) -> None:
        self._lines = lines
        self._metrics = None if metrics is None else MetricsFile(metrics, _PREFIX, _METRICS)
        self._rows: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()

    def take(self, progress: Progress) -> None:
        """Report a batch.

        Raises
        ------
        SourceError
            A file cannot be written.
        """
        if self._lines is not None:
            with writing_to(str(self._lines)), self._lines.open("a", encoding="utf-8") as file:
                file.write(f"{progress.as_json()}\n")
        if self._metrics is not None:
            self._metrics.write(self._values(progress))

    def _values(self, progress: Progress) -> dict[str, float | Mapping[str, float]]:
        self._rows.update(progress.rows)
        self._totals["batches_total"] += 1
        self._totals["bytes_total"] += progress.bytes
        self._totals["damaged_ranges_total"] += progress.damaged_ranges
        values: dict[str, float | Mapping[str, float]] = {
            **self._totals,
            "rows_total": self._rows,
            "batch": progress.batch,
            "batch_seconds": progress.seconds,
            "batch_timestamp_seconds": time.time(),
        }
        for name in ("logs", "bytes", "gtids", "seconds"):
            behind = getattr(progress.backlog, name, None)
            values[f"{name}_behind"] = math.nan if behind is None else behind
        return values


class PipelineMeter:
    """Measures what remains after a batch of a pipeline."""

    def __init__(self, paths: tuple[str, ...], offsets: Path) -> None:
        self._meter = BacklogMeter(Follower(paths))
        self._offsets = offsets

    def after(self, batch: int) -> Backlog | None:
        """The backlog after a batch; None if it is unknown, which must not end the pipeline."""
        with suppress(OSError, ValueError, BinlogError):
            return self._meter.after(offset_of(self._offsets / str(batch)))
        return None


def offset_of(path: Path) -> Checkpoint:
    """The end of a batch, from the file in which Spark stores it before the batch starts.

    Raises
    ------
    OSError, ValueError
        The file does not exist or has another form.
    """
    return checkpoint_of(json.loads(path.read_text(encoding="utf-8").splitlines()[-1]))


def _logged_as_text(record: Mapping[str, Any]) -> Iterator[str]:
    for piece in record["pieces"]:
        for one in piece["table_effects"]:
            if one["kind"] == Kind.UNCLEAR and one["reason"] == LOGGED_AS_TEXT:
                table = f"{one['schema_name']}.{one['table_name']}"
                yield f"{table}: {one['reason']}, so they are missing from its changes"


def size_text(size: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def _backlog_text(backlog: Backlog) -> str:
    if not backlog.bytes:
        return "up to date"
    parts = [size_text(backlog.bytes)]
    if backlog.gtids is not None:
        parts.append(f"{backlog.gtids:,} transactions")
    if backlog.seconds is not None:
        parts.append(f"{backlog.seconds:,} s")
    return f"{', '.join(parts)} behind"
