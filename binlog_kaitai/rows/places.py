"""Where row images are from: position, server, times and GTID of the event of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import header_length, header_offset
from binlog_kaitai.kernels.arrays import Bytes, Ints, Number, OutIndexes, OutInts
from binlog_kaitai.kernels.byte_kernels import read_u4
from binlog_kaitai.kernels.compile import inlined, kernel

_TIME_AT, _SERVER_AT = map(header_offset, ("timestamp", "server_id"))
_LENGTH, _SECOND = header_length(1), 1_000_000


class PlacedEvents(NamedTuple):
    """The events of a block, for `put_places`.

    `rows`: the number in the block of each rows event.
    `data`, `starts`, `positions`: bytes of the block; offset and position of each event.
    `latest`: index in `times` of each event's; -1 for the last.
    `times`: commit times; -1 where an event's own time stands for it.
    """

    rows: Ints
    data: Bytes
    starts: Ints
    positions: Ints
    latest: Ints
    times: Ints


class Places(NamedTuple):
    """Columns with a value for each row image; times in microseconds since 1970-01-01 UTC.

    `servers`, `timestamps`, `commits`: one value if it is the same for all.
    `gtids`: an index in `choices`, which are values of `PlacedEvents.latest`.
    """

    positions: OutInts
    servers: OutInts
    timestamps: OutInts
    commits: OutInts
    gtids: OutIndexes
    choices: OutInts

    @classmethod
    def of(cls, of_rows: Ints, events: PlacedEvents) -> Places:
        """The places of row images, by the number of each one's rows event."""
        kinds = [np.int32 if name == "gtids" else np.int64 for name in cls._fields]
        places = cls._make(np.empty(len(of_rows), dtype=kind) for kind in kinds)
        choices, servers, timestamps, commits = put_places.run(of_rows, events, places)
        places = places._replace(servers=places.servers[:servers], timestamps=places.timestamps[:timestamps])
        return places._replace(commits=places.commits[:commits], choices=places.choices[:choices])


@kernel
def put_places(of_rows: Ints, events: PlacedEvents, out: Places) -> tuple[int, int, int, int]:
    """Repeat what an event states for each of its row images, which are consecutive.

    Returns how many choices, servers, times and commit times are written.
    """
    count = row = servers = timestamps = commits = 0
    choice: Number = np.int64(-2)
    while row < of_rows.shape[0]:
        event, end = of_rows[row], row + 1
        while end < of_rows.shape[0] and of_rows[end] == event:
            end += 1
        number = events.rows[event]
        start, position, latest = events.starts[number], events.positions[number], events.latest[number]
        timestamp: Number = np.int64(0)
        server: Number = timestamp
        if 0 <= start <= events.data.shape[0] - _LENGTH:
            timestamp = read_u4(events.data, np.uint64(start + _TIME_AT)) * _SECOND
            server = read_u4(events.data, np.uint64(start + _SERVER_AT))
        commit = events.times[latest if latest >= 0 else events.times.shape[0] - 1]
        commit = timestamp if commit < 0 else commit
        if latest != choice:
            out.choices[count] = choice = latest
            count += 1
        servers = _put(out.servers, servers, row, end, server)
        timestamps = _put(out.timestamps, timestamps, row, end, timestamp)
        commits = _put(out.commits, commits, row, end, commit)
        for step in range(row, end):
            # With a signed index, Numba would generate code for negative indexes.
            here = np.uint64(step)
            out.positions[here], out.gtids[here] = position, count - 1
        row = end
    return count, servers, timestamps, commits


@inlined
def _put(values: Ints, written: int, begin: int, end: int, value: Number) -> int:
    """Write a value for some rows, but one for all while it is the same; returns how many are written."""
    if written == 0:
        values[0] = value
    if written <= 1:
        if value == values[0]:
            return 1
        for row in range(1, begin):
            values[row] = values[0]
    for row in range(begin, end):
        values[np.uint64(row)] = value
    return end
