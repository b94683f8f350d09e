"""Values of a server's tables as queries return them, converted to those that the log's row images have.

Queries avoid the conversions that servers apply to results: FLOAT is rounded to six digits, text is converted
between character sets. So strings are requested as bytes and decoded like those of a log, ENUM and SET as
numbers, and FLOAT as DOUBLE.
"""

from __future__ import annotations

import re
import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from binlog_kaitai.ddl.logged_columns import logged_column
from binlog_kaitai.errors import ServerError
from binlog_kaitai.live.server_tables import quoted
from binlog_kaitai.values.charsets import decode
from binlog_kaitai.values.column_kinds import MOMENTS, STRINGS, UTC_MOMENTS, Kind
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column, NameSource, Schema
from binlog_kaitai.values.strings import enum_of, has_own_text, set_of
from binlog_kaitai.values.table_definition import TableDefinition
from binlog_kaitai.values.temporal import ZeroDate

#: Types that a snapshot cannot read.
_UNREADABLE = ("xmltype",)

#: What to select of a column, by the kind of its values; the column itself for all other kinds.
_SELECTED = {
    Kind.FLOAT: "{} * 1e0",
    Kind.DOUBLE: "{} * 1e0",
    Kind.YEAR: "{} + 0",
    Kind.ENUM: "CAST({} AS UNSIGNED)",
    Kind.SET: "CAST({} AS UNSIGNED)",
    **dict.fromkeys(STRINGS, "CAST({} AS BINARY)"),
    Kind.VECTOR: "HEX({})",
}

#: Character sets with characters beyond the BMP. SHOW CREATE TABLE and information_schema of all servers show
#: these as `?` in members of ENUM and SET, whose texts are asked nowhere else.
_BEYOND_BMP = ("utf8mb4", "utf16", "utf16le", "utf32", "gb18030")

_TIME = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?")
_FLOAT_SIZE = 4

_Date = TypeVar("_Date", date, datetime)


def schema_of(table: TableDefinition, *, is_mariadb: bool) -> Schema:
    """The schema of a table as its table maps and its definition together would give it.

    Raises `ServerError`: the type of a column is unknown.
    """
    columns = []
    for index, known in enumerate(table.columns):
        column = logged_column(known, index, is_mariadb=is_mariadb)
        if column is None or known.base_type in _UNREADABLE:
            name = f"{table.schema_name}.{table.table_name}.{known.name}"
            raise ServerError(f"{name} has the type {known.type_name}, which a snapshot cannot read")
        columns.append(column)
    key = table.primary_key
    return Schema(table.schema_name, table.table_name, tuple(columns), key, NameSource.DEFINITION, True)


def check_readable(schema: Schema, withheld: frozenset[str], *, shows_all_doubles: bool) -> None:
    """Check that the values of a table can be read as the log has them.

    `withheld`: columns that are not read.
    `shows_all_doubles`: whether a double in a document differs from an integer where the server prints it.
    Raises `ServerError`: they cannot; the message states a remedy.
    """
    for column in schema.columns:
        has_gaps = column.charset in _BEYOND_BMP and any("?" in member for member in column.members or ())
        if has_gaps and column.name not in withheld:
            raise ServerError(
                f"{schema.full_name}, column {column.name}: the server shows a member as '?', as it does "
                "with all characters beyond U+FFFF, so its text is not known; leave the column out "
                "(--exclude-columns), or rename the member if it really is a question mark"
            )
    documents = [] if shows_all_doubles else documents_in(schema, withheld)
    if documents and not schema.primary_key:
        raise ServerError(
            f"{schema.full_name}, column {documents[0].name}: MySQL 5.7 shows some doubles in documents as "
            "integers, and the table has no primary key, so its rows could not be matched with those of "
            "the log; leave the column out (--exclude-columns), or add a primary key"
        )


def documents_in(schema: Schema, withheld: frozenset[str]) -> list[Column]:
    """The columns of MySQL's documents that are read."""
    return [column for column in schema.columns if column.kind == Kind.JSON and column.name not in withheld]


def selected(column: Column) -> str:
    """The expression that selects a column so that `value_of_text` can convert it."""
    name = quoted(column.name)
    if has_own_text(column):
        return f"CAST({name} AS CHAR)"
    return _SELECTED.get(column.kind, "{}").format(name)


def value_of_text(text: Any, column: Column) -> Value:
    """The value that the event reader returns, from the text or the bytes that the server sent."""
    if text is None or has_own_text(column):
        return text  # type: ignore[no-any-return]
    match column.kind:
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.FLOAT | Kind.DOUBLE:
            return float(text)
        case Kind.BIT:
            return int.from_bytes(text, "big")
        case Kind.DATE:
            return _of_iso(date, text)
        case kind if kind in MOMENTS:
            moment = _of_iso(datetime, text)
            is_utc = kind in UTC_MOMENTS
            return moment.replace(tzinfo=UTC) if is_utc and isinstance(moment, datetime) else moment
        case Kind.TIME:
            return _time(text)
        case Kind.CHAR | Kind.VARCHAR | Kind.BLOB:
            return decode(text, column.charset)
        case Kind.ENUM:
            return enum_of(int(text), column)
        case Kind.SET:
            return set_of(int(text), column)
        case Kind.VECTOR:
            data = bytes.fromhex(text)
            return list(struct.unpack(f"<{len(data) // _FLOAT_SIZE}f", data))
        case Kind.JSON | Kind.GEOMETRY:
            return text  # type: ignore[no-any-return]
    return int(text)


def _of_iso(kind: type[_Date], text: str) -> _Date | ZeroDate:
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return ZeroDate(text)


def _time(text: str) -> timedelta:
    parts = _TIME.fullmatch(text)
    if parts is None:
        raise ServerError(f"the server sent {text!r} as a TIME")
    sign, hours, minutes, seconds, fraction = parts.groups()
    microseconds = int((fraction or "").ljust(6, "0"))
    length = timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(seconds), microseconds=microseconds
    )
    return -length if sign else length
