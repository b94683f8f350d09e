"""Decrypts a log with individually encrypted events into a seekable plaintext stream.

Reading proceeds from event to event by their lengths, which are checked against the decrypted headers. If a
length is wrong, and after a seek into the middle of the log, the next event is found by decrypting possible
headers at every offset.
"""

from __future__ import annotations

import io
from bisect import bisect_right, insort
from typing import BinaryIO, NamedTuple

import numpy as np

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import POSITION_MASK
from binlog_kaitai.kernels.arrays import Bytes, Ints, view_of
from binlog_kaitai.sources.ciphers import BLOCK
from binlog_kaitai.sources.event_cipher import (
    HEAD,
    HEADER,
    KNOWN,
    NEXT,
    SIZE,
    TYPE,
    WIDTH,
    EventCipher,
    walk,
    with_room,
    words,
)
from binlog_kaitai.sources.layer import LEAST_CHUNK, MOST_CHUNK, Layer

#: Number of consecutive valid headers required if a length cannot be proved.
_FOLLOWING = 3

#: Distance up to which reading on is preferred to searching; how far before the requested offset a search
#: begins; and how much of the log is searched at a time, in bytes.
_NEAR, _SEARCHED_BACK, _WINDOW = 1 << 20, (1 << 16, 1 << 20, 1 << 24), 1 << 18


class _OpenEvent(NamedTuple):
    """An event that is decrypted piece by piece: its range, and the ciphertext of the last block."""

    begin: int
    end: int
    previous: bytes


class EventStream(Layer):
    """The plaintext of a log with individually encrypted events.

    `raw`: the log, after `head` and `peeked`.
    `head`: the unencrypted start of the log.
    """

    def __init__(self, raw: BinaryIO, head: bytes, peeked: bytes, cipher: EventCipher) -> None:
        super().__init__(raw)
        self._head = head
        self._cipher = cipher
        self._known_offsets = [len(head)]  # known event offsets, at intervals
        self._next = len(head)  # offset to decrypt next
        self._rest = peeked  # bytes read from there
        self._open: _OpenEvent | None = None
        self._has_moved = False
        self._size = LEAST_CHUNK

    def _load(self, position: int) -> tuple[int, memoryview]:
        if position < len(self._head):
            return 0, memoryview(self._head)
        if not self._next <= position < self._next + _NEAR:
            self._go_to(position)
        while True:
            start, data = self._step()
            if not len(data) or position < start + len(data):
                return start, memoryview(data)

    def _find_size(self) -> int:
        self._has_moved = True
        return self._raw.seek(0, io.SEEK_END)

    def _go_to(self, position: int) -> None:
        """Go to the start of an event at or before an offset."""
        begin = self._known_offsets[bisect_right(self._known_offsets, position) - 1]
        if position - begin > _NEAR:
            for back in _SEARCHED_BACK:
                if position - back <= begin:
                    break
                if (event := self._search(position - back, position + 1)) is not None:
                    begin = event
                    break
        self._next, self._rest, self._open = begin, b"", None
        self._has_moved = True
        self._size = LEAST_CHUNK

    def _step(self) -> tuple[int, bytes | memoryview]:
        """The next decrypted bytes, and their offset; empty at the end."""
        if self._has_moved:
            self._raw.seek(self._next + len(self._rest))
            self._has_moved = False
        wanted = max(self._size - len(self._rest), HEAD)
        read = read_up_to(self._raw, wanted)
        data, is_end = self._rest + read, len(read) < wanted
        self._rest = b""
        self._size = min(2 * self._size, MOST_CHUNK)
        start = self._next
        plain = self._events(data, is_end=is_end) if self._open is None else None
        if plain is None:
            plain = self._piece(data, is_end=is_end)
        self._next = start + len(plain)
        self._rest = data[len(plain) :]
        return start, plain

    def _events(self, data: bytes, *, is_end: bool) -> bytes | memoryview | None:
        """The complete events at the start of the bytes; None if there is none and a long one was opened."""
        base = self._next
        starts, sizes = walk(data)
        if len(starts):
            plain = with_room(data)
            self._cipher.decrypt(plain, base, starts, sizes)
            count = self._count_credible(plain, base, starts, sizes)
            if count:
                if base > self._known_offsets[-1] + _NEAR:
                    insort(self._known_offsets, base)
                return view_of(plain)[: int(starts[count - 1] + sizes[count - 1])]
        if len(data) < HEAD:
            # An incomplete header cannot be decrypted, so fewer bytes than a header are returned.
            return data[: HEADER - 1] if is_end else b""
        if not data[:HEADER].strip(b"\0"):
            return data[: len(data) - len(data.lstrip(b"\0"))]
        size = int.from_bytes(data[SIZE : SIZE + WIDTH], "little")
        if len(starts) or size < HEADER or not self._is_credible(data, size):
            size = self._size_up_to_next(base)
        self._open = _OpenEvent(base, base + size, b"")
        return None

    def _size_up_to_next(self, base: int) -> int:
        """Number of bytes from an event with a wrong length to the next event, or to the end."""
        if not self.seekable():
            return 1 << 62
        following = self._search(base + 1, None)
        return (self._find_size() if following is None else following) - base

    def _count_credible(self, plain: Bytes, base: int, starts: Ints, sizes: Ints) -> int:
        """Number of events, from the first on, whose lengths are correct."""
        types, nexts = plain[starts + TYPE], words(plain, starts + NEXT)
        ends = ((starts + sizes + base) & POSITION_MASK).astype(np.uint32)
        known = KNOWN[types]
        is_exact = known & (nexts == ends)
        # MariaDB from 11.4 on writes no positions inside transactions; a relay log has another server's
        # positions.
        goes_on = known[1:] & ((nexts[1:] == 0) | (nexts[1:] == nexts[:-1] + sizes[1:].astype(np.uint32)))
        is_credible = is_exact.copy()
        is_credible[:-1] |= is_exact[1:] | goes_on
        for row in np.flatnonzero(~is_credible).tolist():
            begin, end = int(starts[row]), int(starts[row] + sizes[row])
            is_proved = self._cipher.has_checksum(plain, begin, end)
            if not is_proved and not self._is_followed(base + end, int(nexts[row])):
                return row
        return len(starts)

    def _is_credible(self, data: bytes, size: int) -> bool:
        """Like `_count_credible`, for an incomplete event."""
        array, place = np.frombuffer(data, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        types, nexts = self._cipher.headers(array, place, self._next)
        end = self._next + size
        if KNOWN[types[0]] and nexts[0] == end & POSITION_MASK:
            return True
        return self._is_followed(end, int(nexts[0]))

    def _is_followed(self, position: int, before: int) -> bool:
        """Whether events, or the end, follow at an offset; `before` is the position in the last header."""
        if not self.seekable():
            return True
        end = self._find_size()
        for _ in range(_FOLLOWING):
            if position >= end:
                return position == end
            self._raw.seek(position)
            data = read_up_to(self._raw, HEAD)
            size = int.from_bytes(data[SIZE : SIZE + WIDTH], "little")
            if len(data) < HEAD or size < HEADER or position + size > end:
                return size == len(data)
            array, place = np.frombuffer(data, dtype=np.uint8), np.zeros(1, dtype=np.int64)
            types, nexts = self._cipher.headers(array, place, position)
            if not KNOWN[types[0]]:
                return False
            stated = int(nexts[0])
            if stated in (0, (position + size) & POSITION_MASK, (before + size) & POSITION_MASK):
                return True
            position, before = position + size, stated
        return True

    def _search(self, low: int, stop: int | None) -> int | None:
        """Offset of the first event at or after `low` and before `stop`; None if there is none."""
        end = self._find_size()
        stop = end if stop is None else min(stop, end)
        for base in range(low, stop, _WINDOW):
            self._raw.seek(base)
            data = read_up_to(self._raw, _WINDOW + HEAD)
            offset = self._cipher.find_header(data, min(_WINDOW, stop - base), base, end)
            if offset is not None:
                return base + offset
        return None

    def _piece(self, data: bytes, *, is_end: bool) -> bytes:
        """The next piece of the open event."""
        assert self._open is not None
        begin, end, previous = self._open
        left = end - self._next
        have = data[:left]
        is_last = len(have) == left
        head = b""
        if self._next == begin:
            if len(have) < HEAD:
                self._open = None
                return have
            head = self._cipher.decrypt_head(have, begin)
            previous = have[TYPE:SIZE] + have[:WIDTH] + have[SIZE + WIDTH : HEAD]
        body = have[len(head) :]
        count = len(body) // BLOCK * BLOCK
        plain = self._cipher.decrypt_more(previous, body[:count]) if count else b""
        previous = body[count - BLOCK : count] if count else previous
        rest = body[count:]
        if is_last:
            rest = self._cipher.decrypt_rest(begin, rest)
        elif not is_end:
            rest = b""  # returned with the bytes read next
        self._open = None if is_last or is_end else _OpenEvent(begin, end, previous)
        return head + plain + rest
