"""The tables that a statement may change if it cannot be parsed: by its first words, or all of its names."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import pairwise

from binlog_kaitai.ddl.lexer import Token, TokenCursor, TokenKind, UnreadableError, split, tokens_of
from binlog_kaitai.ddl.statements import AlterTable, qualified, skip_variables
from binlog_kaitai.ddl.store import Session, TableKey


def concerned(
    sql: str, schema_name: str, session: Session, *, is_decoded: bool
) -> tuple[TableKey | None, set[TableKey] | None, bool]:
    """The table that a statement creates or alters; others that it may change, None if it only creates one;
    whether its names are certain.

    `is_decoded`: otherwise, it is text as Latin-1, which is certain up to the first character beyond ASCII.
    """
    own: TableKey | None = None
    tokens, is_whole = list[Token](), False
    certain = sql if is_decoded else re.split(r"[^\0-\x7f]", sql, maxsplit=1)[0]
    modes = {"is_single_byte": session.is_single_byte, "is_mysql": session.is_mysql}
    with suppress(UnreadableError):
        tokens.extend(tokens_of(certain, session.sql_mode, **modes))
        is_whole = is_decoded
    cursor = TokenCursor(tokens)
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
            return own, None, True
        if own is not None and is_whole:  # a statement that failed
            new = AlterTable(name, split(cursor.rest())).new_name
            return own, set() if new is None else {qualified(new, schema_name)}, True
    names = (token.text for token in tokens if token.kind in (TokenKind.WORD, TokenKind.NAME))
    words = list(names) if is_whole else re.findall(r"[\w$]+", sql)
    return own, {*((schema_name, word) for word in words), *pairwise(words)}, is_whole
