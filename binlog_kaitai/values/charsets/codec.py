"""Decodes the bytes of string columns."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import cache

from binlog_kaitai.values.charsets.tables import BINARY, NO_CHARACTER, CodecTable, canonical_name, codec_table

Decoder = Callable[[bytes], str]


def decode(data: bytes, charset: str | None) -> str | bytes:
    """Decode a string value.

    Parameters
    ----------
    data
        The bytes as stored in the column.
    charset
        The server's name of the character set; None if the log does not say, in which case UTF-8 is tried.

    Returns
    -------
    str or bytes
        The text; the bytes themselves if the character set is binary or unknown, or they are invalid in it.
    """
    if charset == BINARY:
        return data
    decoder = decoder_of(charset)
    if decoder is None:
        return data
    try:
        return decoder(data)
    except UnicodeDecodeError:
        return data


def decode_member(data: bytes, charset: str | None) -> str:
    """A member of an ENUM or SET; bytes that are invalid in its character set become surrogates."""
    text = decode(data, charset)
    if isinstance(text, str):
        return text
    return text.decode("utf-8" if charset in (None, BINARY) else "ascii", "surrogateescape")


@cache
def decoder_of(charset: str | None) -> Decoder | None:
    """A decoder for a character set, which may raise UnicodeDecodeError; None for byte strings.

    An unspecified character set (None) is treated as UTF-8.
    """
    if charset is None:
        return _plain("utf-8")
    table = codec_table(canonical_name(charset))
    if table is None:
        return None
    if not table.others:
        return _plain(table.codec)
    return _by_table(table) if table.pattern else _of_single_bytes(table)


def _plain(codec: str) -> Decoder:
    return lambda data: data.decode(codec)


def _of_single_bytes(table: CodecTable) -> Decoder:
    text = "".join(
        table.others.get(byte) or byte.decode(table.codec, "ignore") or NO_CHARACTER
        for byte in (bytes([number]) for number in range(256))
    )
    return lambda data: codecs.charmap_decode(data, "strict", text)[0]


@cache
def encoder_of(charset: str | None) -> Callable[[str], bytes] | None:
    """An encoder for a character set; None unless every character is exactly one byte."""
    known: dict[str | bytes, int] = {}
    for number in range(256):
        text = decode(bytes([number]), charset)
        if isinstance(text, str) and len(text) == 1 and text not in known:
            known[text] = number
        elif isinstance(text, str) or _is_lead(number, charset):
            return None
    return (lambda text: bytes(map(known.__getitem__, text))) if known else None


def _is_lead(number: int, charset: str | None) -> bool:
    """Whether a byte is the first of a two-byte character."""
    return any(isinstance(decode(bytes([number, other]), charset), str) for other in range(256))


def _by_table(table: CodecTable) -> Decoder:
    characters = re.compile(table.pattern.encode("ascii"), re.DOTALL)
    codec, others = table.codec, table.others

    def decode_all(data: bytes) -> str:
        if data.isascii():
            return data.decode("ascii")
        pieces = characters.findall(data)
        if not any(piece in others for piece in pieces):
            return data.decode(codec)
        return "".join(others[piece] if piece in others else piece.decode(codec) for piece in pieces)

    return decode_all
