"""The cipher of MariaDB and Percona Server 5.7, which encrypt each event by itself, in its place.

1. `len_event` stays readable, so that events can be separated without a key.
2. The ciphertext goes from the type code to the event's end, but for the four bytes that `len_event` covers:
   these lie where the timestamp was.
3. It is AES-CBC. The initialization vector is the nonce and the event's offset; Percona Server encrypts that
   once more. What is left after the last whole block is XORed with the encrypted vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    POSITION_MASK,
    EventType,
    header_length,
    header_offset,
    header_width,
)
from binlog_kaitai.sources.ciphers import BLOCK, Blocks, decrypt_chain
from binlog_kaitai.sources.event_kernels import collect_blocks, find_events, put_blocks

HEADER = header_length(4)
SIZE, WIDTH = header_offset("len_event"), header_width("len_event")
TYPE, NEXT = header_offset("type_code"), header_offset("next_position")
#: What is encrypted begins with the type code; its first block holds the rest of the header.
HEAD = TYPE + BLOCK
_ROW = np.dtype("V16")

#: Whether a type code is known.
KNOWN = np.zeros(256, dtype=np.bool_)
KNOWN[[int(kind) for kind in EventType if kind]] = True

#: So many events are tried to see whether a key is right.
_TRIED = 16


class EventCipher:
    """Decrypts the events of one log.

    Parameters
    ----------
    key
        The log's key.
    nonce
        That of START_ENCRYPTION.
    is_percona
        Percona Server wrote the log.
    is_checksummed
        Events end with a CRC32, of what is not encrypted.
    """

    def __init__(self, key: bytes, nonce: bytes, *, is_percona: bool, is_checksummed: bool) -> None:
        self._key = key
        self._blocks = Blocks(key)
        self._nonce = np.frombuffer(nonce, dtype=np.uint8)
        self._is_percona = is_percona
        self._is_checksummed = is_checksummed

    def vectors(self, positions: Any) -> Any:
        """The initialization vectors of events at some offsets: a row (uint8) for each."""
        made = np.empty((len(positions), BLOCK), dtype=np.uint8)
        made[:, : len(self._nonce)] = self._nonce
        made[:, len(self._nonce) :] = (positions & POSITION_MASK).astype("<u4").view(np.uint8).reshape(-1, 4)
        return self._encrypted(made) if self._is_percona else made

    def _encrypted(self, rows: Any) -> Any:
        return self._blocks.encrypt(rows).reshape(-1, BLOCK)

    def headers(self, data: Any, offsets: Any, base: int) -> tuple[Any, Any]:
        """Types and next positions in the headers at some offsets of a file's bytes, `base` bytes into it."""
        blocks = _rows_at(data, offsets + TYPE)
        blocks[:, SIZE - TYPE :][:, :WIDTH] = words(data, offsets).view(np.uint8).reshape(-1, WIDTH)
        plain = self._blocks.decrypt(blocks).reshape(-1, BLOCK)
        plain ^= self.vectors(offsets + base)
        nexts = np.ascontiguousarray(plain[:, NEXT - TYPE :][:, :WIDTH]).view("<u4").ravel()
        return plain[:, 0], nexts

    def decrypt(self, data: Any, base: int, starts: Any, sizes: Any) -> None:
        """Decrypt whole events in place.

        Parameters
        ----------
        data
            Bytes of the file (uint8), `base` bytes into it, and a block to spare; see `with_room`.
        starts, sizes
            Of the events in `data`, in bytes (int64).
        """
        blocks = np.empty(int(((sizes - TYPE) // BLOCK).sum()) * BLOCK, dtype=np.uint8)
        made = np.empty(len(starts) * BLOCK, dtype=np.uint8)
        if collect_blocks.run(data, starts, sizes, base, self._nonce, blocks, made) != len(blocks):
            raise IndexError("an event is not inside the data")
        vectors = self._blocks.encrypt(made) if self._is_percona else made
        plain, masks = self._blocks.decrypt(blocks), self._blocks.encrypt(vectors)
        put_blocks.run(data, starts, sizes, blocks, plain, vectors, masks)

    def decrypt_head(self, data: bytes, position: int) -> bytes:
        """The first `HEAD` bytes of an event that begins at an offset."""
        array = with_room(data[:HEAD])
        self.decrypt(array, position, np.zeros(1, dtype=np.int64), np.array([HEAD]))
        return bytes(array[:HEAD])

    def decrypt_more(self, previous: bytes, data: bytes) -> bytes:
        """Whole blocks of an event, after a block of it."""
        return decrypt_chain(self._key, previous, data)

    def decrypt_rest(self, position: int, data: bytes) -> bytes:
        """What is left of an event after its whole blocks."""
        mask = self._encrypted(self.vectors(np.array([position]))).tobytes()
        return bytes(one ^ other for one, other in zip(data, mask, strict=False))

    def find_header(self, data: bytes, count: int, base: int, end: int) -> int | None:
        """The first of `count` offsets in bytes of a file where the header of an event stands.

        Parameters
        ----------
        base, end
            Offset of the bytes in the file, and its size.
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
        # In relay logs positions are another log's; there, two headers have to fit each other.
        followed = np.flatnonzero(known & (offsets + sizes + HEAD <= len(array)))
        if len(followed):
            after = (offsets + sizes)[followed]
            others, stated = self.headers(array, after, base)
            expected = nexts[followed] + words(array, after + SIZE)
            is_sure[followed] |= KNOWN[others] & (stated == expected)
        sure = np.flatnonzero(is_sure)
        return int(offsets[sure[0]]) if len(sure) else None

    def is_right_for(self, data: bytes, position: int) -> bool:
        """Whether the first events of what is encrypted make sense; they do if there are none."""
        if len(data) < HEAD or self.find_header(data, len(data), position, 1 << 62) is not None:
            return True
        starts, sizes = walk(data)
        starts, sizes = starts[:_TRIED], sizes[:_TRIED]
        plain = with_room(data)
        self.decrypt(plain, position, starts, sizes)
        ends = starts + sizes
        return any(map(self.has_checksum, [plain] * len(starts), starts.tolist(), ends.tolist()))

    def has_checksum(self, plain: Any, begin: int, end: int) -> bool:
        """Whether a decrypted event has a checksum that fits it."""
        stored = int.from_bytes(plain[end - CHECKSUM_SIZE : end].tobytes(), "little")
        return self._is_checksummed and crc32(plain[begin : end - CHECKSUM_SIZE]) == stored


def _rows_at(data: Any, offsets: Any) -> Any:
    """The 16 bytes at each of some offsets: a row (uint8) for each."""
    return _windows(data, _ROW)[offsets].view(np.uint8).reshape(-1, BLOCK)


def words(data: Any, offsets: Any) -> Any:
    """The numbers of 4 bytes at some offsets."""
    return _windows(data, "<u4")[offsets]


def _windows(data: Any, kind: Any) -> Any:
    """A value of some type at every offset of an array; these overlap."""
    dtype = np.dtype(kind)
    return np.ndarray((len(data) - dtype.itemsize + 1,), dtype=dtype, buffer=data, strides=(1,))


def with_room(data: bytes) -> Any:
    """Bytes as a writable array, with a spare block after them."""
    made = np.empty(len(data) + BLOCK, dtype=np.uint8)
    made[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return made


def walk(data: Any) -> tuple[Any, Any]:
    """Begins and sizes (int64) of the whole events at the start of bytes, by their lengths."""
    starts = np.empty(len(data) // HEADER + 2, dtype=np.int64)
    count = find_events.run(np.frombuffer(data, dtype=np.uint8), starts)
    return starts[:count].copy(), np.diff(starts[: count + 1])
