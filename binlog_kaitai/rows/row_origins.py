"""Thread id and statement of each event, one block at a time.

Rules
-----
1. The thread id is that of the latest statement of the transaction (the BEGIN, in MySQL), or of MariaDB's
   GTID event since 11.5. It does not carry over from one transaction to the next.
2. A logged statement (ROWS_QUERY_LOG_EVENT, ANNOTATE_ROWS_EVENT) applies to the following rows events up to
   the one that ends the statement, so a session that stops logging statements leaves no stale one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, roles_of
from binlog_kaitai.log.line_arrays import Column, Pool, json_text
from binlog_kaitai.log.text_kernels import TEXT
from binlog_kaitai.rows.table_maps import decode

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

    Parameters
    ----------
    wanted
        Names from :data:`ORIGINS`.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        makers: dict[str, Callable[[Block, Pool], Column]] = {
            THREAD: self._threads,
            STATEMENT: self._statements,
        }
        self._makers = {name: makers[name] for name in ORIGINS if name in set(wanted)}
        self._boundaries = Boundaries()
        self._thread = _UNKNOWN
        self._statement = b"null"

    def columns(self, block: Block, pool: Pool) -> dict[str, Column]:
        """A column of JSON values in `pool` for each name, with a value for each event."""
        return {name: make(block, pool) for name, make in self._makers.items()}

    def _threads(self, block: Block, pool: Pool) -> Column:
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
            rows, found = block.rows_of(kind), _thread_ids(block, kind)
            known = found != _UNKNOWN
            values[rows[known]] = found[known]
            changes[rows[known]] = rows[known]
        latest = np.maximum.accumulate(changes)
        held = np.append(values, self._thread)[latest]  # -1 selects the last element
        if len(held):
            self._thread = int(held[-1])
        return pool.numbers(held, held != _UNKNOWN, by_event=True)

    def _statements(self, block: Block, pool: Pool) -> Column:
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
        return Column(TEXT, first[held], second[held], by_event=True)


def _thread_ids(block: Block, kind: int) -> Any:
    """Thread ids from the events of one type, int64; -1 where there is none."""
    body, found = block.body(kind), np.full(block.counts[kind], _UNKNOWN, dtype=np.int64)
    by_reader: Any = np.arange(len(found))
    if "thread_id" in body:
        known = body.matches & body.mask("thread_id")
        found[known] = body.numbers("thread_id")[known]
        by_reader = np.flatnonzero(~body.matches)
    for index in by_reader.tolist():
        try:
            value = getattr(block.event(int(block.rows_of(kind)[index])).body, "thread_id", None)
        except BinlogError:  # raised when the event itself is decoded
            continue
        found[index] = _UNKNOWN if value is None else value
    return found


def _texts(block: Block, kind: int, pool: Pool) -> tuple[Any, Any]:
    """Offsets and lengths of the statements of one event type, in the form of a `Column`."""
    body = block.body(kind)
    found = pool.strings(block.data, *body.ranges("query"), decode, body.matches)
    return found.first, found.second


def _json_at(block: Block, pool: Pool, first: int, second: int) -> bytes:
    """A text cell as JSON that remains valid after the block."""
    if first < 0:
        return pool.read(-first - 1, second)
    return json_text(decode(bytes(block.data[first : first + second])))
