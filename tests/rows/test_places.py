"""Position, server, times and GTID of row images are those of their events."""

from __future__ import annotations

import random

import numpy as np
import pytest

from binlog_kaitai.core.grammar import header_length, header_offset
from binlog_kaitai.rows.places import PlacedEvents, Places
from tests.support import use_plain_kernels

#: For each event, number of images, server, seconds, and which commit time and GTID.
EVENTS = {
    "one": [(5, 1, 10, 0)],
    "none": [],
    "the same": [(1, 7, 20, 0), (3, 7, 20, 0), (1, 7, 20, 0)],
    "another server": [(2, 7, 20, 0), (1, 7, 20, 0), (1, 8, 20, 0), (2, 7, 20, 0)],
    "other times": [(1, 7, 20, 0), (1, 7, 21, 1), (2, 7, 21, -1), (1, 7, 21, 1)],
    "without images": [(0, 3, 3, 0), (2, 7, 20, 1), (0, 9, 9, 1), (2, 7, 20, 1)],
}
TIMES = np.array([1_000_000, -1, 3_000_000])


@pytest.mark.parametrize("mode", ["plain", "compiled"])
@pytest.mark.parametrize("name", EVENTS)
def test_places_are_those_of_the_event(name: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode == "plain":
        use_plain_kernels(monkeypatch)
    size, events = header_length(4), EVENTS[name]
    data = bytearray(random.Random(1).randbytes(size * len(events)))
    for number, (_, server, seconds, _) in enumerate(events):
        for field, value in (("timestamp", seconds), ("server_id", server)):
            at = number * size + header_offset(field)
            data[at : at + 4] = value.to_bytes(4, "little")
    starts, latest = np.arange(len(events)) * size, np.array([event[3] for event in events], dtype=np.int64)
    numbers = np.arange(len(events))
    array = np.frombuffer(bytes(data), dtype=np.uint8)
    of_rows = np.repeat(numbers, [event[0] for event in events])
    places = Places.of(of_rows, PlacedEvents(numbers, array, starts, starts + 100, latest, TIMES))

    def column(values: list[int]) -> list[int]:
        """What is expected of a column: a value if all are the same."""
        by_row = [values[event] for event in of_rows.tolist()]
        return by_row if len(set(by_row)) > 1 else by_row[:1]

    times = [event[2] * 1_000_000 for event in events]
    own = [int(TIMES[event[3]]) for event in events]
    commits = [time if commit < 0 else commit for time, commit in zip(times, own, strict=True)]
    assert places.positions.tolist() == [100 + event * size for event in of_rows.tolist()]
    assert places.servers.tolist() == column([event[1] for event in events])
    assert places.timestamps.tolist() == column(times)
    assert places.commits.tolist() == column(commits)
    assert [int(places.choices[index]) for index in places.gtids] == [events[event][3] for event in of_rows]
