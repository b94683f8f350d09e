"""What `charsets.json` says, loaded when it is first asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pkgutil import get_data
from typing import Any

#: The character set of byte strings.
BINARY = "binary"

#: What stands for a single byte that is no character; so does `codecs.charmap_decode` have it.
NO_CHARACTER = "\ufffe"

#: Names of older servers, and spellings of statements.
_OTHER_NAMES = {"utf8": "utf8mb3", "byte": BINARY}


@dataclass(frozen=True, slots=True)
class CodecTable:
    """How a character set becomes text: a Python codec, and the characters it has otherwise.

    Attributes
    ----------
    codec : str
        Name of the Python codec.
    pattern : str
        Which bytes make one character, as the source of a regular expression; empty where none differs.
    others : dict of bytes to str
        The characters that the codec lacks or reads otherwise; `NO_CHARACTER` for bytes that only it knows.
    """

    codec: str
    pattern: str = ""
    others: dict[bytes, str] = field(default_factory=dict)


def charset_of(collation_id: int) -> str | None:
    """The server's name of the character set that a collation belongs to; None for an unknown number."""
    return _charsets_of_collations().get(collation_id)


def canonical_name(charset: str) -> str:
    """The name that newer servers have for a character set."""
    name = charset.lower()
    return _OTHER_NAMES.get(name, name)


@cache
def codec_table(charset: str) -> CodecTable | None:
    """How to read a character set by its canonical name; None for one that no server has."""
    entry = _data().get(charset)
    if entry is None or "codec" not in entry:
        return None
    others = {key: text for run in entry.get("others", ()) for key, text in _characters(run)}
    return CodecTable(entry["codec"], entry.get("pattern", ""), others)


def charset_names() -> tuple[str, ...]:
    """All character sets."""
    return tuple(_data())


def _characters(run: list[str]) -> list[tuple[bytes, str]]:
    """A run of characters: hexadecimal of the first one's bytes, then its text, or first and last of it."""
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
    """What a file of this package says."""
    found: dict[str, Any] = json.loads(get_data(__name__, name) or b"")
    return found
