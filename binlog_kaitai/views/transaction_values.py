"""Aggregates values of events to values of transactions."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Array, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Segments


class Parts:
    """The transactions of a block, numbered, with aggregations of event values.

    Attributes
    ----------
    number_of : int64 array
        For each event, the number of its transaction, -1 outside of transactions.
    """

    def __init__(self, block: Block, segments: Segments) -> None:
        self._rows, self._starts = segments.rows, segments.starts
        self._count = len(segments.starts)
        self.number_of = np.full(len(block), -1, dtype=np.int64)
        lengths = np.diff(np.append(self._starts, len(self._rows)))
        self.number_of[self._rows] = np.repeat(np.arange(self._count), lengths)
        self._lengths = lengths

    def __len__(self) -> int:
        return self._count

    @property
    def first(self) -> Any:
        """First event of each transaction."""
        return self._rows[self._starts]

    @property
    def last(self) -> Any:
        """Last event of each transaction."""
        return self._rows[self._starts + self._lengths - 1]

    def part(self, begin: int, end: int) -> Segments:
        """A range of the transactions, for a block that begins at the first event of the first of them."""
        rows = self._rows[self._starts[begin] : self._starts[end - 1] + self._lengths[end - 1]]
        return Segments(rows - rows[0], self._starts[begin:end] - self._starts[begin], False, False)

    @property
    def lengths(self) -> Any:
        """Number of events of each transaction."""
        return self._lengths

    def sums(self, rows: Ints, values: Ints) -> Any:
        """Sum over the events of each transaction, of values that only the events `rows` have."""
        numbers = self.number_of[rows]
        inside = numbers >= 0
        sums = np.bincount(numbers[inside], weights=values[inside], minlength=self._count)
        return sums.astype(np.int64)

    def least(self, values: Ints) -> Any:
        """Minimum of a value that all events have."""
        if not self._count:
            return self._starts
        rows = self._rows
        begin, end = int(rows[0]), int(rows[-1]) + 1
        # Usually all events belong to transactions, so no selection is needed.
        chosen = values[begin:end] if end - begin == len(rows) else values[rows]
        return np.minimum.reduceat(chosen, self._starts)

    def any(self, mask: Array) -> Any:
        """Whether any event of each transaction is in the mask, or in the list of event numbers."""
        out = np.zeros(self._count, dtype=np.bool_)
        numbers = self.number_of[mask]
        out[numbers[numbers >= 0]] = True
        return out

    def first_of(self, rows: Ints) -> Any:
        """Index in `rows` (ascending) of the first event of each transaction; -1 if it has none."""
        out = np.full(self._count, -1, dtype=np.int64)
        numbers = self.number_of[rows]
        inside = np.flatnonzero(numbers >= 0)[::-1]
        out[numbers[inside]] = inside
        return out

    def last_of(self, rows: Ints) -> Any:
        """Index in `rows` (ascending) of the last event of each transaction; -1 if it has none."""
        out = np.full(self._count, -1, dtype=np.int64)
        numbers = self.number_of[rows]
        inside = np.flatnonzero(numbers >= 0)
        out[numbers[inside]] = inside
        return out
