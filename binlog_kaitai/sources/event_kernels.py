"""The loops over encrypted events, before and after the block cipher, which decrypts all blocks at once.

CBC decrypts single blocks and XORs each with the ciphertext before it. So the blocks of many events go
through the cipher in one call; these kernels collect them from the file's bytes and put them back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import POSITION_MASK, header_length, header_offset
from binlog_kaitai.kernels.byte_kernels import read_u4
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.sources.ciphers import BLOCK

#: How much of an initialization vector is the event's offset, in bytes.
_COUNTER = 4

_HEADER, _SIZE = header_length(4), header_offset("len_event")
#: What is encrypted begins with the type code.
_TYPE = header_offset("type_code")

# An unsigned index cannot count from the end, which Numba would look for.
_BLOCK, _SIZE_AT, _TYPE_AT = np.uint64(BLOCK), np.uint64(_SIZE), np.uint64(_TYPE)
_BYTE, _SHIFT = np.int64(255), 8


@kernel
def find_events(data: Any, starts: Any) -> int:
    """Find the whole events at the start of bytes, by their lengths.

    Parameters
    ----------
    starts
        Room for the offsets of the events, and for the end of the last one.

    Returns
    -------
    Number of events.
    """
    count, at, end = 0, 0, data.shape[0]
    starts[0] = 0
    while at + _HEADER <= end and count + 1 < starts.shape[0]:
        size = read_u4(data, np.uint64(at + _SIZE))
        if size < _HEADER or at + size > end:
            break
        at += size
        count += 1
        starts[count] = at
    return count


@kernel
@inlined
def _swap(data: Any, start: int) -> None:
    """Exchange the first bytes of an event with those of `len_event`, where its ciphertext has a gap."""
    first = np.uint64(start)
    other = first + _SIZE_AT
    for _ in range(_TYPE):
        value = data[first]
        data[first] = data[other]
        data[other] = value
        first += np.uint64(1)
        other += np.uint64(1)


@kernel
def collect_blocks(
    data: Any, starts: Any, sizes: Any, base: int, nonce: Any, blocks: Any, vectors: Any
) -> int:
    """Collect the whole blocks of events, and make the events' initialization vectors.

    Parameters
    ----------
    data
        Bytes of the file, `base` bytes into it. The gap in each ciphertext is closed; `put_blocks` opens it.
    blocks, vectors
        Room for the blocks, and for a vector for each event.

    Returns
    -------
    Bytes of blocks; -1 where an event lies outside, or the room does not suffice.
    """
    at = 0
    for event in range(starts.shape[0]):
        start, size = starts[event], sizes[event]
        count = (size - _TYPE) // BLOCK * BLOCK
        if start < 0 or size < _HEADER or start + size > data.shape[0]:
            return -1
        if at + count > blocks.shape[0] or (event + 1) * BLOCK > vectors.shape[0]:
            return -1
        _swap(data, start)
        source, to = np.uint64(start + _TYPE), np.uint64(at)
        for index in range(np.uint64(count)):
            blocks[to + np.uint64(index)] = data[source + np.uint64(index)]
        at += count
        to = np.uint64(event * BLOCK)
        for index in range(nonce.shape[0]):
            vectors[to + np.uint64(index)] = nonce[np.uint64(index)]
        position = (base + start) & POSITION_MASK
        for index in range(BLOCK - _COUNTER, BLOCK):
            vectors[to + np.uint64(index)] = np.uint8(position & _BYTE)
            position >>= _SHIFT
    return at


@kernel
def put_blocks(data: Any, starts: Any, sizes: Any, sealed: Any, plain: Any, vectors: Any, masks: Any) -> None:
    """Put the blocks of events in their place, decrypted.

    Parameters
    ----------
    data, starts, sizes, vectors
        Those that `collect_blocks` was given and filled.
    sealed, plain
        Its blocks, and what the cipher makes of each alone.
    masks
        For each event, what its bytes after the last whole block are XORed with.
    """
    at = 0
    for event in range(starts.shape[0]):
        start, size = starts[event], sizes[event]
        count = (size - _TYPE) // BLOCK * BLOCK
        rest = size - _TYPE - count
        if start < 0 or size < _HEADER or start + size > data.shape[0]:
            return
        if at + count > min(plain.shape[0], sealed.shape[0]):
            return
        if (event + 1) * BLOCK > min(vectors.shape[0], masks.shape[0]):
            return
        to, source, vector = np.uint64(start + _TYPE), np.uint64(at), np.uint64(event * BLOCK)
        if count > 0:
            for index in range(_BLOCK):
                data[to + index] = plain[source + index] ^ vectors[vector + index]
            for index in range(_BLOCK, np.uint64(count)):
                data[to + index] = plain[source + index] ^ sealed[source + index - _BLOCK]
        to += np.uint64(count)
        for index in range(np.uint64(rest)):
            data[to + index] ^= masks[vector + index]
        at += count
        _swap(data, start)
