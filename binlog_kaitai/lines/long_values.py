"""The text of values of many megabytes, in pieces: at no time is all of it in memory.

While statements or lines are assembled, a placeholder stands for such a value. It contains random bytes, so
no log can contain one.
"""

from __future__ import annotations

import json
import os
import re
from binascii import hexlify
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from binlog_kaitai.kernels.arrays import view_of
from binlog_kaitai.log.mapped_memory import PIECE, give_back, pieces
from binlog_kaitai.values.charsets import BINARY, decoder_of

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Bytes
    from binlog_kaitai.log.block import Block

#: Size from which on a value is represented by a placeholder, in bytes.
LONG = 24 << 20

_MARK = os.urandom(16)
_UTF8 = "utf8mb4"
_PLACEHOLDER = re.compile(re.escape(_MARK) + rb"([hq]|j\w*:[12])(\d+):(\d+);")

#: How much of a value is converted to JSON at once, and how much of it is shown in a table, in bytes.
_CONVERTED_AT_ONCE, _SHOWN = 1 << 18, 1 << 12


def placeholder(start: int, end: int, *, in_hex: bool) -> bytes:
    """Stands for a range of a block: its hexadecimal digits, or its bytes with quotes doubled."""
    return _MARK + b"%c%d:%d;" % (b"h" if in_hex else b"q", start, end)


def consists_of(letters: bytes, data: Bytes, start: int, end: int) -> bool:
    """Whether a range has no other bytes than these."""
    return not any(bytes(piece).translate(None, letters) for piece in pieces(data, start, end))


def is_utf8(data: Bytes, start: int, end: int) -> bool:
    """Whether a range is valid UTF-8."""
    return _is_text(data, start, end, _UTF8)


def _is_text(data: Bytes, start: int, end: int, charset: str) -> bool:
    try:
        for _ in _characters(data, start, end, charset):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _characters(data: Bytes, start: int, end: int, charset: str) -> Iterator[str]:
    """A range as text, in pieces; the character set is UTF-8 or has one byte per character."""
    utf8 = getincrementaldecoder("utf-8")()
    decoder = decoder_of(charset)
    assert decoder is not None
    for piece in pieces(data, start, end):
        for offset in range(0, len(piece), _CONVERTED_AT_ONCE):
            part = bytes(piece[offset : offset + _CONVERTED_AT_ONCE])
            yield utf8.decode(part) if charset == _UTF8 else decoder(part, "strict")
    utf8.decode(b"", final=True)


def json_text(data: Bytes, start: int, end: int, charset: str, marks: int) -> bytes:
    """JSON with a placeholder for a range: a string, or an object for bytes.

    `charset`: ``binary``, ``utf8mb4``, or a character set with one byte per character.
    `marks`: number of quotation marks in place of each one.
    """
    opening, closing = _around(data, start, end, charset, marks)
    kind = BINARY if len(closing) > marks else charset
    return opening + _MARK + b"j%s:%d%d:%d;" % (kind.encode(), marks, start, end) + closing


def _around(data: Bytes, start: int, end: int, charset: str, marks: int) -> tuple[bytes, bytes]:
    """The text before and after a value in JSON."""
    mark = b'"' * marks
    if charset != BINARY and _is_text(data, start, end, charset):
        return mark, mark
    return b"{%shex%s: %s" % (mark, mark, mark), mark + b"}"


def shortened(data: Bytes, start: int, end: int, charset: str) -> bytes:
    """JSON with the beginning of a range and a digest of it, which differs if the values do."""
    from hashlib import blake2b  # loads OpenSSL, which other values do not need

    opening, closing = _around(data, start, end, charset, 1)
    kind = BINARY if len(closing) > 1 else charset
    digest = blake2b(digest_size=16)
    for piece in pieces(data, start, end):
        digest.update(piece)
    first = next(_as_json(data, start, min(start + _SHOWN, end), kind, 1))
    return opening + first + digest.hexdigest().encode() + closing


def _as_json(data: Bytes, start: int, end: int, charset: str, marks: int) -> Iterator[bytes]:
    """A range inside a JSON string, in pieces: as text or, if it is ``binary``, as hexadecimal digits."""
    if charset == BINARY:
        yield from map(hexlify, pieces(data, start, end))
        return
    for text in _characters(data, start, end, charset):
        yield json.dumps(text, ensure_ascii=False)[1:-1].encode().replace(b'"', b'"' * marks)


def filled(text: memoryview, block: Block, *, backward: bool = False) -> Iterator[memoryview | bytes]:
    """Text of a block in pieces, with values in place of their placeholders; with `backward`, the last piece
    of SQL comes first.
    """
    if not len(block) or int(block.sizes.max()) < LONG:
        yield text
        return
    matches = list(_PLACEHOLDER.finditer(text))
    edges = [0, *(edge for match in matches for edge in match.span()), len(text)]
    spans = list(enumerate(pairwise(edges)))
    for number, (begin, end) in reversed(spans) if backward else spans:
        if number % 2 == 0:
            yield text[begin:end]
        else:
            kind, first, last = matches[number // 2].groups()
            if kind.startswith(b"j"):
                charset, _, marks = kind[1:].decode().partition(":")
                yield from _as_json(block.data, int(first), int(last), charset, int(marks))
            else:
                yield from _value(block.data, int(first), int(last), in_hex=kind == b"h", backward=backward)


def _value(data: Bytes, start: int, end: int, *, in_hex: bool, backward: bool) -> Iterator[bytes]:
    view = view_of(data)
    steps = range(start, end, PIECE)
    for offset in reversed(steps) if backward else steps:
        after = min(offset + PIECE, end)
        piece = view[offset:after]
        yield hexlify(piece).upper() if in_hex else bytes(piece).replace(b"'", b"''")
        give_back(data, offset, after)
