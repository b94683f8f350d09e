"""Base64 in lines; a kernel, see `columns.compile`."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import kernel


@kernel
def put_base64(data: Any, start: int, end: int, letters: Any, out: Any) -> int:
    """Write base64 in lines of 76 characters, each ended.

    `out` must have room for 77 bytes for each 57, begun ones counted, and 8 more.
    """
    at = 0
    column = 0
    while start + 2 < end:
        number = np.int64(data[start]) << 16 | np.int64(data[start + 1]) << 8 | np.int64(data[start + 2])
        out[at] = letters[number >> 18]
        out[at + 1] = letters[number >> 12 & 63]
        out[at + 2] = letters[number >> 6 & 63]
        out[at + 3] = letters[number & 63]
        at += 4
        start += 3
        column += 1
        if column == 19:
            out[at] = 10
            at += 1
            column = 0
    if start < end:
        number = np.int64(data[start]) << 16
        if start + 1 < end:
            number |= np.int64(data[start + 1]) << 8
        out[at] = letters[number >> 18]
        out[at + 1] = letters[number >> 12 & 63]
        out[at + 2] = letters[number >> 6 & 63] if start + 1 < end else 61
        out[at + 3] = 61
        at += 4
        column += 1
    if column:
        out[at] = 10
        at += 1
    return at
