"""Commit time, thread id and statement of each event, one block at a time.

1. The thread id is that of the latest statement of the transaction (the BEGIN, in MySQL), or of MariaDB's
   GTID event since 11.5. It does not carry over from one transaction to the next.
2. A logged statement (ROWS_QUERY_LOG_EVENT, ANNOTATE_ROWS_EVENT) applies to the following rows events up to
   the one that ends the statement, so a session that stops logging statements leaves no stale one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, roles_of
from binlog_kaitai.log.event_gtids import Markers
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.rows.table_maps import decode
from binlog_kaitai.text.line_arrays import Pool, TextColumn, json_text
from binlog_kaitai.text.text_kernels import TEXT

_SECOND = 1_000_000


class CommitTimes:
    """Finds the commit times in consecutive blocks of a file.

    Since MySQL 8.0.1, a GTID event contains the commit time on the originating server. In other logs, the
    commit time is the header time of the GTID event, or, without GTID events, of the event itself.
    """

    def __init__(self) -> None:
        self._last = -1

    def of_markers(self, block: Block, markers: Markers) -> Ints:
        """Time of each marker, then the time before the first; -1 where no GTID event gives one.

        Times are microseconds since 1970-01-01 UTC, int64.
        """
        times = np.full(len(markers.rows) + 1, -1, dtype=np.int64)
        times[-1] = self._last
        for kind in block.kinds:
            if kind in GTID_TYPES:
                rows = block.rows_of(kind)
                times[markers.latest[rows]] = _times(block, kind, rows)
        self._last = int(times[len(markers.rows) - 1])
        return times


def each_time(block: Block, events: Ints, markers: Markers, times: Ints) -> Ints:
    """Time of each of some events, from the markers or else from its own header."""
    own: Ints = times[markers.latest[events]]
    is_none = own < 0
    if is_none.any():
        own[is_none] = _own(block, events[is_none])
    return own


def _own(block: Block, rows: Ints) -> Ints:
    seconds: Ints = block.header_of(rows).numbers("timestamp").astype(np.int64)
    return seconds * _SECOND


def _times(block: Block, kind: int, rows: Ints) -> Ints:
    body = block.body(kind)
    if kind == EventType.gtid_tagged_log_event:
        times = _own_or_immediate(body)
        for index in np.flatnonzero(~body.matches).tolist():
            times[index] = _tagged(block, int(rows[index]))
        return times
    if "has_commit_timestamps" not in body or not np.any(body["has_commit_timestamps"]):
        return _own(block, rows)
    times = _joined(body, "immediate")
    if np.any(has_original := body["has_original_commit_timestamp"]):
        times = np.where(has_original, _joined(body, "original"), times)
    # The top bit indicates that the original time follows.
    times &= (1 << 55) - 1
    has_any = body["has_commit_timestamps"] & (times > 0)
    return times if has_any.all() else np.where(has_any, times, _own(block, rows))


def _joined(body: Gathered, which: str) -> Ints:
    low, middle, high = (
        body.numbers(f"{which}_commit_timestamp_{part}") for part in ("low", "middle", "high")
    )
    joined: Ints = low | middle << 32 | high << 48
    return joined


def _own_or_immediate(body: Gathered) -> Ints:
    times: Ints = body.numbers("original_commit_timestamp").astype(np.int64)
    return np.where(times != 0, times, body.numbers("immediate_commit_timestamp"))


def _tagged(block: Block, row: int) -> int:
    try:
        body: Any = block.event(row).body
        return int(body.original_commit_timestamp or body.immediate_commit_timestamp)
    except (BinlogError, AttributeError, TypeError):
        return -1  # an invalid event raises its error when it is decoded


#: The available columns.
THREAD, STATEMENT = "thread", "statement"
ORIGINS = (THREAD, STATEMENT)

_WITH_THREAD = (*QUERY_TYPES, EventType.execute_load_query_event, EventType.gtid_event)
_STATEMENTS = (EventType.rows_query_log_event, EventType.annotate_rows_event)
#: A statement does not extend past events of these types.
_ENDS_STATEMENT = frozenset((*BETWEEN, *GTID_TYPES, *QUERY_TYPES, EventType.xid_event))

_UNKNOWN = -1


class Origins:
    """Computes the requested columns for consecutive blocks of a file.

    `wanted`: names from :data:`ORIGINS`.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        makers: dict[str, Callable[[Block, Pool], TextColumn]] = {
            THREAD: self._threads,
            STATEMENT: self._statements,
        }
        self._makers = {name: makers[name] for name in ORIGINS if name in set(wanted)}
        self._boundaries = Boundaries()
        self._thread = _UNKNOWN
        self._statement = b"null"

    def columns(self, block: Block, pool: Pool) -> dict[str, TextColumn]:
        """A column of JSON values in `pool` for each name, with a value for each event."""
        return {name: make(block, pool) for name, make in self._makers.items()}

    def _threads(self, block: Block, pool: Pool) -> TextColumn:
        segments = self._boundaries.divide(roles_of(block), is_before_gtid=block.is_before_gtid)
        values = np.full(len(block), _UNKNOWN, dtype=np.int64)
        # Numbers of the events after which another value applies, or -1.
        changes = np.full(len(block), -1, dtype=np.int64)
        begins = segments.rows[segments.starts[int(segments.continues) :]]
        is_outside = np.ones(len(block), dtype=np.bool_)
        is_outside[segments.rows] = False
        for rows in (begins, np.flatnonzero(is_outside)):
            changes[rows] = rows
        for kind in _WITH_THREAD:
            if kind not in block.counts:
                continue
            rows, thread_ids = block.rows_of(kind), _thread_ids(block, kind)
            known = thread_ids != _UNKNOWN
            values[rows[known]] = thread_ids[known]
            changes[rows[known]] = rows[known]
        latest = np.maximum.accumulate(changes)
        held = np.append(values, self._thread)[latest]  # -1 selects the last element
        if len(held):
            self._thread = int(held[-1])
        return pool.numbers(held, held != _UNKNOWN, by_event=True)

    def _statements(self, block: Block, pool: Pool) -> TextColumn:
        null = -pool.null[0] - 1, pool.null[1]
        before = pool.add(self._statement)
        # After the entries of the events: no value, and the statement that continues from the previous block.
        first = np.full(len(block) + 2, null[0], dtype=np.int64)
        second = np.full(len(block) + 2, null[1], dtype=np.int64)
        first[-1], second[-1] = -before[0] - 1, before[1]
        changes = np.full(len(block) + 1, -1, dtype=np.int64)
        for kind in block.kinds:
            rows = block.rows_of(kind)
            if kind in _STATEMENTS:
                first[rows], second[rows] = _texts(block, kind, pool)
                changes[rows] = rows
            elif kind in _ENDS_STATEMENT:
                changes[rows] = len(block)
            elif kind in ROWS_TYPES and "is_statement_end" in (body := block.body(kind)):
                last = rows[body.numbers("is_statement_end").astype(np.bool_)]
                changes[last + 1] = np.where(changes[last + 1] < 0, len(block), changes[last + 1])
        offsets = np.where(changes >= 0, np.arange(len(block) + 1), -1)
        held = np.append(changes, len(block) + 1)[np.maximum.accumulate(offsets)]
        self._statement = _json_at(block, pool, int(first[held[-1]]), int(second[held[-1]]))
        held = held[:-1]
        return TextColumn(TEXT, first[held], second[held], by_event=True)


def _thread_ids(block: Block, kind: int) -> Ints:
    """Thread ids from the events of one type, int64; -1 where there is none."""
    body, thread_ids = block.body(kind), np.full(block.counts[kind], _UNKNOWN, dtype=np.int64)
    by_reader = np.arange(len(thread_ids))
    if "thread_id" in body:
        known = body.matches & body.mask("thread_id")
        thread_ids[known] = body.numbers("thread_id")[known]
        by_reader = np.flatnonzero(~body.matches)
    for index in by_reader.tolist():
        try:
            value = getattr(block.event(int(block.rows_of(kind)[index])).body, "thread_id", None)
        except BinlogError:  # raised when the event itself is decoded
            continue
        thread_ids[index] = _UNKNOWN if value is None else value
    return thread_ids


def _texts(block: Block, kind: int, pool: Pool) -> tuple[Ints, Ints]:
    """Offsets and lengths of the statements of one event type, in the form of a `TextColumn`."""
    body = block.body(kind)
    texts = pool.strings(block.data, *body.ranges("query"), decode, body.matches)
    return texts.first, texts.second


def texts_of(block: Block, pool: Pool, column: TextColumn, rows: Ints) -> set[str | None]:
    """The distinct statements of some events of a block."""
    places = {*zip(column.first[rows].tolist(), column.second[rows].tolist(), strict=True)}
    return {json.loads(_json_at(block, pool, *place)) for place in places}


def _json_at(block: Block, pool: Pool, first: int, second: int) -> bytes:
    """A text cell as JSON that remains valid after the block."""
    if first < 0:
        return pool.read(-first - 1, second)
    return json_text(decode(bytes(block.data[first : first + second])))
