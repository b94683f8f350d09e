"""The cipher of MariaDB and Percona Server 5.7, which encrypts each event separately and in place.

1. `len_event` is not encrypted, so events can be framed without a key.
2. The ciphertext extends from the type code to the end of the event, except for the four bytes of
`len_event`,
   whose ciphertext is stored in place of the timestamp.
3. It is AES-CBC. The initialization vector is the nonce and the event's offset; Percona Server encrypts it
once
   more. The bytes after the last complete block are XORed with the encrypted vector.
"""

from __future__ import annotations

import struct
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
from binlog_kaitai.sources.ciphers import Blocks, decrypt_chain

BLOCK = 16
HEADER = header_length(4)
SIZE, WIDTH = header_offset("len_event"), header_width("len_event")
TYPE, NEXT = header_offset("type_code"), header_offset("next_position")
#: The ciphertext begins with the type code; its first block contains the rest of the header.
HEAD = TYPE + BLOCK
_ROW, _LENGTH = np.dtype("V16"), struct.Struct("<I")

#: Whether a type code is known.
KNOWN = np.zeros(256, dtype=np.bool_)
KNOWN[[int(kind) for kind in EventType if kind]] = True

#: Masks by number of bytes up to a block: that many bytes with all bits set, then zeros.
_FIRST = np.where(np.arange(BLOCK) < np.arange(BLOCK)[:, None], 255, 0).astype(np.uint8)

#: Number of events to decrypt when testing a key.
_TRIED = 16

#: Events with at least this many blocks get a cipher of their own.
_MANY = 32


class EventCipher:
    """Decrypts the events of a log.

    Parameters
    ----------
    key
        The log's key.
    nonce
        The nonce of START_ENCRYPTION.
    is_percona
        Whether Percona Server wrote the log.
    is_checksummed
        Whether events end with a CRC32, which covers the plaintext.
    """

    def __init__(self, key: bytes, nonce: bytes, *, is_percona: bool, is_checksummed: bool) -> None:
        self._key = key
        self._blocks = Blocks(key)
        self._nonce = np.frombuffer(nonce, dtype=np.uint8)
        self._is_percona = is_percona
        self._is_checksummed = is_checksummed

    def vectors(self, positions: Any) -> Any:
        """Initialization vectors of events at the given offsets, one row (uint8) per event."""
        made = np.empty((len(positions), BLOCK), dtype=np.uint8)
        made[:, : len(self._nonce)] = self._nonce
        made[:, len(self._nonce) :] = (positions & POSITION_MASK).astype("<u4").view(np.uint8).reshape(-1, 4)
        return self._encrypted(made) if self._is_percona else made

    def _encrypted(self, rows: Any) -> Any:
        return _as_rows(self._blocks.encrypt(rows.tobytes()))

    def headers(self, data: Any, tails: Any, base: int) -> tuple[Any, Any]:
        """Types and next positions of the headers at some offsets in a file's bytes, starting at `base`."""
        blocks = _rows_at(data, tails + TYPE)
        blocks[:, SIZE - TYPE :][:, :WIDTH] = words(data, tails).view(np.uint8).reshape(-1, WIDTH)
        plain = _as_rows(self._blocks.decrypt(blocks.tobytes()))
        plain = plain ^ self.vectors(tails + base)
        nexts = np.ascontiguousarray(plain[:, NEXT - TYPE :][:, :WIDTH]).view("<u4").ravel()
        return plain[:, 0], nexts

    def decrypt(self, data: Any, base: int, starts: Any, sizes: Any) -> None:
        """Decrypt complete events in place.

        Parameters
        ----------
        data
            Bytes of the file (uint8) from offset `base` on, followed by a spare block; see `with_room`.
        starts, sizes
            Start and size of the events in `data`, in bytes (int64).
        """
        numbers = _windows(data, "<u4")
        kept = numbers[starts + SIZE]
        numbers[starts + SIZE] = numbers[starts]
        counts, remainders = (sizes - TYPE) // BLOCK, (sizes - TYPE) % BLOCK
        vectors = self.vectors(starts + base)
        is_long = counts >= _MANY
        self._decrypt_alone(data, starts[is_long] + TYPE, counts[is_long], vectors[is_long])
        self._decrypt_together(data, starts[~is_long] + TYPE, counts[~is_long], vectors[~is_long])
        # Masks are zero after an event's end; if the next event is short, its own mask is applied later.
        ends, masks = _windows(data, _ROW), self._encrypted(vectors) & _FIRST[remainders]
        tails = starts + sizes - remainders
        ends[tails] = (ends[tails].view(np.uint8).reshape(-1, BLOCK) ^ masks).view(_ROW).ravel()
        numbers[starts] = numbers[starts + SIZE]
        numbers[starts + SIZE] = kept

    def _decrypt_alone(self, data: Any, begins: Any, counts: Any, vectors: Any) -> None:
        """The complete blocks of long events, event by event."""
        view = memoryview(data)
        ends = (begins + BLOCK * counts).tolist()
        for begin, end, vector in zip(begins.tolist(), ends, vectors, strict=True):
            view[begin:end] = decrypt_chain(self._key, vector.tobytes(), view[begin:end])

    def _decrypt_together(self, data: Any, begins: Any, counts: Any, vectors: Any) -> None:
        """The complete blocks of short events, all at once: CBC is an XOR on top of single blocks."""
        rows, numbers = _runs(counts)
        if not len(rows):
            return
        windows = _windows(data, _ROW)
        tails = begins[rows] + BLOCK * numbers
        sealed = windows[tails].view(np.uint64).reshape(-1, 2)
        plain = _as_rows(self._blocks.decrypt(sealed.tobytes())).view(np.uint64)
        plain[1:] ^= sealed[:-1]
        firsts = np.flatnonzero(numbers == 0)
        # The preceding blocks belong to other events.
        plain[firsts[firsts > 0]] ^= sealed[firsts[firsts > 0] - 1]
        plain[firsts] ^= vectors.view(np.uint64)[rows[firsts]]
        windows[tails] = plain.view(_ROW).ravel()

    def decrypt_head(self, data: bytes, position: int) -> bytes:
        """The first `HEAD` bytes of an event at an offset."""
        array = with_room(data[:HEAD])
        self.decrypt(array, position, np.zeros(1, dtype=np.int64), np.array([HEAD]))
        return bytes(array[:HEAD])

    def decrypt_more(self, previous: bytes, data: bytes) -> bytes:
        """Complete blocks of an event, given the preceding block."""
        return decrypt_chain(self._key, previous, data)

    def decrypt_rest(self, position: int, data: bytes) -> bytes:
        """The bytes of an event after its complete blocks."""
        mask = self._encrypted(self.vectors(np.array([position]))).tobytes()
        return bytes(one ^ other for one, other in zip(data, mask, strict=False))

    def find_header(self, data: bytes, count: int, base: int, end: int) -> int | None:
        """The first of `count` offsets in a file's bytes at which a valid header begins.

        Parameters
        ----------
        base, end
            Offset of the bytes in the file, and its size.
        """
        array = np.frombuffer(data, dtype=np.uint8)
        tails = np.arange(max(min(len(array) - HEAD + 1, count), 0))
        if not len(tails):
            return None
        sizes = words(array, tails + SIZE).astype(np.int64)
        tails = tails[(sizes >= HEADER) & (sizes <= end - base - tails)]
        if not len(tails):
            return None
        sizes = words(array, tails + SIZE).astype(np.int64)
        types, nexts = self.headers(array, tails, base)
        known = KNOWN[types]
        is_sure = known & ((nexts == 0) | (nexts == ((tails + sizes + base) & POSITION_MASK)))
        # In relay logs, positions refer to another log, so two headers must be consistent instead.
        followed = np.flatnonzero(known & (tails + sizes + HEAD <= len(array)))
        if len(followed):
            after = (tails + sizes)[followed]
            others, stated = self.headers(array, after, base)
            expected = nexts[followed] + words(array, after + SIZE)
            is_sure[followed] |= KNOWN[others] & (stated == expected)
        sure = np.flatnonzero(is_sure)
        return int(tails[sure[0]]) if len(sure) else None

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

    def has_checksum(self, plain: Any, begin: int, end: int) -> bool:
        """Whether a decrypted event has a correct checksum."""
        stored = int.from_bytes(plain[end - CHECKSUM_SIZE : end].tobytes(), "little")
        return self._is_checksummed and crc32(plain[begin : end - CHECKSUM_SIZE]) == stored


def _rows_at(data: Any, tails: Any) -> Any:
    """The 16 bytes at each offset, one row (uint8) per offset."""
    return _windows(data, _ROW)[tails].view(np.uint8).reshape(-1, BLOCK)


def _as_rows(data: bytes) -> Any:
    """Blocks as writable rows (uint8)."""
    return np.frombuffer(bytearray(data), dtype=np.uint8).reshape(-1, BLOCK)


def words(data: Any, tails: Any) -> Any:
    """The 4-byte numbers at the given offsets."""
    return _windows(data, "<u4")[tails]


def _windows(data: Any, kind: Any) -> Any:
    """Overlapping values of a type at every offset of an array."""
    dtype = np.dtype(kind)
    return np.ndarray((len(data) - dtype.itemsize + 1,), dtype=dtype, buffer=data, strides=(1,))


def with_room(data: bytes) -> Any:
    """Bytes as a writable array, followed by a spare block."""
    made = np.empty(len(data) + BLOCK, dtype=np.uint8)
    made[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return made


def _runs(counts: Any) -> tuple[Any, Any]:
    """The index of each count, repeated that many times, and the numbers from 0 on within each."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)


def walk(data: bytes) -> tuple[Any, Any]:
    """Start and size (int64) of the complete events at the beginning of the bytes, by their lengths."""
    starts, at, end = [], 0, len(data)
    read = _LENGTH.unpack_from
    while at + HEADER <= end:
        (size,) = read(data, at + SIZE)
        if size < HEADER or at + size > end:
            break
        starts.append(at)
        at += size
    begins = np.array(starts, dtype=np.int64)
    return begins, np.diff(begins, append=at)
