"""Rows and NULLs in the text of `mysqlbinlog -v` and `mariadb-binlog -v`.

A row image is a line `### SET` or `### WHERE` with a line for each column after it. Values print without line
breaks, so no value looks like such a line.
"""

from __future__ import annotations

import re
from typing import IO

_IMAGES = (b"\n### SET\n", b"\n### WHERE\n")
_NULL = re.compile(rb"\n###   @\d+=NULL\b")

_CHUNK = 4 << 20


def counts(text: IO[bytes]) -> tuple[int, int]:
    """The numbers of row images and of NULLs."""
    rows, nulls, rest = 0, 0, b"\n"
    while chunk := text.read(_CHUNK):
        whole, _, tail = (rest + chunk).rpartition(b"\n")
        whole += b"\n"
        rows += sum(whole.count(image) for image in _IMAGES)
        nulls += len(_NULL.findall(whole))
        rest = b"\n" + tail
    return rows, nulls
