"""Kernels that write JSON strings like `json.JSONEncoder(ensure_ascii=False)`.

Invalid UTF-8 is written as escapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import inlined, kernel

_SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}

#: For each byte, the letter after the backslash; 0 for a byte copied unchanged, 1 for \\u00XX.
ESCAPES = np.array(
    [ord(_SHORT.get(chr(byte), "\0")) or int(byte < 32) for byte in range(256)], dtype=np.uint8
)

HEX_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)

#: For each letter after a backslash, the byte; for each hexadecimal digit, its value.
_ESCAPED, _HEX_VALUES = np.zeros((2, 256), dtype=np.uint8)
for _byte, _letter in _SHORT.items():
    _ESCAPED[ord(_letter)] = ord(_byte)
_HEX_VALUES[HEX_DIGITS] = range(16)

#: Length of a UTF-8 character by its first byte, 0 if invalid; and the range of its second byte, which
#: excludes overlong forms, surrogates, and code points above U+10FFFF.
_SIZES = np.zeros(256, dtype=np.uint8)
_LEAST, _MOST = np.full(256, 0x80, dtype=np.uint8), np.full(256, 0xBF, dtype=np.uint8)
_SIZES[:0x80], _SIZES[0xC2:0xE0], _SIZES[0xE0:0xF0], _SIZES[0xF0:0xF5] = 1, 2, 3, 4
_LEAST[0xE0], _MOST[0xED], _LEAST[0xF0], _MOST[0xF4] = 0xA0, 0x9F, 0x90, 0x8F


@kernel
@inlined
def put_hex(byte: int, out: Bytes, at: int) -> int:
    """Write a byte as two hexadecimal digits; returns the end."""
    out[at] = HEX_DIGITS[byte >> 4]
    out[at + 1] = HEX_DIGITS[byte & 15]
    return at + 2


@kernel
def put_escape(byte: int, out: Bytes, at: int) -> Any:
    """Write a byte that has an entry in `ESCAPES` as a JSON escape; returns the end."""
    escape = ESCAPES[byte]
    out[at] = 92
    if escape > 1:
        out[at + 1] = escape
        return at + 2
    out[at + 1], out[at + 2], out[at + 3] = 117, 48, 48
    return put_hex(byte, out, at + 4)


@kernel
def unquote(text: Bytes, begin: int, end: int) -> Any:
    """Replace the JSON string `text[begin:end]`, escaped as by `put_escape`, by its characters."""
    at = begin
    offset = begin + 1
    while offset < end - 1:
        byte = text[offset]
        offset += 1
        if byte == 92:
            letter = text[offset]
            offset += 1
            byte = _ESCAPED[letter]
            if letter == 117:
                byte = _HEX_VALUES[text[offset + 2]] << 4 | _HEX_VALUES[text[offset + 3]]
                offset += 4
        text[at] = byte
        at += 1
    return at


@kernel
def width_at(data: Bytes, at: int, end: int) -> Any:
    """Length of the UTF-8 character at `at`, before `end`; 0 if it is invalid."""
    byte = data[at]
    width = np.int64(_SIZES[byte])
    if width == 1:
        return width
    is_good = width > 0 and at + width <= end
    if is_good:
        is_good = _LEAST[byte] <= data[at + 1] <= _MOST[byte]
        for step in range(2, width):
            is_good = is_good and data[at + step] & 0xC0 == 0x80
    return width if is_good else np.int64(0)


@kernel
def json_sizes(data: Bytes, starts: Ints, lengths: Ints, out: Ints) -> None:
    """Length of the JSON string of each range, quotes included; -1 if it is outside.

    Invalid bytes become escapes, as with `surrogateescape`.
    """
    for index in range(starts.shape[0]):
        at = starts[index]
        end = at + lengths[index]
        size: Any = 2
        if at < 0 or end < at or end > data.shape[0]:
            size = -1
        while size >= 0 and at < end:
            width = width_at(data, at, end)
            escape = ESCAPES[data[at]]
            if width:
                size += width if escape == 0 else 6 if escape == 1 else 2
                at += width
            else:
                size += 6
                at += 1
        out[index] = size


@kernel
def put_json(data: Bytes, starts: Ints, lengths: Ints, positions: Ints, out: Bytes) -> None:
    """Write the JSON string of each range at its offset; `out` must have room for `json_sizes` bytes."""
    for index in range(starts.shape[0]):
        at = positions[index]
        out[at] = 34
        at += 1
        end = starts[index] + lengths[index]
        after = starts[index]  # the last multi-byte character
        for offset in range(starts[index], end):
            byte = data[offset]
            if byte >= 128 and offset >= after:
                after = offset + width_at(data, offset, end)
            if byte >= 128 and offset >= after:
                out[at], out[at + 1], out[at + 2], out[at + 3] = 92, 117, 100, 99
                at = put_hex(byte, out, at + 4)
            elif ESCAPES[byte]:
                at = put_escape(byte, out, at)
            else:
                out[at] = byte
                at += 1
        out[at] = 34


@kernel
def escape_bytes(data: Bytes, offsets: Ints, out: Bytes, ends: Ints) -> int:
    """Write strings with each byte that is part of no character of UTF-8 as ``\\xNN``.

    `offsets` and `ends` have one more element than there are strings; `out` must have room for four bytes per
    byte. Returns the total length, or -1 if a string is outside the data.
    """
    at = 0
    ends[0] = 0
    for index in range(offsets.shape[0] - 1):
        offset, end = np.int64(offsets[index]), np.int64(offsets[index + 1])
        if offset < 0 or end < offset or end > data.shape[0] or at + 4 * (end - offset) > out.shape[0]:
            return -1
        while offset < end:
            width = width_at(data, offset, end)
            if width:
                for step in range(width):
                    out[at + step] = data[offset + step]
                at += width
                offset += width
            else:
                byte = data[offset]
                out[at], out[at + 1] = 92, 120
                at = put_hex(byte, out, at + 2)
                offset += 1
        ends[index + 1] = at
    return at
