"""The counting pass over the logs, and its results as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import FilterOptions, Filters
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.threads import in_order, thread_count
from binlog_kaitai.rows.event_filters import EventSelection
from binlog_kaitai.rows.rolled_back_rows import LeftOut
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, SourceLike, resolve
from binlog_kaitai.statistics.event_counts import TRANSACTIONS, EventCounts, chosen_events
from binlog_kaitai.statistics.stats_model import Stats
from binlog_kaitai.statistics.stats_tables import fill
from binlog_kaitai.statistics.transaction_counts import Figures, TransactionCounts
from binlog_kaitai.views.left_out_watcher import Watcher
from binlog_kaitai.views.transaction_batches import (
    Finished,
    finished_transactions,
    size_of_rows,
)
from binlog_kaitai.views.transaction_pages import TransactionsPage
from binlog_kaitai.views.transactions_view import WITH_TABLE_BYTES, view_of

#: The cost of a block hardly depends on its length.
_BLOCK_SIZE = 32 << 20

_MAX_THREADS = 2


def stats(
    source: SourceLike | Iterable[SourceLike],
    *,
    top: int = 10,
    verify_checksums: bool = True,
    keys: Keys | None = None,
    threads: int | None = None,
    progress: Callable[[Source, int], object] = lambda source, position: None,
    **filters: Unpack[FilterOptions],
) -> Stats:
    """Count events and transactions of logs, as the command ``stats`` does: by table, time and statement.

    Parameters
    ----------
    source
        What :func:`binlog_kaitai.open` takes.
    top
        Length of the rankings.
    verify_checksums
        Stop at an event whose CRC32 does not match.
    keys
        Where to look for the keys of encrypted logs; see :class:`Keys`.
    threads
        Number of threads: by default, one. The result does not depend on it.
    progress
        Called from time to time with the source and the offset reached in it.
    filters
        As :meth:`Filters.of` takes them; transactions are selected as by `read_transactions`.

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
    chosen, found, left_out = Filters.of(**filters), Stats(resolve(source, keys)), LeftOut()
    counting = _Counting(found, chosen, progress, left_out)
    transactions = TransactionCounts(top)
    # The work divided is short, and each block in use takes memory: more threads would wait.
    count = min(thread_count(threads, found.sources), _MAX_THREADS)
    figures = _figures(found.sources, chosen, verify_checksums, counting, count)
    try:
        for one in figures:
            transactions.add(one)
            counting.events.timeline.add(one.commits, {TRANSACTIONS: np.ones(len(one.commits))})
    except BinlogError as error:
        found.error = error
    left_out.warn()
    fill(found, counting.events, transactions, counting.gtids)
    return found


def _figures(
    sources: list[Source],
    filters: Filters,
    verify_checksums: bool,
    counting: _Counting,
    threads: int,
) -> Iterator[Figures]:
    """The transactions; as rows of their view only if filters need to inspect them."""
    given: dict[str, Any] = {
        "verify_checksums": verify_checksums,
        "block_size": _BLOCK_SIZE,
        "watcher": counting,
        "shares_blocks": True,  # blocks are held back until their transactions have ended
    }
    if filters or any(source.repeated for source in sources):
        rows = finished_transactions(sources, filters, **given)
        for batch in in_order(rows, _view, threads, size_of_rows):
            for gtid in filter(None, batch.column("gtid").to_pylist()):
                counting.gtids.add(gtid)
            yield Figures.of_view(batch)
        return
    found = finished_transactions(sources, filters, makes_rows=False, **given)
    yield from in_order(found, _figures_of, threads, _size)


def _view(found: tuple[Source, Finished]) -> tuple[pa.RecordBatch]:
    source, some = found
    return (view_of(source.name, some.batch, WITH_TABLE_BYTES),)


def _figures_of(one: tuple[Source, Finished]) -> Iterator[Figures]:
    source, found = one
    if found.batch is not None:
        yield Figures.of_view(view_of(source.name, found.batch, WITH_TABLE_BYTES))
    elif found.page is not None:
        yield Figures.of_page(source.name, found.page, found.begin, found.end)


def _size(one: tuple[Source, Finished]) -> int:
    found = one[1]
    if found.batch is not None:
        return size_of_rows(one)
    return 0 if found.page is None else int(found.page.block.sizes.sum())


class _Counting(Watcher):
    """Counts events as the transactions are read."""

    def __init__(
        self,
        stats: Stats,
        filters: Filters,
        progress: Callable[[Source, int], object],
        left_out: LeftOut,
    ) -> None:
        self.left_out = left_out
        self.events = EventCounts(left_out)
        self.gtids = GtidSet()
        self._stats, self._filters, self._progress = stats, filters, progress

    def begin(self, source: Source, *, is_first: bool, is_last: bool) -> None:
        self._source = source
        filters = self._filters.without(source.repeated)
        self._selection = EventSelection(filters, is_first=is_first, is_last=is_last)
        self._formats: list[int] = self._stats.formats.setdefault(source.name, [])
        self.events.begin()

    def see(self, page: TransactionsPage) -> None:
        block = page.block
        if block.is_special:
            self._formats.append(int(block.positions[0]))
        self.events.add(page, chosen_events(page, self._selection))
        if not self._filters:
            add_gtids(self.gtids, block)
        self._progress(self._source, int(block.end_positions[-1]))

    def end(self, end: End) -> None:
        self._stats.ends.append(end)
