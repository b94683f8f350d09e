"""The progress of a pipeline: what each batch loaded, how fast, and what remains."""

from __future__ import annotations

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from binlog_kaitai.errors import writing_to
from binlog_kaitai.following.backlog import Backlog
from binlog_kaitai.following.effects import LOGGED_AS_TEXT, EffectKind
from binlog_kaitai.following.metrics_file import MetricsFile
from binlog_kaitai.lake.batches import Piece
from binlog_kaitai.lake.files import rows_by_table

_PREFIX = "binlog_kaitai_pipeline_"
_METRICS = {
    "up": ("gauge", "0 after a failure until the next batch, else 1."),
    "batches_total": ("counter", "Batches loaded since the start."),
    "rows_total": ("counter", "Rows written since the start, by table of the lake."),
    "bytes_total": ("counter", "Bytes of logs loaded since the start."),
    "damaged_ranges_total": ("counter", "Ranges of logs that could not be read, since the start."),
    "batch": ("gauge", "Number of the last batch."),
    "batch_seconds": ("gauge", "Time that the last batch took, from its tasks to its commit."),
    "batch_timestamp_seconds": ("gauge", "When the last batch was in the lake, in seconds since 1970."),
    "state_refused": (
        "gauge",
        "1 for each table of the lake whose state is outdated: its changes do not tell it.",
    ),
    "state_refused_timestamp_seconds": ("gauge", "Since when the state of these tables is outdated."),
    "logs_behind": ("gauge", "Logs with bytes that the lake lacks, after the last batch."),
    "bytes_behind": ("gauge", "Bytes of logs that the lake lacks, after the last batch."),
    "gtids_behind": ("gauge", "Transactions with GTIDs that the lake lacks, after the last batch."),
    "seconds_behind": ("gauge", "Time from the first event that the lake lacks to the newest event."),
}


@dataclass(frozen=True)
class Progress:
    """One batch.

    `batch`: its number.
    `rows`: rows by table of the lake: ``events``, ``changes/shop.orders`` and so on.
    `bytes`: bytes of the logs.
    `seconds`: from the start of its tasks to its commit.
    `damaged_ranges`: ranges of the logs that could not be read.
    `backlog`: what remains; None if the logs cannot be listed.
    `warnings`: what the user should know about the rows.
    `tables`: tables with changes, by their names on the server.
    `is_recovered`: an earlier run had begun the batch.
    `source`: with several sources: the name of this one.
    `state_refused`: tables whose state is outdated after the batch, with reasons.
    `state_refused_since`: since when, in ISO 8601.
    """

    batch: int
    rows: dict[str, int]
    bytes: int
    seconds: float
    damaged_ranges: int
    backlog: Backlog | None
    warnings: tuple[str, ...] = ()
    tables: frozenset[str] = frozenset()
    is_recovered: bool = False
    source: str = ""
    state_refused: Mapping[str, str] = field(default_factory=dict)
    state_refused_since: Mapping[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """One line for people."""
        text = f"{self.source}: " if self.source else ""
        text += f"batch {self.batch}: {sum(self.rows.values()):,} rows of {len(self.rows)} tables, "
        text += size_text(self.bytes)
        if self.is_recovered:
            text += ", recovered"
        elif self.seconds > 0:
            text += f" in {self.seconds:.1f} s ({size_text(self.bytes / self.seconds)}/s)"
        if self.damaged_ranges:
            text += f", {self.damaged_ranges} damaged ranges"
        return text if self.backlog is None else f"{text}; {_backlog_text(self.backlog)}"

    def as_json(self) -> str:
        """One line for programs."""
        fields = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **asdict(self)}
        fields["seconds"] = round(self.seconds, 3)
        fields["warnings"] = [
            *self.warnings,
            *(f"state/{table}: {why}" for table, why in self.state_refused.items()),
        ]
        del fields["tables"]
        if not self.source:
            del fields["source"]
        backlog = fields.pop("backlog") or {}
        return json.dumps(fields | {f"{name}_behind": value for name, value in backlog.items()})


class ProgressFiles:
    """Files that report each batch, of one source or of several in their threads.

    `lines`: gets a line of JSON for each batch, appended.
    `metrics`: has metrics in Prometheus' text format, replaced after each batch.
    Raises `UsageError`: the package `prometheus_client` is missing.
    """

    def __init__(self, lines: Path | None = None, metrics: Path | None = None) -> None:
        self._lines = lines
        self._metrics = None if metrics is None else MetricsFile(metrics, _PREFIX, _METRICS)
        self._rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._writing = Lock()

    def take(self, progress: Progress) -> None:
        """Report a batch.

        Raises `SourceError`: a file cannot be written.
        """
        with self._writing:
            if self._lines is not None:
                with writing_to(str(self._lines)), self._lines.open("a", encoding="utf-8") as file:
                    file.write(f"{progress.as_json()}\n")
            if self._metrics is not None:
                self._metrics.write(self._values(progress), progress.source)

    def take_failure(self, source: str) -> None:
        """Report that a source cannot be loaded."""
        with self._writing:
            if self._metrics is not None:
                self._metrics.write({**self._metrics.values(source), "up": 0}, source)

    def _values(self, progress: Progress) -> dict[str, float | Mapping[str, float]]:
        rows, totals = self._rows[progress.source], self._totals[progress.source]
        rows.update(progress.rows)
        totals["batches_total"] += 1
        totals["bytes_total"] += progress.bytes
        totals["damaged_ranges_total"] += progress.damaged_ranges
        values: dict[str, float | Mapping[str, float]] = {
            **totals,
            "up": 1,
            "rows_total": rows,
            "state_refused": dict.fromkeys(progress.state_refused, 1),
            "state_refused_timestamp_seconds": {
                table: datetime.fromisoformat(since).timestamp()
                for table, since in progress.state_refused_since.items()
            },
            "batch": progress.batch,
            "batch_seconds": progress.seconds,
            "batch_timestamp_seconds": time.time(),
        }
        for name in ("logs", "bytes", "gtids", "seconds"):
            behind = getattr(progress.backlog, name, None)
            values[f"{name}_behind"] = math.nan if behind is None else behind
        return values


def progress_of(
    batch: int,
    pieces: Sequence[Piece],
    seconds: float,
    backlog: Backlog | None,
    *,
    is_recovered: bool = False,
) -> Progress:
    """The progress that a batch made."""
    texts = [text for piece in pieces for text in (*piece.warnings, *_not_logged(piece))]
    return Progress(
        batch,
        rows_by_table(file for piece in pieces for file in piece.files),
        sum(piece.end - piece.start for piece in pieces),
        seconds,
        sum(piece.damaged_ranges for piece in pieces),
        backlog,
        tuple(dict.fromkeys(texts)),
        frozenset(".".join(table) for piece in pieces for table in piece.tables),
        is_recovered,
    )


def _not_logged(piece: Piece) -> Iterator[str]:
    for fact in piece.effects:
        if fact.kind == EffectKind.UNCLEAR and fact.reason == LOGGED_AS_TEXT:
            yield f"{fact.schema_name}.{fact.table_name}: {fact.reason}, so they are missing from its changes"
        elif fact.kind == EffectKind.UNCLEAR and not fact.table_name:
            yield f"{piece.log}, position {fact.position}: {fact.reason}"


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
