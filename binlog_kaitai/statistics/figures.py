"""Figures of transactions as arrays, and the few transactions that are decoded as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Outcome
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.rows.row_counts import UNKNOWN
from binlog_kaitai.views.transaction_pages import Page
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

#: Stands for an unknown connection.
NO_THREAD = -1

#: Maximum length of the text kept for a definition.
MAX_TEXT = 4096

#: Maximum number of table names kept for one transaction.
_MAX_TABLES = 20

_OF_ROWS = ("rows_inserted", "rows_updated", "rows_deleted")


class Figures(NamedTuple):
    """Consecutive transactions, in log order.

    Attributes
    ----------
    sizes : int64 array
        Bytes in the file.
    durations : int64 array
        From the earliest event to the commit on the same server, in seconds; 0 if unknown.
    commits : int64 array
        Commit time on the originating server, in seconds; 0 if unknown.
    immediate : int64 array
        Commit time on this server, in microseconds; 0 if the log does not have it.
    changed : int64 array
        Number of changed rows, without those that cannot be counted.
    servers : int64 array
        Server ids.
    outcomes : int8 array
        How each ended, as an index into `transactions.view.KINDS`.
    is_compressed : bool array
    definitions : int64 array
        Indexes of the transactions that are DDL.
    positions, ends, events : int64 arrays
        Start and end position of each in its log, and its number of events.
    threads : int64 array
        The connection that ran each; -1 if the log does not have it.
    tables : TableBytes
        Bytes by transaction and table.
    file : str
        Name of the log.
    view : callable
        Returns a range of transactions in the form of the view.
    known : dict
        Transactions already decoded, by index; see `row`.
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
    positions: Any
    ends: Any
    events: Any
    threads: Any
    tables: TableBytes
    file: str
    view: Callable[[int, int], pa.RecordBatch]
    known: dict[int, dict[str, Any]]

    @classmethod
    def of_view(cls, batch: pa.RecordBatch) -> Figures:
        """The figures of a batch of the view."""

        def numbers(name: str, default: int = 0) -> Any:
            return batch.column(name).cast(pa.int64()).fill_null(default).to_numpy()

        start, duration, original = map(numbers, ("start", "duration", "original_commit_timestamp"))
        kinds = batch.column("kind").to_pylist()
        return cls(
            sizes=numbers("bytes"),
            durations=duration,
            commits=_commits(start // _MICRO, duration, original),
            immediate=numbers("immediate_commit_timestamp"),
            changed=sum(map(numbers, _OF_ROWS)),
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
    def of_page(cls, file: str, page: Page, begin: int, end: int) -> Figures:
        """The figures of the transactions in a page; `tests/stats` compares them with those of the view."""
        block, parts, some = page.block, page.parts, slice(begin, end)
        first, last = parts.first[some], parts.last[some]
        fields, ends = gtid_fields(block, parts), outcomes_of(page.roles, parts)

        def field(name: str, default: int = 0) -> Any:
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
            view=lambda one, after: view_of(file, page.rows(begin + one, begin + after), WITH_TABLE_BYTES),
            known={},
        )

    def row(self, index: int) -> dict[str, Any]:
        """One transaction, with its times in seconds, and text truncated to what is shown."""
        return self.rows(index, index + 1)[0]

    def rows(self, begin: int, end: int) -> list[dict[str, Any]]:
        """A range of transactions."""
        if not all(number in self.known for number in range(begin, end)):
            for number, row in enumerate(self.view(begin, end).to_pylist(), begin):
                self.known[number] = _shown(row, int(self.commits[number]))
        return [self.known[number] for number in range(begin, end)]


def _threads(page: Page, of_gtids: Any, some: slice) -> Any:
    """The connection of each transaction: from its first statement, else from its GTID event."""
    found = statement_threads(page.block, page.parts).fill_null(NO_THREAD).to_numpy()[some]
    return np.where(found == NO_THREAD, of_gtids, found)


def _tables_of_page(page: Page, begin: int, end: int) -> TableBytes:
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


def _changed(page: Page) -> Any:
    """How many rows each transaction changes; kinds of change with uncountable rows count as zero."""
    block, parts, changes = page.block, page.parts, page.changes
    if (changes.counts != UNKNOWN).all():
        return parts.sums(changes.rows, changes.counts)
    found = changed_rows(block, parts, changes).values()
    return sum(np.where(is_unknown, 0, sums) for sums, is_unknown in found)


def _definitions(block: Block, ends: Ends) -> Any:
    """Which transactions are DDL, as a bool array."""
    found: Any = ends.meant == Outcome.DDL
    if found.any() and EventType.query_compressed_event in block.kinds:
        # The text of a damaged one is missing.
        return np.array([text is not None for text in definitions(block, ends)])
    return found


def _commits(start: Any, durations: Any, original: Any) -> Any:
    """Commit time of each on its originating server, in seconds, except for `original`."""
    return np.where(original > 0, original // _MICRO, np.where(start > 0, start + durations, 0))


def _shown(row: dict[str, Any], commit: int) -> dict[str, Any]:
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
