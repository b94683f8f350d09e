"""Sums over time, in steps as fine as their number allows."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

#: Step lengths, in seconds. With the last one, all times that a header can hold need only a few steps.
WIDTHS = (1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 28 * 86400, 364 * 86400, 3640 * 86400)

#: Above this number, steps are merged into wider ones.
MAX_STEPS = 4096


class Timeline:
    """Sums of several values by time.

    Parameters
    ----------
    values
        Number of values.

    Attributes
    ----------
    width : int
        Length of a step in seconds.
    starts : int64 array
        Start of each nonempty step, in seconds since 1970-01-01 UTC, ascending.
    sums : int64 array of shape (steps, values)
    """

    def __init__(self, values: int) -> None:
        self.width = WIDTHS[0]
        self.starts = np.zeros(0, dtype=np.int64)
        self.sums = np.zeros((0, values), dtype=np.int64)
        self._lock = Lock()

    def add(self, times: Any, columns: dict[int, Any]) -> None:
        """Add values by column index; a time of 0 means unknown and is skipped.

        Threads may add in any order.
        """
        has_time = times > 0
        if not has_time.all():
            times = times[has_time]
            columns = {number: values[has_time] for number, values in columns.items()}
        if not len(times):
            return
        with self._lock:
            self._add(times, columns)

    def _add(self, times: Any, columns: dict[int, Any]) -> None:
        starts, which, count = self._steps(times)
        sums = np.zeros((count, self.sums.shape[1]), dtype=np.int64)
        for number, values in columns.items():
            # Sums of a block are far below 2^53.
            sums[:, number] = np.bincount(which, weights=values, minlength=count)
        used = np.flatnonzero(np.bincount(which, minlength=count))
        self._merge(np.concatenate((self.starts, starts[used])), np.concatenate((self.sums, sums[used])))
        while len(self.starts) > MAX_STEPS and self.width < WIDTHS[-1]:
            self.widen(WIDTHS[WIDTHS.index(self.width) + 1])

    def _steps(self, times: Any) -> tuple[Any, Any, int]:
        """The starts of steps, the step index of each time, and the number of steps."""
        numbers = times // self.width
        least, span = int(numbers.min()), int(np.ptp(numbers)) + 1
        if span <= len(times):
            # Most blocks cover a short time, which makes sorting unnecessary.
            return (least + np.arange(span)) * self.width, numbers - least, span
        found, which = np.unique(numbers, return_inverse=True)
        return found * self.width, which.reshape(-1), len(found)

    def widen(self, width: int) -> None:
        """Switch to a longer step."""
        self.width = width
        self._merge(self.starts // width * width, self.sums)

    def wider(self, width: int) -> Timeline:
        """A copy with a longer step."""
        copy = Timeline(self.sums.shape[1])
        copy.starts, copy.sums = self.starts, self.sums
        copy.widen(max(width, self.width))
        return copy

    def _merge(self, starts: Any, sums: Any) -> None:
        order = np.argsort(starts, kind="stable")
        starts, sums = starts[order], sums[order]
        firsts = np.flatnonzero(np.diff(starts, prepend=-1))
        self.starts = starts[firsts]
        self.sums = np.add.reduceat(sums, firsts, axis=0) if len(firsts) else sums


def width_for(timeline: Timeline, most: int) -> int:
    """The shortest step that covers the span in at most the given number of steps."""
    if not len(timeline.starts):
        return timeline.width
    span = int(timeline.starts[-1] - timeline.starts[0]) + timeline.width
    fitting = [width for width in WIDTHS if width >= timeline.width and -(-span // width) < most]
    return fitting[0] if fitting else WIDTHS[-1]
