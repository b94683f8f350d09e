"""Members of ENUM and SET columns, from their literals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from binlog_kaitai.values.charsets import BINARY, codec_table, decode, decode_member

#: What servers accept as a member: one string, or the digits of its bytes.
_STRING = re.compile(r"'((?:[^']|'')*)'", re.DOTALL)
_HEXADECIMAL = re.compile(r"0x([0-9A-Fa-f]+)|[xX] '([0-9A-Fa-f]+)'")
_BINARY = re.compile(r"0b([01]+)|[bB] '([01]+)'")


def members_of(literals: Sequence[str], charset: str | None) -> tuple[str, ...] | None:
    """The members of an ENUM or SET column as the server stores them; None if they are not certain.

    Parameters
    ----------
    literals
        Strings in quotes, without escapes; or digits (``0x61``, ``x '61'``, ``b '01100001'``).
    charset
        Of the column, or None if it is unknown. It determines what bytes mean, and whether trailing blanks
        belong to a member.
    """
    members = [_member(literal, charset) for literal in literals]
    known = tuple(member for member in members if member is not None)
    return known if len(known) == len(members) else None


def quoted(member: str) -> str:
    """A member as a literal."""
    return "'" + member.replace("'", "''") + "'"


def _member(literal: str, charset: str | None) -> str | None:
    if (string := _STRING.fullmatch(literal)) is not None:
        text = _converted(string[1].replace("''", "'"), charset)
    elif (data := _bytes(literal)) is not None:
        value = decode(data, charset or "ascii")
        if isinstance(value, bytes) and charset == BINARY:
            value = value.decode("utf-8", "surrogateescape")
        if not isinstance(value, str):
            return None
        text = value
    else:
        return None
    if not text.endswith(" ") or charset == BINARY:
        return text
    # All other collations strip them, NO PAD ones included.
    return None if charset is None else text.rstrip(" ")


def _bytes(literal: str) -> bytes | None:
    for pattern, base, count in ((_HEXADECIMAL, 16, 2), (_BINARY, 2, 8)):
        if (found := pattern.fullmatch(literal)) is not None:
            digits = found[1] or found[2]
            return int(digits, base).to_bytes(-(-len(digits) // count), "big")
    return None


def bytes_of(text: str, charset: str) -> bytes | None:
    """A text in a character set; None if the character set is unknown, or lacks a character."""
    table = codec_table(charset)
    if table is None:
        return None
    others = {text: data for data, text in table.others.items()}
    try:
        data = b"".join(others.get(one) or one.encode(table.codec, "surrogateescape") for one in text)
    except UnicodeEncodeError:
        return None
    return data if decode_member(data, charset) == text else None


def _converted(member: str, charset: str | None) -> str:
    """A member with question marks for characters that its character set lacks, as the server stores it."""
    if charset is None or codec_table(charset) is None:
        return member
    return "".join("?" if bytes_of(one, charset) is None else one for one in member)
