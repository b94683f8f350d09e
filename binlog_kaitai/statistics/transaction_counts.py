"""Figures of transactions as arrays, and the few transactions that are decoded as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import nlargest
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Array, Ints
from binlog_kaitai.kernels.groups import distinct, distinct_values
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.views.transactions_view import KINDS, view_columns

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


class Figures:
    """Consecutive transactions of a log, in log order, and figures of each as int64 arrays.

    `parts`: their columns, see `parts_of`; without GTIDs.
    `view`: returns a range of them in the form of the view.

    `sizes`: bytes in the file.
    `durations`: from the earliest event to the commit on the same server, in seconds; 0 if unknown.
    `commits`: commit time on the originating server, in seconds; 0 if unknown.
    `immediate`: commit time on this server, in microseconds; 0 if the log does not have it.
    `changed`: number of changed rows, without those that cannot be counted.
    `outcomes`: how each ended, as an index into `transactions_view.KINDS`.
    `definitions`: indexes of the transactions that are DDL.
    `positions`, `ends`, `events`: start and end position of each in its log, and its number of events.
    `threads`: the connection that ran each; -1 if the log does not have it.
    `tables`, `table_bytes`: Arrow lists of the tables that each changes, and of the bytes of their rows.
    """

    def __init__(self, file: str, parts: pa.RecordBatch, view: Callable[[int, int], pa.RecordBatch]) -> None:
        columns = view_columns(parts)

        def numbers(name: str, default: int = 0) -> Ints:
            values: Ints = columns[name].fill_null(default).to_numpy()
            return values

        self.file, self._view = plain(file), view
        self._known: dict[int, ViewRow] = {}
        original = numbers("original_commit_timestamp")
        self.sizes, self.durations = numbers("bytes"), numbers("duration")
        self.commits = np.where(original > 0, original // _MICRO, numbers("end"))
        self.immediate = numbers("immediate_commit_timestamp")
        self.changed: Ints = np.sum([numbers(name) for name in _OF_ROWS], axis=0)
        self.servers, self.threads = numbers("server_id"), numbers("thread_id", NO_THREAD)
        self.outcomes = columns["kind"].indices.to_numpy()
        self.is_compressed = columns["is_compressed"].to_numpy(zero_copy_only=False)
        self.definitions = np.flatnonzero(columns["statement"].is_valid())
        self.positions, self.ends, self.events = map(numbers, ("position", "end_position", "events"))
        self.tables, self.table_bytes = columns["tables"], columns["table_bytes"]

    def row(self, index: int) -> ViewRow:
        """One transaction, with its times in seconds, and text truncated to what is shown."""
        return self.rows(index, index + 1)[0]

    def rows(self, begin: int, end: int) -> list[ViewRow]:
        """A range of transactions."""
        if not all(number in self._known for number in range(begin, end)):
            for number, row in enumerate(self._view(begin, end).to_pylist(), begin):
                self._known[number] = _shown(row, int(self.commits[number]))
        return [self._known[number] for number in range(begin, end)]


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
        self._kept: list[tuple[float, int, _Thing]] = []  # the largest first
        self._count = 0

    def add(self, values: Array, thing: Callable[[int], _Thing]) -> None:
        """Add an array of values; `thing(index)` is called for those that are kept. Zeros do not count."""
        if not self._most:
            return
        least = self._kept[-1][0] if len(self._kept) == self._most else 0
        figures = np.flatnonzero(values > least)
        if len(figures) > self._most:
            figures = np.sort(figures[np.argsort(-values[figures], kind="stable")[: self._most]])
        for index in figures.tolist():
            self._count += 1
            # Among equal values, the first stays.
            self._kept.append((float(values[index]), -self._count, thing(index)))
        self._kept = nlargest(self._most, self._kept, key=itemgetter(0, 1))

    def __iter__(self) -> Iterator[_Thing]:
        return (thing for _, _, thing in self._kept)


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
        shown = figures.definitions[:room]
        for run in np.split(shown, np.flatnonzero(np.diff(shown) > 1) + 1) if len(shown) else ():
            self.definitions += figures.rows(int(run[0]), int(run[-1]) + 1)
        self._add_gaps(figures)

    def _add_tables(self, figures: Figures) -> None:
        """Rank the transactions of each table."""
        names = figures.tables.flatten()
        owners, tables = figures.tables.value_parent_indices().to_numpy(), names.indices.to_numpy()
        sizes, known = figures.table_bytes.flatten().to_numpy(), names.dictionary.to_pylist()
        for code in distinct_values(tables).tolist():
            name = known[code]
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
