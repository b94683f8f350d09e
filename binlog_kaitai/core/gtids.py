"""GTID sets, as text and as intervals.

MySQL writes ``uuid:1-5:7, uuid:tag:1-3``. MariaDB has no notation for sets; here its GTIDs
``domain-server-sequence`` are joined by commas, and ``domain-server-first..last`` is a range.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from binlog_kaitai.errors import UsageError

# Patterns are compiled when they are first used.
_UUID = r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
#: Tags as servers log them, in lower case, which they accept in either case.
TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}", re.ASCII)
_TAG = rf"(?ai){TAG.pattern}"
# No number in a GTID has more digits than a 64-bit integer.
_RANGE = r"([0-9]{1,20})(?:-([0-9]{1,20}))?"
_MARIADB = r"([0-9]{1,20})-([0-9]{1,20})-([0-9]{1,20})(?:\.\.([0-9]{1,20}))?"

#: Maximum length of an invalid GTID in an error message, in characters.
_MOST_SHOWN = 80

#: Below one new range per this many in the set, ranges are added one by one; each insertion moves all later
#: ones.
_RANGES_PER_INSERT = 1024


class Intervals:
    """A set of integers as sorted, disjoint, non-adjacent intervals."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []  # one past the last number of each

    def add(self, start: int, end: int) -> None:
        """Add the numbers from `start` up to, but not including, `end`."""
        if start >= end:
            return
        first = bisect_right(self._ends, start - 1)
        last = bisect_right(self._starts, end)
        if first < last:
            start = min(start, self._starts[first])
            end = max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def add_all(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Add many ranges, with bounds as in `add`, in the time it takes to sort them."""
        added = [(start, end) for start, end in ranges if start < end]
        if len(added) <= len(self._starts) // _RANGES_PER_INSERT:
            for start, end in added:
                self.add(start, end)
            return
        every = sorted([*zip(self._starts, self._ends, strict=True), *added])
        self._starts, self._ends = [], []
        for start, end in every:
            if not self._ends or start > self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)
            elif end > self._ends[-1]:
                self._ends[-1] = end

    def update(self, other: Intervals) -> None:
        """Add all numbers of another set."""
        self.add_all(zip(other._starts, other._ends, strict=True))

    def without(self, other: Intervals) -> Intervals:
        """The numbers in this set that are not in the other."""
        rest = Intervals()
        for start, end in zip(self._starts, self._ends, strict=True):
            index = bisect_right(other._ends, start)
            while start < end and index < len(other._starts) and other._starts[index] < end:
                rest._append(start, other._starts[index])
                start = other._ends[index]
                index += 1
            rest._append(start, end)
        return rest

    def _append(self, start: int, end: int) -> None:
        """Append numbers that are above all others and not adjacent to them."""
        if start < end:
            self._starts.append(start)
            self._ends.append(end)

    def __contains__(self, number: int) -> bool:
        index = bisect_right(self._starts, number) - 1
        return index >= 0 and number < self._ends[index]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """First and last number of each interval."""
        return iter(self._pairs())

    def _pairs(self) -> list[tuple[int, int]]:
        # `list(self)` would preallocate as many items as `len` reports numbers.
        return [(start, end - 1) for start, end in zip(self._starts, self._ends, strict=True)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervals) and self._pairs() == other._pairs()

    def __bool__(self) -> bool:
        # Python's `len` cannot return 2^63 or more.
        return bool(self._starts)

    def __len__(self) -> int:
        """How many numbers the set contains."""
        return sum(self._ends) - sum(self._starts)

    def gaps(self) -> list[tuple[int, int]]:
        """First and last number of each gap between two intervals."""
        return [(end, start - 1) for end, start in zip(self._ends, self._starts[1:], strict=False)]


class GtidSet:
    """A set of GTIDs, of MySQL or of MariaDB.

    The *source* of a GTID is the part before its number: ``uuid``, ``uuid:tag`` or ``domain-server``.
    """

    def __init__(self) -> None:
        self._by_source: dict[str, Intervals] = {}

    @classmethod
    def parse(cls, text: str) -> GtidSet:
        """Parse the text of a set.

        Raises
        ------
        UsageError
            The text is not a GTID set.
        """
        gtids = cls()
        for part in (part.strip() for part in text.replace("\n", "").split(",")):
            if part and not (gtids._add_mariadb(part) or gtids._add_mysql(part)):
                shown = part if len(part) <= _MOST_SHOWN else f"{part[:_MOST_SHOWN]}…"
                raise UsageError(f"{shown!r} is not a GTID or a set of GTIDs")
        return gtids

    def add(self, gtid: str) -> None:
        """Add one GTID, in the form of :attr:`Event.gtid`."""
        source, number = split_gtid(gtid)
        self.add_range(source, number, number + 1)

    def add_range(self, source: str, start: int, end: int) -> None:
        """Add the numbers from `start` up to, but not including, `end`."""
        if start < end:
            self._by_source.setdefault(source, Intervals()).add(start, end)

    def add_ranges(self, source: str, ranges: Iterable[tuple[int, int]]) -> None:
        """Add many ranges of one source, with bounds as in `add_range`."""
        self._by_source.setdefault(source, Intervals()).add_all(ranges)

    def update(self, other: GtidSet) -> None:
        """Add all GTIDs of another set."""
        for source, intervals in other.items():
            self._by_source.setdefault(source, Intervals()).update(intervals)

    def without(self, other: GtidSet) -> GtidSet:
        """The GTIDs in this set that are not in the other."""
        rest, nothing = GtidSet(), Intervals()
        for source, intervals in self.items():
            if left := intervals.without(other._by_source.get(source, nothing)):
                rest._by_source[source] = left
        return rest

    def __or__(self, other: GtidSet) -> GtidSet:
        """The union of both sets."""
        union = GtidSet()
        for gtids in (self, other):
            union.update(gtids)
        return union

    def __sub__(self, other: GtidSet) -> GtidSet:
        """The GTIDs in this set that are not in the other; same as `without`."""
        return self.without(other)

    def __and__(self, other: GtidSet) -> GtidSet:
        """The intersection of both sets."""
        return self.without(self.without(other))

    def __contains__(self, gtid: str | GtidSet) -> bool:
        """Whether the set contains a GTID, or all GTIDs of another set."""
        if isinstance(gtid, GtidSet):
            return not gtid.without(self)
        source, number = split_gtid(gtid)
        return source in self._by_source and number in self._by_source[source]

    def __bool__(self) -> bool:
        return any(self._by_source.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GtidSet) and self._by_source == other._by_source

    def __len__(self) -> int:
        """How many GTIDs the set contains."""
        return sum(len(intervals) for intervals in self._by_source.values())

    def position(self) -> GtidSet:
        """MariaDB: the last GTID of each domain, in the form of `gtid_slave_pos`."""
        last: dict[str, tuple[int, str]] = {}
        for source, intervals in self.items():
            domain = source.partition("-")[0]
            if _is_mariadb(source):
                number = max(end for _, end in intervals)
                last[domain] = max(last.get(domain, (0, "")), (number, source))
        gtids = GtidSet()
        for number, source in last.values():
            gtids.add_range(source, number, number + 1)
        return gtids

    def up_to_here(self, known: Iterable[GtidSet] = ()) -> GtidSet:
        """MariaDB: the set that a position stands for, which is every GTID of each domain up to its number.

        A position names only one server per domain; servers that occur in the sets of `known` are included
        too.
        """
        complete = self | GtidSet()
        sources = {source for gtids in (self, *known) for source, _ in gtids.items() if _is_mariadb(source)}
        for last, intervals in self.position().items():
            domain = last.partition("-")[0]
            number = max(end for _, end in intervals)
            for source in sources:
                if source.startswith(f"{domain}-"):
                    complete.add_range(source, 1, number + 1)
        return complete

    def up_to_last(self) -> GtidSet:
        """MariaDB: the set that a binlog state stands for, which is every GTID of each source up to its last.

        Unlike a position, a state, such as GTID_LIST_EVENT or `gtid_binlog_state`, names every server of a
        domain.
        """
        complete = self | GtidSet()
        for source, intervals in self.items():
            if _is_mariadb(source):
                complete.add_range(source, 1, max(end for _, end in intervals) + 1)
        return complete

    def of_others(self, other: GtidSet) -> GtidSet:
        """The GTIDs of the set that no server of the other set has given."""
        servers, rest = {_server(source) for source, _ in other.items()}, GtidSet()
        for source, intervals in self.items():
            if _server(source) not in servers:
                rest._by_source[source] = intervals
        return rest

    def items(self) -> Iterable[tuple[str, Intervals]]:
        """Each source with its numbers, sorted by text."""
        return sorted(self._by_source.items())

    def __str__(self) -> str:
        return ",".join(_text(source, intervals) for source, intervals in self.items())

    def __repr__(self) -> str:
        return f"GtidSet.parse({str(self)!r})"

    def _add_mariadb(self, part: str) -> bool:
        if match := re.fullmatch(_MARIADB, part):
            domain, server, first, last = match.groups()
            self.add_range(f"{int(domain)}-{int(server)}", int(first), int(last or first) + 1)
        return match is not None

    def _add_mysql(self, part: str) -> bool:
        uuid, *rest = (piece.strip() for piece in part.split(":"))
        if not re.fullmatch(_UUID, uuid) or not rest:
            return False
        digits = uuid.replace("-", "").lower()
        uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        source, ranges = uuid, dict[str, list[tuple[int, int]]]()
        for piece in rest:
            if match := re.fullmatch(_RANGE, piece):
                first, last = match.groups()
                ranges.setdefault(source, []).append((int(first), int(last or first) + 1))
            elif re.fullmatch(_TAG, piece):
                source = f"{uuid}:{piece.lower()}"
            else:
                return False
        for name, intervals in ranges.items():
            self.add_ranges(name, intervals)
        return True


def split_gtid(gtid: str) -> tuple[str, int]:
    """The source and the number of a GTID."""
    source, _, number = gtid.rpartition(":" if ":" in gtid else "-")
    return source, int(number)


def _is_mariadb(source: str) -> bool:
    return ":" not in source and not re.fullmatch(_UUID, source)


def _server(source: str) -> str:
    """The server that gave a source's GTIDs: its UUID, or for MariaDB its server id."""
    return source.rpartition("-")[2] if _is_mariadb(source) else source.partition(":")[0]


def ranges_text(intervals: Iterable[tuple[int, int]], between: str) -> str:
    """Numbers as text, such as ``1-5:7``, from the first and last number of each interval."""
    return between.join(str(first) if first == last else f"{first}-{last}" for first, last in intervals)


def _text(source: str, intervals: Intervals) -> str:
    if not _is_mariadb(source):
        return f"{source}:{ranges_text(intervals, ':')}"
    ranges = (str(first) if first == last else f"{first}..{last}" for first, last in intervals)
    return ",".join(f"{source}-{numbers}" for numbers in ranges)


#: The beginning of a GTID, which distinguishes it from a file name.
_GTID = re.compile(r"\s*(?:[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\s*:|[0-9]+-[0-9]+-[0-9]+)")


def literal_gtids(text: str) -> GtidSet | None:
    """A literal set; None for other text."""
    # In batch mode the client prints line ends as \n.
    text = text.replace("\\n", "")
    return GtidSet.parse(text) if not text.strip() or _GTID.match(text) else None
