"""Tokenizes statements by MySQL's lexical rules.

Conditional comments (``/*!80023 … */``, MariaDB's ``/*M! … */``) are read as their content: before a server
logs a statement, it turns those it did not execute into plain comments. To MySQL, ``/*M! … */`` is a plain
comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

from binlog_kaitai.core.grammar import masks

#: Bits of `sql_mode` that affect tokenizing.
ANSI_QUOTES = masks.SqlMode.IS_ANSI_QUOTES
NO_BACKSLASH_ESCAPES = masks.SqlMode.IS_NO_BACKSLASH_ESCAPES

#: A condition that no server meets. MariaDB's dumps begin with one.
NEVER = r"M?!999999|!999\d\d(?!\d)"


@cache
def _token(is_single_byte: bool, is_mysql: bool) -> re.Pattern[str]:
    # White space is ASCII; in single-byte character sets, a no-break space is white space, too.
    # What words do not contain is a short list: a long range of letters takes 2 ms to compile.
    space, others = r"\s", r"\x00-#%-/:-@\[-\^`{-\x7f"
    if is_single_byte:
        space, others = rf"{space}\xa0", rf"{others}\xa0"
    condition = "!" if is_mysql else "M?!"
    return re.compile(
        rf"""(?P<skipped>[{space}]+|--(?=[{space}]|$)[^\n]*|\#[^\n]*|/\*(?:(?!{condition})|{NEVER}).*?\*/)
        |/\*(?!{NEVER})(?P<condition>{condition})(?:\d{{5,6}}|)
        |(?P<end>\*/)
        |(?P<word>[^{others}]+)
        |(?P<quote>['"`])
        |(?P<mark>.)""",
        re.DOTALL | re.VERBOSE | re.ASCII,
    )


_TO_QUOTE = {quote: re.compile(rf"(?:[^{quote}]|{quote}{quote})*", re.DOTALL) for quote in "'\"`"}
_TO_QUOTE_ESCAPED = {
    quote: re.compile(rf"(?:[^\\{quote}]|\\.|{quote}{quote})*", re.DOTALL) for quote in "'\""
}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": r"\%", "_": r"\_"}


class UnreadableError(Exception):
    """The statement has a form that the parser does not support."""


class TokenKind(Enum):
    """Kinds of tokens. An unquoted word may be a keyword, a name or a number."""

    WORD = "word"
    NAME = "name"
    STRING = "string"
    MARK = "mark"


class Token(NamedTuple):
    """One word, quoted name, string or other character; `text` excludes the quotes."""

    kind: TokenKind
    text: str

    @property
    def keyword(self) -> str:
        """The word in upper case; empty for a token that cannot be a keyword."""
        return self.text.upper() if self.kind is TokenKind.WORD and self.text.isascii() else ""

    @property
    def shown(self) -> str:
        """The token in error messages, which are stored in checkpoints: no values."""
        return "a string" if self.kind is TokenKind.STRING else str(self)

    def __str__(self) -> str:
        if self.kind is TokenKind.STRING:
            return "'" + self.text.replace("'", "''") + "'"
        return f"`{self.text}`" if self.kind is TokenKind.NAME else self.text


COMMA = Token(TokenKind.MARK, ",")


def tokens_of(
    sql: str, sql_mode: int = 0, *, is_single_byte: bool = False, is_mysql: bool = False
) -> Iterator[Token]:
    """The tokens of a statement, without comments.

    `is_single_byte`: the client's character set has one byte for each character; its no-break space separates
    words.
    `is_mysql`: MariaDB's conditional comments are plain ones.
    Raises `UnreadableError`: a string or comment is not terminated.
    """
    offset, depth = 0, 0
    pattern = _token(is_single_byte, is_mysql)
    while offset < len(sql):
        lexeme = pattern.match(sql, offset)
        assert lexeme is not None
        offset = lexeme.end()
        match lexeme.lastgroup:
            case "word":
                yield Token(TokenKind.WORD, lexeme[0])
            case "quote":
                token, offset = _quoted(sql, offset, lexeme[0], sql_mode)
                yield token
            case "condition":
                depth += 1
            case "end" if depth:
                depth -= 1
            case "mark" if sql.startswith("/*", lexeme.start()):
                raise UnreadableError("unterminated comment")
            case "mark" | "end":
                for mark in lexeme[0]:
                    yield Token(TokenKind.MARK, mark)
    if depth:
        raise UnreadableError("unterminated comment")


def _quoted(sql: str, offset: int, quote: str, sql_mode: int) -> tuple[Token, int]:
    is_name = quote == "`" or (quote == '"' and sql_mode & ANSI_QUOTES)
    has_escapes = not is_name and not sql_mode & NO_BACKSLASH_ESCAPES
    match = (_TO_QUOTE_ESCAPED if has_escapes else _TO_QUOTE)[quote].match(sql, offset)
    assert match is not None
    if not sql.startswith(quote, match.end()):
        raise UnreadableError("unterminated string or quoted name")
    text = match[0].replace(quote * 2, quote)
    if has_escapes:
        text = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), text)
    return Token(TokenKind.NAME if is_name else TokenKind.STRING, text), match.end() + 1


class TokenCursor:
    """A position in a list of tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._index = 0

    def __bool__(self) -> bool:
        """Whether tokens are left."""
        return self._index < len(self._tokens)

    def peek(self, distance: int = 0) -> Token | None:
        """A token, without advancing."""
        index = self._index + distance
        return self._tokens[index] if index < len(self._tokens) else None

    def keyword(self, distance: int = 0) -> str:
        """A token's keyword; empty if it is not one."""
        token = self.peek(distance)
        return token.keyword if token else ""

    def mark(self, distance: int = 0) -> str:
        """A token's character; empty for a word or a string."""
        token = self.peek(distance)
        return token.text if token and token.kind is TokenKind.MARK else ""

    def next(self) -> Token:
        """The next token; advances past it."""
        if not self:
            raise UnreadableError("unexpected end of statement")
        self._index += 1
        return self._tokens[self._index - 1]

    def skip(self, *words: str) -> bool:
        """Advance past these keywords or marks if all of them come next."""
        for distance, word in enumerate(words):
            if word not in (self.keyword(distance), self.mark(distance)):
                return False
        self._index += len(words)
        return True

    def skip_one(self, *words: str) -> str:
        """Advance past one of these keywords or marks; returns it, or an empty string."""
        return next((word for word in words if self.skip(word)), "")

    def name(self) -> str:
        """An identifier."""
        token = self.next()
        if token.kind not in (TokenKind.WORD, TokenKind.NAME) or not token.text:
            raise UnreadableError(f"expected a name, found {token.shown}")
        return token.text

    def dotted_name(self) -> tuple[str, ...]:
        """An identifier, with its qualifiers."""
        self.skip(".")  # `.t` is a table of the default database
        names = [self.name()]
        while self.skip("."):
            names.append(self.name())
        return tuple(names)

    def group(self) -> list[Token]:
        """The tokens inside the parentheses that come next; advances past them."""
        if not self.skip("("):
            raise UnreadableError("a parenthesis is missing")
        start, depth = self._index, 1
        while depth:
            token = self.next()
            if token.kind is TokenKind.MARK:
                depth += (token.text == "(") - (token.text == ")")
        return list(self._tokens[start : self._index - 1])

    def passed(self, read: Callable[[TokenCursor], object]) -> list[Token]:
        """The tokens that a function advances past."""
        start = self._index
        read(self)
        return list(self._tokens[start : self._index])

    def skip_group(self) -> bool:
        """Advance past a parenthesized group if one comes next."""
        if self.mark() == "(":
            self.group()
            return True
        return False

    def rest(self) -> list[Token]:
        """All remaining tokens; advances to the end."""
        start, self._index = self._index, len(self._tokens)
        return list(self._tokens[start:])


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The parts between commas outside parentheses."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind is TokenKind.MARK:
            depth += (token.text == "(") - (token.text == ")")
            if token == COMMA and not depth:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts


def _skipped(condition: str) -> str:
    """White space or a comment, or the beginning of a comment that is executed under `condition`.

    Each is matched in one way only (atomically); a statement that does not match would take exponential time.
    """
    comment = rf"/\*(?:(?!{condition})|{NEVER}).*?\*/"
    return rf"(?>\s+|--[^\n]*\n|\#[^\n]*\n|{comment}|/\*{condition}\d*)"


#: What may precede the words of a statement, as a regular expression.
COMMENT = _skipped("M?!")
#: The same in MySQL, where MariaDB's conditional comments are plain ones.
_COMMENT_OF_MYSQL = _skipped("!")


def _begins_with(words: str) -> str:
    return rf"(?ais)(?:(?:{COMMENT})*+|(?:{_COMMENT_OF_MYSQL})*+)(?:{words})\b"


# Not compiled before the first use: the short commands need none of them.
_DEFINES_BYTES = _begins_with(r"CREATE|ALTER|DROP|RENAME|SET\s+STATEMENT").encode()
_EMPTIES_BYTES = _begins_with("TRUNCATE").encode()
_CHANGES_BYTES = _begins_with(r"INSERT|REPLACE|UPDATE|DELETE|LOAD|REPAIR|WITH|SET\s+STATEMENT").encode()
_HARMLESS_BYTES = (
    _begins_with(
        "BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|XA|GRANT|REVOKE|FLUSH|OPTIMIZE|INSTALL|UNINSTALL"
        r"|SET(?!(?:\s|/\*.*?\*/)+STATEMENT\b)|ANALYZE\s+(?:\w+\s+)?TABLES?"
    )
    + rf"|(?:{COMMENT})*+(?:\#|--|\Z)"  # nothing but comments
).encode()


def may_matter_bytes(query: bytes | memoryview) -> bool:
    """Whether a statement (bytes, as in its event) may change a definition, by its first word."""
    return re.match(_DEFINES_BYTES, query) is not None


def may_truncate(query: bytes | memoryview) -> bool:
    """Whether a statement (bytes, as in its event) may truncate a table, by its first word."""
    return re.match(_EMPTIES_BYTES, query) is not None


def may_affect_tables(query: bytes | memoryview) -> bool:
    """Whether a statement (bytes, as in its event) may change a definition or truncate a table."""
    return may_matter_bytes(query) or may_truncate(query)


def may_change_rows(query: bytes) -> bool:
    """Whether a statement (bytes, as in its event) may change rows, by its first word."""
    return re.match(_CHANGES_BYTES, query) is not None


def may_replace(text: str | None) -> bool:
    """Whether a statement may be a REPLACE, or do as one; None: its text is not known."""
    return text is None or re.match(_begins_with("UPDATE|INSERT"), text) is None


def is_harmless(query: bytes) -> bool:
    """Whether a statement (bytes, as in its event) changes no table, by its first word."""
    return re.match(_HARMLESS_BYTES, query) is not None


_PIECE = r"""(?aimsx)^[ \t]*DELIMITER[ \t]+(?P<new>\S+)[^\n]*\n?
    |(?P<comment>--(?=\s|$)[^\n]*|\#[^\n]*|/\*(?!M?!).*?\*/)
    |'(?:[^\\']|\\.|'')*'|"(?:[^\\"]|\\.|"")*"|`(?:[^`]|``)*`
    |[A-Za-z0-9_ ,()]+|."""
_USE = re.compile(r"\s*USE\s+(?:`((?:[^`]|``)+)`|([^\s;]+))\s*", re.IGNORECASE | re.ASCII)


def statements_of(text: str, schema_name: str = "") -> Iterator[tuple[str, str]]:
    """Each statement with its default database, as set by USE."""
    for statement in _statements(text):
        if use := _USE.fullmatch(statement):
            schema_name = use[1].replace("``", "`") if use[1] is not None else use[2]
        elif statement.strip():
            yield schema_name, statement


def _statements(text: str) -> Iterator[str]:
    end, pieces, offset, pattern = ";", list[str](), 0, re.compile(_PIECE)
    while offset < len(text):
        if text.startswith(end, offset):
            yield "".join(pieces)
            pieces, offset = [], offset + len(end)
            continue
        piece = pattern.match(text, offset)
        assert piece is not None
        offset = piece.end()
        if piece["new"] is not None:
            end = piece["new"]
        elif piece["comment"] is None:
            pieces.append(piece[0])
    yield "".join(pieces)
