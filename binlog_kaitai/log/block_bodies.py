"""Kernels that locate the bodies of events."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import NONE
from binlog_kaitai.kernels.compile import kernel


@kernel
def find_bodies(
    starts: Ints,
    sizes: Ints,
    checksums: Bytes,
    events: Ints,
    before: int,
    after: int,
    offsets: Ints,
    lengths: Ints,
) -> None:
    """Locate the bytes between the header and the checksum of the given events.

    Parameters
    ----------
    starts, sizes, checksums
        Offset, length and checksum state of all events.
    events
        Numbers of the events to locate; each must exist.
    before, after
        Length of a header, and of the checksum of an event that has one.
    offsets, lengths
        Output: start of each body, and its length, which is negative if the event is too short.
    """
    for index in range(events.shape[0]):
        event = np.uint64(events[index])
        offsets[index] = starts[event] + before
        lengths[index] = sizes[event] - before - (after if checksums[event] != NONE else 0)
