"""Selects the events to print, by the clients' rules for position, time, server, domain and GTID.

An event that is left out is hidden; of one whose transaction is left out by GTID, the position is printed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.dump.statement_settings import ends_group
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Stated

#: Types shown even in transactions that are left out.
NEVER_FILTERED = frozenset(
    (
        EventType.slave_event,
        EventType.stop_event,
        EventType.format_description_event,
        EventType.rotate_event,
        EventType.ignorable_log_event,
        EventType.incident_event,
    )
)


#: First words of statements that may end a transaction.
_ENDS = np.isin(np.arange(256), np.frombuffer(b"CXRr", dtype=np.uint8))
_NO_LIMIT = np.iinfo(np.int64).max


class SelectionEndedError(Exception):
    """The selected events end, including those of all later logs."""


class HiddenEvents(NamedTuple):
    """The events that are left out, and those of which only the position is printed (bool arrays)."""

    is_hidden: Bools
    is_passed: Bools

    def part(self, begin: int, end: int) -> HiddenEvents:
        """The hidden events of a range."""
        return HiddenEvents(self.is_hidden[begin:end], self.is_passed[begin:end])


class Selected(NamedTuple):
    """What is printed of a block.

    `begin`: the first event that a client sees; table maps before it are unknown to it.
    `end`: the event that ends the dump; the number of events if none does.
    `left_out`: the events that are not printed.
    """

    begin: int
    end: int
    left_out: HiddenEvents


class DumpSelection:
    """Selects the events of one block after another, in log order.

    `start_position`: where to begin in the current log.
    """

    def __init__(self, options: DumpOptions) -> None:
        self._options = options
        self.start_position: int | None = None
        self._stop_position: int | None = None
        self._start_timestamp = options.start_timestamp or 0
        self._offset = options.offset
        self._count = 0
        # Of the current transaction: whether it is left out by GTID, and by domain.
        self._is_passed = self._is_hidden = False

    def begin_log(self, *, is_first: bool, is_last: bool) -> None:
        """Continue with another log."""
        self.start_position = self._options.start_position if is_first else None
        self._stop_position = self._options.stop_position if is_last else None

    def of(self, block: Block, is_inside: Bools | None = None) -> Selected:
        """What is printed of the next events.

        `is_inside` (bool array): the events inside payloads, which are selected by their headers alone; so
        are the payloads around them, again.
        """
        begin, end, is_hidden = self._by_header(block)
        is_passed = np.zeros(len(block), dtype=np.bool_)
        options = self._options
        if is_inside is not None:
            return Selected(begin, end, HiddenEvents(is_hidden, is_passed))
        if options.filters_domains:
            shown = np.flatnonzero(~is_hidden[:end])
            is_hidden[shown] = self._of_other_domains(block.chosen(shown))
        if options.include_gtids is not None or options.exclude_gtids is not None or options.skip_gtids:
            shown = np.flatnonzero(~is_hidden[:end])
            is_passed[shown] = self._passed_over(block.chosen(shown))
        return Selected(begin, end, HiddenEvents(is_hidden, is_passed))

    def _by_header(self, block: Block) -> tuple[int, int, Bools]:
        """The begin and end of the selected events, and those that are left out by their headers."""
        options, header, count = self._options, block.header, len(block)
        is_format = block.types == EventType.format_description_event
        is_hidden = np.zeros(count, dtype=np.bool_)
        if options.server_ids or options.ignored_server_ids:
            server_ids = header.numbers("server_id")
            is_hidden |= np.isin(server_ids, list(options.ignored_server_ids))
            if options.server_ids:
                is_hidden |= ~np.isin(server_ids, list(options.server_ids))
            is_hidden &= block.types != EventType.rotate_event
        timestamps, begin = header.numbers("timestamp").astype(np.int64), 0
        if self._start_timestamp or self._offset:
            is_wanted = (timestamps >= self._start_timestamp) & ~is_format
            is_wanted[: max(0, self._offset - self._count)] = False
            begin = int(np.argmax(is_wanted)) if is_wanted.any() else count
            if begin < count:
                # After the first selected event, times may go back.
                self._start_timestamp = self._offset = 0
            self._count += begin
            is_hidden[:begin] = True
        is_hidden &= ~is_format
        is_end = np.zeros(count, dtype=np.bool_)
        if options.stop_timestamp is not None:
            is_end |= timestamps >= options.stop_timestamp
        if self._stop_position is not None:
            is_end |= block.positions >= self._stop_position
        is_end &= ~is_hidden
        end = int(np.argmax(is_end)) if is_end.any() else count
        return min(begin, end), end, is_hidden

    def _of_other_domains(self, block: Block) -> Bools:
        """MariaDB: which events are left out: all after a GTID event that is, up to the next one."""
        states, rows = _no_states(block), block.rows_of(EventType.gtid_event)
        known = Stated.of(block, EventType.gtid_event).matches if len(rows) else rows
        body = block.body(EventType.gtid_event)
        names = ("domain_id", "sequence_number")
        columns = [body.numbers(name).tolist() for name in names] if known.any() else [known, known]
        for row, is_known, domain, number in zip(rows.tolist(), known.tolist(), *columns, strict=True):
            if is_known:
                states[row] = self._hides(domain, number)
                continue
            try:
                event = block.event(row).body
                states[row] = self._hides(event.domain_id, event.sequence_number)
            except BinlogError:
                states[row] = 0  # shown, it gives its error
        is_hidden, self._is_hidden = _in_force(states, self._is_hidden)
        is_hidden[block.types == EventType.format_description_event] = False
        return is_hidden

    def _hides(self, domain: int, number: int) -> bool:
        options = self._options
        if domain in options.ignored_domain_ids or (
            options.domain_ids is not None and domain not in options.domain_ids
        ):
            return True
        # A start position is what a replica has; domains that the stop position does not name are left out.
        if number <= options.start_gtids.get(domain, -1):
            return True
        return bool(options.stop_gtids) and number > options.stop_gtids.get(domain, -1)

    def _passed_over(self, block: Block) -> Bools:
        """Which events are left out because of the GTIDs of their transactions."""
        skips, kinds = self._options.skip_gtids, [kind for kind in block.kinds if kind in GTID_TYPES]
        states = _no_states(block)
        states[_ends(block) + 1] = 0
        unreadable = []
        for kind in kinds:
            rows = block.rows_of(kind)
            states[rows], is_readable = self._left_out(block, kind)
            unreadable.append(rows[~is_readable])
        is_passed, self._is_passed = _in_force(states, self._is_passed)
        for kind in NEVER_FILTERED & set(block.kinds):
            is_passed[block.rows_of(kind)] = False
        is_passed[block.rows_of(EventType.previous_gtids_log_event)] = skips
        for kind in kinds:
            if skips and kind != EventType.gtid_event:
                is_passed[block.rows_of(kind)] = True
        for rows in unreadable:
            is_passed[rows] = False  # printed, they give their errors
        return is_passed

    def _left_out(self, block: Block, kind: int) -> tuple[Bools, Bools]:
        """Whether the transaction of each GTID event of a type is left out, and whether it can be read."""
        stated, rows = Stated.of(block, kind), block.rows_of(kind)
        included, excluded = self._options.include_gtids, self._options.exclude_gtids
        left_out, is_readable = np.zeros(len(rows), dtype=np.bool_), np.ones(len(rows), dtype=np.bool_)
        if excluded is not None:
            left_out |= _held(excluded, stated)
        if included is not None:
            left_out |= ~_held(included, stated)
        for index in np.flatnonzero(~stated.matches).tolist():
            try:
                gtid = block.event(int(rows[index])).stated_gtid
            except BinlogError:
                is_readable[index] = False
                continue
            left_out[index] = (excluded is not None and gtid is not None and gtid in excluded) or (
                included is not None and (gtid is None or gtid not in included)
            )
        return left_out, is_readable


def _no_states(block: Block) -> Ints:
    """The state in force from each event on: 1 for left out, 0 for shown, -1 for unchanged."""
    return np.full(len(block) + 1, -1, dtype=np.int64)


def _in_force(states: Ints, before: bool) -> tuple[Bools, bool]:
    """The state that each event is in, and the one after the last event."""
    latest = np.maximum.accumulate(np.where(states >= 0, np.arange(len(states)), -1))
    in_force = np.where(latest >= 0, states[latest] > 0, before)
    return in_force[:-1], bool(in_force[-1])


def _held(gtids: GtidSet, stated: Stated) -> Bools:
    """Whether a set contains the GTIDs."""
    held = np.zeros(len(stated.matches), dtype=np.bool_)
    by_source = dict(gtids.items())
    for code, source in enumerate(stated.sources):
        if source not in by_source:
            continue
        pairs = [(first, min(last, _NO_LIMIT)) for first, last in by_source[source] if first <= _NO_LIMIT]
        limits = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        own = np.flatnonzero(stated.codes == code)
        numbers = stated.numbers[own]
        index = np.searchsorted(limits[:, 0], numbers, side="right") - 1
        held[own] = (index >= 0) & (numbers <= np.append(limits[:, 1], -1)[index])
    return held


def _ends(block: Block) -> Ints:
    """The events that end transactions."""
    ends = [block.rows_of(EventType.xid_event)]
    for kind in set(QUERY_TYPES) & set(block.kinds):
        rows, body = block.rows_of(kind), block.body(kind)
        if kind == EventType.query_event and "query" in body:
            starts, lengths = body.ranges("query")
            is_known = np.broadcast_to(body.matches, len(rows))
            is_filled = is_known & (lengths > 0)
            rows = rows[~is_known | (is_filled & _ENDS[block.data[np.where(is_filled, starts, 0)]])]
        ends.append(rows[np.array([_ends_group(block, row) for row in rows.tolist()], dtype=np.bool_)])
    return np.concatenate(ends)


def _ends_group(block: Block, row: int) -> bool:
    """Whether a statement ends its transaction; an unreadable one does not, if it is left out."""
    try:
        return ends_group(bytes(block.event(row).body.query))
    except BinlogError:
        return False
