"""Walks over structures that no record layout reaches, generated from formats/.

A walk goes over one structure in each of many ranges of `data` (uint8) and notes in `follows` (bool) whether
it fills the range to the last byte and has no value that the grammar forbids. Some walks also note values, in
the columns of `out` (int64), an event a row; how many columns is in `SLOTS`. Every read is checked against
the end. What is beyond 63 bits is not followed. All is plain Python that Numba can compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _little(data: Any, at: Any, width: Any) -> Any:
    """A number of `width` bytes, the least significant first; they must be inside."""
    value = np.int64(data[at])
    for step in range(1, width):
        value |= np.int64(data[at + step]) << np.int64(8 * step)
    return value


def _big(data: Any, at: Any, width: Any) -> Any:
    """A number of `width` bytes, the most significant first; they must be inside."""
    value = np.int64(0)
    for step in range(width):
        value = value << np.int64(8) | np.int64(data[at + step])
    return value
