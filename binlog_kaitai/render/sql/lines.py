"""Lines of a script under construction: texts, each with the event that it belongs to.

Statements that begin alike (INSERT INTO a table's columns VALUES) and come to stand one after another can
become one: of each but the first the beginning is left out, and of each but the last the semicolon becomes a
comma.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.columns.kernel.byte_kernels import copy_ranges

#: Places within an event: before its rows, and behind them.
OPENING, PREFIX, FIRST = -(1 << 40) - 2, -(1 << 40) - 1, -(1 << 40)
SUFFIX, CLOSING = 1 << 40, (1 << 40) + 1

#: Text of a statement of several rows, in bytes, about; servers take packets of 4 MiB at least, by default.
MOST_IN_STATEMENT = 1 << 20

#: A line's beginning is its number among the distinct ones times this, plus its length, which is less.
_LENGTHS = 1 << 24

#: How a statement's line ends; so it does where another row follows.
_END, _COMMA = b";\n", ord(",")


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
    heads : int64 array
        What it begins with, by `head_key`; 0 where it cannot be put together with others.
    """

    texts: list[Any]
    events: NDArray[np.int64]
    positions: NDArray[np.int64]
    headers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.events)

    @classmethod
    def at(cls, texts: Any, events: Any, place: int) -> Lines:
        """Lines with the same place in their events; takes a list of bytes, too."""
        array = pa.array(texts, pa.binary()) if isinstance(texts, list) else texts
        numbers = np.asarray(events, dtype=np.int64)
        nothing = np.zeros(len(numbers), dtype=np.int64)
        return cls([array], numbers, np.full(len(numbers), place, dtype=np.int64), nothing)

    @classmethod
    def joined(cls, parts: Sequence[Lines]) -> Lines:
        """All lines of several."""
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls([], nothing, nothing, nothing)
        events, positions, headers = (np.concatenate([part[at] for part in parts]) for at in (1, 2, 3))
        return cls([text for part in parts for text in part.texts], events, positions, headers)

    def taken(self, rows: Any) -> Lines:
        """Some of them."""
        if not len(rows):
            return Lines.joined([])
        texts = pa.concat_arrays(self.texts).take(pa.array(rows))
        return Lines([texts], self.events[rows], self.positions[rows], self.headers[rows])

    def forward(self) -> memoryview:
        """The text of all lines, sorted by event and place."""
        steps = np.diff(self.events)
        if ((steps < 0) | ((steps == 0) & (np.diff(self.positions) < 0))).any():
            return self._text(np.lexsort((self.positions, self.events)))
        return self._text(np.arange(len(self)))

    def backward(self, rows: Any) -> memoryview:
        """The text of some lines, sorted by event from the last on, and by place."""
        return self._text(rows[np.lexsort((self.positions[rows], -self.events[rows]))])

    def _text(self, order: Any) -> memoryview:
        found = [_ranges(text) for text in self.texts]
        if not found:
            return memoryview(b"")
        starts, lengths = (np.concatenate([one[at] for one in found]) for at in (1, 2))
        follows = np.zeros(len(order), dtype=np.bool_)
        if self.headers.any():
            follows = _follows(self.headers[order], lengths[order])
            again = order[follows]
            headers = self.headers[again] % _LENGTHS
            starts[again] += headers
            lengths[again] -= headers
        sizes = lengths[order]
        ends = np.cumsum(sizes)
        # What is not in the order has no place.
        positions = np.full(len(lengths), -1, dtype=np.int64)
        positions[order] = ends - sizes
        out = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
        limits = np.cumsum([0] + [len(one.lengths) for one in found]).tolist()
        for one, begin, end in zip(found, limits, limits[1:], strict=False):
            copy_ranges.run(one.data, starts[begin:end], lengths[begin:end], positions[begin:end], out)
        out[ends[:-1][follows[1:]] - len(_END)] = _COMMA
        return out.data


def head_key(number: int, head: bytes) -> int:
    """What lines that begin alike have in common; `number` is one of each distinct beginning, from 0."""
    return (number + 1) * _LENGTHS + len(head) if len(head) < _LENGTHS else 0


def _follows(headers: Any, lengths: Any) -> Any:
    """Which lines, in the order of the script, go on with the statement of the line before."""
    is_same = np.zeros(len(headers), dtype=np.bool_)
    is_same[1:] = (headers[1:] == headers[:-1]) & (headers[1:] != 0)
    # By the bytes since the run of lines began: a new statement whenever there are so many.
    before = np.cumsum(lengths) - lengths
    begins = np.flatnonzero(~is_same)
    number = (before - np.repeat(before[begins], np.diff(begins, append=len(headers)))) // MOST_IN_STATEMENT
    is_same[1:] &= number[1:] == number[:-1]
    return is_same


class _Ranges(NamedTuple):
    """Where texts lie in their bytes."""

    data: Any
    starts: Any
    lengths: Any


def _ranges(texts: Any) -> _Ranges:
    _, positions, data = texts.buffers()
    offsets = np.frombuffer(positions, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    return _Ranges(content, offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64))
