"""Finds where tables are closed: after these events, earlier table maps no longer apply."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.context import CLOSING_STATEMENTS, TABLES_CLOSE
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import NONE
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.log.block import Block

#: Whether events of a type close tables: no, yes, or if their statement is BEGIN or COMMIT.
_NEVER, _ALWAYS, _BY_STATEMENT = range(3)
_ROLES = np.array([_ALWAYS if kind in TABLES_CLOSE else _NEVER for kind in range(256)], dtype=np.uint8)
_ROLES[EventType.query_event] = _BY_STATEMENT

#: BEGIN and COMMIT, each with the zero byte that terminates the schema name before it, and their limits.
WORDS = np.frombuffer(b"".join(CLOSING_STATEMENTS), dtype=np.uint8)
LIMITS = np.cumsum([0, *map(len, CLOSING_STATEMENTS)])


class Closings:
    """Finds where tables are closed, in one block of a file after another."""

    def __init__(self) -> None:
        self._is_after_payload = False

    def count(self, block: Block) -> tuple[Any, Any]:
        """What `closings_in` returns, with the ends of payloads."""
        frames, closed = closings_in(block)
        if self._is_after_payload or EventType.transaction_payload_event in block.counts:
            closes = np.diff(closed, prepend=0) > 0
            self._close_after_payloads(block, closes)
            closed = np.cumsum(closes)
        return frames, closed

    def _close_after_payloads(self, block: Block, closes: Any) -> None:
        """Close the tables of each payload at the event that follows the payload in the log itself."""
        is_of_log = np.ones(len(block), dtype=np.bool_) if block.holders is None else block.holders < 0
        opens = block.types[is_of_log] == EventType.transaction_payload_event
        closes[is_of_log] |= np.append(self._is_after_payload, opens[:-1])[: len(opens)]
        self._is_after_payload = bool(opens[-1]) if len(opens) else self._is_after_payload


def closings_in(block: Block) -> tuple[Any, Any]:
    """Two arrays over a block's events.

    Returns
    -------
    Which are just BEGIN or COMMIT, the most frequent statements, bool; and how often tables were closed up to
    each event, int64.
    """
    frames, closed = np.empty(len(block), dtype=np.bool_), np.empty(len(block), dtype=np.int64)
    events = block.starts, block.sizes, block.checksums, block.types
    count_closings.run(block.data, *events, _ROLES, CHECKSUM_SIZE, WORDS, LIMITS, frames, closed)
    return frames, closed


@kernel
def count_closings(
    data: Bytes,
    starts: Ints,
    sizes: Ints,
    checksums: Bytes,
    types: Bytes,
    roles: Bytes,
    after: int,
    words: Bytes,
    limits: Ints,
    frames: Bools,
    closed: Ints,
) -> None:
    """Find BEGIN and COMMIT, and count the events that close tables.

    Parameters
    ----------
    starts, sizes, checksums, types
        Offset, length, checksum state and type of each event.
    roles
        For each type, whether its events close tables.
    after
        Length of a checksum.
    words, limits
        The statements that close tables, and the offsets between them.
    frames, closed
        Output: whether an event is one of these statements; number of closings up to each event.
    """
    count = 0
    for event in range(starts.shape[0]):
        # With a signed index, Numba would generate code for negative indexes.
        here = np.uint64(event)
        role = roles[types[here]]
        is_word = False
        if role == _BY_STATEMENT:
            end = starts[here] + sizes[here] - (after if checksums[here] != NONE else 0)
            is_word = ends_with(data, starts[here], end, words, limits)
        if is_word or role == _ALWAYS:
            count += 1
        frames[here] = is_word
        closed[here] = count


@kernel
@inlined
def ends_with(data: Bytes, start: int, end: int, words: Bytes, limits: Ints) -> bool:
    """Whether a range of `data` ends with one of several words, which are not empty."""
    if start < 0 or end > data.shape[0]:
        return False
    for word in range(limits.shape[0] - 1):
        first, length = limits[word], limits[word + 1] - limits[word]
        step = length if end - length < start else 0
        while step < length and data[np.uint64(end - length + step)] == words[np.uint64(first + step)]:
            step += 1
            if step == length:
                return True
    return False
