"""Determines where to start reading in order to decode an event far into a log."""

from __future__ import annotations

import os

import numpy as np

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.sources.source import Source

#: Logs smaller than this are read from the start, in bytes.
_LARGE = 16 << 20

#: In logs without GTIDs, no table map stays in force across these events.
_BOUNDARIES = (EventType.query_event, EventType.xid_event)


def stops_before(source: Source, position: int) -> list[int]:
    """Offsets at which reading must stop on the way to an event, because the event depends on them.

    These are the format descriptions and the start of the event's transaction; [] if the log is best read
    from its start.
    """
    if source.path is None or not os.path.isfile(source.path) or os.path.getsize(source.path) < _LARGE:
        return []
    formats: list[int] = []
    transaction = statement = 0
    with source.open() as stream:
        try:
            for block in BlockReader.of_file(stream, source.name):
                if int(block.positions[0]) > position:
                    break
                if block.is_special:
                    formats.append(int(block.positions[0]))
                before = block.positions <= position
                gtids = block.positions[before & np.isin(block.types, list(GTID_TYPES))]
                others = block.positions[before & np.isin(block.types, _BOUNDARIES)]
                transaction = int(gtids[-1]) if len(gtids) else transaction
                statement = int(others[-1]) if len(others) else statement
        except BinlogError:
            pass  # the reader reports the damage, or stops before it
    start = transaction or statement
    return [*formats, start] if start and formats else []
