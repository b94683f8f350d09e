"""The arrays of earlier blocks, which are filled again: touching new memory costs more than decoding it."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np


class Buffers:
    """Arrays that were filled, the oldest first.

    Parameters
    ----------
    keeps
        Returns 1 if only the last array is in use, or more with threads.
    """

    def __init__(self, keeps: Callable[[], int]) -> None:
        self._keeps = keeps
        self._used: deque[Any] = deque()

    def after(self, used: Any) -> Any:
        """An array of the same size to fill after this one."""
        self._used.append(used)
        spare = self._spare()
        return np.empty_like(used) if spare is None or spare.size != used.size else spare

    def _spare(self) -> Any:
        """An array that may be filled again; None if there is none.

        With threads, the number of later blocks does not say how long a block is in use, since blocks without
        wanted events are passed over. So an array is spare once nothing refers to it.
        """
        if self._keeps() == 1:
            return self._used.popleft() if len(self._used) > 1 else None
        for number in range(len(self._used) - 1):
            # References: the queue's, and the argument's.
            if sys.getrefcount(self._used[number]) == 2:
                spare = self._used[number]
                del self._used[number]
                return spare
        return None
