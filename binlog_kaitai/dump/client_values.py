"""Names, strings, times, columns and values as the clients print them.

String bytes stay as they are in the log; the clients do not convert character sets.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from binlog_kaitai.core.adapter import decimal_text
from binlog_kaitai.core.grammar import TableMapEvent, TableMapField
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.log.mapped_memory import pieces
from binlog_kaitai.text.printed_values import AS_NUMBER, put_escaped
from binlog_kaitai.values.charsets import charset_of, collation_name, max_bytes_of
from binlog_kaitai.values.column_kinds import CHOICES, COMPRESSED, Kind, of_type
from binlog_kaitai.values.json_documents import diff_of, json_of
from binlog_kaitai.values.schema import ColumnFacts, TableFacts, facts_of

_PRETTY = {0x0A: b"\\n", 0x0D: b"\\r", 0x5C: b"\\\\", 0x08: b"\\b", 0x09: b"\\t", 0x27: b"\\'", 0: b"\\0"}
_COMMENT_SPECIAL = re.compile(rb"[\r\\\x08\t\0]")
_PRETTY_SPECIAL = re.compile(rb"[\n\r\\\x08\t'\0]")


def encode(text: str) -> bytes:
    """The original bytes of text decoded by the grammar."""
    return text.encode("utf-8", "surrogateescape")


def identifier(name: bytes) -> bytes:
    """A name in backticks."""
    return b"`" + name.replace(b"`", b"``") + b"`"


def pretty(data: bytes, quote: bytes = b"'") -> bytes:
    """A string in quotes, with the clients' `pretty_print_str` escapes."""
    return quote + _PRETTY_SPECIAL.sub(lambda match: _PRETTY[match[0][0]], data) + quote


def comment(line: bytes) -> bytes:
    """A line of a commented statement."""
    return _COMMENT_SPECIAL.sub(lambda match: _PRETTY[match[0][0]], line)


@lru_cache(maxsize=64)
def timestamp(seconds: int) -> bytes:
    """``YYMMDD hh:mm:ss`` in local time, the hour padded with a space."""
    local = time.localtime(seconds)
    day = f"{local.tm_year % 100:02}{local.tm_mon:02}{local.tm_mday:02}"
    return f"{day} {local.tm_hour:2}:{local.tm_min:02}:{local.tm_sec:02}".encode()


def microseconds(moment: int) -> bytes:
    """``YYYY-MM-DD hh:mm:ss.ffffff ZONE`` in local time, of microseconds since 1970-01-01 UTC."""
    seconds, fraction = divmod(moment, 10**6)
    second, zone = second_of(seconds)
    return b"%s.%06d %s" % (second, fraction, zone)


@lru_cache(maxsize=64)
def second_of(seconds: int) -> tuple[bytes, bytes]:
    """``YYYY-MM-DD hh:mm:ss`` in local time, and the name of the time zone."""
    local = time.localtime(seconds)
    day = f"{local.tm_year:04}-{local.tm_mon:02}-{local.tm_mday:02}"
    clock = f"{local.tm_hour:02}:{local.tm_min:02}:{local.tm_sec:02}"
    return f"{day} {clock}".encode(), local.tm_zone.encode()


def xid_text(xid: Any) -> bytes:
    """The identifier of an XA transaction, as in XA statements."""
    return b"X'%s',X'%s',%d" % (xid.gtrid.hex().encode(), xid.bqual.hex().encode(), xid.format_id)


#: The grammar's object of a value, of the class for its column type.
Cell = Any
#: A column of a table map; what its metadata has depends on its type.
MapColumn = Any

#: What `mysqlbinlog` escapes by a letter; `mariadb-binlog` leaves quotes and backslashes unescaped.
_LETTERS = {b"\\": b"\\", b"'": b"'", b"\b": b"b", b"\t": b"t", b"\n": b"n", b"\f": b"f", b"\r": b"r"}
_BLOBS = {1: b"TINYBLOB/TINYTEXT", 2: b"BLOB/TEXT", 3: b"MEDIUMBLOB/MEDIUMTEXT", 4: b"LONGBLOB/LONGTEXT"}


def escapes_of(*, is_mariadb: bool) -> Bytes:
    """The escapes of a client in strings, in the form that `put_escaped` takes."""
    table = np.zeros(256, dtype=np.uint8)
    table[:0x20] = AS_NUMBER
    if not is_mariadb:
        for byte, letter in _LETTERS.items():
            table[byte[0]] = letter[0]
    return table


def quoted(data: bytes | memoryview, escapes: Bytes) -> bytes:
    """A string in quotes."""
    return b"'%b'" % escaped(data, escapes)


def escaped(data: bytes | memoryview, escapes: Bytes) -> bytes:
    """A string with escapes."""
    out = np.empty(4 * len(data) + 16, dtype=np.uint8)
    size = put_escaped.run(np.frombuffer(data, dtype=np.uint8), 0, len(data), escapes, out, 0)
    text: bytes = out[:size].tobytes()
    return text


def quoted_pieces(data: Bytes, start: int, end: int, escapes: Bytes) -> Iterator[bytes]:
    """A long string in quotes, in pieces."""
    yield b"'"
    for piece in pieces(data, start, end):
        yield escaped(piece, escapes)
    yield b"'"


def metadata_number(column: MapColumn) -> int:
    """The `meta=` value of `-vv`."""
    metadata = column.metadata
    if metadata.is_varchar:
        return int(metadata.max_length or 0)
    if metadata.is_string:
        return int(metadata.real_type_and_length << 8 | metadata.len_low)
    if metadata.is_bit:
        return int(metadata.bytes << 8 | metadata.bits)
    if metadata.precision is not None:
        return int(metadata.precision << 8 | metadata.scale)
    return int(metadata.len_pack or metadata.fractional_digits or 0)


def type_text(column: MapColumn, dimensions: int) -> bytes:
    """The type name for `-vv`, including the dimension of a VECTOR; empty for unknown types."""
    metadata = column.metadata
    kind, size, *_ = of_type(column.real_type)
    if kind in _TYPE_NAMES:
        return _TYPE_NAMES[kind]
    match kind:
        case Kind.INTEGER:
            return _INTEGER_NAMES[size]
        case Kind.DECIMAL:
            return b"DECIMAL(%d,%d)" % (metadata.precision, metadata.scale)
        case Kind.BIT:
            return b"BIT(%d)" % (metadata.bytes * 8 + metadata.bits)
        case Kind.TIMESTAMP:
            return b"TIMESTAMP(%d)" % metadata.fractional_digits
        case Kind.DATETIME:
            return b"DATETIME(%d)" % metadata.fractional_digits
        case Kind.TIME:
            return b"TIME(%d)" % metadata.fractional_digits
        case Kind.ENUM:
            return b"ENUM(1 byte)" if metadata.length == 1 else b"ENUM(2 bytes)"
        case Kind.SET:
            return b"SET(%d bytes)" % metadata.length
        case Kind.CHAR:
            return b"STRING(%d)" % metadata.length
        case Kind.VARCHAR | Kind.COMPRESSED_VARCHAR:
            return b"VARSTRING(%d)" % metadata.max_length + _compressed_mark(kind)
        case Kind.BLOB | Kind.COMPRESSED_BLOB:
            return _BLOBS.get(metadata.len_pack, b"") + _compressed_mark(kind)
        case Kind.VECTOR:
            return b"VECTOR(%d)" % dimensions
    return b""


def _compressed_mark(kind: Kind) -> bytes:
    return b" COMPRESSED" if kind in COMPRESSED else b""


_INTEGER_NAMES = {1: b"TINYINT", 2: b"SHORTINT", 3: b"MEDIUMINT", 4: b"INT", 8: b"LONGINT"}
_TYPE_NAMES = {
    Kind.FLOAT: b"FLOAT",
    Kind.DOUBLE: b"DOUBLE",
    Kind.OLD_TIMESTAMP: b"TIMESTAMP",
    Kind.OLD_DATETIME: b"DATETIME",
    Kind.OLD_TIME: b"TIME",
    Kind.DATE: b"DATE",
    Kind.YEAR: b"YEAR",
    Kind.JSON: b"JSON",
    Kind.GEOMETRY: b"GEOMETRY",
}


def other_text(kind: Kind, cell: Cell, escapes: Bytes) -> bytes:
    """A value that the kernel leaves out.

    Raises `GrammarError`: the value is invalid.
    """
    if kind == Kind.JSON:
        return document_text(json_of(cell), escapes)
    if kind == Kind.VECTOR:
        return b"[" + b",".join(b"%.5e" % number for number in cell.content.elements) + b"]"
    if kind == Kind.DECIMAL:
        return decimal_text(cell.digits, cell.precision, cell.scale).encode()
    raise GrammarError("the value is invalid")


def document_text(document: str, escapes: Bytes) -> bytes:
    """A document, as the server's text, in a cell."""
    return quoted(_unquoted(document), escapes)


def _unquoted(document: str) -> bytes:
    """A document as text; a string (or a date, or bytes) without its quotes."""
    return encode(json.loads(document, strict=False) if document.startswith('"') else document)


def diff_text(diffs: Any, number: int, escapes: Bytes) -> bytes:
    """A JSON column logged as partial update; `number` is the column's, from 1."""
    operations = diff_of(diffs).operations
    text = b"@%d" % number
    last = ""
    for operation in operations:
        name = _OPERATIONS[operation.operation, operation.path.rstrip().endswith("]")]
        path = quoted(encode(operation.path), escapes)
        value = b"" if operation.value is None else b", " + _json_argument(operation.value, escapes)
        if name == last:
            text = text[:-1]
        else:
            text = name.encode() + (b"(\n###      " if last else b"(") + text
        text += (b",\n###      " if last else b", ") + path + value + b")"
        last = name
    return text


_OPERATIONS = {
    ("replace", True): "JSON_REPLACE",
    ("replace", False): "JSON_REPLACE",
    ("insert", True): "JSON_ARRAY_INSERT",
    ("insert", False): "JSON_INSERT",
    ("remove", True): "JSON_REMOVE",
    ("remove", False): "JSON_REMOVE",
}


def _json_argument(value: str, escapes: Bytes) -> bytes:
    if value.startswith('"'):
        return quoted(_unquoted(value), escapes)
    if value.startswith(("{", "[")):
        return b"CAST(" + quoted(encode(value), escapes) + b" AS JSON)"
    return encode(value)


_BINARY = 63
_NUMERIC = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DOUBLE)
_INTEGERS = {**_INTEGER_NAMES, 2: b"SMALLINT", 8: b"BIGINT"}
_PLAIN = {
    Kind.FLOAT: b"FLOAT",
    Kind.DOUBLE: b"DOUBLE",
    Kind.DATE: b"DATE",
    Kind.YEAR: b"YEAR",
    Kind.ENUM: b"ENUM",
    Kind.SET: b"SET",
    Kind.JSON: b"JSON",
}
_TIMES = {Kind.TIMESTAMP: b"TIMESTAMP", Kind.DATETIME: b"DATETIME", Kind.TIME: b"TIME"}
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
    """The columns and primary key in a table map (`--print-table-metadata`), as either client prints them.

    Clients with `old_names` print utf8mb3 as utf8.
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
    text = b" UNSIGNED" if column.kind in _NUMERIC and column.is_unsigned else b""
    if not column.is_nullable:
        text += b" NOT NULL"
    if column.kind in CHOICES and column.members is not None:
        text += b"(" + (b"," if is_mariadb else b", ").join(map(pretty, column.members)) + b")"
    number = column.collation_id
    if number is not None and (column.kind in CHOICES or number != _BINARY):
        charset, name = charset_of(number) or "", collation_name(number, is_mariadb=is_mariadb) or ""
        if old_names:
            charset, name = charset.replace("utf8mb3", "utf8"), name.replace("utf8mb3", "utf8")
        text += f" CHARSET {charset} COLLATE {name}".encode()
    return text + (b" INVISIBLE" if column.is_visible is False else b"")


def _type_name(column: ColumnFacts, is_mariadb: bool) -> bytes:
    kind, metadata = column.kind, column.metadata
    if kind == Kind.INTEGER:
        return _INTEGERS[of_type(column.type).size]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _TIMES:
        digits = metadata.fractional_digits
        return _TIMES[kind] + (b"(%d)" % digits if digits else b"")
    charset = charset_of(column.collation_id) if column.collation_id not in (None, _BINARY) else None
    most = max_bytes_of(charset) if charset else 1
    match kind:
        case Kind.DECIMAL:
            return b"DECIMAL(%d,%d)" % (metadata.precision, metadata.scale)
        case Kind.BIT:
            return b"BIT(%d)" % (metadata.bytes * 8 + metadata.bits)
        case Kind.BLOB:
            name = b"TEXT" if charset else b"BLOB"
            size = _SIZES.get(metadata.len_pack)
            return b"INVALID_%s(%d)" % (name, metadata.len_pack) if size is None else size + name
        case Kind.VARCHAR:
            return b"%s(%d)" % (b"VARCHAR" if charset else b"VARBINARY", metadata.max_length // most)
        case Kind.CHAR:
            return b"%s(%d)" % (b"CHAR" if charset else b"BINARY", metadata.length // most)
        case Kind.VECTOR:
            return b"VECTOR(%d)" % (column.vector_dimensions or 0)
        case Kind.GEOMETRY:
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
            parts = [(number.value, 0) for number in field.value.numbers]
        elif field.type == TableMapField.primary_key_with_prefix:
            parts = [(part.column.value, part.len_prefix.value) for part in field.value.parts]
    if not parts:
        return b""
    shown = []
    for index, prefix in parts:
        name = columns[index].name if index < len(columns) else None
        text = b"%d" % index if name is None else encode(name)
        shown.append(text + (b"(%d)" % prefix if prefix else b""))
    return b"# Primary Key(" + b", ".join(shown) + b")\n"
