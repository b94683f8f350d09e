"""Sums over time, in steps as fine as their number allows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from html import escape
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Ints
from binlog_kaitai.text.moment_texts import on_local_clocks
from binlog_kaitai.text.notebook import html_table

if TYPE_CHECKING:
    from binlog_kaitai.log.log_end import End
    from binlog_kaitai.sources.source import Source

#: Step lengths, in seconds. With the last one, all times that a header can hold need only a few steps.
WIDTHS = (1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 28 * 86400, 364 * 86400, 3640 * 86400)

#: Above this number, steps are merged into wider ones.
MAX_STEPS = 4096


class Timeline:
    """Sums of several values by time.

    `width`: length of a step in seconds.
    `starts`: start of each nonempty step, in seconds since 1970-01-01 UTC, ascending.
    """

    def __init__(self, values: int) -> None:
        self.width = WIDTHS[0]
        self.starts = np.zeros(0, dtype=np.int64)
        self.sums = np.zeros((0, values), dtype=np.int64)
        self._lock = Lock()

    def add(self, times: Ints, columns: dict[int, Array]) -> None:
        """Add values by column index; a time of 0 means unknown and is skipped.

        Threads may add in any order.
        """
        has_time = times > 0
        if not has_time.all():
            times = times[has_time]
            columns = {number: values[has_time] for number, values in columns.items()}
        if not len(times):
            return
        with self._lock:
            self._add(times, columns)

    def _add(self, times: Ints, columns: dict[int, Array]) -> None:
        starts, which, count = self._steps(times)
        sums = np.zeros((count, self.sums.shape[1]), dtype=np.int64)
        for number, values in columns.items():
            # Sums of a block are far below 2^53.
            sums[:, number] = np.bincount(which, weights=values, minlength=count)
        used = np.flatnonzero(np.bincount(which, minlength=count))
        self._merge(np.concatenate((self.starts, starts[used])), np.concatenate((self.sums, sums[used])))
        while len(self.starts) > MAX_STEPS and self.width < WIDTHS[-1]:
            self.widen(WIDTHS[WIDTHS.index(self.width) + 1])

    def _steps(self, times: Ints) -> tuple[Ints, Ints, int]:
        """The starts of steps, the step index of each time, and the number of steps."""
        numbers = times // self.width
        least, span = int(numbers.min()), int(np.ptp(numbers)) + 1
        if span <= len(times):
            # Most blocks cover a short time, which makes sorting unnecessary.
            return (least + np.arange(span)) * self.width, numbers - least, span
        steps, which = np.unique(numbers, return_inverse=True)
        return steps * self.width, which.reshape(-1), len(steps)

    def widen(self, width: int) -> None:
        """Switch to a longer step."""
        self.width = width
        self._merge(self.starts // width * width, self.sums)

    def wider(self, width: int) -> Timeline:
        """A copy with a longer step: of local hours and days, unless the steps are too long for that."""
        copy = Timeline(self.sums.shape[1])
        copy.starts, copy.sums = self.starts, self.sums
        if width > self.width and 3600 % self.width == 0:
            copy.width = width
            copy._merge(local_steps(self.starts, width), self.sums)
        else:
            copy.widen(max(width, self.width))
        return copy

    def _merge(self, starts: Ints, sums: Ints) -> None:
        order = np.argsort(starts, kind="stable")
        starts, sums = starts[order], sums[order]
        firsts = np.flatnonzero(np.diff(starts, prepend=-1))
        self.starts = starts[firsts]
        self.sums = np.add.reduceat(sums, firsts, axis=0) if len(firsts) else sums


def local_steps(times: Ints, step: int) -> Ints:
    """For each time, the start of its step, which divides local days."""
    local = on_local_clocks(times)
    return local // step * step - (local - times)


def width_for(timeline: Timeline, most: int) -> int:
    """The shortest step that covers the span in at most the given number of steps."""
    if not len(timeline.starts):
        return timeline.width
    span = int(timeline.starts[-1] - timeline.starts[0]) + timeline.width
    fitting = [width for width in WIDTHS if width >= timeline.width and -(-span // width) < most]
    return fitting[0] if fitting else WIDTHS[-1]


#: Names of the parts, in display order.
PART_NAMES = (
    "tables",
    "timeline",
    "biggest",
    "longest",
    "most_rows",
    "by_table",
    "no_primary_key",
    "threads",
    "gaps",
    "sizes",
    "statements",
    "definitions",
    "event_types",
    "servers",
    "gtid_sources",
)


class StatsKind(Enum):
    """Kinds of column values."""

    TEXT = "text"
    LIST = "list"  # strings
    SIZES = "sizes"  # bytes for each item of a list
    NUMBER = "number"
    BYTES = "bytes"
    TIME = "time"  # seconds since 1970-01-01 UTC
    SECONDS = "seconds"  # int or float
    RATIO = "ratio"


class StatsColumn(NamedTuple):
    """One column of a part."""

    name: str
    kind: StatsKind


#: A value of a `StatsKind`, and the values of a row, one for each column.
StatsValue = Any
TableRow = tuple[StatsValue, ...]


class StatsTable(NamedTuple):
    """One table of the statistics.

    `name`: name in JSON and for `--part`.
    `title`: display title.
    `columns`: tuple of StatsColumn
    `rows`: values by column; None for missing ones.
    `left_out`: how many more rows there were.
    `step`: for a timeline, how many seconds each row covers.
    """

    name: str
    title: str
    columns: tuple[StatsColumn, ...]
    rows: list[TableRow]
    left_out: int = 0
    step: int = 0

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.columns)
        count = len(self.rows) + self.left_out
        return f"<StatsTable {self.name}: {count:,} row{'s' * (count != 1)} of {names}>"

    def _repr_html_(self) -> str:
        kinds = [column.kind for column in self.columns]
        rows = ([_shown(*cell) for cell in zip(row, kinds, strict=True)] for row in self.rows)
        return html_table(self.title, [column.name for column in self.columns], rows)

    def objects(self) -> list[dict[str, StatsValue]]:
        """The rows as JSON objects."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


def _shown(value: Any, kind: StatsKind) -> str:
    if value is None:
        return ""
    if kind is StatsKind.TIME:
        return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S}"
    if kind in (StatsKind.NUMBER, StatsKind.BYTES):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


class TransactionPlace(NamedTuple):
    """A transaction: its log, its start and end position in bytes, and its number of events."""

    file: str
    position: int
    end_position: int
    events: int


#: The totals that a `repr` shows.
_COUNTS = ("bytes", "events", "transactions", "rows_inserted", "rows_updated", "rows_deleted")


@dataclass(repr=False)
class Stats:
    """The result of :func:`stats`.

    Attributes
    ----------
    sources : list of Source
        The logs, in order.
    totals : dict
        Overall figures, by name; see `totals` of `docs/cli.md`.
    parts : dict of StatsTable
        By name, in display order.
    timeline : Timeline
        In the finest steps available.
    notable : list of TransactionPlace
        Transactions worth a closer look, most notable first.
    formats : dict of list of int
        Positions of the format description events, by log name.
    ends : list of End
        The ends of the logs that were read completely.
    error : BinlogError or None
        The error that ended reading early; everything before it is counted.
    """

    sources: list[Source]
    totals: dict[str, StatsValue] = field(default_factory=dict)
    parts: dict[str, StatsTable] = field(default_factory=dict)
    timeline: Timeline | None = None
    notable: list[TransactionPlace] = field(default_factory=list)
    formats: dict[str, list[int]] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)
    error: BinlogError | None = None

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.totals.get(name, 0):,} {name.replace('_', ' ')}" for name in _COUNTS)
        files = f"{len(self.sources)} log{'s' * (len(self.sources) != 1)}"
        error = f", then {self.error!r}" if self.error else ""
        return f"<Stats of {files}: {counts}{error}>"

    def _repr_html_(self) -> str:
        tables = (part._repr_html_() for part in self.parts.values() if part.rows)
        return "".join((f"<p>{escape(repr(self)[1:-1])}</p>", *tables))

    def to_object(self) -> dict[str, object]:
        """The complete result in a form that JSON can represent."""
        return {
            "files": [source.name for source in self.sources],
            "totals": self.totals,
            "step_seconds": self.parts["timeline"].step,
            **{name: part.objects() for name, part in self.parts.items()},
            "left_out": {name: part.left_out for name, part in self.parts.items() if part.left_out},
        }
