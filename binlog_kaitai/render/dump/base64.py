"""Base64 of events, in lines of 76 characters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from binlog_kaitai.rows.text.base64_kernel import LINE, PAIRS, put_base64

#: How many bytes are encoded at once, if the text is passed on in pieces.
_PIECE = LINE << 14


def base64_pieces(data: bytes) -> Iterator[bytes]:
    """The lines, in several pieces for long data."""
    for at in range(0, len(data), _PIECE):
        yield base64_lines(data[at : at + _PIECE])


def base64_lines(data: bytes) -> bytes:
    """The lines, each with a line feed."""
    out = np.empty((len(data) // LINE + 1) * 77 + 8, dtype=np.uint8)
    size = put_base64.run(np.frombuffer(data, dtype=np.uint8), 0, len(data), PAIRS, out, 0)
    encoded: bytes = out[:size].tobytes()
    return encoded
