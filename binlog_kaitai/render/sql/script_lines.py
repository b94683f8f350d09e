"""Lines of a script under construction, and comments for what it omits.

Consecutive statements with the same beginning (INSERT INTO a table's columns VALUES) can be merged: the
beginning is omitted except in the first, and the semicolon becomes a comma except in the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.byte_kernels import copy_ranges
from binlog_kaitai.log.block import Block

#: Positions within an event: before its rows, and after them.
OPENING, PREFIX, FIRST = -(1 << 40) - 2, -(1 << 40) - 1, -(1 << 40)
SUFFIX, CLOSING = 1 << 40, (1 << 40) + 1

#: Approximate size of a statement with several rows, in bytes; by default, servers accept at least 4 MiB.
MOST_IN_STATEMENT = 1 << 20

#: Key of a line's beginning: its number among the distinct ones times this, plus its length, which is less.
_LENGTHS = 1 << 24

#: The end of a statement's line; the replacement of its first byte if another row follows.
_END, _COMMA = b";\n", ord(",")


class ScriptLines(NamedTuple):
    """Some lines.

    Attributes
    ----------
    texts : list of Arrow arrays of bytes
        All lines, each with its end, in one array or several.
    events : int64 array
        Number of each line's event in the block.
    positions : int64 array
        Position within the output of the event: the number of a row, or one of the constants.
    headers : int64 array
        Key of its beginning, see `head_key`; 0 if it cannot be merged with others.
    """

    texts: list[Any]
    events: NDArray[np.int64]
    positions: NDArray[np.int64]
    headers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.events)

    @classmethod
    def at(cls, texts: Any, events: Any, place: int) -> ScriptLines:
        """Lines with the same position in their events; also takes a list of bytes."""
        array = pa.array(texts, pa.binary()) if isinstance(texts, list) else texts
        numbers = np.asarray(events, dtype=np.int64)
        nothing = np.zeros(len(numbers), dtype=np.int64)
        return cls([array], numbers, np.full(len(numbers), place, dtype=np.int64), nothing)

    @classmethod
    def joined(cls, parts: Sequence[ScriptLines]) -> ScriptLines:
        """Concatenate several."""
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls([], nothing, nothing, nothing)
        events, positions, headers = (np.concatenate([part[at] for part in parts]) for at in (1, 2, 3))
        return cls([text for part in parts for text in part.texts], events, positions, headers)

    def taken(self, rows: Any) -> ScriptLines:
        """The given lines."""
        if not len(rows):
            return ScriptLines.joined([])
        texts = pa.concat_arrays(self.texts).take(pa.array(rows))
        return ScriptLines([texts], self.events[rows], self.positions[rows], self.headers[rows])

    def forward(self) -> memoryview:
        """The text of all lines, sorted by event and place."""
        steps = np.diff(self.events)
        if ((steps < 0) | ((steps == 0) & (np.diff(self.positions) < 0))).any():
            return self._text(np.lexsort((self.positions, self.events)))
        return self._text(np.arange(len(self)))

    def backward(self, rows: Any) -> memoryview:
        """The text of some lines, sorted by descending event, and by position."""
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
        # Lines that are not in the order get no position.
        positions = np.full(len(lengths), -1, dtype=np.int64)
        positions[order] = ends - sizes
        out = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
        limits = np.cumsum([0] + [len(one.lengths) for one in found]).tolist()
        for one, begin, end in zip(found, limits, limits[1:], strict=False):
            copy_ranges.run(one.data, starts[begin:end], lengths[begin:end], positions[begin:end], out)
        out[ends[:-1][follows[1:]] - len(_END)] = _COMMA
        return out.data


def head_key(number: int, head: bytes) -> int:
    """Key shared by lines with the same beginning; `number` identifies the beginning, from 0."""
    return (number + 1) * _LENGTHS + len(head) if len(head) < _LENGTHS else 0


def _follows(headers: Any, lengths: Any) -> Any:
    """Which lines, in script order, continue the statement of the preceding line."""
    is_same = np.zeros(len(headers), dtype=np.bool_)
    is_same[1:] = (headers[1:] == headers[:-1]) & (headers[1:] != 0)
    # A new statement begins whenever this many bytes have been written since the run began.
    before = np.cumsum(lengths) - lengths
    begins = np.flatnonzero(~is_same)
    number = (before - np.repeat(before[begins], np.diff(begins, append=len(headers)))) // MOST_IN_STATEMENT
    is_same[1:] &= number[1:] == number[:-1]
    return is_same


class _Ranges(NamedTuple):
    """Byte ranges of texts."""

    data: Any
    starts: Any
    lengths: Any


def _ranges(texts: Any) -> _Ranges:
    _, positions, data = texts.buffers()
    offsets = np.frombuffer(positions, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    return _Ranges(content, offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64))


def distinct_events(events: Any, count: int) -> Any:
    """The distinct numbers of events with lines, ascending; there are `count` events."""
    is_there = np.zeros(count, dtype=np.bool_)
    is_there[events] = True
    return np.flatnonzero(is_there)


#: Maximum length of text that is quoted in a warning.
_MOST = 200


@dataclass
class _Reason:
    count: int
    first: str


class OmissionReport:
    """Collects what is omitted.

    Parameters
    ----------
    say
        Receives warnings: the first one of each kind immediately, and their counts at the end.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._reasons: dict[str, _Reason] = {}

    @property
    def is_complete(self) -> bool:
        """Whether the script contains everything selected."""
        return not self._reasons

    def incomplete(self, reason: str, where: str, count: int = 1) -> None:
        """Report a selected change that the script omits."""
        known = self._reasons.get(reason)
        if known is not None:
            known.count += count
            return
        self._reasons[reason] = _Reason(count, where)
        self._say(f"{where}: {reason}")

    def warn(self, text: str) -> None:
        """Warn about something that does not make the script incomplete."""
        self._say(text)

    def finish(self) -> None:
        """Report how often each reason occurred."""
        for reason, found in self._reasons.items():
            if found.count > 1:
                self._say(f"{reason}: {found.count} times, first at {found.first}")


def place(block: Block, row: int) -> str:
    """Description of an event's position."""
    return f"{plain(block.file)}:{int(block.positions[row])}"


def plain(text: str) -> str:
    """Text as one line of printable ASCII, for a comment that no client can misparse."""
    escaped = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in escaped)


def shortened(text: str) -> str:
    """The beginning of a long text, in one line."""
    found = " ".join(text[: 2 * _MOST].split())
    return found if len(found) <= _MOST else found[:_MOST] + " …"


def comment(text: str) -> bytes:
    """Text as comment lines."""
    lines = text.replace("\r", "\n").split("\n")
    return b"".join(b"-- " + plain(line).encode() + b"\n" for line in lines)
