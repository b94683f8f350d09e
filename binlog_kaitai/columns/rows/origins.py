"""The connection and the logged statement behind rows events, for a block at a time.

Servers log the text of a statement that changes rows where they are asked to: MySQL in a ROWS_QUERY_LOG_EVENT
(`binlog_rows_query_log_events`), MariaDB in an ANNOTATE_ROWS_EVENT (`binlog_annotate_row_events`). It holds
for the rows events after it, up to the last one of the statement, which has the flag STMT_END_F.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.transactions.boundaries import Boundaries, Phase, roles_of
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.errors import BinlogError

_STATEMENT_TYPES = (EventType.rows_query_log_event, EventType.annotate_rows_event)
_THREAD_TYPES = (*QUERY_TYPES, EventType.execute_load_query_event, EventType.gtid_event)

#: In place of the number of an event: what was in force before the block, or nothing.
_CARRIED, _NOTHING = -1, -2

_Numbers = NDArray[np.int64]


class Origin(NamedTuple):
    """Where the rows of one event come from.

    Attributes
    ----------
    thread_id : int or None
        The connection, by the events of the transaction before the rows.
    statement : str or None
        Text of the statement; bytes that are not UTF-8 come with ``surrogateescape``.
    """

    thread_id: int | None = None
    statement: str | None = None


class Origins:
    """Finds the origins of rows events, for one block after another of the same file."""

    def __init__(self) -> None:
        self._boundaries = Boundaries()
        self._last = Origin()

    def of(self, block: Block, events: _Numbers) -> list[Origin]:
        """The origins of some events of the next block.

        Parameters
        ----------
        events : int64 array
            Their numbers in the block, rising.

        Raises
        ------
        GrammarError
            The event that holds the statement of one of them is damaged.
        """
        begins = self._begins(block)
        threads, thread_ids = _threads(block)
        statements = _rows_of(block, _STATEMENT_TYPES)
        at = np.append(events, len(block))
        of_thread = _in_force(threads, begins, at)
        of_statement = _in_force(statements, np.union1d(begins, _statement_ends(block) + 1), at)
        texts: dict[int, str | None] = {_CARRIED: self._last.statement, _NOTHING: None}
        for number in np.unique(of_statement[of_statement >= 0]).tolist():
            texts[number] = block.event(int(statements[number])).body.query.decode("utf-8", "surrogateescape")
        numbers = {_CARRIED: self._last.thread_id, _NOTHING: None, **dict(enumerate(thread_ids))}
        found = [
            Origin(numbers[thread], texts[statement])
            for thread, statement in zip(of_thread.tolist(), of_statement.tolist(), strict=True)
        ]
        self._last = found.pop()
        return found

    def _begins(self, block: Block) -> _Numbers:
        """The events from which on nothing before them holds any more."""
        try:
            phases = self._boundaries.phases(roles_of(block).roles)
        except BinlogError:  # whoever wants that event reports it; here nothing is certain any more
            return np.arange(len(block) + 1)
        return np.flatnonzero((phases & Phase.BEGINS != 0) | (phases & Phase.IS_INSIDE == 0))


def _in_force(sources: _Numbers, ends: _Numbers, at: _Numbers) -> _Numbers:
    """Which of `sources` holds at each of some events: the last one before it, if nothing ended that."""
    found = np.searchsorted(sources, at) - 1
    ended = np.searchsorted(ends, at, side="right") - 1
    # Where there is no such event, the index -1 takes the number that is appended.
    source, end = np.append(sources, -1)[found], np.append(ends, -1)[ended]
    return np.where(source >= end, found, _NOTHING)


def _rows_of(block: Block, kinds: Iterable[int]) -> _Numbers:
    found = [block.rows_of(kind) for kind in kinds if kind in block.counts]
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *found]))


def _statement_ends(block: Block) -> _Numbers:
    """The last rows events of statements."""
    found = [np.zeros(0, dtype=np.int64)]
    for kind in ROWS_TYPES:
        if kind in block.counts and "is_statement_end" in (body := block.body(kind)):
            found.append(block.rows_of(kind)[body.numbers("is_statement_end").astype(np.bool_)])
    return np.sort(np.concatenate(found))


def _threads(block: Block) -> tuple[_Numbers, list[Any]]:
    """The events that name their connection, and its number."""
    rows, numbers = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for kind in _THREAD_TYPES:
        if kind in block.counts and "thread_id" in (body := block.body(kind)):
            named = np.flatnonzero(body.fits & body.mask("thread_id"))
            rows.append(block.rows_of(kind)[named])
            numbers.append(body.numbers("thread_id").astype(np.int64)[named])
    of_all = np.concatenate(rows)
    order = np.argsort(of_all, kind="stable")
    return of_all[order], np.concatenate(numbers)[order].tolist()
