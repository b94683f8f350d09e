"""Figures of transactions as arrays, and the few transactions that are decoded as rows."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.kernels.arrays import Array, Bools, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Outcome
from binlog_kaitai.log.groups import distinct, distinct_values
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.rows.row_counts import UNKNOWN
from binlog_kaitai.views.transaction_pages import TransactionsPage
from binlog_kaitai.views.transaction_parts import (
    Ends,
    TableBytes,
    changed_rows,
    compressed,
    definitions,
    earliest,
    gtid_fields,
    outcomes_of,
    statement_threads,
)
from binlog_kaitai.views.transactions_view import KINDS, WITH_TABLE_BYTES, outcome_of, view_of

_MICRO = 1_000_000

_Thing = TypeVar("_Thing")

#: Stands for an unknown connection.
NO_THREAD = -1

#: Maximum length of the text kept for a definition.
MAX_TEXT = 4096

#: Maximum number of table names kept for one transaction.
_MAX_TABLES = 20

_OF_ROWS = ("rows_inserted", "rows_updated", "rows_deleted")

#: A row of the transactions view.
ViewRow = dict[str, Any]


class Figures(NamedTuple):
    """Consecutive transactions, in log order.

    `sizes`: bytes in the file.
    `durations`: from the earliest event to the commit on the same server, in seconds; 0 if unknown.
    `commits`: commit time on the originating server, in seconds; 0 if unknown.
    `immediate`: commit time on this server, in microseconds; 0 if the log does not have it.
    `changed`: number of changed rows, without those that cannot be counted.
    `outcomes`: how each ended, as an index into `transactions.view.KINDS`.
    `definitions`: indexes of the transactions that are DDL.
    `positions`, `ends`, `events`: start and end position of each in its log, and its number of events.
    `threads`: the connection that ran each; -1 if the log does not have it.
    `tables`: bytes by transaction and table.
    `view`: returns a range of transactions in the form of the view.
    `known`: transactions already decoded, by index; see `row`.
    """

    sizes: NDArray[np.int64]
    durations: NDArray[np.int64]
    commits: NDArray[np.int64]
    immediate: NDArray[np.int64]
    changed: NDArray[np.int64]
    servers: NDArray[np.int64]
    outcomes: NDArray[np.int8]
    is_compressed: NDArray[np.bool_]
    definitions: NDArray[np.int64]
    positions: NDArray[np.int64]
    ends: NDArray[np.int64]
    events: NDArray[np.int64]
    threads: NDArray[np.int64]
    tables: TableBytes
    file: str
    view: Callable[[int, int], pa.RecordBatch]
    known: dict[int, ViewRow]

    @classmethod
    def of_view(cls, batch: pa.RecordBatch) -> Figures:
        """The figures of a batch of the view."""

        def numbers(name: str, default: int = 0) -> Ints:
            values: Ints = batch.column(name).cast(pa.int64()).fill_null(default).to_numpy()
            return values

        start, duration, original = map(numbers, ("start", "duration", "original_commit_timestamp"))
        kinds = batch.column("kind").to_pylist()
        return cls(
            sizes=numbers("bytes"),
            durations=duration,
            commits=_commits(start // _MICRO, duration, original),
            immediate=numbers("immediate_commit_timestamp"),
            changed=np.sum([numbers(name) for name in _OF_ROWS], axis=0),
            servers=numbers("server_id"),
            outcomes=np.array([KINDS.index(kind) for kind in kinds], dtype=np.int8),
            is_compressed=batch.column("is_compressed").to_numpy(zero_copy_only=False),
            definitions=np.flatnonzero(batch.column("statement").is_valid().to_numpy(zero_copy_only=False)),
            positions=numbers("position"),
            ends=numbers("end_position"),
            events=numbers("events"),
            threads=numbers("thread_id", NO_THREAD),
            tables=_tables_of_view(batch),
            file=batch.column("file")[0].as_py() if len(batch) else "",
            view=lambda begin, end: batch.slice(begin, end - begin),
            known={},
        )

    @classmethod
    def of_page(cls, file: str, page: TransactionsPage, begin: int, end: int) -> Figures:
        """The figures of the transactions in a page; `tests/stats` compares them with those of the view."""
        block, parts, some = page.block, page.parts, slice(begin, end)
        first, last = parts.first[some], parts.last[some]
        fields, ends = gtid_fields(block, parts), outcomes_of(page.roles, parts)

        def field(name: str, default: int = 0) -> Ints:
            values, is_known = fields[name]
            return np.where(is_known, values, default)[some]

        stamps = block.header.numbers("timestamp")
        start, original = earliest(stamps, parts)[some], field("original_commit_timestamp")
        committed = np.where(original > 0, original // _MICRO, stamps[last])
        durations = np.where(start > 0, np.maximum(committed - start, 0), 0)
        return cls(
            sizes=block.end_positions[last] - block.positions[first],
            durations=durations,
            commits=_commits(start, durations, original),
            immediate=field("immediate_commit_timestamp"),
            changed=_changed(page)[some],
            servers=block.header_of(first).numbers("server_id"),
            outcomes=outcome_of(
                ends.is_begun[some],
                field("is_standalone", 1),
                field("is_rollback_alter"),
                ends.outcome[some],
                ends.meant[some],
            ),
            is_compressed=compressed(block, parts)[some],
            definitions=_definitions(block, ends)[some].nonzero()[0],
            positions=block.positions[first],
            ends=block.end_positions[last],
            events=parts.lengths[some],
            threads=_threads(page, field("gtid_thread", NO_THREAD), some),
            tables=_tables_of_page(page, begin, end),
            file=plain(file),
            view=lambda low, high: view_of(file, page.rows(begin + low, begin + high), WITH_TABLE_BYTES),
            known={},
        )

    def row(self, index: int) -> ViewRow:
        """One transaction, with its times in seconds, and text truncated to what is shown."""
        return self.rows(index, index + 1)[0]

    def rows(self, begin: int, end: int) -> list[ViewRow]:
        """A range of transactions."""
        if not all(number in self.known for number in range(begin, end)):
            for number, row in enumerate(self.view(begin, end).to_pylist(), begin):
                self.known[number] = _shown(row, int(self.commits[number]))
        return [self.known[number] for number in range(begin, end)]


def _threads(page: TransactionsPage, of_gtids: Ints, some: slice) -> Ints:
    """The connection of each transaction: from its first statement, else from its GTID event."""
    threads = statement_threads(page.block, page.parts).fill_null(NO_THREAD).to_numpy()[some]
    return np.where(threads == NO_THREAD, of_gtids, threads)


def _tables_of_page(page: TransactionsPage, begin: int, end: int) -> TableBytes:
    found = TableBytes.of(page.block, page.parts, page.changes)
    if (begin, end) == (0, len(page.parts)):
        return found
    inside = np.flatnonzero((found.owners >= begin) & (found.owners < end))
    return TableBytes(found.names, found.owners[inside] - begin, found.tables[inside], found.bytes[inside])


def _tables_of_view(batch: pa.RecordBatch) -> TableBytes:
    lists = batch.column("tables")
    names = lists.flatten().dictionary_encode()
    return TableBytes(
        names.dictionary.to_pylist(),
        lists.value_parent_indices().to_numpy().astype(np.int64),
        names.indices.to_numpy().astype(np.int64),
        batch.column("table_bytes").flatten().to_numpy(),
    )


def _changed(page: TransactionsPage) -> Ints:
    """How many rows each transaction changes; kinds of change with uncountable rows count as zero."""
    block, parts, changes = page.block, page.parts, page.changes
    if (changes.counts != UNKNOWN).all():
        return parts.sums(changes.rows, changes.counts)
    total = np.zeros(len(parts), dtype=np.int64)
    for sums, is_unknown in changed_rows(block, parts, changes).values():
        total += np.where(is_unknown, 0, sums)
    return total


def _definitions(block: Block, ends: Ends) -> Bools:
    """Which transactions are DDL, as a bool array."""
    is_ddl: Bools = ends.meant == Outcome.DDL
    if is_ddl.any() and EventType.query_compressed_event in block.kinds:
        # The text of a damaged one is missing.
        return np.array([text is not None for text in definitions(block, ends)])
    return is_ddl


def _commits(start: Ints, durations: Ints, original: Ints) -> Ints:
    """Commit time of each on its originating server, in seconds, except for `original`."""
    return np.where(original > 0, original // _MICRO, np.where(start > 0, start + durations, 0))


def _shown(row: ViewRow, commit: int) -> ViewRow:
    counts = [row[name] for name in _OF_ROWS]
    row["rows"] = None if None in counts else sum(counts)
    row["time"] = commit or None
    row["duration"] = None if row["duration"] is None else int(row["duration"].total_seconds())
    if len(row["tables"]) > _MAX_TABLES:
        row["tables"] = [*row["tables"][:_MAX_TABLES], "…"]
        row["table_bytes"] = row["table_bytes"][:_MAX_TABLES]
    if row["statement"] is not None and len(row["statement"]) > MAX_TEXT:
        row["statement"] = row["statement"][:MAX_TEXT] + "…"
    return row


#: Maximum number of DDL statements kept.
MAX_DEFINITIONS = 1000

#: Maximum number of distinct servers and connections; the rest are counted together under this number.
_MAX_SERVERS, _MAX_THREADS, OTHERS = 10_000, 100_000, -2

#: Maximum number of tables whose transactions are ranked, and of transactions ranked for each.
_MAX_RANKED_TABLES, OF_TABLE = 1000, 5


class Ranking(Generic[_Thing]):
    """The largest values of many, each with an associated object."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, int, _Thing]] = []
        self._count = 0

    def add(self, values: Array, thing: Callable[[int], _Thing]) -> None:
        """Add an array of values; `thing(index)` is called for those that are kept. Zeros do not count."""
        if not self._most or not len(values):
            return
        least = self._heap[0][0] if len(self._heap) == self._most else 0
        figures = np.flatnonzero(values > least)
        if len(figures) > self._most:
            figures = np.sort(figures[np.argsort(-values[figures], kind="stable")[: self._most]])
        for index in figures.tolist():
            self._count += 1
            # Among equal values, the first stays.
            entry = (float(values[index]), -self._count, thing(index))
            if len(self._heap) < self._most:
                heapq.heappush(self._heap, entry)
            elif entry > self._heap[0]:
                heapq.heapreplace(self._heap, entry)

    def __iter__(self) -> Iterator[_Thing]:
        return (thing for _, _, thing in sorted(self._heap, key=lambda entry: entry[:2], reverse=True))


class TableChange(NamedTuple):
    """The changes of one transaction to one table.

    `file`, `position`, `end_position`, `events`: the transaction, as in `TransactionPlace`.
    `time`, `thread`: commit time in seconds, and connection.
    `table_bytes`, `bytes`: size of the table's rows events, and of the transaction in the file.
    """

    file: str
    position: int
    end_position: int
    events: int
    time: int | None
    thread: int | None
    table_bytes: int
    bytes: int

    @classmethod
    def of(cls, figures: Figures, index: int, table_bytes: int) -> TableChange:
        """The change for one of several transactions."""
        thread = int(figures.threads[index])
        return cls(
            figures.file,
            int(figures.positions[index]),
            int(figures.ends[index]),
            int(figures.events[index]),
            int(figures.commits[index]) or None,
            None if thread == NO_THREAD else thread,
            table_bytes,
            int(figures.sizes[index]),
        )


class TransactionCounts:
    """Counts transactions, batch by batch.

    `top`: length of each ranking.
    `biggest`, `longest`, `most_rows`, `gaps`: rankings of rows of the view; for gaps, of pairs: seconds, and
    the row after the gap.
    `definitions`: the first rows of the view that are DDL; `definition_count` is their total number.
    `servers`: by server id: transactions, bytes.
    `kinds`: number of transactions by outcome.
    `threads`: by connection: transactions, bytes, rows.
    `of_tables`: by ``schema.table``, the `Ranking` of its transactions (as `TableChange`) by the bytes of its
    rows events.
    `sizes`: number of transactions by the bit length of their size.
    """

    def __init__(self, top: int) -> None:
        self.count = self.bytes = self.compressed = 0
        self.biggest = Ranking[ViewRow](top)
        self.longest = Ranking[ViewRow](top)
        self.most_rows = Ranking[ViewRow](top)
        self.gaps = Ranking[tuple[float, ViewRow]](top)
        self.first: list[ViewRow] = []
        self.definitions: list[ViewRow] = []
        self.definition_count = 0
        self.servers: dict[int, list[int]] = {}
        self.kinds: dict[str, int] = {}
        self.threads: dict[int, list[int]] = {}
        self.of_tables: dict[str, Ranking[TableChange]] = {}
        self.sizes = np.zeros(64, dtype=np.int64)
        self._last_commit = 0

    def add(self, figures: Figures) -> None:
        """Count a batch of transactions."""
        count, row = len(figures.sizes), figures.row
        self.count += count
        self.bytes += int(figures.sizes.sum())
        self.compressed += int(np.count_nonzero(figures.is_compressed))
        # The exponent of frexp is the number of bits; sizes are far below 2^53.
        self.sizes += np.bincount(np.frexp(figures.sizes.astype(np.float64))[1], minlength=64)
        self.first += figures.rows(0, min(count, FIRST - len(self.first)))
        self.biggest.add(figures.sizes, row)
        self.longest.add(figures.durations, row)
        self.most_rows.add(figures.changed, row)
        _add_sums(self.servers, _MAX_SERVERS, figures.servers, figures.sizes)
        _add_sums(self.threads, _MAX_THREADS, figures.threads, figures.sizes, figures.changed)
        self._add_tables(figures)
        of_kind = np.bincount(figures.outcomes, minlength=len(KINDS))
        for number in np.flatnonzero(of_kind).tolist():
            self.kinds[KINDS[number]] = self.kinds.get(KINDS[number], 0) + int(of_kind[number])
        self.definition_count += len(figures.definitions)
        room = MAX_DEFINITIONS - len(self.definitions)
        self.definitions += map(row, figures.definitions[:room].tolist())
        self._add_gaps(figures)

    def _add_tables(self, figures: Figures) -> None:
        """Rank the transactions of each table."""
        names, owners, tables, sizes = figures.tables
        for code in distinct_values(tables).tolist():
            name = names[code]
            if name not in self.of_tables and len(self.of_tables) >= _MAX_RANKED_TABLES:
                continue
            chosen = np.flatnonzero(tables == code)

            def change(index: int, chosen: Ints = chosen) -> TableChange:
                row = chosen[index]
                return TableChange.of(figures, int(owners[row]), int(sizes[row]))

            self.of_tables.setdefault(name, Ranking[TableChange](OF_TABLE)).add(sizes[chosen], change)

    def _add_gaps(self, figures: Figures) -> None:
        """Rank gaps in which this server committed nothing; to the microsecond if the log records it."""
        commits = np.where(figures.immediate > 0, figures.immediate, figures.commits * _MICRO)
        timed = np.flatnonzero(commits > 0)
        commits = commits[timed]
        if not len(commits):
            return
        gaps = np.diff(commits, prepend=self._last_commit or commits[0])
        self._last_commit = int(commits[-1])
        self.gaps.add(gaps, lambda index: (int(gaps[index]) / _MICRO, figures.row(int(timed[index]))))


def _add_sums(sums: dict[int, list[int]], most: int, keys: Ints, *values: Array) -> None:
    """Add to the sums of each key its count and values; beyond `most` keys, the rest are counted as one."""
    first, which = distinct(keys)
    counts = np.bincount(which, minlength=len(first)).tolist()
    columns = [np.bincount(which, weights=value, minlength=len(first)).tolist() for value in values]
    for key, *added in zip(keys[first].tolist(), counts, *columns, strict=True):
        total = sums.setdefault(key if len(sums) < most or key in sums else OTHERS, [0] * len(added))
        for column, value in enumerate(added):
            total[column] += int(value)


#: How many of the first transactions are kept, to show for a short log.
FIRST = 200
