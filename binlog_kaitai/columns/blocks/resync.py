"""Finding the next whole event behind damage.

An offset is where an event begins if its header says so itself: a known type, a size that holds the header,
and, but for relay logs, a position that is its own end (or none). What follows has to agree: the checksum
fits, and the next header is one too, or the file ends there, or the position leaves no doubt.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from binlog_kaitai.adapter import crc32_of, stored_checksum
from binlog_kaitai.framing import read_up_to
from binlog_kaitai.grammar import EventType, Format, Header, header_length, header_offset, read_header

#: As much is looked through at a time, at first and at most: mostly an event is near.
_FIRST_WINDOW, _WINDOW = 64 << 10, 4 << 20

#: Longer events are not read to confirm an offset by their checksum, in bytes.
_LONGEST_CHECKED = 64 << 20

_KNOWN = np.isin(np.arange(256), [kind for kind in EventType if kind])


def find_event(stream: BinaryIO, start: int, layout: Format, *, has_own_positions: bool = True) -> int | None:
    """Offset of the first whole event at or behind `start`; None if there is none.

    Parameters
    ----------
    stream
        A stream that can seek; its position changes.
    start
        Offset from the stream's beginning, in bytes.
    layout
        The format in force.
    has_own_positions
        The positions in the headers are those in this file; not so in relay logs.
    """
    size = stream.seek(0, io.SEEK_END)
    length, extent = header_length(layout.binlog_version), _FIRST_WINDOW
    while start + length <= size:
        stream.seek(start)
        window = np.frombuffer(read_up_to(stream, extent + length), dtype=np.uint8)
        for offset in _candidates(window, start, size, layout, has_own_positions=has_own_positions):
            if _is_confirmed(stream, offset, size, layout):
                return offset
        start += max(len(window) - length + 1, 1)
        extent = min(2 * extent, _WINDOW)
    return None


def resume(stream: BinaryIO, position: int, layout: Format, *, has_own_positions: bool = True) -> int | None:
    """Where the next whole event behind a damaged one begins; None if none follows.

    Where the damaged event's header, and what follows at the end that it states, leave no doubt, that is it.
    """
    size = stream.seek(0, io.SEEK_END)
    header = _header_at(stream, position, layout)
    if header is not None:
        end = position + header.event_size
        following = _header_at(stream, end, layout)
        if following is not None and end + following.event_size <= size:
            stated = header.next_position, following.next_position
            expected = end & 0xFFFFFFFF, end + following.event_size & 0xFFFFFFFF
            if not has_own_positions or layout.binlog_version < 4 or stated == expected:
                return end
    return find_event(stream, position + 1, layout, has_own_positions=has_own_positions)


def find_shifted_event(stream: BinaryIO, start: int, layout: Format) -> int | None:
    """The same where bytes were lost or put in before, so that all positions are off by one distance.

    Two events in a row have to agree on it, unless the second one has no position (MariaDB since 11.4, inside
    transactions). Events longer than the window are not found.
    """
    size = stream.seek(0, io.SEEK_END)
    length = header_length(layout.binlog_version)
    while layout.binlog_version > 3 and start + 2 * length <= size:
        stream.seek(start)
        window = np.frombuffer(read_up_to(stream, 2 * _WINDOW), dtype=np.uint8)
        for offset in _pairs(window, layout).tolist():
            place: int = start + offset
            if offset < _WINDOW and _is_confirmed(stream, place, size, layout):
                return place
        start += _WINDOW
    return None


def _pairs(window: Any, layout: Format) -> Any:
    """Where in a window two headers may stand, one event apart, that are off by the same distance."""
    count = len(window) - header_length(layout.binlog_version) + 1
    sizes = _numbers(window, header_offset("event_size"), count)
    ends = np.arange(count) + sizes
    is_one = _KNOWN[window[header_offset("type_code") :][:count]] & (sizes >= layout.header_length)
    stated = _numbers(window, header_offset("next_position"), count)
    off = (stated - ends) & 0xFFFFFFFF
    found = np.flatnonzero(is_one & (ends < count) & (stated != 0))
    behind = ends[found]
    return found[is_one[behind] & ((off[behind] == off[found]) | (stated[behind] == 0))]


def _candidates(
    window: Any, start: int, size: int, layout: Format, *, has_own_positions: bool
) -> Iterator[int]:
    """Offsets in the file where the bytes of a window may be a header."""
    version = layout.binlog_version
    count = len(window) - header_length(version) + 1
    codes = window[header_offset("type_code") :][:count]
    event_sizes = _numbers(window, header_offset("event_size"), count)
    ends = start + np.arange(count) + event_sizes
    good = _KNOWN[codes] & (event_sizes >= layout.header_length) & (ends <= size)
    if version > 1 and has_own_positions:
        stated = _numbers(window, header_offset("next_position"), count)
        expected = ends if version > 3 else ends - event_sizes
        good &= (stated == expected & 0xFFFFFFFF) | (stated == 0)
    yield from (np.flatnonzero(good) + start).tolist()


def _numbers(window: Any, offset: int, count: int) -> Any:
    """The 4-byte numbers at `offset` behind each of the first `count` bytes, int64."""
    parts = [window[offset + place :][:count].astype(np.int64) << 8 * place for place in range(4)]
    return parts[0] | parts[1] | parts[2] | parts[3]


def _is_confirmed(stream: BinaryIO, offset: int, size: int, layout: Format) -> bool:
    header = _header_at(stream, offset, layout)
    if header is None:
        return False
    end = offset + header.event_size
    following = _header_at(stream, end, layout)
    is_followed = end == size or (following is not None and end + following.event_size <= size)
    # What follows may be damaged too; a position that fits and a checksum are proof enough.
    is_proven = layout.is_checksummed and header.next_position == end & 0xFFFFFFFF
    if not is_followed and not is_proven:
        return False
    if not layout.is_checksummed or header.event_size > _LONGEST_CHECKED:
        return True
    stream.seek(offset)
    raw = read_up_to(stream, header.event_size)
    return stored_checksum(raw) == crc32_of(raw, header)


def _header_at(stream: BinaryIO, offset: int, layout: Format) -> Header | None:
    stream.seek(offset)
    data = read_up_to(stream, header_length(layout.binlog_version))
    if len(data) < header_length(layout.binlog_version):
        return None
    header = read_header(data, layout.binlog_version)
    return header if _KNOWN[header.type_code] and header.event_size >= layout.header_length else None
