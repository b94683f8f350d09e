"""The GTIDs before a log, which its first events state."""

from __future__ import annotations

from typing import Any, BinaryIO

from binlog_kaitai.core.adapter import gtid_set
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import Framer
from binlog_kaitai.core.grammar import BinlogEvent, EventType, parse_event
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.transactions import BETWEEN

#: Event types that contain the GTIDs before a log.
PREVIOUS_TYPES = (EventType.previous_gtids_log_event, EventType.gtid_list_event)


def previous_gtids(event: BinlogEvent) -> GtidSet:
    """The GTIDs before a log, from the event that contains them.

    MariaDB logs the last GTID of each server in each domain: the set has all numbers up to it.

    Raises
    ------
    GrammarError
        The event is damaged.
    """
    body: Any = event.body.content
    if event.event_type.value == EventType.previous_gtids_log_event:
        return gtid_set(body.gtids)
    found = GtidSet()
    for gtid in body.gtids:
        found.add_range(f"{gtid.domain_id}-{gtid.server_id}", 1, gtid.sequence_number + 1)
    return found


def gtids_before(stream: BinaryIO) -> GtidSet:
    """The GTIDs in all logs before one, from a stream at its first byte; empty if unknown.

    Raises
    ------
    BinlogError
        It does not begin like a readable log.
    """
    framer = Framer.of_file(stream)
    context = Context(framer.binlog_version, framer.start)
    for frame in framer:
        context.observe(frame.raw, frame.header)
        kind = context.layout.effective_type(frame.header.type_code)
        if kind in PREVIOUS_TYPES:
            return previous_gtids(parse_event(frame.raw, frame.header.type_code, context.layout))
        if kind not in BETWEEN:
            break
    return GtidSet()
