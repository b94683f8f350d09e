"""Text helpers: quoted names and strings, times."""

from __future__ import annotations

import re
import time
from functools import lru_cache

_PRETTY = {0x0A: b"\\n", 0x0D: b"\\r", 0x5C: b"\\\\", 0x08: b"\\b", 0x09: b"\\t", 0x27: b"\\'", 0: b"\\0"}
_COMMENT_SPECIAL = re.compile(rb"[\r\\\x08\t\0]")
_PRETTY_SPECIAL = re.compile(rb"[\n\r\\\x08\t'\0]")


def encode(text: str) -> bytes:
    """The original bytes of text decoded by the grammar."""
    return text.encode("utf-8", "surrogateescape")


def identifier(name: bytes) -> bytes:
    """A name in backticks."""
    return b"`" + name.replace(b"`", b"``") + b"`"


def pretty(data: bytes, quote: bytes = b"'") -> bytes:
    """A string in quotes, with the clients' `pretty_print_str` escapes."""
    return quote + _PRETTY_SPECIAL.sub(lambda found: _PRETTY[found[0][0]], data) + quote


def comment(line: bytes) -> bytes:
    """A line of a commented statement."""
    return _COMMENT_SPECIAL.sub(lambda found: _PRETTY[found[0][0]], line)


@lru_cache(maxsize=64)
def timestamp(seconds: int) -> bytes:
    """``YYMMDD hh:mm:ss`` in local time, the hour padded with a space."""
    at = time.localtime(seconds)
    day = f"{at.tm_year % 100:02}{at.tm_mon:02}{at.tm_mday:02}"
    return f"{day} {at.tm_hour:2}:{at.tm_min:02}:{at.tm_sec:02}".encode()


def microseconds(moment: int) -> bytes:
    """``YYYY-MM-DD hh:mm:ss.ffffff ZONE`` in local time, of microseconds since 1970-01-01 UTC."""
    seconds, fraction = divmod(moment, 10**6)
    second, zone = second_of(seconds)
    return b"%s.%06d %s" % (second, fraction, zone)


@lru_cache(maxsize=64)
def second_of(seconds: int) -> tuple[bytes, bytes]:
    """``YYYY-MM-DD hh:mm:ss`` in local time, and the name of the time zone."""
    at = time.localtime(seconds)
    day = f"{at.tm_year:04}-{at.tm_mon:02}-{at.tm_mday:02}"
    return f"{day} {at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}".encode(), at.tm_zone.encode()


def hexadecimal(data: bytes) -> bytes:
    """``X'…'``, as in XA statements."""
    return b"X'" + data.hex().encode() + b"'"
