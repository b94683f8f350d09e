"""How the `mysql` client divides a script into statements, and which statements it passes on unchanged.

The client looks for quotes, comments, the delimiter, and commands of its own (``\\!``, `system`), by rules
that are not quite the server's: it reads characters by its own character set, takes a backslash in double
quotes for an escape even where ANSI_QUOTES is on, and looks into comments that only other versions run. Where
both divide a statement the same way, it is safe.
"""

from __future__ import annotations

import re

from binlog_kaitai.ddl.lexer import ANSI_QUOTES, NO_BACKSLASH_ESCAPES

#: What statements of a log begin with. No command of the client does.
_VERBS = (
    "alter|analyze|begin|binlog|call|change|check|commit|create|delete|do|drop|flush|grant|import|insert|"
    "install|lock|optimize|release|rename|repair|replace|reset|revoke|rollback|savepoint|select|set|start|"
    "truncate|uninstall|unlock|update|values|with|xa"
)

_SPACE = r"[\x20\t\n\v\f\r]"
_COMMENT = rf"--(?={_SPACE}|\Z)[^\n]*|\#[^\n]*|/\*(?![!+M])[^*]*(?:\*(?!/)[^*]*)*\*/"
#: Strings and names without an end of a comment: a server of another version skips to the first of those.
_INSIDE = "|".join(rf"{quote}[^{quote}\\*]*(?:\*(?!/)[^{quote}\\*]*)*{quote}" for quote in "'\"`")
_CONDITIONAL = rf"/\*M?!(?:[^'\"`\\\#*/-]|{_INSIDE}|-(?!-)|/(?!\*)|\*(?!/))*\*/"
_HINT = r"/\*\+(?:[^'\"`\\\#*/;-]|-(?!-)|\*(?!/))*\*/"
_PLAIN = r"[^'\"`\\\#*/-]+|-(?!-)|/(?!\*)|\*(?!/)"


def _escaped(quote: str) -> str:
    return rf"{quote}[^{quote}\\]*(?:\\.[^{quote}\\]*)*{quote}"


def _token(quoted: str) -> re.Pattern[str]:
    return re.compile(f"{_COMMENT}|{_CONDITIONAL}|{_HINT}|{quoted}|`[^`\\\\]*`|{_PLAIN}", re.DOTALL)


_WITHOUT_ESCAPES = _token("'[^']*'|\"[^\"]*\"")
_TOKENS = {
    0: _token(f"{_escaped(chr(39))}|{_escaped(chr(34))}"),
    ANSI_QUOTES: _token(f'{_escaped(chr(39))}|"[^"\\\\]*"'),
    NO_BACKSLASH_ESCAPES: _WITHOUT_ESCAPES,
    ANSI_QUOTES | NO_BACKSLASH_ESCAPES: _WITHOUT_ESCAPES,
}
#: What may come before the first word of a statement.
BEFORE_VERB = rf"(?:{_SPACE}|{_COMMENT})*(?:/\*M?![0-9]*{_SPACE}*)?"
_START = re.compile(rf"{BEFORE_VERB}(?:\(|(?:{_VERBS})\b)", re.DOTALL | re.IGNORECASE)
_IS_ASCII = re.compile(rb"[\t\n -~]*")


def is_safe(query: bytes, sql_mode: int) -> bool:
    """Whether a client takes a statement for what the server does, whatever character set it reads."""
    if _IS_ASCII.fullmatch(query) is None or (b"\\" in query and sql_mode & NO_BACKSLASH_ESCAPES):
        return False
    return is_whole(query.decode("ascii"), sql_mode)


def is_whole(text: str, sql_mode: int) -> bool:
    """Whether a client takes a statement for what the server does, if it reads the same characters."""
    token = _TOKENS[sql_mode & (ANSI_QUOTES | NO_BACKSLASH_ESCAPES)]
    if "\0" in text or _START.match(text) is None:
        return False
    at = 0
    while at < len(text):
        found = token.match(text, at)
        if found is None:
            return False
        at = found.end()
    return True
