"""Values as text in all output: JSON, CSV, amounts, and text that is safe for a terminal.

Names and values in a log may contain anything. All text for people passes through `printable`. JSON, CSV and
SQL have escapes of their own, for programs, and the text of clients has none; all of it passes through
`TerminalWriter` if it is written to a terminal.
"""

from __future__ import annotations

import codecs
import json
import re
import time
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import BinaryIO

from binlog_kaitai.errors import UNSAFE

#: Invalid UTF-8 is decoded to lone surrogates, which UTF-8 cannot represent: they are written as escapes.
ENCODING_ERRORS = "backslashreplace"

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_json(value: object) -> str:
    """A value as JSON text in one line."""
    return _ENCODER.encode(value)


#: Python's writer leaves control characters, among them carriage returns, without quotes. An empty string is
#: in quotes, because NULL is empty.
_IN_QUOTES = re.compile('^$|[",\x00-\x1f\x7f-\x9f]')


def csv_line(values: Iterable[object]) -> bytes:
    """One line of fields: None is an empty one; objects, lists and truth values are JSON."""
    return (",".join(map(_field, values)) + "\n").encode("utf-8", ENCODING_ERRORS)


def _field(value: object) -> str:
    if value is None:
        return ""
    text = to_json(value) if isinstance(value, (dict, list, bool)) else str(value)
    return '"' + text.replace('"', '""') + '"' if _IN_QUOTES.search(text) else text


#: Number of names that a message has.
_MOST_NAMES = 5

#: What is unsafe, without tabs and line feeds, which structure text.
_CONTROLS = UNSAFE.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f")

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def first_names(names: Collection[str]) -> str:
    """The first names of many, in order, for a message."""
    return ", ".join(sorted(names)[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")


def printable(text: str) -> str:
    """One line of text, with escapes (``\\n``, ``\\x1b``, ``\\u202e``) for unprintable characters."""
    return text if text.isprintable() else re.sub(UNSAFE, _escape, text)


class TerminalWriter:
    """Writes text to a terminal, with escapes for all characters that control it but tabs and line feeds."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write(self, data: bytes | memoryview) -> int:
        """Write UTF-8, of which a character may be split between two calls."""
        self._put(self._decoder.decode(bytes(memoryview(data))))
        return len(data)

    def flush(self) -> None:
        """Write what is held, and flush the stream."""
        self._put(self._decoder.decode(b"", final=True))
        self._stream.flush()

    def _put(self, text: str) -> None:
        self._stream.write(re.sub(_CONTROLS, _escape, text).encode())


#: The kinds of changes in a table, and their colors.
_CHANGE = re.compile(r"(?<=  )(insert|update|delete)(?=  |\n)")
_COLORS = {"insert": "32", "update": "33", "delete": "31"}


def styled(text: str, style: str) -> str:
    """Text with a style of terminals, such as ``1`` for bold."""
    return f"\x1b[{style}m{text}\x1b[0m" if text.strip() else text


class TableWriter(TerminalWriter):
    """Writes lines of a table, the first of which is its heading, folded between words to a width."""

    def __init__(self, stream: BinaryIO, width: int, *, has_colors: bool) -> None:
        super().__init__(stream)
        self.width, self._has_colors = width, has_colors
        self._rest, self._is_heading = "", True

    def _put(self, text: str) -> None:
        from textwrap import wrap

        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            shown = re.sub(_CONTROLS, _escape, line)
            if len(shown) > self.width:
                shown = "\n".join(wrap(shown, self.width, subsequent_indent="    ", break_on_hyphens=False))
            if self._has_colors and self._is_heading:
                shown = "\n".join(styled(part, "1") for part in shown.split("\n"))
            elif self._has_colors:
                shown = _CHANGE.sub(lambda kind: styled(kind[0], _COLORS[kind[0]]), shown, count=1)
            self._is_heading = False
            self._stream.write(f"{shown}\n".encode())


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _SHORT.get(match[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def zone_name() -> str:
    """The name of the local zone, in which times are printed: ``UTC``, ``CET/CEST``."""
    return "/".join(dict.fromkeys(time.tzname[: 1 + bool(time.daylight)]))


def shown_time(seconds: int) -> str:
    """``YYYY-MM-DD hh:mm:ss`` in local time, like the times that filters take."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def iso_time(seconds: int, micros: int = 0) -> str:
    """``YYYY-MM-DDThh:mm:ss[.ffffff]+hh:mm`` in local time."""
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=micros).astimezone().isoformat()


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def shown_bytes(count: int) -> str:
    """A number of bytes with three digits and a unit."""
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.3g} {_UNITS[unit]}" if unit else f"{count} B"


def shown_seconds(seconds: float) -> str:
    """A duration in its two largest units."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms" if seconds else "0 s"
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = int(seconds)
    for size, unit, below, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {unit} {rest} {small}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"
