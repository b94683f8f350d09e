"""Where the bodies of events lie. All functions are kernels, see `compile`."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.columns.kernel.arrays import Bytes, Ints
from binlog_kaitai.columns.kernel.byte_kernels import NONE
from binlog_kaitai.columns.kernel.compile import kernel


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
        offsets[index] = starts[event] + before
        lengths[index] = sizes[event] - before - (after if checksums[event] != NONE else 0)
