"""Lines of a script under construction, and comments for what it omits.

Consecutive statements with the same beginning (INSERT INTO a table's columns VALUES) can be merged: the
beginning is omitted except in the first, and the semicolon becomes a comma except in the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import copy_ranges
from binlog_kaitai.log.block import Block

#: Positions within an event: before its rows, and after them.
OPENING, PREFIX, FIRST = -(1 << 40) - 2, -(1 << 40) - 1, -(1 << 40)
SUFFIX, CLOSING = 1 << 40, (1 << 40) + 1

#: More than the number of positions within an event.
_PLACES = 1 << 42

#: Approximate size of a statement with several rows, in bytes; by default, servers accept at least 4 MiB.
MOST_IN_STATEMENT = 1 << 20

#: Key of a line's beginning: its number among the distinct ones times this, plus its length, which is less.
_LENGTHS = 1 << 24

#: The end of a statement's line; the replacement of its first byte if another row follows.
_END, _COMMA = b";\n", ord(",")


class LineTexts(NamedTuple):
    """Lines, each with its end, as ranges of bytes."""

    data: Bytes
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, data: Bytes, ends: Ints) -> LineTexts:
        """Consecutive lines, given their ends."""
        starts = np.concatenate(([0], ends[:-1])).astype(np.int64)[: len(ends)]
        return cls(data, starts, ends - starts)

    @classmethod
    def of_list(cls, texts: list[bytes]) -> LineTexts:
        """The given lines."""
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return cls.of(np.frombuffer(b"".join(texts), dtype=np.uint8), ends)

    @classmethod
    def repeated(cls, text: bytes, count: int) -> LineTexts:
        """A line as often as given."""
        starts = np.zeros(count, dtype=np.int64)
        return cls(np.frombuffer(text, dtype=np.uint8), starts, np.full(count, len(text), dtype=np.int64))


class ScriptLines(NamedTuple):
    """Some lines.

    `texts`: all lines, in one object or several.
    `events` (int64 array): number of each line's event in the block.
    `positions` (int64 array): position within the output of the event: the number of a row, or one of the
    constants.
    `headers` (int64 array): key of its beginning, see `head_key`; 0 if it cannot be merged with others.
    """

    texts: list[LineTexts]
    events: Ints
    positions: Ints
    headers: Ints

    def __len__(self) -> int:
        return len(self.events)

    @classmethod
    def at(cls, texts: LineTexts | list[bytes] | bytes, events: Ints | list[int], place: int) -> ScriptLines:
        """Lines with the same position in their events; bytes are the text of each of them."""
        numbers = np.asarray(events, dtype=np.int64)
        if isinstance(texts, bytes):
            texts = LineTexts.repeated(texts, len(numbers))
        elif isinstance(texts, list):
            texts = LineTexts.of_list(texts)
        nothing = np.zeros(len(numbers), dtype=np.int64)
        return cls([texts], numbers, np.full(len(numbers), place, dtype=np.int64), nothing)

    @classmethod
    def joined(cls, parts: Sequence[ScriptLines]) -> ScriptLines:
        """Concatenate several."""
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls([], nothing, nothing, nothing)
        texts, *columns = zip(*parts, strict=True)
        return cls([*chain.from_iterable(texts)], *map(np.concatenate, columns))

    def select(self, rows: Ints) -> ScriptLines:
        """The given lines, in ascending order."""
        limits = np.cumsum([0] + [len(part.lengths) for part in self.texts])
        edges = np.searchsorted(rows, limits).tolist()
        texts = []
        for part, base, begin, end in zip(self.texts, limits.tolist(), edges, edges[1:], strict=False):
            chosen = rows[begin:end] - base
            texts.append(LineTexts(part.data, part.starts[chosen], part.lengths[chosen]))
        return ScriptLines(texts, self.events[rows], self.positions[rows], self.headers[rows])

    def forward(self) -> memoryview:
        """The text of all lines, sorted by event and place."""
        # Mostly sorted: faster than sorting by two keys.
        return self._text(np.argsort(self.events * _PLACES + self.positions, kind="stable"))

    def backward(self, rows: Ints) -> memoryview:
        """The text of some lines, sorted by descending event, and by position."""
        return self._text(rows[np.lexsort((self.positions[rows], -self.events[rows]))])

    def _text(self, order: Ints) -> memoryview:
        if not self.texts:
            return memoryview(b"")
        starts, lengths = map(np.concatenate, list(zip(*self.texts, strict=True))[1:])
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
        limits = np.cumsum([0] + [len(part.lengths) for part in self.texts]).tolist()
        for part, begin, end in zip(self.texts, limits, limits[1:], strict=False):
            copy_ranges.run(part.data, starts[begin:end], lengths[begin:end], positions[begin:end], out)
        out[ends[:-1][follows[1:]] - len(_END)] = _COMMA
        return out.data


def head_key(number: int, head: bytes) -> int:
    """Key shared by lines with the same beginning; `number` identifies the beginning, from 0."""
    return (number + 1) * _LENGTHS + len(head) if len(head) < _LENGTHS else 0


def _follows(headers: Ints, lengths: Ints) -> Bools:
    """Which lines, in script order, continue the statement of the preceding line."""
    is_same = np.zeros(len(headers), dtype=np.bool_)
    is_same[1:] = (headers[1:] == headers[:-1]) & (headers[1:] != 0)
    # A new statement begins whenever this many bytes have been written since the run began.
    before = np.cumsum(lengths) - lengths
    begins = np.flatnonzero(~is_same)
    number = (before - np.repeat(before[begins], np.diff(begins, append=len(headers)))) // MOST_IN_STATEMENT
    is_same[1:] &= number[1:] == number[:-1]
    return is_same


def distinct_events(events: Ints, count: int) -> Ints:
    """The distinct numbers of events with lines, ascending; there are `count` events."""
    is_there = np.zeros(count, dtype=np.bool_)
    is_there[events] = True
    return np.flatnonzero(is_there)


#: Maximum length of text that is quoted in a warning.
_LONGEST_QUOTE = 200


@dataclass
class _Reason:
    count: int
    first: str


class OmissionReport:
    """Collects what is omitted; says the first of each reason immediately, and their counts at the end."""

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

    def doubt(self, text: str) -> None:
        """Warn that the script may do less or more than it should."""
        self._reasons.setdefault(text, _Reason(1, ""))
        self._say(text)

    def warn(self, text: str) -> None:
        """Warn about something that does not make the script incomplete."""
        self._say(text)

    def finish(self) -> None:
        """Report how often each reason occurred."""
        for text, reason in self._reasons.items():
            if reason.count > 1:
                self._say(f"{text}: {reason.count} times, first at {reason.first}")


def place(block: Block, row: int) -> str:
    """Description of an event's position."""
    return f"{plain(block.file)}:{int(block.positions[row])}"


def plain(text: str) -> str:
    """Text as one line of printable ASCII, for a comment that no client can misparse."""
    escaped = text.encode("ascii", "backslashreplace").decode("ascii")
    if escaped.isprintable():
        return escaped
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in escaped)


def shortened(text: str) -> str:
    """The beginning of a long text, in one line."""
    line = " ".join(text[: 2 * _LONGEST_QUOTE].split())
    return line if len(line) <= _LONGEST_QUOTE else line[:_LONGEST_QUOTE] + " …"


def comment(text: str) -> bytes:
    """Text as comment lines."""
    lines = text.replace("\r", "\n").split("\n")
    return b"".join(b"-- " + plain(line).encode() + b"\n" for line in lines)
