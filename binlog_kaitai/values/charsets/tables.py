"""The contents of `charsets.json`, loaded on first use."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pkgutil import get_data
from typing import Any

#: The character set of byte strings.
BINARY = "binary"

#: Marks a single byte that is no character, as in `codecs.charmap_decode`.
NO_CHARACTER = "\ufffe"

#: Names used by older servers, and aliases used in statements.
_OTHER_NAMES = {"utf8": "utf8mb3", "byte": BINARY}


@dataclass(frozen=True, slots=True)
class CodecTable:
    """How to decode a character set: a Python codec, and the characters that differ from it.

    Attributes
    ----------
    codec : str
        Name of the Python codec.
    pattern : str
        Regular expression for the bytes of one character; empty if no character differs.
    others : dict of bytes to str
        Characters that the codec lacks or decodes differently; `NO_CHARACTER` for bytes valid only in the
        codec.
    """

    codec: str
    pattern: str = ""
    others: dict[bytes, str] = field(default_factory=dict)


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
    entry = _data().get(charset)
    if entry is None or "codec" not in entry:
        return None
    others = {key: text for run in entry.get("others", ()) for key, text in _characters(run)}
    return CodecTable(entry["codec"], entry.get("pattern", ""), others)


def charset_names() -> tuple[str, ...]:
    """All character sets."""
    return tuple(_data())


def _characters(run: list[str]) -> list[tuple[bytes, str]]:
    """A run of characters: the first one's bytes in hexadecimal, then its text, or its first and last
    character.
    """
    first, text = bytes.fromhex(run[0]), run[1]
    if len(run) > 2:
        text = "".join(map(chr, range(ord(run[1]), ord(run[2]) + 1)))
    start = int.from_bytes(first, "big")
    return [((start + at).to_bytes(len(first), "big"), one) for at, one in enumerate(text)]


@cache
def _charsets_of_collations() -> dict[int, str]:
    found = {}
    for charset, entry in _data().items():
        for part in entry["collations"].split():
            first, _, last = part.partition("-")
            found.update(dict.fromkeys(range(int(first), int(last or first) + 1), charset))
    return found


@cache
def _data() -> dict[str, Any]:
    return loaded("charsets.json")


def loaded(name: str) -> dict[str, Any]:
    """The contents of a JSON file of this package."""
    found: dict[str, Any] = json.loads(get_data(__name__, name) or b"")
    return found
