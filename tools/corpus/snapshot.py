"""Table contents, one JSON object per table, with which decoded rows are compared.

A value is null, text as sent by the server (time zone UTC), or {"hex": …} for binary columns. Columns whose
text would not determine their bytes (BIT, VECTOR, geometry) are selected as HEX() and flagged as `hexed`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tools.servers import Server

_AS_HEX = ("bit", "vector", "geom", "point", "linestring", "polygon", "multi")
_COLUMNS = (
    "SELECT column_name, column_type, character_set_name, collation_name, is_nullable, column_key, extra "
    "FROM information_schema.columns WHERE table_schema = '{}' AND table_name = '{}' "
    "ORDER BY ordinal_position"
)
_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = '{}' "
    "AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 1"
)
_KEYS = ("name", "type", "charset", "collation", "nullable", "key", "extra", "hexed")


def snapshot(server: Server, databases: Sequence[str]) -> str:
    """All tables of the databases, as JSON lines."""
    connection = server.connect(conv={})
    try:
        cursor = connection.cursor()
        cursor.execute("SET time_zone = '+00:00'")
        lines = []
        for database in databases:
            cursor.execute(_TABLES.format(database))
            for (table,) in cursor.fetchall():
                lines.append(json.dumps(table_contents(cursor, database, table), ensure_ascii=False))
        return "".join(line + "\n" for line in lines)
    finally:
        connection.close()


def table_contents(cursor: Any, database: str, table: str) -> dict[str, Any]:
    """The columns and rows of one table; the cursor's connection has no converters and the time zone UTC."""
    cursor.execute(_COLUMNS.format(database, table.replace("'", "''")))
    columns = [[_text(value) for value in row] for row in cursor.fetchall()]
    hexed = [str(column[1]).lower().startswith(_AS_HEX) for column in columns]
    names = [_quoted(str(column[0])) for column in columns]
    wanted = ", ".join(f"HEX({name})" if is_hex else name for name, is_hex in zip(names, hexed, strict=True))
    key = [name for name, column in zip(names, columns, strict=True) if column[5] == "PRI"]
    order = f" ORDER BY {', '.join(key)}" if key else ""
    cursor.execute(f"SELECT {wanted} FROM {_quoted(database)}.{_quoted(table)}{order}")
    rows = [
        [{"hex": cell.hex()} if isinstance(cell, bytes) else cell for cell in row]
        for row in cursor.fetchall()
    ]
    described = [
        dict(zip(_KEYS, [*column, is_hex], strict=True))
        for column, is_hex in zip(columns, hexed, strict=True)
    ]
    return {"db": database, "table": table, "columns": described, "rows": rows}


def _text(value: object) -> object:
    return value.decode() if isinstance(value, bytes) else value


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
