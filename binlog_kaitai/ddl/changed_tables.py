"""The tables whose rows a statement may change, from its words up to the last table name.

A statement may also name tables that it only reads; the tables it changes are always among the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from binlog_kaitai.ddl.lexer import (
    COMMA,
    Token,
    TokenCursor,
    TokenKind,
    UnreadableError,
    is_harmless,
    may_affect_tables,
    may_change_rows,
    split,
    tokens_of,
)
from binlog_kaitai.ddl.statements import Name, skip_variables
from binlog_kaitai.ddl.store import Session

_DEFINITIONS = frozenset(("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE"))

_VERBS = frozenset(("INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD"))
_MODIFIERS = frozenset(("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "IGNORE", "INTO", "FROM"))
_BEFORE_TABLE = frozenset(("JOIN", "STRAIGHT_JOIN", "FROM", "USING"))
_BEFORE_NAME = _BEFORE_TABLE.union(_VERBS, _MODIFIERS, ("TABLE",))
#: Some servers also accept some of these as names where a name is expected.
_AFTER_TABLES = frozenset(("SET", "WHERE", "ORDER", "LIMIT", "RETURNING", "VALUES", "VALUE", "SELECT"))
_QUERIES = frozenset(("SELECT", "WITH", "VALUES", "TABLE"))


def changed_tables(query: bytes, read: Callable[[], tuple[str | None, Session]]) -> list[Name] | None:
    """The tables that a statement may change rows of, each once; None if that cannot be known.

    The effect of a statement on a whole table, such as TRUNCATE's, is not meant here.

    `read`: returns the text, None if it cannot be decoded, and the session; called only if the names depend
    on them.
    """
    if not may_change_rows(query):
        return [] if may_affect_tables(query) or is_harmless(query) else None
    try:
        names = _changed(TokenCursor(_beginning(query, read)))
        "".join(name for table in names or () for name in table).encode()
    except (UnreadableError, UnicodeEncodeError, RecursionError):
        return None
    return None if names is None else list(dict.fromkeys(names))


def _beginning(query: bytes, read: Callable[[], tuple[str | None, Session]]) -> list[Token]:
    """The tokens that name tables."""
    with suppress(UnreadableError):  # possibly only in this mode
        tokens = list(_heading(tokens_of(query.decode("utf-8", "surrogateescape"))))
        if all(token.text.isascii() and token.kind is not TokenKind.STRING for token in tokens):
            return tokens
    text, session = read()
    if text is None:
        raise UnreadableError("its character set is not known")
    return list(_heading(tokens_of(text, session.sql_mode, is_single_byte=session.is_single_byte)))


def _heading(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens up to the point where all tables have been named; usually few, however long the statement
    is.
    """
    depth, has_verb, is_name = 0, False, False
    for token in tokens:
        if token.kind is TokenKind.MARK:
            depth += (token.text == "(") - (token.text == ")")
        elif not depth:
            if has_verb and not is_name and token.keyword in _AFTER_TABLES:
                return
            has_verb |= token.keyword in _VERBS
        is_name = token.keyword in _BEFORE_NAME or token == COMMA
        yield token


def _changed(cursor: TokenCursor) -> list[Name] | None:
    skip_variables(cursor)
    _skip_named_queries(cursor)
    verb = cursor.next().keyword
    if verb in _DEFINITIONS:
        return []
    if verb == "LOAD":
        while cursor and not cursor.skip("INTO", "TABLE"):
            cursor.next()
        return [cursor.dotted_name()] if cursor else None
    if verb == "REPAIR":
        cursor.skip_one("NO_WRITE_TO_BINLOG", "LOCAL")
        if not cursor.skip_one("TABLE", "TABLES"):
            return None
        return [TokenCursor(part).dotted_name() for part in split(cursor.rest())]
    while cursor.keyword() in _MODIFIERS:
        cursor.next()
    if verb in ("INSERT", "REPLACE"):
        return [cursor.dotted_name()]
    # Others are logged if a function that they call changes rows.
    return list(_tables(cursor)) if verb in ("UPDATE", "DELETE") else None


def _skip_named_queries(cursor: TokenCursor) -> None:
    """Skip WITH and its named queries."""
    if not cursor.skip("WITH"):
        return
    cursor.skip("RECURSIVE")
    while True:
        cursor.name()
        cursor.skip_group()
        cursor.skip("AS")
        cursor.group()
        if not cursor.skip(","):
            return


def _tables(cursor: TokenCursor) -> Iterator[Name]:
    """The tables of an UPDATE or DELETE, joined or listed."""
    is_due = True
    while cursor:
        token = cursor.peek()
        if cursor.mark() == "(":
            inner = TokenCursor(cursor.group())
            if is_due and inner.keyword() not in _QUERIES:
                yield from _tables(inner)
            is_due = False
        elif is_due and cursor.skip("{"):  # { OJ a LEFT JOIN b ON … }
            cursor.skip("OJ")
        elif is_due and token is not None and token.kind in (TokenKind.WORD, TokenKind.NAME):
            yield _table(cursor)
            is_due = False
        else:
            token = cursor.next()
            is_due = token == COMMA or token.keyword in _BEFORE_TABLE
            if token.keyword == "USING":
                cursor.skip_group()  # the columns of a join's USING


def _table(cursor: TokenCursor) -> Name:
    """A table name, optionally followed by `.*` in a multi-table DELETE."""
    names = [cursor.name()]
    while cursor.mark(1) != "*" and cursor.skip("."):
        names.append(cursor.name())
    return tuple(names)
