"""Kernels that make values safe to display: truncated, on one line, with control characters escaped."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.line_arrays import put_hex

#: Values longer than this are truncated, in characters.
MAX_LENGTH = 60

_ELLIPSIS = np.frombuffer("…".encode(), dtype=np.uint8)

_N, _R, _T = 110, 114, 116


@kernel
def code_at(text: Bytes, offset: int, end: int) -> Any:
    """Code point and width of the character at an offset of valid UTF-8."""
    byte = np.int64(text[offset])
    if byte < 0x80:
        return byte, np.int64(1)
    width: Any = np.int64(2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
    code = byte & (0x7F >> width)
    for step in range(1, min(width, end - offset)):
        code = code << 6 | (np.int64(text[offset + step]) & 0x3F)
    return code, width


@kernel
def is_unsafe(code: int) -> bool:
    """Whether `output_text.printable` escapes a character."""
    if code < 0xA0:
        return code < 0x20 or code >= 0x7F
    if code < 0x2066:
        return code == 0x61C or 0x200E <= code <= 0x200F or 0x2028 <= code <= 0x202E
    return code <= 0x2069


@kernel
def is_space(code: int) -> bool:
    """Whether Python's `str.rstrip` removes a character."""
    if code < 0x1680:
        return 9 <= code <= 13 or 28 <= code <= 32 or code == 0x85 or code == 0xA0
    if code <= 0x202F:
        return code in (0x1680, 0x2028, 0x2029, 0x202F) or 0x2000 <= code <= 0x200A
    return code == 0x205F or code == 0x3000


@kernel
def put_printable(out: Bytes, begin: int, end: int, is_last: bool) -> int:
    """Cut the text at `out[begin:end]`, escape what is not to be printed in it, and give its end.

    With `is_last`, trailing spaces are removed. There must be room for 1000 more bytes.
    """
    # A text with no more bytes than this has no more characters.
    if end - begin > MAX_LENGTH:
        count, offset, truncated = np.int64(0), begin, begin
        while offset < end and count <= MAX_LENGTH:
            if count == MAX_LENGTH - 1:
                truncated = offset
            offset += code_at(out, offset, end)[1]
            count += 1
        if count > MAX_LENGTH:
            for step in range(_ELLIPSIS.shape[0]):
                out[truncated + step] = _ELLIPSIS[step]
            end = truncated + _ELLIPSIS.shape[0]
    while is_last and end > begin:
        offset = end - 1
        while offset > begin and out[offset] & 0xC0 == 0x80:
            offset -= 1
        if not is_space(code_at(out, offset, end)[0]):
            break
        end = offset
    is_plain = True
    for offset in range(begin, end):
        is_plain = is_plain and 32 <= out[offset] < 127
    if is_plain:
        return end
    size = end - begin
    # No byte becomes more than four, so the text is moved back and escaped in place.
    source = begin + 4 * size
    for step in range(size):
        out[source + size - 1 - step] = out[end - 1 - step]
    at = begin
    offset = source
    while offset < source + size:
        code, width = code_at(out, offset, source + size)
        if not is_unsafe(code):
            for step in range(width):
                out[at + step] = out[offset + step]
            at += width
        else:
            out[at] = 92
            at += 1
            if code in (9, 10, 13):
                out[at] = _T if code == 9 else _N if code == 10 else _R
                at += 1
            else:
                out[at] = 120 if code < 0x100 else 117
                at += 1
                if code >= 0x100:
                    at = put_hex(code >> 8, out, at)
                at = put_hex(code & 0xFF, out, at)
        offset += width
    return at
