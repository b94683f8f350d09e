"""Where no transaction is open, told as early as the log allows.

`boundaries` says which transaction an event belongs to; there the next GTID ends the one before. Who follows
a log that is being written cannot wait for that: here a transaction is over with the event that commits it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.transactions.boundaries import Role, roles_of
from binlog_kaitai.grammar import EventType


class Rests:
    """Finds the rests of one file, block by block."""

    def __init__(self) -> None:
        self._is_begun = False  # a transaction that takes more than its first statement to end
        self._is_over = True  # the last event ended a transaction, or belongs to none

    def of(self, block: Block) -> Any:
        """Before which events of a block nothing is open, rising; ``len(block)`` stands for its end."""
        roles = roles_of(block).roles
        # A payload is a whole transaction, from BEGIN to its commit.
        roles[block.rows_of(EventType.transaction_payload_event)] = Role.END
        is_gtid, is_outside = roles == Role.GTID, roles == Role.OUTSIDE
        opens = roles == Role.BEGIN
        if EventType.gtid_event in block.counts:
            # MariaDB has no BEGIN: its GTID event says whether more than one statement follows.
            alone = block.body(EventType.gtid_event).numbers("is_standalone").astype(np.bool_)
            opens[block.rows_of(EventType.gtid_event)[~alone]] = True
        is_turn = is_gtid | is_outside | opens | (roles == Role.END)
        number = np.arange(len(roles))
        last = np.maximum.accumulate(np.where(is_turn, number, -1))
        is_begun = np.where(last >= 0, opens[last], self._is_begun)
        was_begun = np.concatenate(([self._is_begun], is_begun[:-1]))
        is_over = is_outside | (roles == Role.END) | ((roles == Role.STATEMENT) & ~was_begun)
        rests = np.concatenate(([self._is_over], is_over))
        rests[:-1] |= is_gtid | is_outside
        self._is_begun, self._is_over = bool(is_begun[-1]), bool(is_over[-1])
        return np.flatnonzero(rests)
