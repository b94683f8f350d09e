"""Text for a terminal, with escapes for characters that control it or hide text.

Names and values in a log may contain anything. All text for people passes through `printable`; JSON, CSV and
SQL have their own escapes.
"""

from __future__ import annotations

import re

#: C0 and C1 controls with DEL, bidirectional marks and overrides, line and paragraph separators, and lone
#: surrogates, which represent bytes that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """One line of text, with escapes (``\\n``, ``\\x1b``, ``\\u202e``) for unprintable characters."""
    return text if text.isprintable() else _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
