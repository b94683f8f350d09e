"""The result: totals, and tables that every output shows in its own way."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from binlog_kaitai.errors import BinlogError

if TYPE_CHECKING:
    from binlog_kaitai.reader.ends import End
    from binlog_kaitai.sources.source import Source
    from binlog_kaitai.statistics.timeline import Timeline


#: Names of the parts, in the order in which they are shown.
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
    """What the values of a column are."""

    TEXT = "text"
    LIST = "list"  # of texts
    SIZES = "sizes"  # bytes of each of a list
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
        As in JSON and for `--part`.
    title : str
        For people.
    columns : tuple of Column
    rows : list of tuple
        Values by column; None where there is none.
    left_out : int
        How many rows more there were.
    step : int
        Of a timeline, how many seconds a row stands for.
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
    """A transaction: its log, where it begins and ends there, in bytes, and how many events it has."""

    file: str
    position: int
    end_position: int
    events: int


@dataclass
class Stats:
    """What :func:`collect` gives.

    Attributes
    ----------
    sources : list of Source
        The logs, in order.
    totals : dict
        Numbers about everything, by name; see `totals` of `docs/cli.md`.
    parts : dict of Part
        By name, in the order in which they are shown.
    timeline : Timeline
        In the finest steps that were kept.
    notable : list of Place
        Transactions that are worth a closer look, the most notable first.
    formats : dict of list of int
        Where, in each log by its name, the format descriptions lie.
    ends : list of End
        How each log that was read to its end ended.
    error : BinlogError or None
        What ended the reading early; everything before it is counted.
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
        """All of it as JSON can hold it."""
        return {
            "files": [source.name for source in self.sources],
            "totals": self.totals,
            "step_seconds": self.parts["timeline"].step,
            **{name: part.objects() for name, part in self.parts.items()},
            "left_out": {name: part.left_out for name, part in self.parts.items() if part.left_out},
        }
