"""Row numbers in a transaction payload, whose rows events all have the payload's position.

They continue from one rows event to the next, so that file, position and number identify one row. Counting
the rows of an event requires reading it; this is deferred until a row number after that event is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

_Event = TypeVar("_Event")


class RowNumbers(Generic[_Event]):
    """The first row number of each rows event in one payload.

    Parameters
    ----------
    read_again
        Returns the payload's rows events, starting from the first one.
    """

    def __init__(self, read_again: Callable[[], Iterator[_Event]]) -> None:
        self._ends: list[int | None] = []
        self._read_again = read_again
        self._skipped: Iterator[_Event] | None = None
        self._position = 0

    def first(self, ordinal: int, count: Callable[[_Event], int]) -> int:
        """The number of an event's first row.

        Parameters
        ----------
        ordinal
            Index of the rows event in the payload, from 0.
        count
            Counts the rows of an event; called for events whose end was not recorded with `set_end`.
        """
        if not ordinal:
            return 0
        if (end := self._end(ordinal - 1)) is not None:
            return end
        if self._skipped is None:
            self._skipped = self._read_again()
        while self._position < ordinal and (event := next(self._skipped, None)) is not None:
            if self._end(self._position) is None:
                before = self._end(self._position - 1) if self._position else 0
                self.set_end(self._position, (before or 0) + count(event))
            self._position += 1
        return self._end(ordinal - 1) or 0

    def set_end(self, ordinal: int, end: int) -> None:
        """Record the number after an event's last row."""
        self._ends += [None] * (ordinal + 1 - len(self._ends))
        self._ends[ordinal] = end

    def _end(self, ordinal: int) -> int | None:
        return self._ends[ordinal] if ordinal < len(self._ends) else None
