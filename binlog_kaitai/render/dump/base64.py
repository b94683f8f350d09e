"""Base64 of events, in lines of 76 characters; of many of them by a kernel."""

from __future__ import annotations

import binascii

import numpy as np

from binlog_kaitai.columns.compile import COMPILE_FROM, note_work
from binlog_kaitai.columns.text.base64 import put_base64

#: Bytes that a line holds.
_LINE = 57
_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8)
#: Of shorter ones the kernel is not worth its call, in bytes.
_SHORT = 400


class Base64:
    """Encodes; counts what it encoded, since the kernel pays for much work only."""

    def __init__(self) -> None:
        self._work = 0
        self._out = np.empty(0, dtype=np.uint8)

    def lines(self, data: bytes) -> bytes:
        """The lines, each ended."""
        if len(data) <= _LINE:
            return binascii.b2a_base64(data)
        if len(data) <= 2 * _LINE:
            return binascii.b2a_base64(data[:_LINE]) + binascii.b2a_base64(data[_LINE:])
        self._work += len(data)
        if len(data) < _SHORT or self._work < COMPILE_FROM:
            note_work(len(data))
            pieces = [data[at : at + _LINE] for at in range(0, len(data), _LINE)]
            return b"".join(map(binascii.b2a_base64, pieces))
        room = (len(data) // _LINE + 1) * 77 + 8
        if room > len(self._out):
            self._out = np.empty(room, dtype=np.uint8)
        size = put_base64.compiled(np.frombuffer(data, dtype=np.uint8), 0, len(data), _LETTERS, self._out)
        encoded: bytes = self._out[:size].tobytes()
        return encoded
