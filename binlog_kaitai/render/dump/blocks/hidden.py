"""Hidden events of a block, and the table maps among them that later events need.

The event reader processes all events, printed or not, and rejects unreadable ones. Here the grammar parses
each distinct table map once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log.block import Block
from binlog_kaitai.render.dump.blocks.row_events import TableMaps
from binlog_kaitai.rows.tables import last_of_each, newest_before

_ID = "table_id.value"


class Hidden:
    """The hidden events of a block, which are not printed.

    Parameters
    ----------
    is_hidden : bool array
        Which events are hidden.
    known
        Bodies of table maps seen so far.

    Attributes
    ----------
    first_of_reader : int or None
        The first one that the event reader must process, to reject it or to reassemble it.
    """

    def __init__(self, block: Block, is_hidden: NDArray[np.bool_], known: TableMaps) -> None:
        self._block, self._is_hidden = block, is_hidden
        known.begin()
        self._events, self._made, self._which = known.read(block)
        is_read = np.zeros(len(block), dtype=np.bool_)
        is_read[self._events] = True
        is_readers = (block.types == EventType.table_map_event) & ~is_read
        is_readers |= (block.types == EventType.partial_row_data_event) | (block.checksums == BAD)
        is_readers &= is_hidden
        self.first_of_reader = int(np.argmax(is_readers)) if is_readers.any() else None

    def are_used(self) -> bool:
        """Whether printed rows refer to hidden table maps."""
        is_hidden_map = self._is_hidden[self._events]
        if not is_hidden_map.any():
            return False
        ids = self._ids
        for kind in ROWS_TYPES.intersection(self._block.kinds):
            rows, body = self._block.rows_of(kind), self._block.body(kind)
            shown = ~self._is_hidden[rows]
            if not np.broadcast_to(body.matches, len(rows))[shown].all():
                return True
            wanted = body.numbers(_ID).astype(np.int64)[shown]
            found = newest_before(ids, self._events, rows[shown], wanted, len(self._block) + 2)
            if np.append(is_hidden_map, False)[found].any():
                return True
        return False

    def remember(self, context: Context, begin: int) -> None:
        """Store the hidden table maps from `begin` on that are still in force after the block."""
        newest = last_of_each(self._ids) if len(self._events) else self._events
        for index in newest.tolist():
            event = int(self._events[index])
            if event >= begin and self._is_hidden[event]:
                context.remember(self._made[self._which[index]][0])

    @property
    def _ids(self) -> Any:
        ids = np.array([body.table_id.value for body, _ in self._made], dtype=np.int64)
        return ids[self._which]
