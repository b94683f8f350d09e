"""Base64 of events, in lines of 76 characters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from binlog_kaitai.columns.text.base64 import LINE, PAIRS, put_base64

#: As much is encoded at once where text goes on piece by piece, in bytes.
_PIECE = LINE << 14


def base64_pieces(data: bytes) -> Iterator[bytes]:
    """The lines, of long data piece by piece."""
    for at in range(0, len(data), _PIECE):
        yield base64_lines(data[at : at + _PIECE])


def base64_lines(data: bytes) -> bytes:
    """The lines, each ended."""
    out = np.empty((len(data) // LINE + 1) * 77 + 8, dtype=np.uint8)
    size = put_base64.run(np.frombuffer(data, dtype=np.uint8), 0, len(data), PAIRS, out, 0)
    encoded: bytes = out[:size].tobytes()
    return encoded
