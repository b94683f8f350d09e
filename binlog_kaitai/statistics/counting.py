"""The counting pass over the logs, and its results as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.options import takes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.read_options import EventOptions, Reading
from binlog_kaitai.rows.event_filters import EventSelection
from binlog_kaitai.rows.rolled_back_rows import LeftOut
from binlog_kaitai.sources.source import Source, SourceLike
from binlog_kaitai.statistics.event_counts import TRANSACTIONS, EventCounts, chosen_events
from binlog_kaitai.statistics.stats_model import Stats
from binlog_kaitai.statistics.stats_tables import fill, table_times
from binlog_kaitai.statistics.transaction_counts import Figures, TransactionCounts
from binlog_kaitai.views.transaction_pages import (
    Finished,
    TransactionPages,
    TransactionSelection,
    TransactionsPage,
)
from binlog_kaitai.views.transactions_view import WITH_TABLE_BYTES, view_of

#: The cost of a block hardly depends on its length.
_BLOCK_SIZE = 32 << 20

_MAX_THREADS = 2


@takes(EventOptions)
def stats(
    source: SourceLike | Iterable[SourceLike],
    *,
    top: int = 10,
    table_step: int = 0,
    **options: Unpack[EventOptions],
) -> Stats:
    """Count events and transactions of logs, as the command ``stats`` does: by table, time and statement.

    Filters select transactions as in `read_transactions`.

    Parameters
    ----------
    source
        What :func:`binlog_kaitai.open` takes.
    top
        Length of the rankings.
    table_step
        If it is not 0, there is a part `table_times`: the rows of each table in steps of this many seconds,
        which divide local days.
    **options
        See :class:`EventOptions`.

    Returns
    -------
    Stats
        ``totals`` by name, and ``parts``: tables of counts, each with ``objects()``.

    Raises
    ------
    SourceError, UsageError
        There is nothing to read, or an argument is invalid. Damage ends counting and is reported in
        `Stats.error`.
    """
    reading = Reading.of(source, options)
    result, transactions = Stats(reading.sources), TransactionCounts(top)
    pages = _CountingPages(result, reading.filters, table_step, **reading.pages)
    try:
        for figures in pages.figures():
            transactions.add(figures)
            pages.events.timeline.add(figures.commits, {TRANSACTIONS: np.ones(len(figures.commits))})
    except BinlogError as error:
        result.error = error
    pages.left_out.warn()
    fill(result, pages.events, transactions, pages.gtids)
    if table_step:
        result.parts["table_times"] = table_times(pages.events, table_step)
    return result


class _CountingPages(TransactionPages):
    """Counts events as the transactions are read."""

    def __init__(
        self, stats: Stats, filters: Filters, table_step: int, *, threads: int | None = None, **options: Any
    ) -> None:
        # As rows of their view only if filters need to inspect them.
        has_filters = bool(filters) or any(source.repeated for source in stats.sources)
        super().__init__(
            stats.sources,
            filters,
            makes_rows=has_filters,
            block_size=_BLOCK_SIZE,
            # The work divided is short, and each block in use takes memory: more threads would wait.
            threads=None if threads is None else min(threads, _MAX_THREADS),
            ends=stats.ends,
            **options,
        )
        self._options["shares_blocks"] = True  # blocks are held back until their transactions have ended
        self.left_out = LeftOut()
        self.events = EventCounts(self.left_out, table_step)
        self.gtids = GtidSet()
        self._stats = stats

    def figures(self) -> Iterator[Figures]:
        """The transactions, many at a time."""
        if not self._makes_rows:
            yield from self.each(_figures_of)
            return
        for batch in self.each(_view):
            for gtid in filter(None, batch.column("gtid").to_pylist()):
                self.gtids.add(gtid)
            yield Figures.of_view(batch)

    def _select(self, source: Source, filters: Filters, **place: bool) -> TransactionSelection:
        self._events_selection = EventSelection(filters, is_first=place["is_first"], is_last=place["is_last"])
        self._formats: list[int] = self._stats.formats.setdefault(source.name, [])
        self.events.begin()
        return super()._select(source, filters, **place)

    def _blocks(self, source: Source, reader: Iterable[Block]) -> Iterator[Block]:
        return self.left_out.decided(source, super()._blocks(source, reader))

    def see(self, page: TransactionsPage) -> None:
        block = page.block
        if block.is_special:
            self._formats.append(int(block.positions[0]))
        self.events.add(page, chosen_events(page, self._events_selection))
        if not self._filters:
            add_gtids(self.gtids, block)


def _view(transactions: Finished) -> tuple[pa.RecordBatch]:
    return (view_of(transactions.file, transactions.batch, WITH_TABLE_BYTES),)


def _figures_of(transactions: Finished) -> Iterator[Figures]:
    if transactions.batch is not None:
        yield Figures.of_view(*_view(transactions))
    elif transactions.page is not None:
        yield Figures.of_page(transactions.file, transactions.page, transactions.begin, transactions.end)
