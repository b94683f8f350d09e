"""Character sets of MySQL and MariaDB: collation numbers and names, and decoding.

`charsets.json` and `collations.json` record server facts: the collations of each character set, and where a
character set differs from the closest Python codec. `python -m tools.charsets` writes them.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints

#: The character set of byte strings.
BINARY = "binary"

#: Character sets whose text is valid UTF-8; None stands for an unknown one.
UTF8 = frozenset((None, "utf8", "utf8mb3", "utf8mb4"))

#: Marks a single byte that is no character, as in `codecs.charmap_decode`.
NO_CHARACTER = "\ufffe"

#: Maximum length in UTF-8 of a character of a single-byte character set.
_WIDEST = 4

#: Names used by older servers, and aliases used in statements.
_OTHER_NAMES = {"utf8": "utf8mb3", "byte": BINARY}


class CodecTable(NamedTuple):
    """How to decode a character set: a Python codec, and the characters that differ from it.

    `codec`: name of the Python codec.
    `pattern`: regular expression for the bytes of one character; empty if no character differs.
    `others`: characters that the codec lacks or decodes differently; `NO_CHARACTER` for bytes valid only in
    the codec.
    """

    codec: str
    pattern: str
    others: dict[bytes, str]


def charset_of(collation_id: int) -> str | None:
    """The server's name of the character set that a collation belongs to; None for an unknown number."""
    return _charsets_of_collations().get(collation_id)


def canonical_name(charset: str) -> str:
    """The name of a character set in newer servers."""
    name = charset.lower()
    return _OTHER_NAMES.get(name, name)


@cache
def codec_table(charset: str) -> CodecTable | None:
    """The table for a character set by its canonical name; None if no server has it."""
    entry = _loaded("charsets.json").get(charset)
    if entry is None or "codec" not in entry:
        return None
    others = {key: text for run in entry.get("others", ()) for key, text in _characters(run)}
    return CodecTable(entry["codec"], entry.get("pattern", ""), others)


def charset_names() -> tuple[str, ...]:
    """All character sets."""
    return tuple(_loaded("charsets.json"))


def _characters(run: list[str]) -> list[tuple[bytes, str]]:
    """A run of characters: the first one's bytes in hexadecimal, then its text, or its first and last
    character.
    """
    first, text = bytes.fromhex(run[0]), run[1]
    if len(run) > 2:
        text = "".join(map(chr, range(ord(run[1]), ord(run[2]) + 1)))
    start = int.from_bytes(first, "big")
    return [((start + index).to_bytes(len(first), "big"), character) for index, character in enumerate(text)]


@cache
def _charsets_of_collations() -> dict[int, str]:
    charsets = {}
    for charset, entry in _loaded("charsets.json").items():
        for part in entry["collations"].split():
            first, _, last = part.partition("-")
            charsets.update(dict.fromkeys(range(int(first), int(last or first) + 1), charset))
    return charsets


@cache
def _loaded(name: str) -> dict[str, Any]:
    """The contents of a JSON file of this package."""
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as file:
        content: dict[str, Any] = json.load(file)
    return content


def collation_name(collation_id: int, *, is_mariadb: bool = False) -> str | None:
    """The name of a collation, such as ``"utf8mb4_general_ci"``; None for an unknown number.

    MySQL and MariaDB use a few numbers for different collations.
    """
    key = str(collation_id)
    if not is_mariadb and key in _loaded("collations.json")["mysql"]:
        return str(_loaded("collations.json")["mysql"][key])
    name = _loaded("collations.json")["names"].get(key)
    return None if name is None else str(name)


def max_bytes_of(charset: str) -> int:
    """Maximum bytes per character of a character set; 1 if it is unknown."""
    return int(_loaded("collations.json")["max_bytes"].get(charset, 1))


#: Decodes bytes, given the name of the error handler as in `bytes.decode`.
Decoder = Callable[[bytes, str], str]


def decode(data: bytes, charset: str | None) -> str | bytes:
    """Decode a string value.

    `data`: the bytes as stored in the column.
    `charset`: the server's name of the character set; None if the log does not say, in which case UTF-8 is
    tried.
    Returns the text; the bytes themselves if they are not text of a known character set.
    """
    if charset == BINARY:
        return data
    decoder = decoder_of(charset)
    if decoder is None:
        return data
    try:
        return decoder(data, "strict")
    except UnicodeDecodeError:
        return data


def escaped(data: bytes, charset: str | None) -> str:
    """A string value as text, with ``\\xNN`` for each byte that is part of no character."""
    if (decoder := decoder_of(charset)) is None:
        return "".join(f"\\x{byte:02x}" for byte in data)
    return decoder(data, "backslashreplace")


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
    return lambda data, errors: data.decode(codec, errors)


def _of_single_bytes(table: CodecTable) -> Decoder:
    text = "".join(
        table.others.get(byte) or byte.decode(table.codec, "ignore") or NO_CHARACTER
        for byte in (bytes([number]) for number in range(256))
    )
    return lambda data, errors: codecs.charmap_decode(data, errors, text)[0]


@cache
def characters_of(charset: str | None) -> tuple[str, ...] | None:
    """The character of each byte, "" for none; None unless every character of the charset is one byte."""
    if decoder_of(charset) is None:
        return None
    characters = [decode(bytes([number]), charset) for number in range(256)]
    texts = tuple(text if isinstance(text, str) and len(text) == 1 else "" for text in characters)
    leads = (number for number, text in enumerate(texts) if not text)
    pairs = (bytes([lead, other]) for lead in leads for other in range(256))
    return None if any(isinstance(decode(pair, charset), str) for pair in pairs) else texts


@cache
def encoder_of(charset: str | None) -> Callable[[str], bytes] | None:
    """An encoder for a character set; None unless every character is exactly one byte."""
    texts = characters_of(charset) or ()
    numbers = {text: number for number, text in enumerate(texts) if text}
    if not numbers or len(numbers) < len(texts) - texts.count(""):
        return None
    return lambda text: bytes(map(numbers.__getitem__, text))


def _by_table(table: CodecTable) -> Decoder:
    characters = re.compile(table.pattern.encode("ascii"), re.DOTALL)
    codec, others = table.codec, table.others

    def decode_all(data: bytes, errors: str) -> str:
        if data.isascii():
            return data.decode("ascii")
        pieces = characters.findall(data)
        if not any(piece in others for piece in pieces):
            return data.decode(codec, errors)
        return "".join(others.get(piece) or piece.decode(codec, errors) for piece in pieces)

    return decode_all


@cache
def extends_ascii(charset: str | None) -> bool:
    """Whether bytes below 128 are always ASCII characters in a character set."""
    every = bytes(range(128))
    return decode(every, charset) == every.decode("ascii")


@cache
def single_bytes(charset: str | None) -> tuple[Ints, Bytes] | None:
    """UTF-8 length and bytes of each byte of a single-byte character set; length 0 for no character."""
    texts = characters_of(charset)
    if texts is None:
        return None
    sizes, characters = np.zeros(256, dtype=np.int64), np.zeros((256, _WIDEST), dtype=np.uint8)
    for number, text in enumerate(texts):
        sizes[number] = len(encoded := text.encode())
        characters[number, : len(encoded)] = list(encoded)
    return sizes, characters
