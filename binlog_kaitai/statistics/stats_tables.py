"""Builds the output tables from the counts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.statistics.event_counts import (
    BYTES,
    EVENTS,
    OPERATIONS,
    ROWS,
    TABLE_SUMS,
    TRANSACTIONS,
    EventCounts,
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
    TableChange,
    TransactionCounts,
    ViewRow,
)

_TEXT, _NUMBER, _BYTES, _TIME, _SECONDS = (
    StatsKind.TEXT,
    StatsKind.NUMBER,
    StatsKind.BYTES,
    StatsKind.TIME,
    StatsKind.SECONDS,
)

#: Maximum number of tables listed, largest first.
_MAX_TABLES = 10_000

#: Maximum number of connections listed, largest first; of tables whose transactions are listed; and of these.
_MAX_THREADS, _MAX_RANKED = 1000, 50

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
        **dict(zip(("rows_inserted", "rows_updated", "rows_deleted"), by_operation, strict=True)),
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
    columns = (
        StatsColumn("start", _TIME),
        StatsColumn("table", _TEXT),
        *(StatsColumn(f"rows_{name}", _NUMBER) for name in ("inserted", "updated", "deleted")),
        StatsColumn("bytes", _BYTES),
    )
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
    left_out = max(0, len(rows) - _MAX_THREADS)
    return StatsTable("threads", "Connections", columns, rows[:_MAX_THREADS], left_out)


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
    order = sorted(events.statements.items(), key=lambda item: (-item[1], item[0]))
    rows = [(name, count, events.statement_bytes[name]) for name, count in order]
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
        text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in intervals)
        rows.append((source, len(intervals), text if len(text) <= _MAX_SET else text[:_MAX_SET] + "…"))
    rows.sort(key=lambda row: (-row[1], row[0]))
    left_out = max(0, len(rows) - _MAX_SOURCES)
    return StatsTable("gtid_sources", "GTID sources", columns, rows[:_MAX_SOURCES], left_out)
