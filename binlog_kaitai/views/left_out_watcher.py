"""Observes the events of transactions while they are read."""

from __future__ import annotations

from collections.abc import Callable

from binlog_kaitai.log.log_end import End
from binlog_kaitai.rows.rolled_back_rows import LeftOut
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.transaction_pages import TransactionsPage


class Watcher:
    """Observes, besides the transactions, all events that they consist of; the base class does nothing.

    Attributes
    ----------
    left_out : LeftOut or None
        Finds the events that were rolled back (`Block.rolled_back`) before they are seen.
    """

    left_out: LeftOut | None = None

    def begin(self, source: Source, *, is_first: bool, is_last: bool) -> None:
        """Called before a log is read."""

    def see(self, page: TransactionsPage) -> None:
        """Called with the next events, before the transactions that end in them."""

    def end(self, end: End) -> None:
        """Called at the end of a log."""


class Progress(Watcher):
    """Reports the position after each page, and how each log ended."""

    def __init__(self, progress: Callable[[Source, int], object], ends: list[End] | None = None) -> None:
        self._progress, self._ends = progress, [] if ends is None else ends

    def begin(self, source: Source, *, is_first: bool, is_last: bool) -> None:
        self._source = source

    def see(self, page: TransactionsPage) -> None:
        self._progress(self._source, int(page.block.end_positions[-1]))

    def end(self, end: End) -> None:
        self._ends.append(end)
