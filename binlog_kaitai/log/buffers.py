"""The arrays that blocks are read into, reused: touching new memory costs more than decoding it."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

import numpy as np


class Buffers:
    """Arrays that have been filled, the oldest first.

    Parameters
    ----------
    are_shared
        Threads may use a block long after the next one is read, since those without wanted events are passed
        over. So an array is reused once nothing else refers to it. Otherwise two arrays alternate.
    """

    def __init__(self, *, are_shared: bool) -> None:
        self._are_shared = are_shared
        self._used: deque[Any] = deque()

    def after(self, used: Any) -> Any:
        """An array of the same size to fill after this one."""
        spare = self._spare()
        self._used.append(used)
        return np.empty_like(used) if spare is None or spare.size != used.size else spare

    def _spare(self) -> Any:
        for index in range(len(self._used)):
            if not self._are_shared or _references(self._used, index) == _UNUSED:
                spare = self._used[index]
                del self._used[index]
                return spare
        return None


def _references(arrays: deque[Any], index: int) -> int:
    return sys.getrefcount(arrays[index])


#: References to an array that only the queue refers to; they depend on the version of Python.
_UNUSED = _references(deque([np.empty(0)]), 0)
