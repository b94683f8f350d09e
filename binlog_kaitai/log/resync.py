"""Finds the next complete event after damage.

An event begins at an offset if its header is plausible: a known type, a size that includes the header and,
except in relay logs, a position equal to its own end (or zero). In addition, the checksum must be correct,
and another header must follow or the file must end there, unless the position leaves no doubt.

Strategy
--------
1. Many offsets are tested at a time, by single bytes first, which rules out most of them.
2. Following headers are tested before checksums, and overlapping ranges share CRC computations
   (`crc32_of`). The time is therefore proportional to the bytes searched, whatever they contain.
3. A result, including that no event follows, is valid for all offsets up to it. A log with many damaged
   ranges is therefore searched once.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import BinaryIO, NamedTuple

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import (
    POSITION_MASK,
    EventType,
    Format,
    Header,
    header_length,
    header_offset,
    masks,
)
from binlog_kaitai.kernels.arrays import Bools, Bytes, Crc32s, Ints, view_of
from binlog_kaitai.log.crc32 import RESIDUE, crc32_of, moved_by
from binlog_kaitai.log.mapped_memory import PIECE
from binlog_kaitai.sources.layer import after_damage

#: Size of the pages that are read, in bytes, and how many of them are kept.
_PAGE, _PAGES = 64 << 10, 128

#: Distance between stored CRCs, in bytes.
_STRIDE = 256


class RandomAccess:
    """A seekable stream as an array, read in pages; the position of the stream changes.

    `size`: size when opened; bytes appended later are not visible. If the stream is truncated later, bytes at
    offsets are zero, which is no header.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = stream.seek(0, io.SEEK_END)
        self._page = lru_cache(maxsize=_PAGES)(self._read_page)

    def part(self, start: int, end: int) -> Bytes:
        """Bytes of a range as an array (uint8), shortened at the end of the stream."""
        self._stream.seek(start)
        return np.frombuffer(read_up_to(self._stream, max(min(end, self.size) - start, 0)), dtype=np.uint8)

    def rows_at(self, offsets: Ints, count: int) -> Bytes:
        """`count` bytes (at most `_STRIDE`) at each offset, one row (uint8) per offset."""
        rows = np.empty((len(offsets), count), dtype=np.uint8)
        for chosen, page, begins in self._by_page(offsets):
            rows[chosen] = page[begins[:, None] + np.arange(count)]
        return rows

    def crc32_of(self, starts: Ints, ends: Ints) -> Crc32s:
        """CRC32 of each range of at most `_STRIDE` bytes, as a uint32 array."""
        crcs = np.empty(len(starts), dtype=np.uint32)
        for chosen, page, begins in self._by_page(starts):
            crcs[chosen] = crc32_of(page, begins, begins + (ends - starts)[chosen])
        return crcs

    def _by_page(self, offsets: Ints) -> Iterator[tuple[Ints, Bytes, Ints]]:
        """The numbers of the offsets in each page, its bytes, and these offsets in it."""
        order = np.argsort(offsets, kind="stable")
        pages = offsets[order] // _PAGE
        for chosen in np.split(order, np.flatnonzero(np.diff(pages)) + 1) if len(order) else ():
            number = int(offsets[chosen[0]]) // _PAGE
            yield chosen, self._page(number), offsets[chosen] - number * _PAGE

    def _read_page(self, number: int) -> Bytes:
        page = np.zeros(_PAGE + _STRIDE, dtype=np.uint8)
        data = self.part(number * _PAGE, number * _PAGE + len(page))
        page[: len(data)] = data
        return page


class RangeCrc32s:
    """CRC32s of ranges of a file, which reads each byte about once however the ranges overlap.

    The CRCs of the bytes up to evenly spaced offsets are stored, up to the highest offset requested so far.
    The CRC of a range is the CRC up to its end XOR the CRC up to its start, shifted by the length of the
    range. Each of the two continues from the nearest stored CRC before it.

    `summed`: number of bytes that CRCs were computed over in total.
    """

    def __init__(self, offsets: RandomAccess) -> None:
        self._offsets = offsets
        self._base = 0  # offset of the first stored CRC, which covers no bytes
        self._notes: list[int] = [0]
        self.summed = 0

    def of(self, starts: Ints, ends: Ints) -> Crc32s:
        """CRC32 of each range (uint32); the offsets (int64) must be within the file."""
        if len(starts) == 0:
            return np.zeros(0, dtype=np.uint32)
        first, last = int(starts.min()), int(ends.max())
        if not self._base <= first <= self._base + len(self._notes) * _STRIDE:
            self._base, self._notes = first, [0]
        self._note_up_to(last)
        before = self._up_to(starts)
        return self._up_to(ends) ^ moved_by(before, ends - starts)

    def _note_up_to(self, end: int) -> None:
        notes = self._notes
        crc, pos = notes[-1], self._base + (len(notes) - 1) * _STRIDE
        while pos + _STRIDE <= end:
            view = view_of(self._offsets.part(pos, min(pos + PIECE, pos + (end - pos) // _STRIDE * _STRIDE)))
            for offset in range(0, len(view), _STRIDE):
                crc = crc32(view[offset : offset + _STRIDE], crc)
                notes.append(crc)
            pos += len(view)
            self.summed += len(view)

    def _up_to(self, offsets: Ints) -> Crc32s:
        """CRCs from the base up to each offset."""
        distinct, numbers = np.unique(offsets, return_inverse=True)
        notes = (distinct - self._base) // _STRIDE
        begins = self._base + notes * _STRIDE
        noted = np.array([self._notes[note] for note in notes.tolist()], dtype=np.uint32)
        self.summed += int((distinct - begins).sum())
        crcs = moved_by(noted, distinct - begins) ^ self._offsets.crc32_of(begins, distinct)
        return crcs[numbers]


#: Bytes searched at a time, at first and at most: usually the next event is near.
_FIRST_WINDOW, _WINDOW = 64 << 10, 4 << 20

#: Offsets confirmed together, at first and at most: usually the first one is an event.
_FIRST_OFFSETS, _MOST_OFFSETS = 4, 1 << 17

_KNOWN = np.bincount([kind for kind in EventType if kind], minlength=256) > 0

_IN_USE = masks.EventHeader.IS_IN_USE
#: Change of a CRC32 if the in-use flag in the last byte is inverted.
_FLAG = crc32(bytes([_IN_USE])) ^ crc32(b"\0")


class _Wanted(NamedTuple):
    """Search criteria: the format of the events, and how their positions relate to their offsets."""

    layout: Format
    has_own_positions: bool
    is_shifted: bool


class _Headers(NamedTuple):
    """Offsets and fields of event headers (all int64)."""

    offsets: Ints
    codes: Ints
    sizes: Ints
    stated: Ints
    flags: Ints

    @property
    def ends(self) -> Ints:
        return self.offsets + self.sizes

    @property
    def distances(self) -> Ints:
        """Distance of each event from the position in its header."""
        return self.stated - self.ends & POSITION_MASK

    def part(self, rows: Ints | Bools | slice) -> _Headers:
        return _Headers._make(values[rows] for values in self)


class Search:
    """Searches a log for complete events.

    `stream`: a seekable stream; its position changes.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._log = RandomAccess(io.BytesIO())  # until the first search
        self.crc32s = RangeCrc32s(self._log)
        self._known: dict[_Wanted, tuple[int, int | None]] = {}

    def event(self, start: int, layout: Format, *, has_own_positions: bool = True) -> int | None:
        """Offset of the first complete event at or after `start`, from the beginning of the log.

        `has_own_positions`: whether the positions in headers are offsets in this file; False for relay logs.
        Returns None if there is no such event.
        """
        return self._find(start, _Wanted(layout, has_own_positions, is_shifted=False))

    def shifted_event(self, start: int, layout: Format) -> int | None:
        """Like `event`, for logs that lost or gained bytes earlier: all positions are off by the same amount.

        Two consecutive events must agree on the distance, unless the second one has no position (MariaDB
        since 11.4, inside transactions).
        """
        if layout.binlog_version < 4:
            return None
        return self._find(start, _Wanted(layout, has_own_positions=False, is_shifted=True))

    def event_or_shifted(self, start: int, layout: Format, *, has_own_positions: bool = True) -> int | None:
        """The event found by `event`, unless it states no position and a shifted event precedes it."""
        offset = self.event(start, layout, has_own_positions=has_own_positions)
        if not has_own_positions or layout.binlog_version < 4:
            return offset
        if offset is None:
            return self.shifted_event(start, layout)
        if self._headers(np.array([offset]), layout).stated[0]:
            return offset
        shifted = self._search(start, _Wanted(layout, has_own_positions=False, is_shifted=True), offset)
        return offset if shifted is None else shifted

    def after(self, position: int, context: Context) -> int | None:
        """Offset of the next complete event after a damaged one; None if there is none, or in a pipe.

        If the damaged event's header and the bytes at its stated end leave no doubt, this is its end. If
        bytes were lost or inserted, so that all positions are wrong, it is a shifted event.
        """
        if not self._stream.seekable():
            return None
        if (known := after_damage(self._stream, position)) is not None:
            return known
        layout, has_own_positions = context.layout, context.has_exact_positions
        self._look_again()
        is_in_position = has_own_positions and layout.binlog_version > 3
        head = self._headers(np.array([position]), layout)
        following = self._headers(head.ends, layout)
        if len(following.offsets) and following.ends[0] <= self._log.size:
            both = (head, following)
            if not is_in_position or all(event.stated[0] == event.ends[0] & POSITION_MASK for event in both):
                end: int = head.ends.tolist()[0]
                return end
        return self.event_or_shifted(position + 1, layout, has_own_positions=has_own_positions)

    def count_gaps(self, start: int, layout: Format) -> int:
        """Number of places from `start` on where the next complete event does not follow directly.

        It identifies events by header and checksum only, a hundred times as fast as `event`.
        """
        self._look_again()
        wanted = _Wanted(layout, has_own_positions=False, is_shifted=False)
        length = header_length(layout.binlog_version)
        end, count = start, 0
        while start + length <= self._log.size:
            window = self._log.part(start, start + _WINDOW + length - 1)
            candidates = np.flatnonzero(_may_be(window, start, self._log.size, wanted))
            for begin in range(0, len(candidates), _MOST_OFFSETS):
                headers = self._candidates(window, candidates[begin : begin + _MOST_OFFSETS], start, wanted)
                headers = headers.part(self._is_whole(headers, layout))
                for offset, after in zip(headers.offsets.tolist(), headers.ends.tolist(), strict=True):
                    if offset >= end:
                        count += offset > end
                        end = after
            start += max(len(window) - length + 1, 1)
        return count + (end < self._log.size)

    def is_whole(self, offset: int, layout: Format) -> bool:
        """Whether a complete event of any type with a correct checksum begins at an offset."""
        self._look_again()
        headers = self._headers(np.array([offset]), layout, of_any_type=True)
        headers = headers.part(headers.ends <= self._log.size)
        return bool(self._is_whole(headers, layout).any())

    def _look_again(self) -> None:
        """Reload the stream, because an active log may have grown."""
        if self._stream.seek(0, io.SEEK_END) != self._log.size:
            self._log, self._known = RandomAccess(self._stream), {}
            self.crc32s = RangeCrc32s(self._log)

    def _find(self, start: int, wanted: _Wanted) -> int | None:
        self._look_again()
        since, offset = self._known.get(wanted, (start + 1, None))
        if since <= start and (offset is None or start <= offset):
            return offset
        offset = self._search(start, wanted)
        self._known[wanted] = start, offset
        return offset

    def _search(self, start: int, wanted: _Wanted, stop: int | None = None) -> int | None:
        length, extent = header_length(wanted.layout.binlog_version), _FIRST_WINDOW
        stop = self._log.size if stop is None else stop
        while start + length <= self._log.size and start < stop:
            window = self._log.part(start, min(start + extent, stop) + length - 1)
            if len(window) < length:
                return None  # frames of zstd have less than their seek table declares
            candidates = np.flatnonzero(_may_be(window, start, self._log.size, wanted))
            for begin in range(0, len(candidates), _MOST_OFFSETS):
                headers = self._candidates(window, candidates[begin : begin + _MOST_OFFSETS], start, wanted)
                if (offset := self._first_whole(headers, wanted)) is not None:
                    return offset
            start += max(len(window) - length + 1, 1)
            extent = min(2 * extent, _WINDOW)
        return None

    def _first_whole(self, headers: _Headers, wanted: _Wanted) -> int | None:
        begin, count = 0, _FIRST_OFFSETS
        while begin < len(headers.offsets):
            some = headers.part(slice(begin, begin + count))
            if len(whole := np.flatnonzero(self._is_whole(some, wanted.layout))):
                return int(some.offsets[whole[0]])
            begin, count = begin + count, 4 * count
        return None

    def _candidates(self, window: Bytes, candidates: Ints, start: int, wanted: _Wanted) -> _Headers:
        """Offsets in a window with plausible headers that are followed by plausible headers."""
        layout, size = wanted.layout, self._log.size
        candidates = candidates[_KNOWN[window[candidates + header_offset("type_code")]]]
        rows = window[candidates[:, None] + np.arange(header_length(layout.binlog_version))]
        headers = _decode_headers(rows, candidates + start, layout)
        ends = headers.ends & POSITION_MASK
        is_good = (headers.sizes >= layout.header_length) & (headers.ends <= size)
        if wanted.is_shifted:
            is_good &= headers.stated != 0
        elif wanted.has_own_positions and layout.binlog_version > 1:
            expected = ends if layout.binlog_version > 3 else headers.offsets & POSITION_MASK
            is_good &= (headers.stated == expected) | (headers.stated == 0)
        return self._followed(headers.part(is_good), wanted)

    def _followed(self, headers: _Headers, wanted: _Wanted) -> _Headers:
        """The headers that are followed by another one that agrees, or that do not need one."""
        size = self._log.size
        distinct, numbers = np.unique(headers.ends, return_inverse=True)
        following = self._headers(distinct, wanted.layout)
        rows = np.full(len(distinct), len(following.offsets))
        rows[np.searchsorted(distinct, following.offsets)] = np.arange(len(following.offsets))
        rows = rows[numbers]
        # The next event may be damaged too; a correct position and checksum are sufficient.
        is_good = wanted.layout.is_checksummed & (headers.stated == headers.ends & POSITION_MASK)
        is_good |= np.append(following.ends <= size, False)[rows]
        if wanted.is_shifted:
            stated = np.append(following.stated, -1)[rows]
            is_good &= (stated == 0) | (np.append(following.distances, -1)[rows] == headers.distances)
        else:
            is_good |= headers.ends == size
        return headers.part(is_good)

    def _headers(self, offsets: Ints, layout: Format, *, of_any_type: bool = False) -> _Headers:
        """Headers at the given offsets, as far as a header is possible there."""
        length = header_length(layout.binlog_version)
        offsets = offsets[offsets + length <= self._log.size]
        if not of_any_type:
            codes = self._log.rows_at(offsets + header_offset("type_code"), 1)[:, 0]
            offsets = offsets[_KNOWN[codes]]
        headers = _decode_headers(self._log.rows_at(offsets, length), offsets, layout)
        return headers.part(headers.sizes >= layout.header_length)

    def _is_whole(self, headers: _Headers, layout: Format) -> Bools:
        """Whether each event has a correct checksum; the events must be within the log."""
        if not layout.is_checksummed:
            return np.ones(len(headers.offsets), dtype=np.bool_)
        crc32s = self.crc32s.of(headers.offsets, headers.ends)
        # The checksum of a format description is computed without the in-use flag.
        opened = (headers.codes == EventType.format_description_event) & (headers.flags & _IN_USE != 0)
        rows = np.flatnonzero(opened & (headers.sizes >= header_length(4)))
        after = headers.sizes[rows] - header_offset("flags") - 1
        crc32s[rows] ^= moved_by(np.full(len(rows), _FLAG, dtype=np.uint32), after)
        return np.equal(crc32s, RESIDUE)


def _decode_headers(rows: Bytes, offsets: Ints, layout: Format) -> _Headers:
    """Fields of headers, from their bytes (uint8, one row per header)."""
    dtype = _dtype(layout.binlog_version)
    headers = rows.view(dtype)[:, 0]
    values = {name: headers[name].astype(np.int64) for name in dtype.names or ()}
    nothing = np.zeros(len(offsets), dtype=np.int64)  # absent before version 3
    stated, flags = (values.get(name, nothing) for name in ("next_position", "flags"))
    return _Headers(offsets, values["type_code"], values["len_event"], stated, flags)


@cache
def _dtype(binlog_version: int) -> np.dtype[np.void]:
    """The event header as a NumPy dtype."""
    length = header_length(binlog_version)
    names = [name for name in Header._fields if header_offset(name) < length]
    bounds = [*(header_offset(name) for name in names), length]
    return np.dtype([(name, f"<u{b - a}") for name, a, b in zip(names, bounds, bounds[1:], strict=False)])


@cache
def _ramp() -> Bytes:
    """The lowest bytes of 0, 1, 2, ... for all offsets of a window."""
    return np.resize(np.arange(256, dtype=np.uint8), _WINDOW + header_length(4))


def _may_be(window: Bytes, start: int, size: int, wanted: _Wanted) -> Bools:
    """Offsets in a window where single bytes permit a header; quickly rules out most offsets."""
    version = wanted.layout.binlog_version
    count = max(len(window) - header_length(version) + 1, 0)
    length, after = header_offset("len_event"), header_offset("next_position")
    may: Bools = window[header_offset("type_code") :][:count] != 0
    may &= window[after - 1 :][:count] <= min(size - start >> 24, 255)
    if wanted.has_own_positions and version > 3:
        stated = window[after:][:count]
        expected = window[length:][:count] + (_ramp()[:count] + np.uint8(start & 0xFF))
        may &= (stated == expected) | (stated == 0)
    return may
