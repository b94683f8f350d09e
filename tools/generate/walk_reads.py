"""Walks over structures that no record layout reaches, generated from formats/.

A walk decodes one structure in each of many ranges of `data` (uint8), and sets `follows` (bool) if the
structure fills the range to the last byte and has no value that the grammar forbids. Some walks also record
values in the columns of `out` (int64), one row per event; `SLOTS` has the number of columns. Every read is
checked against the end. Numbers of more than 63 bits are rejected. All functions are plain Python that Numba
can compile.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Bytes, Ints = NDArray[np.uint8], NDArray[np.int64]
OutTable, OutBools = Annotated[Ints, 2, "written"], Annotated[NDArray[np.bool_], "written"]


def _little(data: Any, at: Any, width: Any) -> Any:
    """A little-endian number of `width` bytes, within bounds."""
    value = np.int64(data[at])
    for step in range(1, width):
        value |= np.int64(data[at + step]) << np.int64(8 * step)
    return value


def _big(data: Any, at: Any, width: Any) -> Any:
    """A big-endian number of `width` bytes, within bounds."""
    value = np.int64(0)
    for step in range(width):
        value = value << np.int64(8) | np.int64(data[at + step])
    return value
