"""Kernels that make JSON strings of UTF-8 text, as `json.JSONEncoder(ensure_ascii=False)` writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import kernel

_SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}

#: For each byte the letter behind the backslash, 0 for a byte that stays, 1 for one that becomes \\u00XX.
_ESCAPES = np.array(
    [ord(_SHORT.get(chr(byte), "\0")) or int(byte < 32) for byte in range(256)], dtype=np.uint8
)

_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)

#: Bytes of a character by its first one, 0 where none begins so; and what its second byte is at least and at
#: most. (No character is longer than it has to be, none is half of a pair, none is beyond U+10FFFF.)
_SIZES = np.zeros(256, dtype=np.uint8)
_LEAST, _MOST = np.full(256, 0x80, dtype=np.uint8), np.full(256, 0xBF, dtype=np.uint8)
_SIZES[:0x80], _SIZES[0xC2:0xE0], _SIZES[0xE0:0xF0], _SIZES[0xF0:0xF5] = 1, 2, 3, 4
_LEAST[0xE0], _MOST[0xED], _LEAST[0xF0], _MOST[0xF4] = 0xA0, 0x9F, 0x90, 0x8F


@kernel
def json_sizes(data: Any, starts: Any, lengths: Any, out: Any) -> None:
    """Length of the JSON string of each range, quotes included; -1 if it is outside or no UTF-8."""
    for index in range(starts.shape[0]):
        at = starts[index]
        end = at + lengths[index]
        size: Any = 2
        if at < 0 or end < at or end > data.shape[0]:
            size = -1
        while size >= 0 and at < end:
            byte = data[at]
            width = np.int64(_SIZES[byte])
            is_good = width > 0 and at + width <= end
            if is_good and width > 1:
                is_good = _LEAST[byte] <= data[at + 1] <= _MOST[byte]
                for step in range(2, width):
                    is_good = is_good and data[at + step] & 0xC0 == 0x80
            escape = _ESCAPES[byte]
            if is_good:
                size += width if escape == 0 else 6 if escape == 1 else 2
                at += width
            else:
                size = -1
        out[index] = size


@kernel
def put_json(data: Any, starts: Any, lengths: Any, places: Any, out: Any) -> None:
    """Write the JSON string of each range at its place; there must be as much room as `json_sizes` says."""
    for index in range(starts.shape[0]):
        at = places[index]
        out[at] = 34
        at += 1
        for place in range(starts[index], starts[index] + lengths[index]):
            byte = data[place]
            escape = _ESCAPES[byte]
            if escape == 0:
                out[at] = byte
                at += 1
            elif escape == 1:
                out[at], out[at + 1], out[at + 2], out[at + 3] = 92, 117, 48, 48
                out[at + 4], out[at + 5] = _HEX[byte >> 4], _HEX[byte & 15]
                at += 6
            else:
                out[at], out[at + 1] = 92, escape
                at += 2
        out[at] = 34
