"""How the `mysql` client divides a script into statements, and which statements it passes on unchanged.

The client scans for quotes, comments, the delimiter, and its own commands (``\\!``, `system`), by rules that
differ from the server's: it decodes characters with its own character set, treats a backslash in double
quotes as an escape even if ANSI_QUOTES is on, and parses comments that only other versions execute. A
statement is safe if both divide it in the same way.
"""

from __future__ import annotations

import re

from binlog_kaitai.ddl.lexer import ANSI_QUOTES, NO_BACKSLASH_ESCAPES

#: Beginnings of statements in a log, none of which is a command of the client.
_VERBS = (
    "alter|analyze|begin|binlog|call|change|check|commit|create|delete|do|drop|flush|grant|import|insert|"
    "install|lock|optimize|release|rename|repair|replace|reset|revoke|rollback|savepoint|select|set|start|"
    "truncate|uninstall|unlock|update|values|with|xa"
)

_SPACE = r"[\x20\t\n\v\f\r]"
_COMMENT = rf"--(?={_SPACE}|\Z)[^\n]*|\#[^\n]*|/\*(?![!+M])[^*]*(?:\*(?!/)[^*]*)*\*/"
#: Strings and names without a comment end, because a server of another version skips to the first one.
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
#: What may precede the first word of a statement.
BEFORE_VERB = rf"(?>{_SPACE}|{_COMMENT})*(?:/\*M?![0-9]*{_SPACE}*)?"
_START = re.compile(rf"{BEFORE_VERB}(?:\(|(?:{_VERBS})\b)", re.DOTALL | re.IGNORECASE)
_IS_ASCII = re.compile(rb"[\t\n -~]*")


def is_safe(query: bytes, sql_mode: int) -> bool:
    """Whether client and server parse a statement in the same way, in any client character set."""
    if _IS_ASCII.fullmatch(query) is None or (b"\\" in query and sql_mode & NO_BACKSLASH_ESCAPES):
        return False
    return is_whole(query.decode("ascii"), sql_mode)


def is_whole(text: str, sql_mode: int) -> bool:
    """Whether client and server parse a statement in the same way, given the same character set."""
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
