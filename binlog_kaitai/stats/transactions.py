"""Transactions: the first of several rankings, gaps between commits, definitions, servers, sizes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_MICRO = 1_000_000

#: Definitions that are kept, and as much of the text of each.
MAX_DEFINITIONS, MAX_TEXT = 1000, 4096

#: Names of tables that are kept of one transaction.
_MAX_TABLES = 20

#: Servers that are told apart; all more are counted as one of this number.
_MAX_SERVERS, OTHERS = 10_000, -1

_OF_ROWS = ("rows_inserted", "rows_updated", "rows_deleted")


class Ranking:
    """The greatest few of many values, each with what belongs to it.

    Parameters
    ----------
    most
        How many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, int, Any]] = []
        self._count = 0

    def add(self, values: Any, thing: Any) -> None:
        """Take in an array of values; `thing(index)` is asked for those that are kept. 0 does not count."""
        if not self._most or not len(values):
            return
        least = self._heap[0][0] if len(self._heap) == self._most else 0
        found = np.flatnonzero(values > least)
        if len(found) > self._most:
            found = np.sort(found[np.argsort(-values[found], kind="stable")[: self._most]])
        for index in found.tolist():
            self._count += 1
            # Of equal ones the first stays.
            entry = (float(values[index]), -self._count, thing(index))
            if len(self._heap) < self._most:
                heapq.heappush(self._heap, entry)
            elif entry > self._heap[0]:
                heapq.heapreplace(self._heap, entry)

    def __iter__(self) -> Iterator[Any]:
        return (thing for _, _, thing in sorted(self._heap, key=lambda entry: entry[:2], reverse=True))


class TransactionCounts:
    """Counts transactions, batch by batch of their view.

    Parameters
    ----------
    top
        How many of each ranking are kept.

    Attributes
    ----------
    biggest, longest, most_rows, gaps : Ranking
        Of rows of the view; of gaps, a pair: seconds, and the row behind it.
    definitions : list of dict
        Rows of the view, the first of them; `definition_count` is how many there are.
    servers : dict
        By server id: transactions, bytes.
    kinds : dict
        Transactions by how they ended.
    sizes : int64 array
        How many transactions have a length of so many bits.
    """

    def __init__(self, top: int) -> None:
        self.count = self.bytes = self.compressed = 0
        self.biggest, self.longest, self.most_rows, self.gaps = (Ranking(top) for _ in range(4))
        self.first: list[dict[str, Any]] = []
        self.definitions: list[dict[str, Any]] = []
        self.definition_count = 0
        self.servers: dict[int, list[int]] = {}
        self.kinds: dict[str, int] = {}
        self.sizes = np.zeros(64, dtype=np.int64)
        self._last_commit = 0

    def add(self, batch: pa.RecordBatch) -> Any:
        """Count a batch; gives the times of the commits, in seconds."""
        self.count += len(batch)
        sizes = batch.column("bytes").to_numpy()
        self.bytes += int(sizes.sum())
        self.compressed += int(pc.sum(batch.column("is_compressed").cast(pa.int64())).as_py() or 0)
        # The exponent of frexp is the number of bits; sizes are far below 2^53.
        self.sizes += np.bincount(np.frexp(sizes.astype(np.float64))[1], minlength=64)

        def row(index: int) -> dict[str, Any]:
            return _row(batch, index)

        self.first += [row(index) for index in range(min(len(batch), FIRST - len(self.first)))]
        self.biggest.add(sizes, row)
        duration = batch.column("duration").cast(pa.int64()).fill_null(0).to_numpy()
        self.longest.add(duration, row)
        changed = sum(batch.column(name).fill_null(0).to_numpy() for name in _OF_ROWS)
        self.most_rows.add(changed, row)
        self._add_servers(batch.column("server_id").to_numpy(), sizes)
        for entry in pc.value_counts(batch.column("kind")).to_pylist():
            self.kinds[entry["values"]] = self.kinds.get(entry["values"], 0) + entry["counts"]
        self._add_definitions(batch)
        end = _commits(batch)
        self._add_gaps(batch, end, row)
        return end

    def _add_servers(self, servers: Any, sizes: Any) -> None:
        ids, which = np.unique(servers, return_inverse=True)
        counts = np.bincount(which.reshape(-1), minlength=len(ids)).tolist()
        weights = np.bincount(which.reshape(-1), weights=sizes, minlength=len(ids)).tolist()
        for server, count, weight in zip(ids.tolist(), counts, weights, strict=True):
            key = server if len(self.servers) < _MAX_SERVERS or server in self.servers else OTHERS
            total = self.servers.setdefault(key, [0, 0])
            total[0] += count
            total[1] += int(weight)

    def _add_definitions(self, batch: pa.RecordBatch) -> None:
        found = np.flatnonzero(batch.column("statement").is_valid().to_numpy(zero_copy_only=False))
        self.definition_count += len(found)
        room = MAX_DEFINITIONS - len(self.definitions)
        self.definitions += [_row(batch, index) for index in found[:room].tolist()]

    def _add_gaps(self, batch: pa.RecordBatch, end: Any, row: Any) -> None:
        """Time in which this server committed nothing; to the microsecond where the log has that."""
        commits = batch.column("immediate_commit_timestamp").cast(pa.int64()).fill_null(0).to_numpy()
        commits = np.where(commits > 0, commits, end * _MICRO)
        timed = np.flatnonzero(commits > 0)
        commits = commits[timed]
        if not len(commits):
            return
        gaps = np.diff(commits, prepend=self._last_commit or commits[0])
        self._last_commit = int(commits[-1])
        self.gaps.add(gaps, lambda index: (int(gaps[index]) / _MICRO, row(int(timed[index]))))


#: As many of the first transactions are kept, for a look at a short log.
FIRST = 200


def _commits(batch: pa.RecordBatch) -> Any:
    """When each was committed on the server where it was made, in seconds; 0 where that is not known."""
    start = batch.column("start").cast(pa.int64()).fill_null(0).to_numpy()
    duration = batch.column("duration").cast(pa.int64()).fill_null(0).to_numpy() * _MICRO
    original = batch.column("original_commit_timestamp").cast(pa.int64()).fill_null(0).to_numpy()
    return np.where(original > 0, original, np.where(start > 0, start + duration, 0)) // _MICRO


def _row(batch: pa.RecordBatch, index: int) -> dict[str, Any]:
    """One transaction, with its times in seconds and no more text than is shown."""
    found: dict[str, Any] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        value = column[index]
        if name == "tables":
            names = value.values.slice(0, _MAX_TABLES + 1).to_pylist()
            found[name] = [*names[:_MAX_TABLES], "…"] if len(names) > _MAX_TABLES else names
        elif pa.types.is_temporal(column.type):
            number = value.cast(pa.int64()).as_py()
            found[name] = number // _MICRO if pa.types.is_timestamp(column.type) and number else number
        else:
            found[name] = value.as_py()
    found["time"] = int(_commits(batch.slice(index, 1))[0]) or None
    text = found["statement"]
    if text is not None and len(text) > MAX_TEXT:
        found["statement"] = text[:MAX_TEXT] + "…"
    counts = [found[name] for name in _OF_ROWS]
    found["rows"] = None if None in counts else sum(counts)
    return found
