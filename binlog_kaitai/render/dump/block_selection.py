"""Selects the events of a block by server and transaction, like `selection` does event by event.

Events that are left out are hidden: the event reader processes all events, printed or not, and rejects
unreadable ones. Here the grammar parses each distinct table map among them once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Stated
from binlog_kaitai.render.dump.block_rows import ParsedTableMaps
from binlog_kaitai.render.dump.selection import NEVER_FILTERED, DumpSelection
from binlog_kaitai.render.dump.statement_settings import ends_group
from binlog_kaitai.rows.table_maps import last_of_each, newest_before

#: First words of statements that may end a transaction.
_ENDS = np.isin(np.arange(256), np.frombuffer(b"CXRr", dtype=np.uint8))
_MOST = np.iinfo(np.int64).max


def passed_over(selection: DumpSelection, block: Block) -> Bools | None:
    """Which events of a block are left out because of their transactions, as a bool array.

    None if events must be inspected one by one. The selection is updated to its state after the block.
    """
    skips = selection.options.skip_gtids
    kinds = [kind for kind in block.kinds if kind in GTID_TYPES]
    # The value in force from each event on: 1 for left out, 0 for shown, -1 for unchanged.
    states = np.full(len(block) + 1, -1, dtype=np.int8)
    ends = _ends(block)
    if ends is None or has_pieces(block):
        return None
    states[ends + 1] = 0
    for kind in kinds:
        left_out = _left_out(selection, block, kind)
        if left_out is None:
            return None
        states[block.rows_of(kind)] = left_out
    numbers = np.arange(len(states))
    latest = np.maximum.accumulate(np.where(states >= 0, numbers, -1))
    held = np.where(latest >= 0, states[latest] > 0, selection.is_filtered)
    selection.is_filtered = bool(held[-1])
    passed = held[:-1]
    for kind in NEVER_FILTERED & set(block.kinds):
        passed[block.rows_of(kind)] = False
    if EventType.previous_gtids_log_event in block.kinds:
        passed[block.rows_of(EventType.previous_gtids_log_event)] = skips
    for kind in kinds:
        if skips and kind != EventType.gtid_event:
            passed[block.rows_of(kind)] = True
    return passed


def has_pieces(block: Block) -> bool:
    """Whether a block contains or continues split rows events: the reader must see them in order."""
    is_open = block.pieces is not None and block.pieces.is_open
    return is_open or EventType.partial_row_data_event in block.kinds


def _left_out(selection: DumpSelection, block: Block, kind: int) -> Bools | None:
    """Whether each transaction whose GTID event has this type is left out; None if the reader must decide."""
    stated = Stated.of(block, kind)
    if not stated.matches.all():
        return None
    included, excluded = selection.options.include_gtids, selection.options.exclude_gtids
    left_out = np.zeros(len(stated.matches), dtype=np.bool_)
    if excluded is not None:
        left_out |= _held(excluded, stated)
    if included is not None:
        left_out |= ~_held(included, stated)
    return left_out


def _held(gtids: GtidSet, stated: Stated) -> Bools:
    """Whether a set contains the GTIDs."""
    held = np.zeros(len(stated.matches), dtype=np.bool_)
    by_source = dict(gtids.items())
    for code, source in enumerate(stated.sources):
        if source not in by_source:
            continue
        pairs = [(first, min(last, _MOST)) for first, last in by_source[source] if first <= _MOST]
        limits = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        own = np.flatnonzero(stated.codes == code)
        numbers = stated.numbers[own]
        index = np.searchsorted(limits[:, 0], numbers, side="right") - 1
        held[own] = (index >= 0) & (numbers <= np.append(limits[:, 1], -1)[index])
    return held


def _ends(block: Block) -> Ints | None:
    """The events that end transactions; None if some cannot be determined."""
    ends = [block.rows_of(EventType.xid_event)]
    for kind in QUERY_TYPES:
        rows, body = block.rows_of(kind), block.body(kind)
        if not len(rows):
            continue
        if kind == EventType.query_event:
            if "query" not in body or not np.all(body.matches):
                return None
            starts, lengths = body.ranges("query")
            rows = rows[(lengths > 0) & _ENDS[block.data[np.where(lengths > 0, starts, 0)]]]
        try:
            are_ends = [ends_group(bytes(block.event(row).body.query)) for row in rows.tolist()]
        except BinlogError:
            return None
        ends.append(rows[np.array(are_ends, dtype=np.bool_)])
    return np.concatenate(ends)


def chosen_part(block: Block, rows: Ints, passed: Bools) -> Block:
    """Some events of a block; those that are skipped lose their types."""
    if len(rows) == len(block) and not passed.any():
        return block
    part = block.chosen(rows)
    part.types = np.where(passed, EventType.unknown_event, block.types[rows]).astype(np.uint8)
    return part


_ID = "table_id.value"


class HiddenEvents:
    """The hidden events of a block, which are not printed.

    `is_hidden` (bool array): which events are hidden.
    `known`: bodies of table maps seen so far.
    `first_of_reader`: the first one that the event reader must process, to reject it or to reassemble it.
    """

    def __init__(self, block: Block, is_hidden: NDArray[np.bool_], known: ParsedTableMaps) -> None:
        self._block, self._is_hidden = block, is_hidden
        known.begin()
        self._maps = known.read(block)
        is_read = np.zeros(len(block), dtype=np.bool_)
        is_read[self._maps.events] = True
        is_readers = (block.types == EventType.table_map_event) & ~is_read
        is_readers |= (block.types == EventType.partial_row_data_event) | (block.checksums == BAD)
        is_readers &= is_hidden
        self.first_of_reader = int(np.argmax(is_readers)) if is_readers.any() else None

    def are_used(self) -> bool:
        """Whether printed rows refer to hidden table maps."""
        is_hidden_map = self._is_hidden[self._maps.events]
        if not is_hidden_map.any():
            return False
        for kind in ROWS_TYPES.intersection(self._block.kinds):
            rows, body = self._block.rows_of(kind), self._block.body(kind)
            shown = ~self._is_hidden[rows]
            if not np.broadcast_to(body.matches, len(rows))[shown].all():
                return True
            wanted = body.numbers(_ID).astype(np.int64)[shown]
            events = self._maps.events
            newest = newest_before(self._maps.ids, events, rows[shown], wanted, len(self._block) + 2)
            if np.append(is_hidden_map, False)[newest].any():
                return True
        return False

    def remember(self, context: Context, begin: int) -> None:
        """Store the hidden table maps from `begin` on that are still in force after the block."""
        maps = self._maps
        for index in last_of_each(maps.ids).tolist() if len(maps.events) else ():
            event = int(maps.events[index])
            if event >= begin and self._is_hidden[event]:
                context.remember(maps.distinct[maps.numbers[index]][0])
