"""Columns as table maps and definitions together give them, from definitions alone."""

from __future__ import annotations

from binlog_kaitai.ddl.definition_match import decimal_digits
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import STRINGS, TIMES, Kind, of_type, sql_type
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import TEXTUAL
from binlog_kaitai.values.table_definition import ColumnDefinition


def logged_column(known: ColumnDefinition, index: int = 0, *, is_mariadb: bool = False) -> Column | None:
    """The column that a log has for a definition; None if its type is unknown."""
    base = known.base_type
    # MariaDB logs a VECTOR as a VARBINARY.
    logged = sql_type("varbinary" if is_mariadb and base == "vector" else base).logged
    if not logged:
        return None
    kind = of_type(logged[0]).kind
    precision, scale = decimal_digits(known.arguments) if kind == Kind.DECIMAL else (None, None)
    has_fraction = kind in TIMES and known.arguments
    has_bytes = base.endswith(("blob", "binary")) or base in (*TEXTUAL, "vector")
    is_bytes = kind in STRINGS and known.charset is None and has_bytes
    return Column(
        index=index,
        name=known.name,
        is_named=True,
        type=logged[0],
        length=_length(known, kind),
        precision=precision,
        scale=scale,
        fractional_digits=int(known.arguments[0]) if has_fraction else 0,
        is_unsigned=known.is_unsigned,
        is_nullable=known.is_nullable,
        charset=BINARY if is_bytes else known.charset,
        members=known.members,
        is_primary_key=known.is_primary_key,
        is_visible=known.is_visible,
        type_name=known.type_name,
        is_generated=known.is_generated,
        is_row_period=known.is_row_period,
        default=known.default,
    )


def _length(known: ColumnDefinition, kind: Kind) -> int:
    """The length of a column in a table map; see `Column`."""
    members = len(known.members or ())
    if kind is Kind.ENUM:
        return 1 if members < 256 else 2
    if kind is Kind.SET:
        return 8 if members > 32 else (members + 7) // 8 or 1
    return int(known.arguments[0]) if kind in (Kind.CHAR, Kind.BIT) and known.arguments else 0
