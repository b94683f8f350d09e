"""The text of values of many megabytes, in pieces: at no time is all of it in memory.

While statements are assembled, a placeholder stands for such a value. It contains random bytes, so no log can
contain one.
"""

from __future__ import annotations

import re
import secrets
from binascii import hexlify
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from binlog_kaitai.columns.blocks.mapped import PIECE, give_back, pieces
from binlog_kaitai.columns.kernel.arrays import view_of

if TYPE_CHECKING:
    from binlog_kaitai.columns.blocks.block import Block
    from binlog_kaitai.columns.kernel.arrays import Bytes

#: Size from which on a value is represented by a placeholder, in bytes.
LONG = 24 << 20

_MARK = secrets.token_bytes(16)
_PLACEHOLDER = re.compile(re.escape(_MARK) + rb"([hq])(\d+):(\d+);")


def placeholder(start: int, end: int, *, in_hex: bool) -> bytes:
    """Stands for a range of a block: its hexadecimal digits, or its bytes with quotes doubled."""
    return _MARK + b"%c%d:%d;" % (b"h" if in_hex else b"q", start, end)


def consists_of(letters: bytes, data: Bytes, start: int, end: int) -> bool:
    """Whether a range has no other bytes than these."""
    return not any(bytes(piece).translate(None, letters) for piece in pieces(data, start, end))


def is_utf8(data: Bytes, start: int, end: int) -> bool:
    """Whether a range is valid UTF-8."""
    decoder = getincrementaldecoder("utf-8")()
    try:
        for piece in pieces(data, start, end):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def filled(text: memoryview, block: Block, *, backward: bool = False) -> Iterator[memoryview | bytes]:
    """Text of a block in pieces, with values in place of their placeholders; with `backward`, the last piece
    comes first.
    """
    if not len(block) or int(block.sizes.max()) < LONG:
        yield text
        return
    found = list(_PLACEHOLDER.finditer(text))
    edges = [0, *(edge for one in found for edge in one.span()), len(text)]
    spans = list(enumerate(pairwise(edges)))
    for number, (begin, end) in reversed(spans) if backward else spans:
        if number % 2 == 0:
            yield text[begin:end]
        else:
            kind, first, last = found[number // 2].groups()
            yield from _value(block.data, int(first), int(last), in_hex=kind == b"h", backward=backward)


def _value(data: Bytes, start: int, end: int, *, in_hex: bool, backward: bool) -> Iterator[bytes]:
    view = view_of(data)
    steps = range(start, end, PIECE)
    for at in reversed(steps) if backward else steps:
        after = min(at + PIECE, end)
        piece = view[at:after]
        yield hexlify(piece).upper() if in_hex else bytes(piece).replace(b"'", b"''")
        give_back(data, at, after)
