"""SQL literals, parsed like in every server."""

from __future__ import annotations

import re

#: The two forms of a literal of text; neither has a byte that any client or `sql_mode` reads otherwise.
LITERAL = re.compile(r"'((?:[ -&(-\[\]-~]|'')*)'|(?:_([0-9a-z]+) )?0x((?:[0-9A-F]{2})+)")


def value_of(sql: str) -> bytes:
    """The bytes of text that a server reads."""
    match = LITERAL.fullmatch(sql)
    assert match is not None, sql
    text, _, digits = match.groups()
    return bytes.fromhex(digits) if digits else text.replace("''", "'").encode()
