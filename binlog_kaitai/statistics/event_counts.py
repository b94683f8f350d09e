"""Counts of events: by type, table and operation, time, statement."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Markers
from binlog_kaitai.log.groups import distinct_values
from binlog_kaitai.rows.event_filters import Selection
from binlog_kaitai.rows.event_metadata import CommitTimes, each_time
from binlog_kaitai.rows.rolled_back_rows import LeftOut
from binlog_kaitai.rows.row_counts import UNKNOWN
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.statistics.statement_kinds import count_statements
from binlog_kaitai.statistics.timeline import Timeline
from binlog_kaitai.views.transaction_pages import Page

OPERATIONS = ("insert", "update", "delete")

_MICRO = 1_000_000

#: Columns of the timeline.
EVENTS, BYTES, TRANSACTIONS, ROWS = 0, 1, 2, 3
TIMELINE_COLUMNS = 3 + len(OPERATIONS)

#: The columns of a table's sums.
TABLE_SUMS = ("rows", "events", "bytes", "transactions")

#: Maximum number of distinct tables and operations.
_MAX_TABLES = 100_000

_WORDS = ("write_", "update_", "delete_")


def _operation_of() -> Any:
    codes = np.full(256, -1, dtype=np.int64)
    for kind in ROWS_TYPES:
        name = EventType(kind).name
        codes[int(kind)] = next(number for number, word in enumerate(_WORDS) if word in name)
    return codes


_OPERATION_OF = _operation_of()


class EventCounts:
    """Counts events page by page.

    Parameters
    ----------
    left_out
        Leaves out rows that were rolled back.

    Attributes
    ----------
    types : int64 array of shape (256, 2)
        Event and byte counts for each type.
    tables : dict
        By schema, table and operation: rows, events, bytes, transactions.
    statements, statement_bytes : Counter
        By kind of statement.
    timeline : Timeline
    first, last : int
        The earliest and the latest commit time, in seconds; 0 if there is none.
    packed, unpacked : int
        Size of compressed content in bytes, before and after decompression.
    inner : int
        Number of events inside compressed transactions.
    keyless : set
        Schema and name of each table without a primary key; the others have one, or it is unknown.
    uncounted : int
        Rows events whose rows cannot be counted.
    """

    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        self.types = np.zeros((256, 2), dtype=np.int64)
        self.tables: dict[tuple[str, str, int], list[int]] = {}
        self.statements: Counter[str] = Counter()
        self.statement_bytes: Counter[str] = Counter()
        self.timeline = Timeline(TIMELINE_COLUMNS)
        self.first = self.last = 0
        self.packed = self.unpacked = 0
        self.inner = self.file_bytes = 0
        self.uncounted = 0
        self.keyless: set[tuple[str, str]] = set()
        self._commits = CommitTimes()
        self._last_position = -1
        self._touched: set[tuple[str, str, int]] = set()  # in the open transaction

    def begin(self) -> None:
        """Start a new log."""
        self._commits = CommitTimes()
        self._last_position = -1
        self._touched = set()

    def add(self, page: Page, wanted: Any) -> None:
        """Count the selected events (a bool array)."""
        block, takes_all = page.block, bool(wanted.all())
        is_inner = self._find_inner(block)
        sizes = block.sizes if takes_all else np.where(wanted, block.sizes, 0)
        in_file = sizes if is_inner is None else np.where(is_inner, 0, sizes)
        self.file_bytes += int(in_file.sum())
        for kind in block.kinds:
            rows = block.rows_of(kind)
            self.types[kind, 0] += len(rows) if takes_all else int(wanted[rows].sum())
            self.types[kind, 1] += int(sizes.take(rows).sum())
        times, time_of = self._times(block)
        numbers = time_of if takes_all else time_of[wanted]
        counts = np.bincount(numbers, minlength=len(times))
        timed = times[(counts > 0) & (times > 0)]
        if len(timed):
            self.first = min(filter(None, (self.first, int(timed.min()))))
            self.last = max(self.last, int(timed.max()))
        sums = {EVENTS: counts, BYTES: np.bincount(time_of, weights=in_file, minlength=len(times))}
        self.timeline.add(times, {**sums, **self._add_rows(page, wanted, time_of, len(times))})
        if is_inner is not None:
            self.inner += int((is_inner & wanted).sum())
            self.unpacked += int(block.sizes[is_inner & wanted].sum())
        self._add_packed(page, wanted)
        count_statements(block, wanted, self.statements, self.statement_bytes)

    def _times(self, block: Block) -> tuple[Any, Any]:
        """Commit times, in seconds, and for each event the index of its own.

        Clients can choose the timestamps in headers (SET TIMESTAMP), but not those of commits.
        """
        markers = Markers.of(block)
        times, before = self._commits.of_markers(block, markers)
        if min(before, int(times.min(initial=0))) < 0:
            return each_time(block, markers, times, before) // _MICRO, np.arange(len(block))
        return np.append(before, times) // _MICRO, markers.latest + 1

    def _find_inner(self, block: Block) -> Any:
        """Which events are inside a compressed transaction, as they share the position of the one before; or
        None.
        """
        is_inner = np.diff(block.positions, prepend=self._last_position) == 0
        self._last_position = int(block.positions[-1])
        return is_inner if is_inner.any() else None

    def _add_rows(self, page: Page, wanted: Any, time_of: Any, time_count: int) -> dict[int, Any]:
        """Count the rows of tables; returns the rows of each operation by time, as timeline columns."""
        images = page.images
        chosen = self._left_out.without(images, np.flatnonzero(wanted[images.rows]))
        rows, counts = images.rows[chosen], page.row_counts[chosen]
        self.uncounted += int((counts == UNKNOWN).sum())
        counts = np.maximum(counts, 0)
        operations = _OPERATION_OF[page.block.types[rows]]
        for table in images.tables:
            if isinstance(table, Table):
                self._note_key(table)
        names = [table.key if isinstance(table, Table) else ("", "") for table in images.tables]
        numbers = {name: number for number, name in enumerate(dict.fromkeys([*names, ("", "")]))}
        # The last one is for events without a table map.
        code_of_table = np.array([numbers[name] for name in [*names, ("", "")]], dtype=np.int64)
        codes = code_of_table[images.table_of[chosen]] * len(OPERATIONS) + operations
        keys = [(*name, number) for name in numbers for number in range(len(OPERATIONS))]
        values = (counts, np.ones(len(rows)), page.block.sizes[rows])
        sums = [np.bincount(codes, weights=value, minlength=len(keys)) for value in values]
        transactions = self._transactions(page, rows, codes, keys)
        for code in np.flatnonzero(sums[1]).tolist():
            key = keys[code]
            if len(self.tables) >= _MAX_TABLES and key not in self.tables:
                key = ("", "(others)", key[2])
            total = self.tables.setdefault(key, [0] * len(TABLE_SUMS))
            for number, value in enumerate((*(int(column[code]) for column in sums), transactions[code])):
                total[number] += value
        return {
            ROWS + number: np.bincount(
                time_of[rows], weights=counts * (operations == number), minlength=time_count
            )
            for number in range(len(OPERATIONS))
        }

    def _note_key(self, table: Table) -> None:
        """Note whether a table has a primary key, as far as the log or a definition shows."""
        schema = table.schema
        if schema.primary_key:
            self.keyless.discard(table.key)
        elif all(column.is_primary_key is False for column in schema.columns):
            self.keyless.add(table.key)

    def _transactions(self, page: Page, rows: Any, codes: Any, keys: list[tuple[str, str, int]]) -> list[int]:
        """For each table and operation, the number of transactions with such rows not counted before."""
        numbers = page.parts.number_of[rows]
        pairs = numbers * len(keys) + codes
        # Most transactions have a single kind of change, so the values are already sorted.
        pairs = pairs if (np.diff(pairs) > 0).all() else distinct_values(pairs)
        pairs = pairs[pairs >= 0]
        owners, found = pairs // len(keys), pairs % len(keys)
        counts: list[int] = np.bincount(found, minlength=len(keys)).tolist()
        segments = page.segments
        first = set(found[owners == 0].tolist()) if segments.continues else set()
        for code in first:
            counts[code] -= keys[code] in self._touched
        last = len(page.parts) - 1
        if not segments.continues or last > 0 or not segments.is_open:
            self._touched = set()
        if segments.is_open:
            self._touched |= {keys[code] for code in found[owners == last].tolist()}
        return counts

    def _add_packed(self, page: Page, wanted: Any) -> None:
        block = page.block
        for row in block.rows_of(EventType.transaction_payload_event).tolist():
            self.packed += int(block.sizes[row]) * int(wanted[row])
        packed, unpacked = page.images.unpacked()
        chosen = wanted[page.images.rows]
        self.packed += int(packed[chosen].sum())
        self.unpacked += int(unpacked[chosen].sum())
        kind = EventType.query_compressed_event
        rows = block.rows_of(kind)
        if len(rows):
            body, chosen = block.body(kind), wanted[rows]
            self.packed += int(body.ranges("compressed_query.deflated")[1][chosen].sum())
            self.unpacked += int(body.numbers("compressed_query.len_uncompressed")[chosen].sum())


def chosen_events(page: Page, selection: Selection) -> Any:
    """Which events match the filters, as a bool array."""
    wanted = selection.of(page.block, page.gtids, page.pool)
    if selection.has_names:
        wanted &= _named(page, selection)
    return wanted


def _named(page: Page, selection: Selection) -> Any:
    """Which events name one of the requested schemas or tables."""
    block, images = page.block, page.images
    named = np.zeros(len(block), dtype=np.bool_)
    of_table = [isinstance(table, Table) and selection.takes_names(*table.key) for table in images.tables]
    named[images.rows] = np.array([*of_table, False], dtype=np.bool_)[images.table_of]
    for kind, has_table in _NAMED:
        rows = block.rows_of(kind)
        if len(rows):
            body = block.body(kind)
            columns = [_texts(block, *body.ranges("schema_name"))]
            columns.append(_texts(block, *body.ranges("table_name")) if has_table else [None] * len(rows))
            takes = [selection.takes_names(*names) for names in zip(*columns, strict=True)]
            named[rows] = np.array(takes, dtype=np.bool_)
    return named


_NAMED = (
    (EventType.table_map_event, True),
    (EventType.query_event, False),
    (EventType.query_compressed_event, False),
    (EventType.execute_load_query_event, False),
)


def _texts(block: Block, starts: Any, lengths: Any) -> list[str | None]:
    ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
    return [
        bytes(block.data[start : start + length]).decode("utf-8", "surrogateescape")
        for start, length in ranges
    ]
