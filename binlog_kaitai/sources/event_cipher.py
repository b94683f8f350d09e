"""The cipher of MariaDB and Percona Server 5.7, which encrypts each event separately and in place.

1. `len_event` is not encrypted, so events can be framed without a key.
2. The ciphertext extends from the type code to the end of the event, except for the four bytes of
   `len_event`, whose ciphertext is stored in place of the timestamp.
3. It is AES-CBC. The initialization vector is the nonce and the event's offset; Percona Server encrypts it
   once more. The bytes after the last complete block are XORed with the encrypted vector.

Reading proceeds from event to event by their lengths, which are checked against the decrypted headers. If a
length is wrong, and after a seek into the middle of the log, the next event is found by decrypting possible
headers at every offset.
"""

from __future__ import annotations

import io
from bisect import bisect_right, insort
from operator import xor
from typing import BinaryIO, NamedTuple

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    POSITION_MASK,
    EventType,
    header_length,
    header_offset,
    header_width,
)
from binlog_kaitai.kernels.arrays import Array, Bytes, Ints, OutBytes, OutInts, view_of
from binlog_kaitai.kernels.byte_kernels import read_u4
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.sources.keys import BLOCK, block_ciphers, decrypt_chain, updated
from binlog_kaitai.sources.layer import LEAST_CHUNK, MOST_CHUNK, Layer

#: How much of an initialization vector is the event's offset, in bytes.
_COUNTER = 4

HEADER = header_length(4)
SIZE, WIDTH = header_offset("len_event"), header_width("len_event")
NEXT = header_offset("next_position")
#: What is encrypted begins with the type code; its first block contains the rest of the header.
TYPE = header_offset("type_code")
HEAD = TYPE + BLOCK

# An unsigned index cannot count from the end, which Numba would look for.
_BLOCK, _SIZE_AT = np.uint64(BLOCK), np.uint64(SIZE)
_BYTE, _SHIFT = np.int64(255), 8


@kernel
def find_events(data: Bytes, starts: OutInts) -> int:
    """Find the whole events at the start of bytes, by their lengths.

    `starts`: room for the offsets of the events, and for the end of the last one.
    Returns number of events.
    """
    count, offset, end = 0, 0, data.shape[0]
    starts[0] = 0
    while offset + HEADER <= end and count + 1 < starts.shape[0]:
        size = read_u4(data, np.uint64(offset + SIZE))
        if size < HEADER or offset + size > end:
            break
        offset += size
        count += 1
        starts[count] = offset
    return count


@inlined
def _swap(data: Bytes, start: int) -> None:
    """Exchange the first bytes of an event with those of `len_event`, where its ciphertext has a gap."""
    first = np.uint64(start)
    other = first + _SIZE_AT
    for _ in range(TYPE):
        value = data[first]
        data[first] = data[other]
        data[other] = value
        first += np.uint64(1)
        other += np.uint64(1)


@kernel
def collect_blocks(
    data: OutBytes, starts: Ints, sizes: Ints, base: int, nonce: Bytes, blocks: OutBytes, vectors: OutBytes
) -> int:
    """Collect the whole blocks of events, and make the events' initialization vectors.

    `data`: bytes of the file, `base` bytes into it. The gap in each ciphertext is closed; `put_blocks` opens
    it.
    `blocks`, `vectors`: room for the blocks, and for a vector for each event.
    Returns bytes of blocks; -1 where an event lies outside, or the room does not suffice.
    """
    done = 0
    for event in range(starts.shape[0]):
        start, size = starts[event], sizes[event]
        count = (size - TYPE) // BLOCK * BLOCK
        if start < 0 or size < HEADER or start + size > data.shape[0]:
            return -1
        if done + count > blocks.shape[0] or (event + 1) * BLOCK > vectors.shape[0]:
            return -1
        _swap(data, start)
        source, to = np.uint64(start + TYPE), np.uint64(done)
        for index in range(np.uint64(count)):
            blocks[to + np.uint64(index)] = data[source + np.uint64(index)]
        done += count
        to = np.uint64(event * BLOCK)
        for index in range(nonce.shape[0]):
            vectors[to + np.uint64(index)] = nonce[np.uint64(index)]
        position = (base + start) & POSITION_MASK
        for index in range(BLOCK - _COUNTER, BLOCK):
            vectors[to + np.uint64(index)] = np.uint8(position & _BYTE)
            position >>= _SHIFT
    return done


@kernel
def put_blocks(
    data: OutBytes, starts: Ints, sizes: Ints, sealed: Bytes, plain: Bytes, vectors: Bytes, masks: Bytes
) -> None:
    """Put the blocks of events in their place, decrypted.

    `data`, `starts`, `sizes`, `vectors`: those that `collect_blocks` was given and filled.
    `sealed`, `plain`: its blocks, and what the cipher makes of each alone.
    `masks`: for each event, what its bytes after the last whole block are XORed with.
    """
    done = 0
    for event in range(starts.shape[0]):
        start, size = starts[event], sizes[event]
        count = (size - TYPE) // BLOCK * BLOCK
        rest = size - TYPE - count
        if start < 0 or size < HEADER or start + size > data.shape[0]:
            return
        if done + count > min(plain.shape[0], sealed.shape[0]):
            return
        if (event + 1) * BLOCK > min(vectors.shape[0], masks.shape[0]):
            return
        to, source, vector = np.uint64(start + TYPE), np.uint64(done), np.uint64(event * BLOCK)
        if count > 0:
            for index in range(_BLOCK):
                data[to + index] = plain[source + index] ^ vectors[vector + index]
            for index in range(_BLOCK, np.uint64(count)):
                data[to + index] = plain[source + index] ^ sealed[source + index - _BLOCK]
        to += np.uint64(count)
        for index in range(np.uint64(rest)):
            data[to + index] ^= masks[vector + index]
        done += count
        _swap(data, start)


#: Whether a type code is known.
KNOWN = np.zeros(256, dtype=np.bool_)
KNOWN[[int(kind) for kind in EventType if kind]] = True

#: Number of events to decrypt when testing a key.
_TRIED = 16


class EventCipher:
    """Decrypts the events of a log.

    `is_percona`: whether Percona Server wrote the log.
    `is_checksummed`: whether events end with a CRC32, which covers the plaintext.
    """

    def __init__(self, key: bytes, nonce: bytes, *, is_percona: bool, is_checksummed: bool) -> None:
        self.key = key
        self._decryptor, self._encryptor = block_ciphers(key)
        self._nonce = np.frombuffer(nonce, dtype=np.uint8)
        self._is_percona = is_percona
        self._is_checksummed = is_checksummed

    def vectors(self, positions: Ints) -> Array:
        """Initialization vectors of events at the given offsets, one row (uint8) per event."""
        vectors = np.empty((len(positions), BLOCK), dtype=np.uint8)
        vectors[:, : len(self._nonce)] = self._nonce
        offsets = (positions & POSITION_MASK).astype("<u4").view(np.uint8)
        vectors[:, len(self._nonce) :] = offsets.reshape(-1, _COUNTER)
        return self._encrypted(vectors) if self._is_percona else vectors

    def _encrypted(self, rows: Array) -> Array:
        return updated(self._encryptor, rows).reshape(-1, BLOCK)

    def headers(self, data: Bytes, offsets: Ints, base: int) -> tuple[Array, Array]:
        """Types and next positions in the headers at some offsets of a file's bytes, `base` bytes into it."""
        blocks = _windows(data, f"V{BLOCK}")[offsets + TYPE].view(np.uint8).reshape(-1, BLOCK)
        blocks[:, SIZE - TYPE :][:, :WIDTH] = words(data, offsets).view(np.uint8).reshape(-1, WIDTH)
        plain = updated(self._decryptor, blocks).reshape(-1, BLOCK)
        plain ^= self.vectors(offsets + base)
        nexts = np.ascontiguousarray(plain[:, NEXT - TYPE :][:, :WIDTH]).view("<u4").ravel()
        return plain[:, 0], nexts

    def header(self, data: bytes, position: int) -> tuple[int, int]:
        """Type and next position in the header that bytes at an offset of the file begin with."""
        head = self.decrypt_head(data, position)
        return head[TYPE], int.from_bytes(head[NEXT:][:WIDTH], "little")

    def decrypt(self, data: Bytes, base: int, starts: Ints, sizes: Ints) -> None:
        """Decrypt complete events in place.

        `data`: bytes of the file (uint8) from offset `base` on, followed by a spare block; see `with_room`.
        `starts`, `sizes`: start and size of the events in `data`, in bytes (int64).
        """
        blocks = np.empty(int(((sizes - TYPE) // BLOCK).sum()) * BLOCK, dtype=np.uint8)
        vectors = np.empty(len(starts) * BLOCK, dtype=np.uint8)
        if collect_blocks.run(data, starts, sizes, base, self._nonce, blocks, vectors) != len(blocks):
            raise IndexError("an event is not inside the data")
        if self._is_percona:
            vectors = updated(self._encryptor, vectors)
        plain, masks = updated(self._decryptor, blocks), updated(self._encryptor, vectors)
        put_blocks.run(data, starts, sizes, blocks, plain, vectors, masks)

    def decrypt_head(self, data: bytes, position: int) -> bytes:
        """The first `HEAD` bytes of an event at an offset."""
        array = with_room(data[:HEAD])
        self.decrypt(array, position, np.zeros(1, dtype=np.int64), np.array([HEAD]))
        return bytes(array[:HEAD])

    def decrypt_rest(self, position: int, data: bytes) -> bytes:
        """The bytes of an event after its complete blocks."""
        mask = self._encrypted(self.vectors(np.array([position]))).tobytes()
        return bytes(map(xor, data, mask))

    def find_header(self, data: bytes, count: int, base: int, end: int) -> int | None:
        """The first of `count` offsets in bytes of a file where the header of an event stands.

        `base`, `end`: offset of the bytes in the file, and its size.
        """
        array = np.frombuffer(data, dtype=np.uint8)
        offsets = np.arange(max(min(len(array) - HEAD + 1, count), 0))
        if not len(offsets):
            return None
        sizes = words(array, offsets + SIZE).astype(np.int64)
        offsets = offsets[(sizes >= HEADER) & (sizes <= end - base - offsets)]
        if not len(offsets):
            return None
        sizes = words(array, offsets + SIZE).astype(np.int64)
        types, nexts = self.headers(array, offsets, base)
        known = KNOWN[types]
        is_sure = known & ((nexts == 0) | (nexts == ((offsets + sizes + base) & POSITION_MASK)))
        # In relay logs, positions refer to another log, so two headers must be consistent instead.
        followed = np.flatnonzero(known & (offsets + sizes + HEAD <= len(array)))
        if len(followed):
            after = (offsets + sizes)[followed]
            others, stated = self.headers(array, after, base)
            expected = nexts[followed] + words(array, after + SIZE)
            is_sure[followed] |= KNOWN[others] & (stated == expected)
        sure = np.flatnonzero(is_sure)
        return int(offsets[sure[0]]) if len(sure) else None

    def is_right_for(self, data: bytes, position: int) -> bool:
        """Whether the first encrypted events decrypt to valid headers; True if there are none."""
        if len(data) < HEAD or self.find_header(data, len(data), position, 1 << 62) is not None:
            return True
        starts, sizes = walk(data)
        starts, sizes = starts[:_TRIED], sizes[:_TRIED]
        plain = with_room(data)
        self.decrypt(plain, position, starts, sizes)
        ends = starts + sizes
        return any(map(self.has_checksum, [plain] * len(starts), starts.tolist(), ends.tolist()))

    def has_checksum(self, plain: Bytes, begin: int, end: int) -> bool:
        """Whether a decrypted event has a correct checksum."""
        stored = int.from_bytes(plain[end - CHECKSUM_SIZE : end].tobytes(), "little")
        return self._is_checksummed and crc32(plain[begin : end - CHECKSUM_SIZE]) == stored


def words(data: Bytes, offsets: Ints) -> Array:
    """The numbers of 4 bytes at some offsets."""
    return _windows(data, "<u4")[offsets]


def _windows(data: Bytes, kind: str) -> Array:
    """Overlapping values of a type at every offset of an array."""
    dtype = np.dtype(kind)
    return np.ndarray((len(data) - dtype.itemsize + 1,), dtype=dtype, buffer=data, strides=(1,))


def with_room(data: bytes) -> Bytes:
    """Bytes as a writable array, followed by a spare block."""
    array = np.empty(len(data) + BLOCK, dtype=np.uint8)
    array[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return array


def walk(data: bytes) -> tuple[Ints, Ints]:
    """Start and size (int64) of the complete events at the beginning of the bytes, by their lengths."""
    starts = np.empty(len(data) // HEADER + 2, dtype=np.int64)
    count = find_events.run(np.frombuffer(data, dtype=np.uint8), starts)
    return starts[:count].copy(), np.diff(starts[: count + 1])


# -- the stream

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
        self._size = LEAST_CHUNK

    def _step(self) -> tuple[int, bytes | memoryview]:
        """The next decrypted bytes, and their offset; empty at the end."""
        if self.seekable():
            self._raw.seek(self._next + len(self._rest))  # it may be anywhere after a search
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
        kind, stated = self._cipher.header(data, self._next)
        end = self._next + size
        return (bool(KNOWN[kind]) and stated == end & POSITION_MASK) or self._is_followed(end, stated)

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
            kind, stated = self._cipher.header(data, position)
            if not KNOWN[kind]:
                return False
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
        plain = decrypt_chain(self._cipher.key, previous, body[:count]) if count else b""
        previous = body[count - BLOCK : count] if count else previous
        rest = body[count:]
        if is_last:
            rest = self._cipher.decrypt_rest(begin, rest)
        elif not is_end:
            rest = b""  # returned with the bytes read next
        self._open = None if is_last or is_end else _OpenEvent(begin, end, previous)
        return head + plain + rest
