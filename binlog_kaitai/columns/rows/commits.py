"""When the transaction that each event belongs to was committed, for a block at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.gather import Gathered
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import EventType
from binlog_kaitai.transactions import BETWEEN, GTID_TYPES

_SECOND = 1_000_000


class CommitTimes:
    """Makes the column of commit times of one block after another of the same file.

    A GTID event of MySQL from 8.0.1 on has the time of the commit on the server where it was made. Elsewhere
    it is the time in the header of the GTID event, and without GTID events that of the event itself.
    """

    def __init__(self) -> None:
        self._last = -1

    def column(self, block: Block) -> Any:
        """Microseconds since 1970-01-01 UTC for each event, int64."""
        own = np.array(block.header["timestamp"], dtype=np.int64) * _SECOND
        times = np.full(len(block), -1, dtype=np.int64)
        is_marker = np.zeros(len(block), dtype=np.bool_)
        for kind in block.kinds:
            if kind in BETWEEN or kind in GTID_TYPES:
                rows = block.rows_of(kind)
                is_marker[rows] = True
                if kind in GTID_TYPES:
                    times[rows] = _times(block, kind, rows, own[rows])
        marker = np.maximum.accumulate(np.where(is_marker, np.arange(len(block)), -1))
        found = np.where(marker >= 0, times[marker], self._last)
        if len(found):
            self._last = int(found[-1])
        return np.where(found >= 0, found, own)


def _times(block: Block, kind: int, rows: Any, own: Any) -> Any:
    if kind == EventType.gtid_tagged_log_event:
        return np.array([_tagged(block, row) for row in rows.tolist()], dtype=np.int64)
    body = block.body(kind)
    if "has_commit_timestamps" not in body:
        return own
    immediate, original = _joined(body, "immediate"), _joined(body, "original")
    has_any = np.asarray(body["has_commit_timestamps"])
    has_original = np.asarray(body["has_original_commit_timestamp"])
    # The top bit tells that the original time follows.
    times = np.where(has_original, original, immediate) & ((1 << 55) - 1)
    return np.where(has_any & (times > 0), times, own)


def _joined(body: Gathered, which: str) -> Any:
    low, middle, high = (
        body.numbers(f"{which}_commit_timestamp_{part}") for part in ("low", "middle", "high")
    )
    return low | middle << 32 | high << 48


def _tagged(block: Block, row: int) -> int:
    try:
        body: Any = block.event(row).body
        return int(body.original_commit_timestamp or body.immediate_commit_timestamp)
    except (BinlogError, AttributeError, TypeError):
        return -1  # an event that cannot be read is told as such
