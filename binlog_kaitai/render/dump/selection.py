"""Selects the events to print, by the clients' rules for position, time, server, GTID, and domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import EventType, Header
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.render.dump.dump_options import DumpOptions
from binlog_kaitai.render.dump.printed_event import PrintedEvent
from binlog_kaitai.render.dump.statement_settings import ends_group

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


class SelectionEndedError(Exception):
    """The selected events end, including those of all later logs."""


class DumpSelection:
    """Decides about events, in log order.

    `start_position`: where to begin in the current log.
    `stop_position`: where to stop in the current log.
    `is_filtered`: the current transaction is left out.
    """

    def __init__(self, options: DumpOptions) -> None:
        self.options = options
        self.start_position: int | None = None
        self.stop_position: int | None = None
        self._start_timestamp = options.start_timestamp or 0
        self._offset = options.offset
        self._count = 0
        self.is_filtered = False

    def begin_log(self, *, is_first: bool, is_last: bool) -> None:
        """Continue with another log."""
        self.start_position = self.options.start_position if is_first else None
        self.stop_position = self.options.stop_position if is_last else None

    @property
    def is_waiting(self) -> bool:
        """Whether the first selected event, by its time or number, is still to come."""
        return bool(self._start_timestamp or self._offset)

    @property
    def filters_gtids(self) -> bool:
        """Whether events are left out because of their transactions."""
        options = self.options
        return options.include_gtids is not None or options.exclude_gtids is not None or options.skip_gtids

    def of_others(self, server_ids: Ints, types: Bytes) -> Bools | None:
        """Which events are left out because of their servers; None for none."""
        wanted, ignored = self.options.server_ids, self.options.ignored_server_ids
        if not (wanted or ignored):
            return None
        others: Bools = np.isin(server_ids, list(ignored))
        if wanted:
            others |= ~np.isin(server_ids, list(wanted))
        is_other: Bools = others & (types != EventType.rotate_event)
        return is_other

    def range_of(
        self, timestamps: NDArray[np.int64], positions: NDArray[np.int64], of_others: Bools | None = None
    ) -> tuple[int, int]:
        """The range of a block's events to print, if none is left out because of its server or transaction.

        `timestamps`, `positions` (int64 arrays): header fields of all its events, none of which is a format
        description.
        `of_others`: see `of_others`; such an event does not end the dump.
        Returns the first index, and the one after the last; if the latter is an event, it ends the dump.
        """
        begin = count = len(timestamps)
        is_wanted = timestamps >= self._start_timestamp
        is_wanted[: max(0, self._offset - self._count)] = False
        if is_wanted.any():
            begin = int(np.argmax(is_wanted))
            self._start_timestamp = self._offset = 0
        self._count += begin
        is_end = np.zeros(count, dtype=np.bool_)
        if self.options.stop_timestamp is not None:
            is_end |= timestamps >= self.options.stop_timestamp
        if self.stop_position is not None:
            is_end |= positions >= self.stop_position
        is_end[:begin] = False
        if of_others is not None:
            is_end &= ~of_others
        return begin, int(np.argmax(is_end)) if is_end.any() else count

    def skips(self, header: Header, kind: int) -> bool:
        """Whether an event is left out because of its header."""
        if kind == EventType.format_description_event:
            return False
        if self._count < self._offset or header.timestamp < self._start_timestamp:
            return True
        wanted, ignored = self.options.server_ids, self.options.ignored_server_ids
        is_of_other = header.server_id in ignored or (bool(wanted) and header.server_id not in wanted)
        return is_of_other and kind != EventType.rotate_event

    def selects(self, printed: PrintedEvent) -> bool:
        """Whether an event is printed, as far as its header tells.

        Raises `SelectionEndedError`.
        """
        options, is_format = self.options, printed.kind == EventType.format_description_event
        if not (is_format or self._count < self._offset or printed.timestamp < self._start_timestamp):
            # After the first selected event, times may go back.
            self._start_timestamp = self._offset = 0
        is_skipped = self.skips(printed.event.fixed_header, printed.kind)
        self._count += 1
        if is_skipped:
            return False
        is_end = options.stop_timestamp is not None and printed.timestamp >= options.stop_timestamp
        if is_end or (self.stop_position is not None and printed.event.position >= self.stop_position):
            raise SelectionEndedError
        return True

    def filters_gtid(self, printed: PrintedEvent) -> bool:
        """Whether an event is left out because of its transaction."""
        options = self.options
        if not self.filters_gtids:
            return False
        if printed.kind in GTID_TYPES:
            gtid = printed.event.stated_gtid
            included, excluded = options.include_gtids, options.exclude_gtids
            is_left_out = excluded is not None and gtid is not None and gtid in excluded
            self.is_filtered = is_left_out or (
                included is not None and (gtid is None or gtid not in included)
            )
            return self.is_filtered or (options.skip_gtids and printed.kind != EventType.gtid_event)
        if printed.kind == EventType.previous_gtids_log_event:
            return options.skip_gtids
        if printed.kind in NEVER_FILTERED:
            return False
        filtered = self.is_filtered
        if printed.kind == EventType.xid_event or (printed.kind in QUERY_TYPES and _ends_group(printed)):
            self.is_filtered = False
        return filtered


def _ends_group(printed: PrintedEvent) -> bool:
    """Whether a statement ends its transaction; an unreadable one does not, if it is left out."""
    try:
        return ends_group(bytes(printed.event.body.query))
    except BinlogError:
        return False


class Domains:
    """Judges events in order: everything after a GTID event is hidden with it, up to the next one."""

    def __init__(self, options: DumpOptions) -> None:
        self._options = options
        self._is_hidden = False

    def hides(self, printed: PrintedEvent) -> bool:
        """Whether an event belongs to a transaction that is not printed."""
        if printed.kind == EventType.gtid_event and self._options.filters_domains:
            body = printed.event.body
            self._is_hidden = self._hides_gtid(body.domain_id, body.sequence_number)
        return self._is_hidden and printed.kind != EventType.format_description_event

    def _hides_gtid(self, domain: int, number: int) -> bool:
        options = self._options
        if domain in options.ignored_domain_ids or (
            options.domain_ids is not None and domain not in options.domain_ids
        ):
            return True
        # A start position is what a replica has; domains that the stop position does not name are left out.
        if number <= options.start_gtids.get(domain, -1):
            return True
        return bool(options.stop_gtids) and number > options.stop_gtids.get(domain, -1)
