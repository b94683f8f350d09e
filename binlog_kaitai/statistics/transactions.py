"""Transaction statistics: rankings, gaps between commits, DDL, servers, sizes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.log.groups import distinct, distinct_values
from binlog_kaitai.statistics.figures import NO_THREAD, Figures
from binlog_kaitai.views.transactions_view import KINDS

_MICRO = 1_000_000

#: Maximum number of DDL statements kept.
MAX_DEFINITIONS = 1000

#: Maximum number of distinct servers and connections; the rest are counted together under this number.
_MAX_SERVERS, _MAX_THREADS, OTHERS = 10_000, 100_000, -2

#: Maximum number of tables whose transactions are ranked, and of transactions ranked for each.
_MAX_TABLES, OF_TABLE = 1000, 5


class Ranking:
    """The largest values of many, each with an associated object.

    Parameters
    ----------
    most
        How many to keep.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, int, Any]] = []
        self._count = 0

    def add(self, values: Any, thing: Any) -> None:
        """Add an array of values; `thing(index)` is called for those that are kept. Zeros do not count."""
        if not self._most or not len(values):
            return
        least = self._heap[0][0] if len(self._heap) == self._most else 0
        found = np.flatnonzero(values > least)
        if len(found) > self._most:
            found = np.sort(found[np.argsort(-values[found], kind="stable")[: self._most]])
        for index in found.tolist():
            self._count += 1
            # Among equal values, the first stays.
            entry = (float(values[index]), -self._count, thing(index))
            if len(self._heap) < self._most:
                heapq.heappush(self._heap, entry)
            elif entry > self._heap[0]:
                heapq.heapreplace(self._heap, entry)

    def __iter__(self) -> Iterator[Any]:
        return (thing for _, _, thing in sorted(self._heap, key=lambda entry: entry[:2], reverse=True))


class TableChange(NamedTuple):
    """The changes of one transaction to one table.

    Attributes
    ----------
    file, position, end_position, events
        The transaction, as in `model.Place`.
    time, thread : int or None
        Commit time in seconds, and connection.
    table_bytes, bytes : int
        Size of the table's rows events, and of the transaction in the file.
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
    def of(cls, found: Figures, index: int, table_bytes: int) -> TableChange:
        """The change for one of several transactions."""
        thread = int(found.threads[index])
        return cls(
            found.file,
            int(found.positions[index]),
            int(found.ends[index]),
            int(found.events[index]),
            int(found.commits[index]) or None,
            None if thread == NO_THREAD else thread,
            table_bytes,
            int(found.sizes[index]),
        )


class TransactionCounts:
    """Counts transactions, batch by batch.

    Parameters
    ----------
    top
        Length of each ranking.

    Attributes
    ----------
    biggest, longest, most_rows, gaps : Ranking
        Rankings of rows of the view; for gaps, of pairs: seconds, and the row after the gap.
    definitions : list of dict
        The first rows of the view that are DDL; `definition_count` is their total number.
    servers : dict
        By server id: transactions, bytes.
    kinds : dict
        Number of transactions by outcome.
    threads : dict
        By connection: transactions, bytes, rows.
    of_tables : dict
        By ``schema.table``, the `Ranking` of its transactions (as `TableChange`) by the bytes of its rows
        events.
    sizes : int64 array
        Number of transactions by the bit length of their size.
    """

    def __init__(self, top: int) -> None:
        self.count = self.bytes = self.compressed = 0
        self.biggest, self.longest, self.most_rows, self.gaps = (Ranking(top) for _ in range(4))
        self.first: list[dict[str, Any]] = []
        self.definitions: list[dict[str, Any]] = []
        self.definition_count = 0
        self.servers: dict[int, list[int]] = {}
        self.kinds: dict[str, int] = {}
        self.threads: dict[int, list[int]] = {}
        self.of_tables: dict[str, Ranking] = {}
        self.sizes = np.zeros(64, dtype=np.int64)
        self._last_commit = 0

    def add(self, found: Figures) -> None:
        """Count a batch of transactions."""
        count, row = len(found.sizes), found.row
        self.count += count
        self.bytes += int(found.sizes.sum())
        self.compressed += int(np.count_nonzero(found.is_compressed))
        # The exponent of frexp is the number of bits; sizes are far below 2^53.
        self.sizes += np.bincount(np.frexp(found.sizes.astype(np.float64))[1], minlength=64)
        self.first += found.rows(0, min(count, FIRST - len(self.first)))
        self.biggest.add(found.sizes, row)
        self.longest.add(found.durations, row)
        self.most_rows.add(found.changed, row)
        _add_sums(self.servers, _MAX_SERVERS, found.servers, found.sizes)
        _add_sums(self.threads, _MAX_THREADS, found.threads, found.sizes, found.changed)
        self._add_tables(found)
        of_kind = np.bincount(found.outcomes, minlength=len(KINDS))
        for number in np.flatnonzero(of_kind).tolist():
            self.kinds[KINDS[number]] = self.kinds.get(KINDS[number], 0) + int(of_kind[number])
        self.definition_count += len(found.definitions)
        room = MAX_DEFINITIONS - len(self.definitions)
        self.definitions += map(row, found.definitions[:room].tolist())
        self._add_gaps(found)

    def _add_tables(self, found: Figures) -> None:
        """Rank the transactions of each table."""
        names, owners, tables, sizes = found.tables
        for code in distinct_values(tables).tolist():
            name = names[code]
            if name not in self.of_tables and len(self.of_tables) >= _MAX_TABLES:
                continue
            chosen = np.flatnonzero(tables == code)

            def change(index: int, chosen: Any = chosen) -> TableChange:
                at = chosen[index]
                return TableChange.of(found, int(owners[at]), int(sizes[at]))

            self.of_tables.setdefault(name, Ranking(OF_TABLE)).add(sizes[chosen], change)

    def _add_gaps(self, found: Figures) -> None:
        """Rank gaps in which this server committed nothing; to the microsecond if the log records it."""
        commits = np.where(found.immediate > 0, found.immediate, found.commits * _MICRO)
        timed = np.flatnonzero(commits > 0)
        commits = commits[timed]
        if not len(commits):
            return
        gaps = np.diff(commits, prepend=self._last_commit or commits[0])
        self._last_commit = int(commits[-1])
        self.gaps.add(gaps, lambda index: (int(gaps[index]) / _MICRO, found.row(int(timed[index]))))


def _add_sums(sums: dict[int, list[int]], most: int, keys: Any, *values: Any) -> None:
    """Add to the sums of each key its count and values; beyond `most` keys, the rest are counted as one."""
    first, which = distinct(keys)
    counts = np.bincount(which, minlength=len(first)).tolist()
    columns = [np.bincount(which, weights=value, minlength=len(first)).tolist() for value in values]
    for key, *added in zip(keys[first].tolist(), counts, *columns, strict=True):
        total = sums.setdefault(key if len(sums) < most or key in sums else OTHERS, [0] * len(added))
        for at, value in enumerate(added):
            total[at] += int(value)


#: How many of the first transactions are kept, to show for a short log.
FIRST = 200
