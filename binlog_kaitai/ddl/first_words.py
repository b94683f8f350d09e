"""Classifies statements by their first word, without parsing the rest."""

from __future__ import annotations

import re

from binlog_kaitai.ddl.lexer import NEVER


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


def _begins_with(words: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?:{COMMENT})*+|(?:{_COMMENT_OF_MYSQL})*+)(?:{words})\b", re.IGNORECASE | re.DOTALL | re.ASCII
    )


def _of_bytes(pattern: re.Pattern[str]) -> re.Pattern[bytes]:
    return re.compile(pattern.pattern.encode(), re.IGNORECASE | re.DOTALL)


_DEFINES = _begins_with(r"CREATE|ALTER|DROP|RENAME|SET\s+STATEMENT")
_DEFINES_BYTES = _of_bytes(_DEFINES)
_EMPTIES_BYTES = _of_bytes(_begins_with("TRUNCATE"))
_CHANGES_BYTES = _of_bytes(_begins_with(r"INSERT|REPLACE|UPDATE|DELETE|LOAD|WITH|SET\s+STATEMENT"))


def may_matter(sql: str) -> bool:
    """Whether a statement may change a definition, by its first word."""
    return _DEFINES.match(sql) is not None


def may_matter_bytes(query: bytes) -> bool:
    """The same for the bytes of a statement in its event."""
    return _DEFINES_BYTES.match(query) is not None


def may_truncate(query: bytes) -> bool:
    """Whether a statement (bytes, as in its event) may truncate a table, by its first word."""
    return _EMPTIES_BYTES.match(query) is not None


def may_affect_tables(query: bytes) -> bool:
    """Whether a statement (bytes, as in its event) may change a definition or truncate a table."""
    return may_matter_bytes(query) or may_truncate(query)


def may_change_rows(query: bytes) -> bool:
    """Whether a statement (bytes, as in its event) may change rows, by its first word."""
    return _CHANGES_BYTES.match(query) is not None
