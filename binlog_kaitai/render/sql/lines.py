"""Lines of a script in the making: texts, each with its place among the events of a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from binlog_kaitai.columns.kernel.byte_kernels import copy_ranges

#: Places within an event: before its rows, and behind them.
OPENING, PREFIX, FIRST = -(1 << 40) - 2, -(1 << 40) - 1, -(1 << 40)
SUFFIX, CLOSING = 1 << 40, (1 << 40) + 1


class Lines(NamedTuple):
    """Some lines.

    Attributes
    ----------
    texts : list of Arrow arrays of bytes
        All lines, each with its end, in one array or several.
    events : int64 array
        Number of each line's event in the block.
    places : int64 array
        Where it stands in what the event gives: the number of a row, or one of the constants.
    """

    texts: list[Any]
    events: NDArray[np.int64]
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.events)

    @classmethod
    def at(cls, texts: Any, events: Any, place: int) -> Lines:
        """Lines with the same place in their events; takes a list of bytes, too."""
        array = pa.array(texts, pa.binary()) if isinstance(texts, list) else texts
        numbers = np.asarray(events, dtype=np.int64)
        return cls([array], numbers, np.full(len(numbers), place, dtype=np.int64))

    @classmethod
    def joined(cls, parts: Sequence[Lines]) -> Lines:
        """All lines of several."""
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls([], nothing, nothing)
        events, places = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
        return cls([text for part in parts for text in part.texts], events, places)

    def taken(self, rows: Any) -> Lines:
        """Some of them."""
        if not len(rows):
            return Lines.joined([])
        texts = pa.concat_arrays(self.texts).take(pa.array(rows))
        return Lines([texts], self.events[rows], self.places[rows])

    def forward(self) -> memoryview:
        """The text of all lines, sorted by event and place."""
        steps = np.diff(self.events)
        if ((steps < 0) | ((steps == 0) & (np.diff(self.places) < 0))).any():
            return self._text(np.lexsort((self.places, self.events)))
        return self._text(np.arange(len(self)))

    def backward(self, rows: Any) -> memoryview:
        """The text of some lines, sorted by event from the last on, and by place."""
        return self._text(rows[np.lexsort((self.places[rows], -self.events[rows]))])

    def _text(self, order: Any) -> memoryview:
        found = [_ranges(text) for text in self.texts]
        if not found:
            return memoryview(b"")
        lengths = np.concatenate([one.lengths for one in found])
        sizes = lengths[order]
        ends = np.cumsum(sizes)
        # What is not in the order has no place.
        places = np.full(len(lengths), -1, dtype=np.int64)
        places[order] = ends - sizes
        out = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
        limits = np.cumsum([0] + [len(one.lengths) for one in found]).tolist()
        for one, begin, end in zip(found, limits, limits[1:], strict=False):
            copy_ranges.run(one.data, one.starts, one.lengths, places[begin:end], out)
        return out.data


class _Ranges(NamedTuple):
    """Where texts lie in their bytes."""

    data: Any
    starts: Any
    lengths: Any


def _ranges(texts: Any) -> _Ranges:
    _, places, data = texts.buffers()
    offsets = np.frombuffer(places, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    return _Ranges(content, offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64))
