"""`--print-table-metadata`: the columns and primary key in a table map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.grammar import ColumnType, TableMapField
from binlog_kaitai.render.dump.text import encode, identifier, pretty
from binlog_kaitai.values.charsets import charset_of
from binlog_kaitai.values.charsets.collations import collation_name, max_bytes_of
from binlog_kaitai.values.column_metadata import ColumnFacts, TableFacts, facts_of
from binlog_kaitai.values.types import INTEGER_TYPES

if TYPE_CHECKING:
    from binlog_kaitai.core.grammar import TableMapEvent


_BINARY = 63
_CHOICES = (ColumnType.enum, ColumnType.set)
_NUMERIC = (*INTEGER_TYPES, ColumnType.newdecimal, ColumnType.float, ColumnType.double)
_PLAIN: dict[int, bytes] = {
    ColumnType.tiny: b"TINYINT",
    ColumnType.short: b"SMALLINT",
    ColumnType.int24: b"MEDIUMINT",
    ColumnType.long: b"INT",
    ColumnType.longlong: b"BIGINT",
    ColumnType.float: b"FLOAT",
    ColumnType.double: b"DOUBLE",
    ColumnType.newdate: b"DATE",
    ColumnType.date: b"DATE",
    ColumnType.year: b"YEAR",
    ColumnType.enum: b"ENUM",
    ColumnType.set: b"SET",
    ColumnType.json: b"JSON",
}
_TIMES: dict[int, bytes] = {
    ColumnType.timestamp2: b"TIMESTAMP",
    ColumnType.datetime2: b"DATETIME",
    ColumnType.time2: b"TIME",
}
_SIZES = {1: b"TINY", 2: b"", 3: b"MEDIUM", 4: b"LONG"}
_SHAPES = (
    b"GEOMETRY",
    b"POINT",
    b"LINESTRING",
    b"POLYGON",
    b"MULTIPOINT",
    b"MULTILINESTRING",
    b"MULTIPOLYGON",
    b"GEOMETRYCOLLECTION",
)


def metadata_lines(table_map: TableMapEvent, *, is_mariadb: bool, old_names: bool = False) -> bytes:
    """The lines for either client.

    Parameters
    ----------
    table_map
        Body of the table map event.
    is_mariadb
        For `mariadb-binlog`.
    old_names
        Whether the client prints utf8mb3 as utf8.
    """
    if table_map.columns is None:
        return b""  # before 5.1.16, without the lengths that are part of the types
    facts = facts_of(table_map, is_mariadb=is_mariadb)
    columns = facts.columns
    for column, logged in zip(columns, table_map.columns, strict=True):
        # mysqlbinlog counts YEAR columns in any log, mariadb-binlog in none.
        column.is_unsigned = logged.is_unsigned_without_years if is_mariadb else logged.is_unsigned_with_years
    text = b"# Columns("
    for column in columns:
        if column.name is not None:
            quoted = pretty(encode(column.name), b"`")
            text += (quoted if is_mariadb else identifier(quoted[1:-1])) + b" "
        name = _type_name(column, is_mariadb)
        if not name:
            # The client continues without a comma.
            text += b"INVALID_TYPE(%d)" % int(column.type)
            continue
        text += name + _properties(column, is_mariadb, old_names)
        if column.index == 0 and not is_mariadb and table_map.has_generated_invisible_primary_key:
            text += b" AUTO_INCREMENT"
        if column.index < len(columns) - 1:
            text += b",\n#         "
    return text + b")\n" + _primary_key(table_map, facts)


def _properties(column: ColumnFacts, is_mariadb: bool, old_names: bool) -> bytes:
    text = b" UNSIGNED" if column.type in _NUMERIC and column.is_unsigned else b""
    if not column.is_nullable:
        text += b" NOT NULL"
    if column.type in _CHOICES and column.members is not None:
        text += b"(" + (b"," if is_mariadb else b", ").join(map(pretty, column.members)) + b")"
    if column.is_visible is False:
        text += b" INVISIBLE"
    number = column.collation_id
    if number is not None and (column.type in _CHOICES or number != _BINARY):
        charset, name = charset_of(number) or "", collation_name(number, is_mariadb=is_mariadb) or ""
        if old_names:
            charset, name = charset.replace("utf8mb3", "utf8"), name.replace("utf8mb3", "utf8")
        text += f" CHARSET {charset} COLLATE {name}".encode()
    return text


def _type_name(column: ColumnFacts, is_mariadb: bool) -> bytes:
    kind, metadata = column.type, column.metadata
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _TIMES:
        digits = metadata.fractional_digits
        return _TIMES[kind] + (b"(%d)" % digits if digits else b"")
    charset = charset_of(column.collation_id) if column.collation_id not in (None, _BINARY) else None
    most = max_bytes_of(charset) if charset else 1
    match kind:
        case ColumnType.newdecimal:
            return b"DECIMAL(%d,%d)" % (metadata.precision, metadata.scale)
        case ColumnType.bit:
            return b"BIT(%d)" % (metadata.bytes * 8 + metadata.bits)
        case ColumnType.blob:
            name = b"TEXT" if charset else b"BLOB"
            size = _SIZES.get(metadata.len_pack)
            return b"INVALID_%s(%d)" % (name, metadata.len_pack) if size is None else size + name
        case ColumnType.varchar:
            return b"%s(%d)" % (b"VARCHAR" if charset else b"VARBINARY", metadata.max_length // most)
        case ColumnType.string:
            return b"%s(%d)" % (b"CHAR" if charset else b"BINARY", metadata.length // most)
        case ColumnType.vector:
            return b"VECTOR(%d)" % (column.vector_dimensions or 0)
        case ColumnType.geometry:
            number = column.geometry_type or 0
            if number == len(_SHAPES) - 1 and not is_mariadb:
                return b"GEOMCOLLECTION"
            return _SHAPES[number] if number < len(_SHAPES) else b"INVALID_GEOMETRY_TYPE(%d)" % number
    return b""


def _primary_key(table_map: Any, facts: TableFacts) -> bytes:
    columns = facts.columns
    parts = [(index, 0) for index in facts.primary_key]
    for field in table_map.optional_metadata:
        if field.type == TableMapField.simple_primary_key:
            parts = [(one.value, 0) for one in field.value.numbers]
        elif field.type == TableMapField.primary_key_with_prefix:
            parts = [(one.column.value, one.len_prefix.value) for one in field.value.parts]
    if not parts:
        return b""
    shown = []
    for index, prefix in parts:
        name = columns[index].name if index < len(columns) else None
        text = b"%d" % index if name is None else encode(name)
        shown.append(text + (b"(%d)" % prefix if prefix else b""))
    return b"# Primary Key(" + b", ".join(shown) + b")\n"
