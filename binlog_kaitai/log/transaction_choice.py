"""Applies the filters to transactions, a batch at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import Filters


class Choice:
    """The filters, for the transactions of one file.

    Attributes
    ----------
    is_over : bool
        No further transactions of this file, or of the following files, can match.
    """

    def __init__(self, filters: Filters, *, is_first: bool, is_last: bool, is_part: bool) -> None:
        self.is_over = False
        self._is_part = is_part  # see `Selection`
        self._filters = filters
        self._has_filters = bool(filters)
        self._start = filters.start_position if is_first else None
        self._stop = filters.stop_position if is_last else None

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The transactions that match."""
        if not self._has_filters:
            return batch
        takes = self._takes_moments(batch)
        filters = self._filters
        if filters.server_ids:
            takes &= np.isin(batch.column("server_id").to_numpy(), sorted(filters.server_ids))
        if filters.event_types:
            takes &= batch.column("has_type").to_numpy(zero_copy_only=False)
        if filters.databases or filters.tables:
            takes &= self._takes_names(batch)
        if filters.has_gtids:
            rows = np.flatnonzero(takes)
            gtids = batch.column("gtid").take(pa.array(rows)).to_pylist()
            takes[rows] = [filters.takes_gtid(gtid) for gtid in gtids]
        return batch.filter(pa.array(takes))

    def _takes_moments(self, batch: pa.RecordBatch) -> Any:
        """Which transactions match by the position and time of their beginning."""
        filters = self._filters
        positions, starts = (batch.column(name).to_numpy() for name in ("position", "start"))
        takes = np.ones(len(batch), dtype=np.bool_)
        is_after = np.zeros(len(batch), dtype=np.bool_)
        if self._stop is not None:
            is_after |= positions >= self._stop
        if filters.stop_timestamp is not None:
            takes &= starts < filters.stop_timestamp
            is_after |= ~takes & (not self._is_part)
        if self.is_over or is_after.any():
            # After the first of these, nothing can match.
            takes[0 if self.is_over else int(np.argmax(is_after)) :] = False
            self.is_over = True
        if self._start is not None:
            takes &= positions >= self._start
        if filters.start_timestamp is not None:
            takes &= starts >= filters.start_timestamp
        return takes

    def _takes_names(self, batch: pa.RecordBatch) -> Any:
        """Which transactions change one of the tables, or have the default database."""
        databases, tables = self._filters.databases, self._filters.tables
        lists = batch.column("tables")
        names = lists.flatten().dictionary_encode()
        takes_name = [
            (not tables or name in tables)
            and (not databases or any(name.startswith(f"{database}.") for database in databases))
            for name in names.dictionary.to_pylist()
        ]
        takes = np.zeros(len(batch), dtype=np.bool_)
        chosen = np.array(takes_name, dtype=np.bool_)[names.indices.to_numpy()]
        takes[lists.value_parent_indices().to_numpy()[chosen]] = True
        if not tables:
            has_schema = pc.is_in(batch.column("schema"), pa.array(sorted(databases)))
            takes |= pc.fill_null(has_schema, False).to_numpy(zero_copy_only=False)
        return takes
