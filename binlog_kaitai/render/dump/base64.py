"""Base64 of events, in lines of 76 characters; of many of them by a kernel."""

from __future__ import annotations

import binascii
from collections.abc import Iterator

import numpy as np

from binlog_kaitai.columns.compile import COMPILE_FROM
from binlog_kaitai.columns.text.base64 import LINE, put_base64

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#: The letters of each 12 bits, see `put_base64`.
PAIRS = np.array([_LETTERS[bits >> 6] | _LETTERS[bits & 63] << 8 for bits in range(1 << 12)], dtype=np.uint16)
#: Of shorter ones the kernel is not worth its call, in bytes.
_SHORT = 400
#: As much is encoded at once where text goes on piece by piece, in bytes.
_PIECE = LINE << 14


class Base64:
    """Encodes; counts what it encoded, since the kernel pays for much work only."""

    def __init__(self) -> None:
        self._work = 0
        self._out = np.empty(0, dtype=np.uint8)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The same, of long data piece by piece."""
        for at in range(0, len(data), _PIECE):
            yield self.lines(data[at : at + _PIECE])

    def lines(self, data: bytes) -> bytes:
        """The lines, each ended."""
        if len(data) <= LINE:
            return binascii.b2a_base64(data)
        if len(data) <= 2 * LINE:
            return binascii.b2a_base64(data[:LINE]) + binascii.b2a_base64(data[LINE:])
        self._work += len(data)
        if len(data) < _SHORT or self._work < COMPILE_FROM:
            pieces = [data[at : at + LINE] for at in range(0, len(data), LINE)]
            return b"".join(map(binascii.b2a_base64, pieces))
        room = (len(data) // LINE + 1) * 77 + 8
        if room > len(self._out):
            self._out = np.empty(room, dtype=np.uint8)
        size = put_base64.compiled(np.frombuffer(data, dtype=np.uint8), 0, len(data), PAIRS, self._out, 0)
        encoded: bytes = self._out[:size].tobytes()
        return encoded
