"""Applies the filters to all events of a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.line_arrays import Column, Pool


class Selection:
    """The filters, for the blocks of one file.

    Attributes
    ----------
    is_over : bool
        A stop position or time has been reached; no later event can match.
    limit : int
        In the last block, the number of the first event at or after a stop; otherwise the number of its
        events.
    has_names : bool
        The filters include schema or table names, see `takes_names`, which requires the bodies.
    """

    def __init__(self, filters: Filters, *, is_first: bool, is_last: bool, is_part: bool = False) -> None:
        self.is_over = False
        self.limit = 0
        # In a part, it is unknown whether an earlier event was past the stop time, so each event is tested
        # alone.
        self._is_part = is_part
        self.has_names = bool(filters.databases or filters.tables)
        self.takes_names = filters.takes_names
        self._filters = filters
        self._start = filters.start_position if is_first else None
        self._stop = filters.stop_position if is_last else None

    def of(self, block: Block, gtids: Column | None, pool: Pool) -> Any:
        """Which events match the filters on header and GTID, as a bool array."""
        filters, header = self._filters, block.header
        wanted = np.ones(len(block), dtype=np.bool_)
        self.limit = 0 if self.is_over else len(block)
        if self.is_over or not filters:
            return wanted & (not self.is_over)
        stop = np.zeros(len(block), dtype=np.bool_)
        if self._stop is not None:
            stop |= block.positions >= self._stop
        if filters.stop_timestamp is not None:
            late = header.numbers("timestamp") >= filters.stop_timestamp
            if self._is_part:
                wanted &= ~late
            else:
                stop |= late
        if stop.any():
            self.is_over = True
            self.limit = int(np.argmax(stop))
            wanted[self.limit :] = False
        if self._start is not None:
            wanted &= block.positions >= self._start
        if filters.start_timestamp is not None:
            wanted &= header.numbers("timestamp") >= filters.start_timestamp
        if filters.server_ids:
            wanted &= np.isin(header.numbers("server_id"), list(filters.server_ids))
        if filters.event_types:
            takes = np.array([type_name(kind) in filters.event_types for kind in range(256)])
            wanted &= takes[block.types]
        if filters.has_gtids:
            assert gtids is not None
            wanted &= self._by_gtid(gtids, pool)
        return wanted

    def _by_gtid(self, gtids: Column, pool: Pool) -> Any:
        offsets, which = np.unique(gtids.first, return_inverse=True)
        lengths = np.zeros(len(offsets), dtype=np.int64)
        lengths[which.reshape(-1)] = gtids.second
        takes = []
        for offset, length in zip(offsets.tolist(), lengths.tolist(), strict=True):
            text = pool.read(-offset - 1, length).decode()
            takes.append(self._filters.takes_gtid(None if text == "null" else text[1:-1]))
        return np.array(takes, dtype=np.bool_)[which.reshape(-1)]
