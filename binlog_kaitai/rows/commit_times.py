"""Commit time of each event's transaction, one block at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Markers
from binlog_kaitai.log.gather import Gathered

_SECOND = 1_000_000


class CommitTimes:
    """Computes the column of commit times for consecutive blocks of a file.

    Since MySQL 8.0.1, a GTID event contains the commit time on the originating server. In other logs, the
    commit time is the header time of the GTID event, or, without GTID events, of the event itself.
    """

    def __init__(self) -> None:
        self._last = -1

    def column(self, block: Block, markers: Markers | None = None) -> Any:
        """Microseconds since 1970-01-01 UTC for each event, int64."""
        markers = Markers.of(block) if markers is None else markers
        return each_time(block, markers, *self.of_markers(block, markers))

    def of_markers(self, block: Block, markers: Markers) -> tuple[Any, int]:
        """Time of each marker, and the time before the first; -1 where no GTID event gives one."""
        times, before = np.full(len(markers.rows), -1, dtype=np.int64), self._last
        for kind in block.kinds:
            if kind in GTID_TYPES:
                rows = block.rows_of(kind)
                times[markers.latest[rows]] = _times(block, kind, rows)
        self._last = int(times[-1]) if len(times) else before
        return times, before


def each_time(block: Block, markers: Markers, times: Ints, before: int) -> Any:
    """Time of each event, from the markers or else from its own header."""
    found = markers.spread(times, before)
    is_none = found < 0
    if is_none.any():
        found[is_none] = _own(block, np.flatnonzero(is_none))
    return found


def _own(block: Block, rows: Ints) -> Any:
    return block.header_of(rows).numbers("timestamp").astype(np.int64) * _SECOND


def _times(block: Block, kind: int, rows: Ints) -> Any:
    body = block.body(kind)
    if kind == EventType.gtid_tagged_log_event:
        times = _own_or_immediate(body)
        for index in np.flatnonzero(~body.matches).tolist():
            times[index] = _tagged(block, int(rows[index]))
        return times
    if "has_commit_timestamps" not in body or not np.any(body["has_commit_timestamps"]):
        return _own(block, rows)
    times = _joined(body, "immediate")
    if np.any(has_original := body["has_original_commit_timestamp"]):
        times = np.where(has_original, _joined(body, "original"), times)
    # The top bit indicates that the original time follows.
    times &= (1 << 55) - 1
    has_any = body["has_commit_timestamps"] & (times > 0)
    return times if has_any.all() else np.where(has_any, times, _own(block, rows))


def _joined(body: Gathered, which: str) -> Any:
    low, middle, high = (
        body.numbers(f"{which}_commit_timestamp_{part}") for part in ("low", "middle", "high")
    )
    return low | middle << 32 | high << 48


def _own_or_immediate(body: Gathered) -> Any:
    times = body.numbers("original_commit_timestamp").astype(np.int64)
    return np.where(times != 0, times, body.numbers("immediate_commit_timestamp"))


def _tagged(block: Block, row: int) -> int:
    try:
        body: Any = block.event(row).body
        return int(body.original_commit_timestamp or body.immediate_commit_timestamp)
    except (BinlogError, AttributeError, TypeError):
        return -1  # an invalid event raises its error when it is decoded
