"""The tables that a statement may change if it cannot be parsed: by its first words, or all of its names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from binlog_kaitai.ddl.lexer import Token, TokenCursor, TokenKind, UnreadableError, tokens_of
from binlog_kaitai.ddl.statements import Name, qualified, skip_variables
from binlog_kaitai.ddl.store import Session, TableKey


class Concerned(NamedTuple):
    """Tables by schema and name.

    `own`: the table that the statement creates or alters.
    `others`: those that it may change, too; `has_special`: and all whose names are no plain ASCII words.
    `is_open`: it may have created others.
    """

    own: TableKey | None
    others: set[TableKey]
    has_special: bool
    is_open: bool


def concerned(sql: str, schema_name: str, session: Session, *, is_decoded: bool) -> Concerned:
    """The tables that a statement may concern.

    `is_decoded`: otherwise, it is text as Latin-1, which is certain up to the first character beyond ASCII.
    """
    certain = sql if is_decoded else re.split(r"[^\0-\x7f]", sql, maxsplit=1)[0]
    tokens: list[Token] = []
    is_whole = False
    with suppress(UnreadableError):
        for token in tokens_of(
            certain, session.sql_mode, is_single_byte=session.is_single_byte, is_mysql=session.is_mysql
        ):
            tokens.append(token)
        is_whole = is_decoded
    cursor = TokenCursor(tokens)
    own: TableKey | None = None
    with suppress(UnreadableError):
        skip_variables(cursor)
        is_created = cursor.skip("CREATE")
        if is_created or cursor.skip("ALTER"):
            while cursor.skip("OR", "REPLACE") or cursor.skip_one("ONLINE", "OFFLINE", "IGNORE"):
                pass
            if cursor.skip_one("TABLE", "SEQUENCE"):
                _ = cursor.skip("IF", "NOT", "EXISTS") or cursor.skip("IF", "EXISTS")
                name = cursor.dotted_name()
                own = qualified(name, schema_name) if cursor else None  # what is cut off may belong to it
        if own is not None and is_created:
            return Concerned(own, set(), has_special=False, is_open=False)
    if not is_whole:
        words = re.findall(r"[\w$]+", sql)
        names: Iterator[Name] = iter([*((word,) for word in words), *pairwise(words)])
    else:
        names = _names(tokens)
    return Concerned(own, {qualified(name, schema_name) for name in names}, not is_whole, is_open=True)


def _names(tokens: Sequence[Token]) -> Iterator[Name]:
    """All names, with qualifiers and without."""
    for number, token in enumerate(tokens):
        if token.kind in (TokenKind.WORD, TokenKind.NAME):
            yield (token.text,)
            if len(tokens) > number + 2 and tokens[number + 1].text == ".":
                yield (token.text, tokens[number + 2].text)
