"""Finding the next whole event behind damage.

An offset is where an event begins if its header says so itself: a known type, a size that holds the header,
and, but for relay logs, a position that is its own end (or none). What follows has to agree: the checksum
fits, and the next header is one too, or the file ends there, or the position leaves no doubt.

Strategy
--------
1. Offsets are looked at many at a time, by single bytes first: of a header's bytes most are told so.
2. Headers that follow are looked at before checksums, and checksums are sums that overlapping events share
   (`range_sums`). So the time goes by the bytes that are searched, whatever they are.
3. What was found once, or that nothing follows, holds for all offsets between. So a log of many damages is
   searched once.
"""

from __future__ import annotations

import io
from functools import cache
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.columns.blocks.crc32_ranges import RangeCrc32s
from binlog_kaitai.columns.blocks.crc32_shift import RESIDUE, moved_by
from binlog_kaitai.columns.blocks.random_access import RandomAccess
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.grammar import (
    POSITION_MASK,
    EventType,
    Format,
    Header,
    header_length,
    header_offset,
    masks,
)
from binlog_kaitai.sources.layer import after_damage

#: As much is looked through at a time, at first and at most: mostly an event is near.
_FIRST_WINDOW, _WINDOW = 64 << 10, 4 << 20

#: As many offsets are confirmed together, at first and at most: mostly the first one is an event.
_FEW, _MANY = 4, 1 << 17

_KNOWN = np.isin(np.arange(256), [kind for kind in EventType if kind])

_IN_USE = masks.EventHeader.IS_IN_USE
#: What the flag of a log in use in a last byte changes in a CRC32.
_FLAG = crc32(bytes([_IN_USE])) ^ crc32(b"\0")


class _Wanted(NamedTuple):
    """What is looked for: events of a format, and where their headers say that they are."""

    layout: Format
    has_own_positions: bool
    is_shifted: bool


class _Headers(NamedTuple):
    """Headers: where they stand, and what they say (all int64)."""

    offsets: Any
    codes: Any
    sizes: Any
    stated: Any
    flags: Any

    @property
    def ends(self) -> Any:
        return self.offsets + self.sizes

    @property
    def shifted_crc32s(self) -> Any:
        """How far each event is from where its header says."""
        return self.stated - self.ends & POSITION_MASK

    def part(self, rows: Any) -> _Headers:
        return _Headers(*(values[rows] for values in self))


class Search:
    """Looks for whole events in one log.

    Parameters
    ----------
    stream
        A stream that can seek; its position changes.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._log = RandomAccess(io.BytesIO())  # until the first search
        self.crc32s = RangeCrc32s(self._log)
        self._known: dict[_Wanted, tuple[int, int | None]] = {}

    def event(self, start: int, layout: Format, *, has_own_positions: bool = True) -> int | None:
        """Offset of the first whole event at or behind `start`, in bytes from the log's beginning.

        Parameters
        ----------
        layout
            The format in force.
        has_own_positions
            The positions in the headers are those in this file; not so in relay logs.

        Returns
        -------
        None if there is none.
        """
        return self._find(start, _Wanted(layout, has_own_positions, is_shifted=False))

    def shifted_event(self, start: int, layout: Format) -> int | None:
        """The same where bytes were lost or put in before, so that all positions are off by one distance.

        Two events in a row have to agree on it, unless the second one has no position (MariaDB since 11.4,
        inside transactions).
        """
        if layout.binlog_version < 4:
            return None
        return self._find(start, _Wanted(layout, has_own_positions=False, is_shifted=True))

    def event_or_shifted(self, start: int, layout: Format, *, has_own_positions: bool = True) -> int | None:
        """The first of these that is found: what `event` gives, what `shifted_event` gives."""
        found = self.event(start, layout, has_own_positions=has_own_positions)
        if found is None and has_own_positions:
            found = self.shifted_event(start, layout)
        return found

    def after(self, position: int, context: Context) -> int | None:
        """Where the next whole event after a damaged one begins; None if none follows.

        Where the damaged event's header, and what follows at the end that it states, leave no doubt, that
        is it. Where bytes were lost or put in, so that no position is right any more, it is a shifted event.
        """
        known = after_damage(self._stream, position)
        if known is not None:
            return known
        layout, has_own_positions = context.layout, context.has_exact_positions
        self._look_again()
        is_placed = has_own_positions and layout.binlog_version > 3
        head = self._headers(np.array([position]), layout)
        following = self._headers(head.ends, layout)
        if len(following.offsets) and following.ends[0] <= self._log.size:
            both = (head, following)
            if not is_placed or all(one.stated[0] == one.ends[0] & POSITION_MASK for one in both):
                end: int = head.ends.tolist()[0]
                return end
        return self.event_or_shifted(position + 1, layout, has_own_positions=has_own_positions)

    def is_whole(self, place: int, layout: Format) -> bool:
        """Whether what stands at an offset is a whole event, of any type, with the checksum that fits."""
        self._look_again()
        headers = self._headers(np.array([place]), layout, of_any_type=True)
        headers = headers.part(headers.ends <= self._log.size)
        return bool(self._is_whole(headers, layout).any())

    def _look_again(self) -> None:
        """A log that is being written has grown."""
        if self._stream.seek(0, io.SEEK_END) != self._log.size:
            self._log, self._known = RandomAccess(self._stream), {}
            self.crc32s = RangeCrc32s(self._log)

    def _find(self, start: int, wanted: _Wanted) -> int | None:
        self._look_again()
        since, found = self._known.get(wanted, (start + 1, None))
        if since <= start and (found is None or start <= found):
            return found
        found = self._search(start, wanted)
        self._known[wanted] = start, found
        return found

    def _search(self, start: int, wanted: _Wanted) -> int | None:
        length, extent = header_length(wanted.layout.binlog_version), _FIRST_WINDOW
        while start + length <= self._log.size:
            window = self._log.part(start, start + extent + length)
            at = np.flatnonzero(_may_be(window, start, self._log.size, wanted))
            for begin in range(0, len(at), _MANY):
                headers = self._candidates(window, at[begin : begin + _MANY], start, wanted)
                if (found := self._first_whole(headers, wanted)) is not None:
                    return found
            start += max(len(window) - length + 1, 1)
            extent = min(2 * extent, _WINDOW)
        return None

    def _first_whole(self, headers: _Headers, wanted: _Wanted) -> int | None:
        begin, count = 0, _FEW
        while begin < len(headers.offsets):
            some = headers.part(slice(begin, begin + count))
            if len(found := np.flatnonzero(self._is_whole(some, wanted.layout))):
                return int(some.offsets[found[0]])
            begin, count = begin + count, 4 * count
        return None

    def _candidates(self, window: Any, at: Any, start: int, wanted: _Wanted) -> _Headers:
        """At which places of a window headers may stand, by what they say and what follows them."""
        layout, size = wanted.layout, self._log.size
        at = at[_KNOWN[window[at + header_offset("type_code")]]]
        rows = window[at[:, None] + np.arange(header_length(layout.binlog_version))]
        headers = _columns_of(rows, at + start, layout)
        ends = headers.ends & POSITION_MASK
        is_good = (headers.sizes >= layout.header_length) & (headers.ends <= size)
        if wanted.is_shifted:
            is_good &= headers.stated != 0
        elif wanted.has_own_positions and layout.binlog_version > 1:
            expected = ends if layout.binlog_version > 3 else headers.offsets & POSITION_MASK
            is_good &= (headers.stated == expected) | (headers.stated == 0)
        return self._followed(headers.part(is_good), wanted)

    def _followed(self, headers: _Headers, wanted: _Wanted) -> _Headers:
        """Those with another one behind them that agrees, or which need none."""
        size = self._log.size
        distinct, numbers = np.unique(headers.ends, return_inverse=True)
        following = self._headers(distinct, wanted.layout)
        rows = np.full(len(distinct), len(following.offsets))
        rows[np.searchsorted(distinct, following.offsets)] = np.arange(len(following.offsets))
        rows = rows[numbers]
        # What follows may be damaged too; a position that fits and a checksum are proof enough.
        is_good = wanted.layout.is_checksummed & (headers.stated == headers.ends & POSITION_MASK)
        is_good |= np.append(following.ends <= size, False)[rows]
        if wanted.is_shifted:
            stated = np.append(following.stated, -1)[rows]
            is_good &= (stated == 0) | (
                np.append(following.shifted_crc32s, -1)[rows] == headers.shifted_crc32s
            )
        else:
            is_good |= headers.ends == size
        return headers.part(is_good)

    def _headers(self, offsets: Any, layout: Format, *, of_any_type: bool = False) -> _Headers:
        """Those of some places where headers can stand."""
        length = header_length(layout.binlog_version)
        offsets = offsets[offsets + length <= self._log.size]
        if not of_any_type:
            codes = self._log.at(offsets + header_offset("type_code"), 1)[:, 0]
            offsets = offsets[_KNOWN[codes]]
        headers = _columns_of(self._log.at(offsets, length), offsets, layout)
        return headers.part(headers.sizes >= layout.header_length)

    def _is_whole(self, headers: _Headers, layout: Format) -> Any:
        """Whether each event has the checksum that fits; they are inside."""
        if not layout.is_checksummed:
            return np.ones(len(headers.offsets), dtype=np.bool_)
        found = self.crc32s.of(headers.offsets, headers.ends)
        # The checksum of a format description is that of a closed log.
        opened = (headers.codes == EventType.format_description_event) & (headers.flags & _IN_USE != 0)
        rows = np.flatnonzero(opened & (headers.sizes >= header_length(4)))
        after = headers.sizes[rows] - header_offset("flags") - 1
        found[rows] ^= moved_by(np.full(len(rows), _FLAG, dtype=np.uint32), after)
        return found == RESIDUE


def _columns_of(rows: Any, offsets: Any, layout: Format) -> _Headers:
    """What headers say, of their bytes (uint8, a row for each)."""
    found = rows.view(_dtype(layout.binlog_version))[:, 0]
    values = {name: found[name].astype(np.int64) for name in found.dtype.names}
    nothing = np.zeros(len(offsets), dtype=np.int64)  # before version 3
    stated, flags = (values.get(name, nothing) for name in ("next_position", "flags"))
    return _Headers(offsets, values["type_code"], values["len_event"], stated, flags)


@cache
def _dtype(binlog_version: int) -> Any:
    """The event header as a NumPy layout."""
    length = header_length(binlog_version)
    names = [name for name in Header._fields if header_offset(name) < length]
    bounds = [*(header_offset(name) for name in names), length]
    return np.dtype([(name, f"<u{b - a}") for name, a, b in zip(names, bounds, bounds[1:], strict=False)])


@cache
def _ramp() -> Any:
    """The lowest bytes of 0, 1, 2, ... for all offsets of a window."""
    return np.resize(np.arange(256, dtype=np.uint8), _WINDOW + header_length(4))


def _may_be(window: Any, start: int, size: int, wanted: _Wanted) -> Any:
    """Where in a window a header may stand, by single bytes of it: passes over most others quickly."""
    version = wanted.layout.binlog_version
    count = max(len(window) - header_length(version) + 1, 0)
    length, after = header_offset("len_event"), header_offset("next_position")
    may = window[header_offset("type_code") :][:count] != 0
    may &= window[after - 1 :][:count] <= min(size - start >> 24, 255)
    if wanted.has_own_positions and version > 3:
        stated = window[after:][:count]
        expected = window[length:][:count] + (_ramp()[:count] + np.uint8(start & 0xFF))
        may &= (stated == expected) | (stated == 0)
    return may
