"""Splits an SQL file, such as mysqldump writes, into statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PIECE = re.compile(
    r"""^[ \t]*DELIMITER[ \t]+(?P<new>\S+)[^\n]*\n?
    |(?P<comment>--(?=\s|$)[^\n]*|\#[^\n]*|/\*(?!M?!).*?\*/)
    |'(?:[^\\']|\\.|'')*'|"(?:[^\\"]|\\.|"")*"|`(?:[^`]|``)*`
    |[A-Za-z0-9_ ,()]+|.""",
    re.DOTALL | re.VERBOSE | re.IGNORECASE | re.MULTILINE | re.ASCII,
)
_USE = re.compile(r"\s*USE\s+(?:`((?:[^`]|``)+)`|([^\s;]+))\s*", re.IGNORECASE | re.ASCII)


def statements_of(text: str, schema_name: str = "") -> Iterator[tuple[str, str]]:
    """Each statement with its default database, as set by USE."""
    for statement in _statements(text):
        if found := _USE.fullmatch(statement):
            schema_name = found[1].replace("``", "`") if found[1] is not None else found[2]
        elif statement.strip():
            yield schema_name, statement


def _statements(text: str) -> Iterator[str]:
    end, pieces, at = ";", list[str](), 0
    while at < len(text):
        if text.startswith(end, at):
            yield "".join(pieces)
            pieces, at = [], at + len(end)
            continue
        found = _PIECE.match(text, at)
        assert found is not None
        at = found.end()
        if found["new"] is not None:
            end = found["new"]
        elif found["comment"] is None:
            pieces.append(found[0])
    yield "".join(pieces)
