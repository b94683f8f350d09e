"""Lines of a script in the making: texts, each with its place among the events of a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

#: Places within an event: before its rows, and behind them.
OPENING, PREFIX, FIRST = -(1 << 40) - 2, -(1 << 40) - 1, -(1 << 40)
SUFFIX, CLOSING = 1 << 40, (1 << 40) + 1


class Lines(NamedTuple):
    """Some lines.

    Attributes
    ----------
    texts : Arrow array of bytes
        Each with the end of its line.
    events : int64 array
        Number of each line's event in the block.
    places : int64 array
        Where it stands in what the event gives: the number of a row, or one of the constants.
    """

    texts: Any
    events: Any
    places: Any

    def __len__(self) -> int:
        return len(self.events)

    @classmethod
    def at(cls, texts: Any, events: Any, place: int) -> Lines:
        """Lines with the same place in their events; takes a list of bytes, too."""
        array = pa.array(texts, pa.binary()) if isinstance(texts, list) else texts
        numbers = np.asarray(events, dtype=np.int64)
        return cls(array, numbers, np.full(len(numbers), place, dtype=np.int64))

    def taken(self, rows: Any) -> Lines:
        """Some of them."""
        return Lines(self.texts.take(pa.array(rows)), self.events[rows], self.places[rows])

    def in_order(self) -> Lines:
        """The lines sorted by event and place."""
        steps = np.diff(self.events)
        if not ((steps < 0) | ((steps == 0) & (np.diff(self.places) < 0))).any():
            return self
        return self.taken(np.lexsort((self.places, self.events)))

    def backwards(self, rows: Any) -> Lines:
        """Some of the lines, sorted by event from the last on, and by place."""
        return self.taken(rows[np.lexsort((self.places[rows], -self.events[rows]))])

    @classmethod
    def joined(cls, parts: Sequence[Lines]) -> Lines:
        """All lines of several."""
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls(pa.array([], pa.binary()), nothing, nothing)
        arrays = zip(*((part.events, part.places) for part in parts), strict=True)
        return cls(pa.concat_arrays([part.texts for part in parts]), *map(np.concatenate, arrays))

    def data(self) -> memoryview:
        """All texts, one behind the other."""
        _, offsets, data = self.texts.buffers()
        if data is None or not len(self):
            return memoryview(b"")
        places = np.frombuffer(offsets, dtype=np.int32)
        first = self.texts.offset
        return memoryview(data)[int(places[first]) : int(places[first + len(self)])]
