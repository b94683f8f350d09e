"""Whether a statement may change a definition, by its first word: of most statements no more is looked at."""

from __future__ import annotations

import re

_COMMENT = r"\s+|--[^\n]*\n|\#[^\n]*\n|/\*(?!M?!).*?\*/|/\*M?!\d*"
#: What a statement that may matter begins with.
_BEGINNING = re.compile(
    rf"(?:{_COMMENT})*(?:CREATE|ALTER|DROP|RENAME|SET\s+STATEMENT)\b", re.IGNORECASE | re.DOTALL
)
_BEGINNING_BYTES = re.compile(_BEGINNING.pattern.encode(), _BEGINNING.flags & ~re.UNICODE)


def may_matter(sql: str) -> bool:
    """Whether a statement may change a definition, by its first word."""
    return _BEGINNING.match(sql) is not None


def may_matter_bytes(query: bytes) -> bool:
    """The same for a statement as its event has it."""
    return _BEGINNING_BYTES.match(query) is not None
