"""Finds quiescent points, where no transaction is open, as early as the log allows.

In `boundaries`, a transaction with a GTID extends to the next GTID. A follower of a log in use cannot wait
for that: here a transaction ends with the event that commits it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, Phase, Role, roles_of


class QuiescentPoints:
    """Finds the quiescent points of one file, block by block."""

    def __init__(self) -> None:
        self._boundaries = Boundaries()
        self._is_over = True  # the last event ended a transaction, or belongs to none

    def of(self, block: Block) -> Any:
        """Indexes of the events before which no transaction is open, ascending; ``len(block)`` stands for the
        end.
        """
        found = roles_of(block)
        roles = found.roles
        # A payload is a complete transaction, from BEGIN to its commit.
        roles[block.rows_of(EventType.transaction_payload_event)] = Role.END
        is_over = self._boundaries.phases(found) & Phase.ENDS != 0
        quiescent = np.concatenate(([self._is_over], is_over))
        quiescent[:-1] |= (roles == Role.GTID) | (roles == Role.OUTSIDE)
        self._is_over = bool(is_over[-1])
        return np.flatnonzero(quiescent)
