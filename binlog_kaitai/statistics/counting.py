"""The counting pass over the logs, and its results as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.gtids import GtidSet, ranges_text
from binlog_kaitai.core.options import takes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.read_options import EventOptions, Reading
from binlog_kaitai.rows.event_filters import EventSelection
from binlog_kaitai.rows.rolled_back_rows import LeftOut
from binlog_kaitai.sources.source import Source, SourceLike
from binlog_kaitai.statistics.event_counts import (
    BYTES,
    EVENTS,
    OPERATIONS,
    ROWS,
    TABLE_SUMS,
    TRANSACTIONS,
    EventCounts,
    chosen_events,
)
from binlog_kaitai.statistics.stats_model import (
    PART_NAMES,
    Stats,
    StatsColumn,
    StatsKind,
    StatsTable,
    TableRow,
    TransactionPlace,
    width_for,
)
from binlog_kaitai.statistics.transaction_counts import (
    NO_THREAD,
    OTHERS,
    Figures,
    TableChange,
    TransactionCounts,
    ViewRow,
)
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
        for parts, figures in self.each(_figures_of):
            if self._makes_rows:
                for gtid in filter(None, parts.column("gtid").to_pylist()):
                    self.gtids.add(gtid)
            yield figures

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


def _figures_of(transactions: Finished) -> Iterator[tuple[pa.RecordBatch, Figures]]:
    file, batch, page, begin, end = transactions
    parts: pa.RecordBatch = batch if page is None else page.columns().slice(begin, end - begin)

    def view(low: int, high: int) -> pa.RecordBatch:
        rows = parts.slice(low, high - low) if page is None else page.rows(begin + low, begin + high)
        return view_of(file, rows, WITH_TABLE_BYTES)

    yield parts, Figures(file, parts, view)


# -- results as tables

_TEXT, _NUMBER, _BYTES = StatsKind.TEXT, StatsKind.NUMBER, StatsKind.BYTES
_TIME, _SECONDS = StatsKind.TIME, StatsKind.SECONDS

#: Maximum number of tables listed, largest first.
_MAX_TABLES = 10_000

#: Maximum number of connections listed, largest first; of tables whose transactions are listed.
_MAX_CONNECTIONS, _MAX_RANKED = 1000, 50

#: Maximum number of GTID sources listed, and length of their sets.
_MAX_SOURCES, _MAX_SET = 1000, 2000


def _columns(**kinds: StatsKind) -> tuple[StatsColumn, ...]:
    return tuple(StatsColumn(name, kind) for name, kind in kinds.items())


_PLACE = _columns(file=_TEXT, position=_NUMBER, time=_TIME)
_OF_TRANSACTION = (
    *_PLACE,
    *_columns(gtid=_TEXT, duration=_SECONDS, bytes=_BYTES, events=_NUMBER, rows=_NUMBER, kind=_TEXT),
    *_columns(thread_id=_TEXT, tables=StatsKind.LIST, table_bytes=StatsKind.SIZES),
)

_CHANGED_ROWS = _columns(rows_inserted=_NUMBER, rows_updated=_NUMBER, rows_deleted=_NUMBER)


def fill(stats: Stats, events: EventCounts, transactions: TransactionCounts, gtids: GtidSet) -> None:
    """Fill in the totals and parts of the result."""
    stats.totals = _totals(stats, events, transactions)
    stats.timeline = events.timeline
    parts = (
        _tables(events),
        timeline_of(stats),
        _ranking("biggest", "Biggest transactions", transactions.biggest),
        _ranking("longest", "Longest transactions", transactions.longest),
        _ranking("most_rows", "Transactions with the most rows", transactions.most_rows),
        _by_table(transactions),
        _no_primary_key(events),
        _threads(transactions),
        _gaps(transactions),
        _sizes(transactions),
        _statements(events),
        _definitions(transactions),
        _event_types(events),
        _servers(transactions),
        _gtid_sources(gtids),
    )
    assert tuple(part.name for part in parts) == PART_NAMES
    stats.parts = {part.name: part for part in parts}
    after_gaps = (row for _, row in transactions.gaps)
    notable = (transactions.biggest, transactions.longest, transactions.most_rows, transactions.definitions)
    places = [
        *(_place(row) for ranking in notable for row in ranking),
        *map(_place, after_gaps),
        *(TransactionPlace._make(change[:4]) for _, changes in _largest(transactions) for change in changes),
        *map(_place, transactions.first),
    ]
    stats.notable = list(dict.fromkeys(places))


def _place(row: ViewRow) -> TransactionPlace:
    return TransactionPlace(row["file"], row["position"], row["end_position"], row["events"])


def _totals(stats: Stats, events: EventCounts, transactions: TransactionCounts) -> dict[str, object]:
    by_operation = [
        sum(sums[0] for key, sums in events.tables.items() if key[2] == number)
        for number in range(len(OPERATIONS))
    ]
    return {
        "files": len(stats.sources),
        "bytes": events.file_bytes,
        "events": int(events.types[:, 0].sum()),
        "inner_events": events.inner,
        "transactions": transactions.count,
        "transaction_bytes": transactions.bytes,
        "first_time": events.first or None,
        "last_time": events.last or None,
        **dict(zip((column.name for column in _CHANGED_ROWS), by_operation, strict=True)),
        "tables": len({key[:2] for key in events.tables}),
        "uncounted_events": events.uncounted,
        "definitions": transactions.definition_count,
        "compressed_transactions": transactions.compressed,
        "packed_bytes": events.packed,
        "unpacked_bytes": events.unpacked,
        "compression_ratio": round(events.unpacked / events.packed, 3) if events.packed else None,
        "kinds": transactions.kinds,
    }


def _tables(events: EventCounts) -> StatsTable:
    columns = (
        *_columns(schema=_TEXT, table=_TEXT, operation=_TEXT),
        *_columns(rows=_NUMBER, events=_NUMBER, bytes=_BYTES, transactions=_NUMBER),
    )
    order = sorted(events.tables.items(), key=lambda item: (-item[1][2], item[0]))
    rows = [(*key[:2], OPERATIONS[key[2]], *sums) for key, sums in order[:_MAX_TABLES]]
    return StatsTable("tables", "Tables", columns, rows, len(order) - len(rows))


def timeline_of(stats: Stats, step: int = 0, most: int | None = None) -> StatsTable:
    """The timeline as a table, in steps of at least `step` seconds; if that is 0, in at most `most` steps."""
    columns = (*_columns(start=_TIME, transactions=_NUMBER, events=_NUMBER, bytes=_BYTES), *_CHANGED_ROWS)
    timeline = stats.timeline
    assert timeline is not None
    step = step or (width_for(timeline, most) if most else timeline.width)
    timeline = timeline.wider(step)
    order = [TRANSACTIONS, EVENTS, BYTES, *range(ROWS, ROWS + len(OPERATIONS))]
    values = np.column_stack((timeline.starts, timeline.sums[:, order])).tolist()
    return StatsTable("timeline", "Over time", columns, [tuple(row) for row in values], step=timeline.width)


def table_times(events: EventCounts, step: int) -> StatsTable:
    """The rows of each table in each step, the largest table first."""
    columns = (*_columns(start=_TIME, table=_TEXT), *_CHANGED_ROWS, *_columns(bytes=_BYTES))
    order = sorted(events.table_times.items(), key=lambda item: (item[0][0], -item[1][-1], item[0]))
    rows = [(start, f"{schema}.{table}".lstrip("."), *sums) for (start, schema, table), sums in order]
    return StatsTable("table_times", "Tables over time", columns, rows, step=step)


def _transaction(row: ViewRow) -> TableRow:
    return tuple(row[column.name] for column in _OF_TRANSACTION)


def _ranking(name: str, title: str, ranking: Iterable[ViewRow]) -> StatsTable:
    return StatsTable(name, title, _OF_TRANSACTION, [_transaction(row) for row in ranking])


def _largest(transactions: TransactionCounts) -> list[tuple[str, list[TableChange]]]:
    """The tables with the largest changes by a single transaction, and their transactions."""
    largest = [(name, list(ranking)) for name, ranking in transactions.of_tables.items()]
    largest.sort(key=lambda item: (-item[1][0].table_bytes, item[0]))
    return largest[:_MAX_RANKED]


def _by_table(transactions: TransactionCounts) -> StatsTable:
    columns = (
        *(*_columns(table=_TEXT), *_PLACE),
        *_columns(thread_id=_TEXT, table_bytes=_BYTES, bytes=_BYTES, events=_NUMBER),
    )
    rows = [
        (name, of.file, of.position, of.time, of.thread, of.table_bytes, of.bytes, of.events)
        for name, changes in _largest(transactions)
        for of in changes
    ]
    count = sum(len(list(ranking)) for ranking in transactions.of_tables.values())
    return StatsTable("by_table", "Biggest transactions per table", columns, rows, count - len(rows))


def _no_primary_key(events: EventCounts) -> StatsTable:
    columns = (*_columns(schema=_TEXT, table=_TEXT), *_CHANGED_ROWS, *_columns(bytes=_BYTES))
    rows: list[TableRow] = []
    for key in events.keyless:
        sums = [events.tables.get((*key, number)) for number in range(len(OPERATIONS))]
        if any(sums):
            counts, _, sizes, _ = zip(*(known or [0] * len(TABLE_SUMS) for known in sums), strict=True)
            rows.append((*key, *counts, sum(sizes)))
    # Tables that replicas scan completely come first.
    rows.sort(key=lambda row: (-row[3] - row[4], -row[5], row[:2]))
    title = "Tables without a primary key"
    return StatsTable("no_primary_key", title, columns, rows[:_MAX_TABLES], max(0, len(rows) - _MAX_TABLES))


def _threads(transactions: TransactionCounts) -> StatsTable:
    columns = _columns(thread_id=_TEXT, transactions=_NUMBER, bytes=_BYTES, rows=_NUMBER)
    order = sorted(transactions.threads.items(), key=lambda item: (-item[1][1], item[0]))
    names: dict[int, str | None] = {NO_THREAD: None, OTHERS: "(others)"}
    rows = [(names.get(key, key), *sums) for key, sums in order]
    left_out = max(0, len(rows) - _MAX_CONNECTIONS)
    return StatsTable("threads", "Connections", columns, rows[:_MAX_CONNECTIONS], left_out)


def _gaps(transactions: TransactionCounts) -> StatsTable:
    columns = (*_columns(gap=_SECONDS), *_OF_TRANSACTION[:4])
    rows = [(gap, *_transaction(row)[:4]) for gap, row in transactions.gaps]
    return StatsTable("gaps", "Longest gaps between commits, and the transaction after each", columns, rows)


def _sizes(transactions: TransactionCounts) -> StatsTable:
    columns = _columns(below=_BYTES, transactions=_NUMBER)
    bits = np.flatnonzero(transactions.sizes).tolist()
    rows = [(1 << bit, int(transactions.sizes[bit])) for bit in bits]
    return StatsTable("sizes", "Transaction sizes", columns, rows)


def _statements(events: EventCounts) -> StatsTable:
    columns = _columns(statement=_TEXT, events=_NUMBER, bytes=_BYTES)
    order = sorted(events.statements.items(), key=lambda item: (-item[1][0], item[0]))
    rows = [(name, *sums) for name, sums in order]
    return StatsTable("statements", "Statements", columns, rows)


def _definitions(transactions: TransactionCounts) -> StatsTable:
    columns = (*_OF_TRANSACTION[:4], *_columns(statement=_TEXT))
    rows = [(*_transaction(row)[:4], row["statement"]) for row in transactions.definitions]
    return StatsTable(
        "definitions", "Definitions (DDL)", columns, rows, transactions.definition_count - len(rows)
    )


def _event_types(events: EventCounts) -> StatsTable:
    columns = _columns(type=_TEXT, code=_NUMBER, events=_NUMBER, bytes=_BYTES)
    codes = np.flatnonzero(events.types[:, 0]).tolist()
    codes.sort(key=lambda code: -int(events.types[code, 1]))
    rows = [(type_name(code), code, *events.types[code].tolist()) for code in codes]
    return StatsTable("event_types", "Event types", columns, rows)


def _servers(transactions: TransactionCounts) -> StatsTable:
    columns = _columns(server_id=_TEXT, transactions=_NUMBER, bytes=_BYTES)
    order = sorted(transactions.servers.items(), key=lambda item: (-item[1][0], item[0]))
    rows = [("(others)" if key == OTHERS else str(key), *sums) for key, sums in order]
    return StatsTable("servers", "Servers", columns, rows)


def _gtid_sources(gtids: GtidSet) -> StatsTable:
    columns = _columns(source=_TEXT, gtids=_NUMBER, set=_TEXT)
    rows = []
    for source, intervals in gtids.items():
        text = ranges_text(intervals, ",")
        rows.append((source, len(intervals), text if len(text) <= _MAX_SET else text[:_MAX_SET] + "…"))
    rows.sort(key=lambda row: (-row[1], row[0]))
    left_out = max(0, len(rows) - _MAX_SOURCES)
    return StatsTable("gtid_sources", "GTID sources", columns, rows[:_MAX_SOURCES], left_out)
