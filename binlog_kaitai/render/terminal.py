"""Text for a terminal, with escapes for characters that control it or hide text.

Names and values in a log may contain anything. All text for people passes through `printable`. JSON, CSV and
SQL have escapes of their own, for programs, and the text of clients has none; all of it passes through
`TerminalWriter` if it is written to a terminal.
"""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO

#: C0 and C1 controls with DEL, bidirectional marks and overrides, line and paragraph separators, and lone
#: surrogates, which represent bytes that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

#: The same without tabs and line feeds, which structure text.
_CONTROLS = re.compile(_UNSAFE.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """One line of text, with escapes (``\\n``, ``\\x1b``, ``\\u202e``) for unprintable characters."""
    return text if text.isprintable() else _UNSAFE.sub(_escape, text)


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
        self._stream.write(_CONTROLS.sub(_escape, text).encode())


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
