"""The result: totals, and tables that each output format presents in its own way."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from binlog_kaitai.errors import BinlogError

if TYPE_CHECKING:
    from binlog_kaitai.log.log_end import End
    from binlog_kaitai.sources.source import Source
    from binlog_kaitai.statistics.timeline import Timeline


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


class Kind(Enum):
    """Kinds of column values."""

    TEXT = "text"
    LIST = "list"  # strings
    SIZES = "sizes"  # bytes for each item of a list
    NUMBER = "number"
    BYTES = "bytes"
    TIME = "time"  # seconds since 1970-01-01 UTC
    SECONDS = "seconds"  # int or float
    RATIO = "ratio"


class Column(NamedTuple):
    """One column of a part."""

    name: str
    kind: Kind


class Part(NamedTuple):
    """One table of the statistics.

    Attributes
    ----------
    name : str
        Name in JSON and for `--part`.
    title : str
        Display title.
    columns : tuple of Column
    rows : list of tuple
        Values by column; None for missing ones.
    left_out : int
        How many more rows there were.
    step : int
        For a timeline, how many seconds each row covers.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]
    left_out: int = 0
    step: int = 0

    def objects(self) -> list[dict[str, Any]]:
        """The rows as JSON objects."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class Place(NamedTuple):
    """A transaction: its log, its start and end position in bytes, and its number of events."""

    file: str
    position: int
    end_position: int
    events: int


@dataclass
class Stats:
    """The result of :func:`stats`.

    Attributes
    ----------
    sources : list of Source
        The logs, in order.
    totals : dict
        Overall figures, by name; see `totals` of `docs/cli.md`.
    parts : dict of Part
        By name, in display order.
    timeline : Timeline
        In the finest steps available.
    notable : list of Place
        Transactions worth a closer look, most notable first.
    formats : dict of list of int
        Positions of the format description events, by log name.
    ends : list of End
        The ends of the logs that were read completely.
    error : BinlogError or None
        The error that ended reading early; everything before it is counted.
    """

    sources: list[Source]
    totals: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    timeline: Timeline | None = None
    notable: list[Place] = field(default_factory=list)
    formats: dict[str, list[int]] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)
    error: BinlogError | None = None

    def to_object(self) -> dict[str, Any]:
        """The complete result in a form that JSON can represent."""
        return {
            "files": [source.name for source in self.sources],
            "totals": self.totals,
            "step_seconds": self.parts["timeline"].step,
            **{name: part.objects() for name, part in self.parts.items()},
            "left_out": {name: part.left_out for name, part in self.parts.items() if part.left_out},
        }
