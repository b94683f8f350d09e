"""Names, strings, times, columns and values as the clients print them.

String bytes stay as they are in the log; the clients do not convert character sets.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from binlog_kaitai.core.adapter import decimal_text
from binlog_kaitai.core.grammar import TableMapEvent, TableMapField
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.log.mapped_memory import pieces
from binlog_kaitai.rows.text.moment_texts import ByteTexts, put_bytes
from binlog_kaitai.rows.text.printed_values import AS_NUMBER
from binlog_kaitai.values.charsets import charset_of, collation_name, max_bytes_of
from binlog_kaitai.values.column_kinds import CHOICES, COMPRESSED, Kind, of_type
from binlog_kaitai.values.json_documents import diff_of, json_of
from binlog_kaitai.values.schema import ColumnFacts, TableFacts, facts_of
from binlog_kaitai.values.temporal import fraction_text

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
#: Formats a value, given the cell's value and the table map's column.
CellText = Callable[[Cell, MapColumn], bytes]

#: Escapes in strings of `mysqlbinlog`, and of `mariadb-binlog`, which leaves quotes and backslashes
#: unescaped.
_MYSQL_SPECIAL = re.compile(rb"[\x00-\x1f'\\]")
_MARIADB_SPECIAL = re.compile(rb"[\x00-\x1f]")
_MYSQL_LETTERS = {
    b"\\": b"\\\\", b"'": b"\\'", b"\b": b"\\b", b"\t": b"\\t", b"\n": b"\\n", b"\f": b"\\f", b"\r": b"\\r",
}  # fmt: skip
_MARIADB_ESCAPES = {bytes([byte]): b"\\x%02x" % byte for byte in range(0x20)}
#: The backslash comes first because all other escapes contain one.
_MYSQL_ESCAPES = {**_MYSQL_LETTERS, **{k: v for k, v in _MARIADB_ESCAPES.items() if k not in _MYSQL_LETTERS}}
_MYSQL_TEXTS, _MARIADB_TEXTS = (
    ByteTexts.of({ord(byte): text for byte, text in escapes.items()})
    for escapes in (_MYSQL_ESCAPES, _MARIADB_ESCAPES)
)
_BLOBS = {1: b"TINYBLOB/TINYTEXT", 2: b"BLOB/TEXT", 3: b"MEDIUMBLOB/MEDIUMTEXT", 4: b"LONGBLOB/LONGTEXT"}
_YEAR_0 = 1900


def mysql_quoted(data: bytes) -> bytes:
    """A string in quotes as `mysqlbinlog` prints it."""
    return b"'%b'" % _escaped(data, _MYSQL_SPECIAL, _MYSQL_ESCAPES)


def mariadb_quoted(data: bytes) -> bytes:
    """A string in quotes as `mariadb-binlog` prints it."""
    return b"'%b'" % _escaped(data, _MARIADB_SPECIAL, _MARIADB_ESCAPES)


def _escaped(data: bytes, special: re.Pattern[bytes], escapes: dict[bytes, bytes]) -> bytes:
    """Escape bytes in place, since every byte may need it: a list of pieces would take many times the value's
    memory.
    """
    if special.search(data) is not None:
        for byte, text in escapes.items():
            data = data.replace(byte, text)
    return data


def quoted_pieces(data: Bytes, start: int, end: int, *, is_mariadb: bool) -> Iterator[bytes]:
    """A long string in quotes, in pieces."""
    table = _MARIADB_TEXTS if is_mariadb else _MYSQL_TEXTS
    nothing, limits = np.zeros((2, 1), dtype=np.int64), np.empty(2, dtype=np.int64)
    room = int(table.sizes.max())
    yield b"'"
    for piece in pieces(data, start, end):
        out = np.empty(room * len(piece) + 16, dtype=np.uint8)
        size = np.array([0, len(piece)])
        written = put_bytes.run(
            np.frombuffer(piece, dtype=np.uint8), size[:1], size[1:], *table, nothing, out, limits
        )
        yield out[:written].tobytes()
    yield b"'"


def escapes_of(*, is_mariadb: bool) -> Bytes:
    """The escapes of a client, in the form `printed_rows` takes."""
    table = np.zeros(256, dtype=np.uint8)
    table[:0x20] = AS_NUMBER
    if not is_mariadb:
        for byte, text in _MYSQL_LETTERS.items():
            table[byte[0]] = text[1]
    return table


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


def _integer(cell: Cell, column: MapColumn) -> bytes:
    # The clients ignore whether the column is unsigned.
    bits = 8 * of_type(column.real_type).size
    number = int(cell.value) % (1 << bits)
    signed = number - (1 << bits) if number >> (bits - 1) else number
    return b"%d" % signed if signed >= 0 else b"%d (%d)" % (signed, number)


def _bits(data: bytes, count: int) -> bytes:
    digits = f"{int.from_bytes(data, 'big'):0{len(data) * 8}b}"
    return b"b'" + digits[len(digits) - count :].encode() + b"'"


def _set(cell: Cell, column: MapColumn) -> bytes:
    size = column.metadata.length
    return _bits(int(cell.value).to_bytes(size, "little"), size * 8)


def _timestamp(cell: Cell, column: MapColumn) -> bytes:
    digits = column.metadata.fractional_digits
    return b"%d" % cell.seconds + fraction_text(cell.microsecond, digits).encode()


def _fraction(cell: Cell, column: MapColumn) -> str:
    digits = column.metadata.fractional_digits or 0
    return fraction_text(cell.microsecond, digits) if digits else ""


def _datetime(cell: Cell, column: MapColumn) -> bytes:
    fraction = _fraction(cell, column)
    day = f"{cell.year:04}-{cell.month:02}-{cell.day:02}"
    return f"'{day} {cell.hour:02}:{cell.minute:02}:{cell.second:02}{fraction}'".encode()


def _time(cell: Cell, column: MapColumn) -> bytes:
    fraction = _fraction(cell, column)
    sign = "-" if cell.is_negative else ""
    return f"'{sign}{cell.hour:02}:{cell.minute:02}:{cell.second:02}{fraction}'".encode()


def _date(cell: Cell, _: MapColumn) -> bytes:
    return b"'%04d:%02d:%02d'" % (cell.year, cell.month, cell.day)


def json_cell(document: str) -> bytes:
    """A document, as the server's text, in a cell."""
    return mysql_quoted(_unquoted(document))


def _unquoted(document: str) -> bytes:
    """A document as text; a string (or a date, or bytes) without its quotes."""
    return encode(json.loads(document, strict=False) if document.startswith('"') else document)


def diff_text(cell: Cell, number: int) -> bytes:
    """A JSON column logged as partial update; `number` is the column's, from 1."""
    operations = diff_of(cell.diffs).operations
    text = b"@%d" % number
    last = ""
    for one in operations:
        name = _OPERATIONS[one.operation, one.path.rstrip().endswith("]")]
        path = mysql_quoted(encode(one.path))
        value = b"" if one.value is None else b", " + _json_argument(one.value)
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


def _json_argument(value: str) -> bytes:
    if value.startswith('"'):
        return mysql_quoted(_unquoted(value))
    if value.startswith(("{", "[")):
        return b"CAST(" + mysql_quoted(encode(value)) + b" AS JSON)"
    return encode(value)


def _cell_texts(quoted: Callable[[bytes], bytes]) -> dict[Kind, CellText]:
    def string(cell: Cell, _: MapColumn) -> bytes:
        return quoted(cell.data)

    def compressed(cell: Cell, _: MapColumn) -> bytes:
        return quoted(cell._raw_content)

    return {
        Kind.INTEGER: _integer,
        Kind.FLOAT: lambda cell, _: b"%-20g" % cell.value,
        Kind.DOUBLE: lambda cell, _: b"%.20g" % cell.value,
        Kind.DECIMAL: lambda cell, _: decimal_text(cell.digits, cell.precision, cell.scale).encode(),
        Kind.BIT: lambda cell, column: _bits(cell.bits, column.metadata.bytes * 8 + column.metadata.bits),
        Kind.YEAR: lambda cell, _: b"%04d" % (cell.years + _YEAR_0),
        Kind.ENUM: lambda cell, _: b"%d" % cell.value,
        Kind.SET: _set,
        Kind.DATE: _date,
        Kind.OLD_TIME: _time,
        Kind.TIME: _time,
        Kind.OLD_DATETIME: _datetime,
        Kind.DATETIME: _datetime,
        Kind.OLD_TIMESTAMP: lambda cell, _: b"%d" % cell.seconds,
        Kind.TIMESTAMP: _timestamp,
        Kind.CHAR: string,
        Kind.VARCHAR: string,
        Kind.BLOB: string,
        Kind.COMPRESSED_VARCHAR: compressed,
        Kind.COMPRESSED_BLOB: compressed,
        Kind.JSON: lambda cell, _: json_cell(json_of(cell)),
        Kind.VECTOR: lambda cell, _: (
            b"[" + b",".join(b"%.5e" % number for number in cell.content.elements) + b"]"
        ),
        Kind.GEOMETRY: lambda cell, _: quoted(cell._raw_content),
    }


MYSQL_CELLS = _cell_texts(mysql_quoted)
#: `mysqlbinlog` does not support this type, and prints no more of the event.
del MYSQL_CELLS[Kind.GEOMETRY]
MARIADB_CELLS = _cell_texts(mariadb_quoted)


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
    if column.is_visible is False:
        text += b" INVISIBLE"
    number = column.collation_id
    if number is not None and (column.kind in CHOICES or number != _BINARY):
        charset, name = charset_of(number) or "", collation_name(number, is_mariadb=is_mariadb) or ""
        if old_names:
            charset, name = charset.replace("utf8mb3", "utf8"), name.replace("utf8mb3", "utf8")
        text += f" CHARSET {charset} COLLATE {name}".encode()
    return text


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
