"""The tables of a server, and their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType

from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.server_logs import anyone
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.values.sql_text import identifier

#: Databases of the server itself.
SYSTEM = ("mysql", "information_schema", "performance_schema", "sys")

#: A table: schema, name, engine, and the number of rows that the server estimates.
ListedTable = tuple[str, str, str | None, int | None]


def quoted(*names: str) -> str:
    """A name, or a qualified one, as an SQL identifier."""
    return ".".join(map(identifier, names))


def list_tables(session: ServerSession) -> list[ListedTable]:
    """The base tables that the user sees, by name."""
    listed = session.ask(
        "SELECT table_schema, table_name, engine, table_rows FROM information_schema.tables "
        "WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') "
        f"AND table_schema NOT IN {SYSTEM} ORDER BY 1, 2",
        *(str, str, (str, NoneType), (int, NoneType)),
    )
    return [row[:4] for row in listed]


def create_statements(session: ServerSession, keys: Iterable[TableKey], what: str) -> dict[TableKey, str]:
    """CREATE TABLE of each table; `what`: what asks for it, see `ServerSession.ask`."""
    statements = {}
    for key in keys:
        _, statement = session.ask_one(f"SHOW CREATE TABLE {quoted(*key)}", str, str, what=what)
        statements[key] = statement
    return statements


def script_of(statements: Mapping[TableKey, str]) -> str:
    """The statements as a file of definitions."""
    return "\n".join(f"USE {quoted(key[0])};\n{text};\n" for key, text in statements.items())


def definitions_of(url: str) -> str:
    """The current definitions of a server's tables, as a file of definitions.

    Raises `ServerError`: the server cannot be reached, or refuses; `UsageError`: the URL is invalid.
    """
    with ServerSession(Address.parse(url)[0], anyone()) as session:
        keys = [(schema_name, name) for schema_name, name, *_ in list_tables(session)]
        return script_of(create_statements(session, keys, "table definitions (SELECT)"))
