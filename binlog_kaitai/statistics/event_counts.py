"""Counts of events: by type, table and operation, time, statement."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.kernels.groups import distinct, distinct_values, group_ranges
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, unpacked_beginnings
from binlog_kaitai.log.event_gtids import Markers
from binlog_kaitai.log.transaction_roles import first_words
from binlog_kaitai.rows.event_filters import EventSelection
from binlog_kaitai.rows.event_metadata import CommitTimes, each_time
from binlog_kaitai.rows.rolled_back_rows import LeftOut
from binlog_kaitai.rows.row_counts import UNKNOWN
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.statistics.stats_model import Timeline, local_steps
from binlog_kaitai.views.transaction_pages import TransactionsPage
from binlog_kaitai.views.transaction_parts import CHANGES

#: Statements with the same first bytes are classified once; at most this many bytes otherwise.
_PREFIX, _BEGINNING = 24, 512

#: After these words, the kind of object is part of the statement's kind.
_DEFINING = frozenset(b"CREATE ALTER DROP RENAME".split())
_THINGS = re.compile(
    rb"\b(TABLE|VIEW|INDEX|DATABASE|SCHEMA|PROCEDURE|FUNCTION|TRIGGER|EVENT|USER|ROLE|SEQUENCE|PACKAGE"
    rb"|TABLESPACE|SERVER|UNDO|RESOURCE)\b",
    re.IGNORECASE,
)
_TWO_WORDS = frozenset(b"XA START LOAD SET ROLLBACK SAVEPOINT TRUNCATE REPLACE".split())
_KEPT_SECOND = frozenset(b"START END PREPARE COMMIT ROLLBACK TRANSACTION DATA XML PASSWORD TO TABLE".split())
_UNKNOWN = "(other)"

#: Maximum number of distinct kinds.
_MAX_KINDS = 1000


@lru_cache(1 << 12)
def kind_of(beginning: bytes) -> str:
    """The kind of a statement, such as ``"INSERT"`` or ``"CREATE TABLE"``, by its beginning."""
    words = first_words(beginning)
    if words is None:
        return _UNKNOWN
    first, second = words
    if first in _DEFINING:
        match = _THINGS.search(beginning)
        thing = match[1].upper() if match else b""
        return b" ".join((first, b"DATABASE" if thing == b"SCHEMA" else thing)).strip().decode()
    if first in _TWO_WORDS and second in _KEPT_SECOND:
        return b" ".join(words).decode()
    return first.decode() if len(first) <= 32 else _UNKNOWN


def count_statements(block: Block, wanted: Bools, sums: dict[str, list[int]]) -> None:
    """Count the selected statements of a block, and the bytes of their events, by kind."""
    for kind in (*QUERY_TYPES, *_LOADS):
        rows = block.rows_of(kind)
        if not len(rows):
            continue
        chosen = np.flatnonzero(wanted[rows])
        names, which = _kinds(block, kind, chosen)
        of_kind = np.bincount(which, minlength=len(names)).tolist()
        bytes_of = np.bincount(which, weights=block.sizes[rows[chosen]], minlength=len(names)).tolist()
        for name, count, size in zip(names, of_kind, bytes_of, strict=True):
            total = sums.setdefault(name if name in sums or len(sums) < _MAX_KINDS else _UNKNOWN, [0, 0])
            total[0] += count
            total[1] += int(size)


_LOADS = (EventType.execute_load_query_event, EventType.load_event, EventType.new_load_event)


def _kinds(block: Block, kind: int, chosen: Ints) -> tuple[list[str], Ints]:
    """Names of kinds, and for each selected statement the index of its kind."""
    if kind in _LOADS:
        return ["LOAD DATA"], np.zeros(len(chosen), dtype=np.int64)
    body = block.body(kind)
    if kind == EventType.query_compressed_event:
        texts = unpacked_beginnings(block, body)
        return _numbered([kind_of(texts[index]) for index in chosen.tolist()])
    starts, lengths = (values[chosen] for values in body.ranges("query"))
    firsts = group_ranges(block.data, starts, starts + np.minimum(lengths, _PREFIX))
    first, which = distinct(firsts)
    names: list[str] = []
    for index in first.tolist():
        if not body.matches[chosen[index]]:
            names.append(kind_of(_by_reader(block, int(block.rows_of(kind)[chosen[index]]))))
            continue
        text = bytes(block.data[int(starts[index]) : int(starts[index] + min(lengths[index], _BEGINNING))])
        names.append(kind_of(text) if _shows_kind(text[:_PREFIX]) or len(text) <= _PREFIX else "")
    if "" not in names:
        names, numbers = _numbered(names)  # different beginnings may be of one kind
        return names, numbers[which]
    names = [names[number] for number in which.tolist()]
    for index, name in enumerate(names):
        if not name:
            start = int(starts[index])
            names[index] = kind_of(bytes(block.data[start : start + int(min(lengths[index], _BEGINNING))]))
    return _numbered(names)


@lru_cache(1 << 12)
def _shows_kind(prefix: bytes) -> bool:
    """Whether a prefix is enough to classify all statements that begin with it."""
    words = first_words(prefix)
    if words is None or prefix[:1] in b" \t\n/#-" or b"  " in prefix:
        return False
    # Both words must be complete.
    if words[0] in _DEFINING or words[0] in _TWO_WORDS:
        is_clear = words[0] in _TWO_WORDS or words[1] in _PLAIN_THINGS
        return is_clear and bool(words[1]) and len(b" ".join(words)) < len(prefix)
    return len(words[0]) < len(prefix)


_PLAIN_THINGS = frozenset(b"TABLE VIEW INDEX DATABASE USER PROCEDURE FUNCTION TRIGGER EVENT".split())


def _by_reader(block: Block, row: int) -> bytes:
    try:
        query: bytes = block.event(row).body.query
    except (BinlogError, AttributeError):
        return b""
    return query[:_BEGINNING]


def _numbered(names: list[str]) -> tuple[list[str], Ints]:
    """Distinct names, and the index of each name among them."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return list(numbers), np.array([numbers[name] for name in names], dtype=np.int64)


OPERATIONS = ("insert", "update", "delete")

_MICRO = 1_000_000

#: Columns of the timeline.
EVENTS, BYTES, TRANSACTIONS, ROWS = 0, 1, 2, 3
TIMELINE_COLUMNS = 3 + len(OPERATIONS)

#: The columns of a table's sums.
TABLE_SUMS = ("rows", "events", "bytes", "transactions")

#: Maximum number of distinct tables and operations.
_MAX_TABLES = 100_000

_OPERATION_OF = np.full(256, -1, dtype=np.int64)
for _number, _kinds_of in enumerate(CHANGES.values()):
    _OPERATION_OF[_kinds_of] = _number


class EventCounts:
    """Counts events page by page.

    `left_out`: leaves out rows that were rolled back.
    `types`: event and byte counts for each type.
    `tables`: by schema, table and operation: rows, events, bytes, transactions.
    `statements`: by kind of statement: events, bytes.
    `first`, `last`: the earliest and the latest commit time, in seconds; 0 if there is none.
    `packed`, `unpacked`: size of compressed content in bytes, before and after decompression.
    `inner`: number of events inside compressed transactions.
    `keyless`: schema and name of each table without a primary key; the others have one, or it is unknown.
    `uncounted`: rows events whose rows cannot be counted.
    `table_times`: if `step` (in seconds) is not 0, by start of the step, schema and table: the numbers of
    rows of each operation, and bytes.
    """

    def __init__(self, left_out: LeftOut, step: int = 0) -> None:
        self._left_out, self._step = left_out, step
        self.table_times: dict[tuple[int, str, str], list[int]] = {}
        self.types = np.zeros((256, 2), dtype=np.int64)
        self.tables: dict[tuple[str, str, int], list[int]] = {}
        self.statements: dict[str, list[int]] = {}
        self.timeline = Timeline(TIMELINE_COLUMNS)
        self.first = self.last = 0
        self.packed = self.unpacked = 0
        self.inner = self.file_bytes = 0
        self.uncounted = 0
        self.keyless: set[tuple[str, str]] = set()
        self._commits, self._boundaries = CommitTimes(), Boundaries()
        self._last_position = -1
        self._touched: set[tuple[str, str, int]] = set()  # in the open transaction

    def begin(self) -> None:
        """Start a new log."""
        self._commits, self._boundaries = CommitTimes(), Boundaries()
        self._last_position = -1
        self._touched = set()

    def add(self, page: TransactionsPage, wanted: Bools) -> None:
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
        self.timeline.add(times, {**sums, **self._add_rows(page, wanted, times, time_of)})
        if is_inner is not None:
            self.inner += int((is_inner & wanted).sum())
            self.unpacked += int(block.sizes[is_inner & wanted].sum())
        self._add_packed(page, wanted)
        count_statements(block, wanted, self.statements)

    def _times(self, block: Block) -> tuple[Ints, Ints]:
        """Commit times, in seconds, and for each event the index of its own.

        Clients can choose the timestamps in headers (SET TIMESTAMP), but not those of commits.
        """
        markers = Markers.of(block, self._boundaries)
        times = self._commits.of_markers(block, markers)
        if times.min() < 0:
            events = np.arange(len(block))
            return each_time(block, events, markers, times) // _MICRO, events
        return np.roll(times, 1) // _MICRO, markers.latest + 1

    def _find_inner(self, block: Block) -> Bools | None:
        """Which events are inside a compressed transaction, as they share the position of the one before; or
        None.
        """
        is_inner = np.diff(block.positions, prepend=self._last_position) == 0
        self._last_position = int(block.positions[-1])
        return is_inner if is_inner.any() else None

    def _add_rows(self, page: TransactionsPage, wanted: Bools, times: Ints, time_of: Ints) -> dict[int, Ints]:
        """Count the rows of tables; returns the rows of each operation by time, as timeline columns."""
        images = page.images
        chosen = self._left_out.without(images, np.flatnonzero(wanted[images.rows]))
        rows, counts = images.rows[chosen], page.changes.counts[chosen]
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
        if self._step and len(rows):
            starts = local_steps(times[time_of[rows]], self._step)
            self._add_table_times(starts, codes, keys, counts, page.block.sizes[rows])
        return {
            ROWS + number: np.bincount(
                time_of[rows], weights=counts * (operations == number), minlength=len(times)
            )
            for number in range(len(OPERATIONS))
        }

    def _add_table_times(
        self, starts: Ints, codes: Ints, keys: list[tuple[str, str, int]], counts: Ints, sizes: Ints
    ) -> None:
        """Count rows and bytes of events, given the start of the step and the index of the key of each."""
        first, which = distinct(starts * len(keys) + codes)
        sums = [np.bincount(which, weights=values).astype(np.int64).tolist() for values in (counts, sizes)]
        for index, rows, size in zip(first.tolist(), *sums, strict=True):
            schema, table, operation = keys[codes[index]]
            key = int(starts[index]), schema, table
            if len(self.table_times) >= _MAX_TABLES and key not in self.table_times:
                key = (key[0], "", "(others)")
            total = self.table_times.setdefault(key, [0] * (len(OPERATIONS) + 1))
            total[operation] += rows
            total[-1] += size

    def _note_key(self, table: Table) -> None:
        """Note whether a table has a primary key, as far as the log or a definition shows."""
        schema = table.schema
        if schema.primary_key:
            self.keyless.discard(table.key)
        elif all(column.is_primary_key is False for column in schema.columns):
            self.keyless.add(table.key)

    def _transactions(
        self, page: TransactionsPage, rows: Ints, codes: Ints, keys: list[tuple[str, str, int]]
    ) -> list[int]:
        """For each table and operation, the number of transactions with such rows not counted before."""
        numbers = page.parts.number_of[rows]
        pairs = numbers * len(keys) + codes
        # Most transactions have a single kind of change, so the values are already sorted.
        pairs = pairs if (np.diff(pairs) > 0).all() else distinct_values(pairs)
        pairs = pairs[pairs >= 0]
        owners, indexes = pairs // len(keys), pairs % len(keys)
        counts: list[int] = np.bincount(indexes, minlength=len(keys)).tolist()
        segments = page.segments
        first = set(indexes[owners == 0].tolist()) if segments.continues else set()
        for code in first:
            counts[code] -= keys[code] in self._touched
        last = len(page.parts) - 1
        if not segments.continues or last > 0 or not segments.is_open:
            self._touched = set()
        if segments.is_open:
            self._touched |= {keys[code] for code in indexes[owners == last].tolist()}
        return counts

    def _add_packed(self, page: TransactionsPage, wanted: Bools) -> None:
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


def chosen_events(page: TransactionsPage, selection: EventSelection) -> Bools:
    """Which events match the filters, as a bool array."""
    wanted = selection.of(page.block, page.gtids)
    if selection.has_names:
        wanted &= _named(page, selection)
    return wanted


def _named(page: TransactionsPage, selection: EventSelection) -> Bools:
    """Which events name one of the requested schemas or tables."""
    block, images = page.block, page.images
    assert page.defines is not None
    named = page.defines.copy()
    of_table = [isinstance(table, Table) and selection.takes_names(*table.key) for table in images.tables]
    named[images.rows] = np.array([*of_table, False], dtype=np.bool_)[images.table_of]
    for kind, has_table in _NAMED:
        rows = block.rows_of(kind)
        if len(rows):
            body = block.body(kind)
            columns = [_texts(block, *body.ranges("schema_name"))]
            columns.append(_texts(block, *body.ranges("table_name")) if has_table else [None] * len(rows))
            takes = [selection.takes_names(*names) for names in zip(*columns, strict=True)]
            named[rows] |= np.array(takes, dtype=np.bool_)
    return named


_NAMED = (
    (EventType.table_map_event, True),
    (EventType.query_event, False),
    (EventType.query_compressed_event, False),
    (EventType.execute_load_query_event, False),
)


def _texts(block: Block, starts: Ints, lengths: Ints) -> list[str | None]:
    ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
    return [
        bytes(block.data[start : start + length]).decode("utf-8", "surrogateescape")
        for start, length in ranges
    ]
