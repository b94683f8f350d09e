"""Text for a terminal: what would control it, or hide what is there, is escaped.

Names and values of a log are whatever somebody stored. Everything that people read goes through `printable`;
JSON, CSV and SQL have escapes of their own.
"""

from __future__ import annotations

import re

#: C0 and C1 controls with DEL, marks and overrides of the writing direction, ends of lines and paragraphs,
#: and lone surrogates, which stand for bytes that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """One line of text, with escapes (``\\n``, ``\\x1b``, ``\\u202e``) for what is not to be printed."""
    return text if text.isprintable() else _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
