"""A kernel that writes events as hex dumps in the clients' formats.

The first line has the fields of the header, each other line sixteen bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import kernel

#: Bytes per line.
WIDTH = 16
#: Upper bounds for the length of a line, and of everything else, in bytes.
_LINE, _REST = 112, 640

# The packed form of a style: the character of each byte, the width of a line's digits, the fill character of
# positions; then texts, each preceded by its length.
_FILL_AT, _WIDTH_AT, _FIELDS_AT, _TEXTS_AT = 256, 257, 258, 264


class Style(NamedTuple):
    """The format of a client's hex dump.

    Attributes
    ----------
    letters : bytes
        The character for each of the 256 bytes.
    fill : bytes
        Fill character that pads positions to eight digits.
    width : int
        Width of the digits of a line.
    fields : tuple of int
        Lengths of the six header fields.
    head : bytes
        Text before the position of the header.
    gaps : tuple of bytes
        Text before each field.
    after_header, gap, end, end_without_lines : bytes
        Text after the fields; between the position and the digits of a line; after the lines, or without
        lines.
    """

    letters: bytes
    fill: bytes
    width: int
    fields: tuple[int, ...]
    head: bytes
    gaps: tuple[bytes, ...]
    after_header: bytes
    gap: bytes
    end: bytes
    end_without_lines: bytes

    def packed(self) -> bytes:
        """The packed form that `put_hexdump` takes."""
        texts = self.head, *self.gaps, self.after_header, self.gap, self.end, self.end_without_lines
        numbers = self.fill + bytes([self.width, *self.fields])
        return self.letters + numbers + b"".join(bytes([len(text)]) + text for text in texts)


def room_for(sizes: Ints) -> int:
    """Sufficient output size for events of these lengths, in bytes."""
    return int((sizes // WIDTH + 1).sum()) * _LINE + _REST * len(sizes)


@kernel
def put_hexdump(
    data: Bytes, start: int, size: int, position: int, style: Bytes, offset: int, out: Bytes, at: Any
) -> Any:
    """Write the hex dump of an event.

    Parameters
    ----------
    data, start, size
        Range of the event.
    position
        Position to print for the first byte; 0 writes nothing.
    style, offset
        Bytes, and the offset of a packed `Style` in them.
    out, at
        Output, and the offset to write at.

    Returns
    -------
    End of the text; -1 if `out` is full, -2 if the event or the style is outside the data.
    """
    if position == 0:
        return at
    if at + (size // WIDTH + 1) * _LINE + _REST > out.shape[0]:
        return -1
    if offset < 0 or offset + _TEXTS_AT >= style.shape[0]:
        return -2
    header = np.int64(0)
    for field in range(6):
        header += np.int64(style[offset + _FIELDS_AT + field])
    if start < 0 or size < header or start + size > data.shape[0]:
        return -2
    text = offset + _TEXTS_AT
    at = _put_text(style, text, out, at)
    text = _after(style, text)
    fill = np.int64(style[offset + _FILL_AT])
    at = _put_position(position, fill, out, at)
    byte: Any = start
    for field in range(6):
        at = _put_text(style, text, out, at)
        text = _after(style, text)
        for step in range(style[offset + _FIELDS_AT + field]):
            if step:
                out[at] = 32
                at += 1
            at = _put_byte(np.int64(data[byte]), out, at)
            byte += 1
    at = _put_text(style, text, out, at)
    gap = _after(style, text)
    end = _after(style, gap)
    width = np.int64(style[offset + _WIDTH_AT])
    left: Any = start + size - byte
    if left == 0:
        return _put_text(style, _after(style, end), out, at)
    while left > 0:
        count = left if left < WIDTH else np.int64(WIDTH)
        out[at] = 35
        out[at + 1] = 32
        at = _put_position(position + byte - start, fill, out, at + 2)
        at = _put_text(style, gap, out, at)
        for step in range(width):
            out[at + step] = 32
        for step in range(count):
            _put_byte(np.int64(data[byte + step]), out, at + 3 * step + (step >> 3))
        at += width
        out[at] = 32
        out[at + 1] = 124
        at += 2
        for step in range(count):
            out[at + step] = np.int64(style[offset + np.int64(data[byte + step])])
        at += count
        out[at] = 124
        out[at + 1] = 10
        at += 2
        byte += count
        left -= count
    return _put_text(style, end, out, at)


def _after(style: Any, text: Any) -> Any:
    return text + 1 + np.int64(style[text])


def _put_text(style: Any, text: Any, out: Any, at: Any) -> Any:
    for step in range(style[text]):
        out[at + step] = np.int64(style[text + 1 + step])
    return at + np.int64(style[text])


def _put_byte(value: Any, out: Any, at: Any) -> Any:
    high = value >> 4
    low = value & 15
    out[at] = high + (48 if high < 10 else 87)
    out[at + 1] = low + (48 if low < 10 else 87)
    return at + 2


def _put_position(position: Any, fill: Any, out: Any, at: Any) -> Any:
    digits = 1
    while digits < 16 and position >> (4 * digits):
        digits += 1
    for _ in range(digits, 8):
        out[at] = fill
        at += 1
    for step in range(digits - 1, -1, -1):
        digit = (position >> (4 * step)) & 15
        out[at] = digit + (48 if digit < 10 else 87)
        at += 1
    return at
