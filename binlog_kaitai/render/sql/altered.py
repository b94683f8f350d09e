"""Warns about tables that a log alters after changes that are being undone.

Undo statements apply to the tables as they were at the time. Later DDL on these tables is not undone, so the
statements may fail, or affect other columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from binlog_kaitai.ddl.first_words import may_matter_bytes
from binlog_kaitai.ddl.lexer import UnreadableError
from binlog_kaitai.ddl.queries import statement_of
from binlog_kaitai.ddl.statements import AlterTable, CreateTable, DropTables, Name, RenameTables, qualified
from binlog_kaitai.render.sql.omissions import shortened


class Alteration(NamedTuple):
    """A statement that alters a table.

    Attributes
    ----------
    row : int
        Number of its event in the block.
    key : tuple of str
        Schema and name of the table.
    where, text : str
        Its position, and the beginning of its text.
    """

    row: int
    key: tuple[str, str]
    where: str
    text: str

    @property
    def warning(self) -> str:
        """The warning to show before the script runs."""
        return (
            f"{self.where}: {'.'.join(self.key)} has changes in the script from before this statement, which "
            f"is not reverted; the table must have its earlier definition: {self.text}"
        )


def alterations(body: Any, row: int, where: str) -> list[Alteration]:
    """The tables that the body of a QUERY_EVENT alters."""
    query = bytes(body.query)
    if not may_matter_bytes(query):
        return []
    try:
        names = _names(statement_of(body))
    except (UnreadableError, RecursionError):
        return []
    text = shortened(query.decode("utf-8", "backslashreplace"))
    keys = [qualified(name, body.schema_name) for name in names]
    return [Alteration(row, key, where, text) for key in keys]


def _names(statement: Any) -> list[Name]:
    match statement:
        case AlterTable() | CreateTable(replaces=True, is_temporary=False):
            return [statement.name]
        case RenameTables():
            return [old for old, _ in statement.pairs]
        case DropTables() if not statement.is_temporary:
            return statement.names
    return []
