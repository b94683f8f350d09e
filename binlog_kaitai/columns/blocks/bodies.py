"""Where the bodies of events lie. All functions are kernels, see `compile`."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import kernel_or
from binlog_kaitai.columns.kernels import NONE


def _find_bodies_alone(
    starts: Any, sizes: Any, checksums: Any, events: Any, before: int, behind: int, places: Any, lengths: Any
) -> None:
    """`find_bodies` by NumPy."""
    places[:] = starts[events] + before
    lengths[:] = sizes[events] - before - behind * (checksums[events] != NONE)


@kernel_or(_find_bodies_alone)
def find_bodies(
    starts: Any, sizes: Any, checksums: Any, events: Any, before: int, behind: int, places: Any, lengths: Any
) -> None:
    """Find what lies between header and checksum of some events.

    Parameters
    ----------
    starts, sizes, checksums
        Place, length and state of the checksum of all events.
    events
        The numbers of those wanted, of which each must be there.
    before, behind
        Length of a header, and of the checksum of an event that has one.
    places, lengths
        Get where each body begins, and its length, which is negative if the event has no room for it.
    """
    for index in range(events.shape[0]):
        event = np.uint64(events[index])
        places[index] = starts[event] + before
        lengths[index] = sizes[event] - before - (behind if checksums[event] != NONE else 0)


def _find_all_bodies_alone(
    starts: Any,
    sizes: Any,
    checksums: Any,
    types: Any,
    begins: Any,
    ranks: Any,
    before: int,
    behind: int,
    places: Any,
    lengths: Any,
) -> None:
    """`find_all_bodies` by NumPy."""
    at = begins[types] + ranks
    places[at] = starts + before
    lengths[at] = sizes - before - behind * (checksums != NONE)


@kernel_or(_find_all_bodies_alone)
def find_all_bodies(
    starts: Any,
    sizes: Any,
    checksums: Any,
    types: Any,
    begins: Any,
    ranks: Any,
    before: int,
    behind: int,
    places: Any,
    lengths: Any,
) -> None:
    """As `find_bodies`, of all events, type by type.

    Parameters
    ----------
    types, begins, ranks
        Type of each event (uint8), where in the results those of each type begin (256 numbers), and how many
        events of its own type stand before each event.
    """
    for event in range(starts.shape[0]):
        at = begins[types[event]] + ranks[event]
        if 0 <= at < places.shape[0]:
            places[at] = starts[event] + before
            lengths[at] = sizes[event] - before - (behind if checksums[event] != NONE else 0)
