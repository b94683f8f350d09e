"""Decides which transactions are complete in a log with gaps.

The rule
--------
1. A transaction that is open at a gap is complete if an event ends it (XID, COMMIT, XA PREPARE, a single
   statement) and it is not shorter than its GTID event says, or if it has exactly that length.
2. After a gap, events belong to a transaction whose start may be lost, up to the next certain start: a
   GTID event or an event of the log itself. In logs without GTIDs, that is a BEGIN, DDL other than that
   of a temporary table, or the event after the end of a transaction.
3. If partial transactions are kept, rows without their table map are not.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError, DefinitionWarning
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import (
    Outcome,
    Phase,
    Role,
    Roles,
    first_true,
    is_of_temporary_table,
    sure_beginning,
)
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Tables

_PIECE, _PAYLOAD = EventType.partial_row_data_event, EventType.transaction_payload_event


@dataclass
class Open:
    """A transaction that may have more events.

    Attributes
    ----------
    position, target : int
        Start position in the input log, and in the output log.
    gtid : str or None
        Its GTID.
    length : int or None
        Total length in bytes, if its GTID event states it.
    size, events : int
        Size and number of its events so far.
    """

    position: int
    target: int
    gtid: str | None = None
    length: int | None = None
    size: int = 0
    events: int = 0
    is_ended: bool = False

    @classmethod
    def at(cls, block: Block, row: int, target: int) -> Open:
        """The transaction that begins with an event of a block."""
        found = cls(int(block.positions[row]), target)
        if block.types[row] in GTID_TYPES:
            event = block.event(row)
            found.gtid = event.stated_gtid
            found.length = getattr(event.body, "len_transaction", None)
        return found

    def go_on(self, block: Block, rows: Any, roles: Any, phases: Any) -> None:
        """Add more events, for which the state machine returned this."""
        self.size += int(block.sizes[rows].sum())
        self.events += len(rows)
        # An incident may follow the end.
        self.is_ended |= bool((roles == Role.END).any() or phases[-1] & Phase.ENDS)

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it is missing at its end."""
        length = self.length or 0
        return self.size == length or (self.is_ended and self.size > length)


def sure_or_defining(block: Block, found: Roles, *, has_gtids: bool) -> int:
    """`sure_beginning`, or DDL before that, which cannot occur inside a transaction without a GTID."""
    first = sure_beginning(found.roles, has_gtids=has_gtids)
    defines = (found.roles == Role.STATEMENT) & (found.outcomes == Outcome.DDL)
    for row in [] if has_gtids else np.flatnonzero(defines[:first]).tolist():
        if not is_of_temporary_table(block.event(row).body.query):
            return row
    return first


def orphans(block: Block) -> int:
    """How many pieces of a rows event come first, after a gap that contains its first piece."""
    rows = block.rows_of(_PIECE)
    is_one = (rows == np.arange(len(rows))) & (block.body(_PIECE).numbers("fragment_number") != 1)
    return first_true(~is_one)


def rows_without_tables(block: Block, tables: Tables) -> Any:
    """Which events are rows, or pieces of rows, without their table map (a bool array).

    Parameters
    ----------
    tables
        The table maps before the block; its own are added.
    """
    is_lost = np.zeros(len(block), dtype=np.bool_)
    # A payload that cannot be opened has its own table maps; a definition that does not match is not damage.
    with suppress(BinlogError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DefinitionWarning)
        for part in expand(block):
            images = Images(part, tables)
            for row in images.rows[images.table_of < 0].tolist():
                at = int(np.searchsorted(block.positions, part.positions[row]))
                if block.types[at] != _PAYLOAD:
                    is_lost[_first_piece(block, at) : at + 1] = True
    return is_lost


def _first_piece(block: Block, row: int) -> int:
    """The first of a block's consecutive pieces that end with an event; the event itself if it is not a
    piece.
    """
    while row and block.types[row] == _PIECE and block.event(row).body.fragment_number > 1:
        row -= 1
    return row


def open_pieces(block: Block, first: int, target: int, before: Open | None) -> Open | None:
    """The pieces of an incomplete rows event at the end of a block.

    Parameters
    ----------
    first, target
        The first event of the block to be written, and its output position.
    before
        The result for the previous block.
    """
    rows, body = block.rows_of(_PIECE), block.body(_PIECE)
    numbers, totals = body.numbers("fragment_number"), body.numbers("num_fragments")
    if not len(rows) or rows[-1] != len(block) - 1 or numbers[-1] == totals[-1]:
        return None
    begins = np.flatnonzero(numbers == 1)
    at = first
    if before is None or len(begins):
        at = int(rows[begins[-1]]) if len(begins) else first
        before = Open(int(block.positions[at]), target + int(block.positions[at] - block.positions[first]))
    before.size += int(block.sizes[at:].sum())
    before.events += len(block) - at
    return before
