"""The table of column types: what values of each type are, whatever their bytes.

The grammar defines the layout of a value in a row image (`row_image.ksy`). All other code distinguishes
values by their :class:`Kind`, so that a type whose values are of a known kind needs only a line here.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import NamedTuple

from binlog_kaitai.core.grammar import ColumnType


class Kind(Enum):
    """What the values of a column are. Times in the format before MySQL 5.6.4 are of kinds of their own."""

    UNKNOWN = 0
    NULL = 1
    INTEGER = 2
    FLOAT = 3
    DOUBLE = 4
    DECIMAL = 5
    BIT = 6
    YEAR = 7
    DATE = 8
    DATETIME = 9
    TIMESTAMP = 10
    TIME = 11
    OLD_DATETIME = 12
    OLD_TIMESTAMP = 13
    OLD_TIME = 14
    CHAR = 15  # and BINARY, UUID, INET4, INET6
    VARCHAR = 16  # and VARBINARY
    BLOB = 17  # and TEXT
    UNLOGGED_BLOB = 18  # of types that servers have, but do not log
    COMPRESSED_VARCHAR = 19
    COMPRESSED_BLOB = 20
    ENUM = 21
    SET = 22
    JSON = 23
    TYPED_ARRAY = 24
    GEOMETRY = 25
    VECTOR = 26


#: Text and byte strings, except MariaDB's compressed columns, and with these; members of a list.
STRINGS = frozenset((Kind.CHAR, Kind.VARCHAR, Kind.BLOB, Kind.UNLOGGED_BLOB))
COMPRESSED = frozenset((Kind.COMPRESSED_VARCHAR, Kind.COMPRESSED_BLOB))
CHOICES = frozenset((Kind.ENUM, Kind.SET))
DOCUMENTS = frozenset((Kind.JSON, Kind.TYPED_ARRAY))
#: Times before MySQL 5.6.4. MariaDB's can have fractions too; only a definition shows it.
OLD_TIMES = frozenset((Kind.OLD_DATETIME, Kind.OLD_TIMESTAMP, Kind.OLD_TIME))
OLD_TIMES_IN_SQL = "TIME, DATETIME or TIMESTAMP"
#: A date with a time: without time zone, and in UTC.
LOCAL_MOMENTS = frozenset((Kind.DATETIME, Kind.OLD_DATETIME))
UTC_MOMENTS = frozenset((Kind.TIMESTAMP, Kind.OLD_TIMESTAMP))
MOMENTS = LOCAL_MOMENTS | UTC_MOMENTS
TIMES = MOMENTS | {Kind.DATE, Kind.TIME, Kind.OLD_TIME}


class ColumnKind(NamedTuple):
    """One column type.

    `size`: length of an integer, in bytes.
    `has_collation`: the lists of collations in table maps have an entry for each column of the type.
    `document_type`: the SQL type of a value of this type in a JSON document, which JSON cannot express; else
    empty.
    """

    kind: Kind
    size: int = 0
    has_collation: bool = False
    document_type: str = ""


#: The types that occur in row images, and those that occur elsewhere, of UNKNOWN kind.
_TYPES: dict[int, ColumnKind] = {
    ColumnType.tiny: ColumnKind(Kind.INTEGER, 1),
    ColumnType.short: ColumnKind(Kind.INTEGER, 2),
    ColumnType.int24: ColumnKind(Kind.INTEGER, 3),
    ColumnType.long: ColumnKind(Kind.INTEGER, 4),
    ColumnType.longlong: ColumnKind(Kind.INTEGER, 8),
    ColumnType.float: ColumnKind(Kind.FLOAT),
    ColumnType.double: ColumnKind(Kind.DOUBLE),
    ColumnType.newdecimal: ColumnKind(Kind.DECIMAL, document_type="DECIMAL"),
    ColumnType.bit: ColumnKind(Kind.BIT),
    ColumnType.year: ColumnKind(Kind.YEAR),
    ColumnType.null: ColumnKind(Kind.NULL),
    ColumnType.date: ColumnKind(Kind.DATE, document_type="DATE"),
    ColumnType.newdate: ColumnKind(Kind.DATE),
    ColumnType.datetime2: ColumnKind(Kind.DATETIME),
    ColumnType.timestamp2: ColumnKind(Kind.TIMESTAMP),
    ColumnType.time2: ColumnKind(Kind.TIME),
    ColumnType.datetime: ColumnKind(Kind.OLD_DATETIME, document_type="DATETIME(6)"),
    ColumnType.timestamp: ColumnKind(Kind.OLD_TIMESTAMP, document_type="DATETIME(6)"),
    ColumnType.time: ColumnKind(Kind.OLD_TIME, document_type="TIME(6)"),
    # In documents, byte strings have the type of their origin; which one a BINARY gets depends on the server.
    ColumnType.string: ColumnKind(Kind.CHAR, has_collation=True, document_type="BINARY"),
    ColumnType.varchar: ColumnKind(Kind.VARCHAR, has_collation=True, document_type="BINARY"),
    ColumnType.var_string: ColumnKind(Kind.UNKNOWN, has_collation=True, document_type="BINARY"),
    ColumnType.blob: ColumnKind(Kind.BLOB, has_collation=True, document_type="BINARY"),
    ColumnType.tiny_blob: ColumnKind(Kind.UNLOGGED_BLOB),
    ColumnType.medium_blob: ColumnKind(Kind.UNLOGGED_BLOB),
    ColumnType.long_blob: ColumnKind(Kind.UNLOGGED_BLOB),
    ColumnType.varchar_compressed: ColumnKind(Kind.COMPRESSED_VARCHAR, has_collation=True),
    ColumnType.blob_compressed: ColumnKind(Kind.COMPRESSED_BLOB, has_collation=True),
    ColumnType.enum: ColumnKind(Kind.ENUM),
    ColumnType.set: ColumnKind(Kind.SET),
    ColumnType.json: ColumnKind(Kind.JSON),
    ColumnType.typed_array: ColumnKind(Kind.TYPED_ARRAY),
    ColumnType.geometry: ColumnKind(Kind.GEOMETRY),
    ColumnType.vector: ColumnKind(Kind.VECTOR, has_collation=True),
}

_UNKNOWN = ColumnKind(Kind.UNKNOWN)


def of_type(number: ColumnType | int) -> ColumnKind:
    """The entry for a column type, by its number in the log."""
    return _TYPES.get(number, _UNKNOWN)


def type_name(number: ColumnType | int) -> str:
    """The grammar's name of a column type; its number if the grammar does not know it."""
    return number.name if isinstance(number, ColumnType) else str(int(number))


#: Numbers of the types that documents have as opaque values: see `json_opaque.ksy`.
OPAQUE_DECIMAL = int(ColumnType.newdecimal)
OPAQUE_DATE, OPAQUE_TIME = int(ColumnType.date), int(ColumnType.time)
OPAQUE_DATETIME, OPAQUE_TIMESTAMP = int(ColumnType.datetime), int(ColumnType.timestamp)
OPAQUE_TEXT = int(ColumnType.var_string)
OPAQUE_DOUBLE = int(ColumnType.double)
OPAQUE_BYTES = tuple(int(number) for number, row in _TYPES.items() if row.document_type == "BINARY")


class SqlType(NamedTuple):
    """One type of SQL.

    `spellings`: the words for it in statements; the full name is the first, unless it has none of its own.
    `logged`: the types that its columns may have in table maps, today's first; empty for an unknown type.
    `of_bytes`: for a text, the type of byte strings that it becomes if its character set is binary.
    """

    spellings: tuple[str, ...] = ()
    logged: tuple[int, ...] = ()
    is_number: bool = False
    is_text: bool = False
    of_bytes: str = ""


def _sql(
    spellings: str, *logged: ColumnType, is_number: bool = False, is_text: bool = False, of_bytes: str = ""
) -> SqlType:
    return SqlType(tuple(spellings.split(", ")), logged, is_number, is_text or bool(of_bytes), of_bytes)


_BLOBS = (
    ColumnType.blob,
    ColumnType.tiny_blob,
    ColumnType.medium_blob,
    ColumnType.long_blob,
    ColumnType.blob_compressed,
)
#: Strings that are too long become TEXT or BLOB if `sql_mode` is not strict.
_VARCHARS = (ColumnType.varchar, ColumnType.varchar_compressed, ColumnType.string, ColumnType.var_string)
_CHARS = (ColumnType.string, ColumnType.var_string, ColumnType.varchar, ColumnType.varchar_compressed)
_VARCHAR = (
    "VARCHAR, CHAR VARYING, VARCHAR2, NVARCHAR, NCHAR VARCHAR, NCHAR VARYING, NATIONAL VARCHAR, "
    "NATIONAL CHAR VARYING"
)
_SHAPES = "geometry point linestring polygon multipoint multilinestring multipolygon"

_number = partial(_sql, is_number=True)

#: The types of SQL, by their full names. The spellings are those of both servers' `sql_yacc.yy` and `lex.h`;
#: `CHAR` stands for `CHARACTER`, too, and `VARCHAR` for `VARCHARACTER`.
SQL_TYPES = {
    "tinyint": _number("TINYINT, INT1, BOOL, BOOLEAN", ColumnType.tiny),
    "smallint": _number("SMALLINT, INT2", ColumnType.short),
    "mediumint": _number("MEDIUMINT, INT3, MIDDLEINT", ColumnType.int24),
    "int": _number("INT, INT4, INTEGER", ColumnType.long),
    "bigint": _number("BIGINT, INT8, SERIAL", ColumnType.longlong),
    "decimal": _number("DECIMAL, DEC, NUMERIC, FIXED, NUMBER", ColumnType.newdecimal, ColumnType.decimal),
    "float": _number("FLOAT, FLOAT4", ColumnType.float, ColumnType.double),
    "double": _number("DOUBLE, DOUBLE PRECISION, FLOAT8, REAL", ColumnType.double, ColumnType.float),
    "bit": _sql("BIT", ColumnType.bit, ColumnType.tiny),
    "year": _sql("YEAR, SQL_TSI_YEAR", ColumnType.year),
    "date": _sql("DATE", ColumnType.date, ColumnType.newdate),
    "time": _sql("TIME", ColumnType.time2, ColumnType.time),
    "datetime": _sql("DATETIME", ColumnType.datetime2, ColumnType.datetime),
    "timestamp": _sql("TIMESTAMP", ColumnType.timestamp2, ColumnType.timestamp),
    "char": _sql("CHAR, NCHAR, NATIONAL CHAR", *_CHARS, ColumnType.blob, of_bytes="binary"),
    "varchar": _sql(_VARCHAR, *_VARCHARS, ColumnType.blob, of_bytes="varbinary"),
    "binary": _sql("BINARY", *_CHARS, ColumnType.blob),
    "varbinary": _sql("VARBINARY, RAW", *_VARCHARS, ColumnType.blob),
    "enum": _sql("ENUM", ColumnType.enum, is_text=True),
    "set": _sql("SET", ColumnType.set, is_text=True),
    "json": _sql("JSON", ColumnType.json, *_BLOBS),
    "vector": _sql("VECTOR", ColumnType.vector, *_CHARS, *_BLOBS),
    "uuid": _sql("UUID", ColumnType.string),
    "inet6": _sql("INET6", ColumnType.string),
    "inet4": _sql("INET4", ColumnType.string),
    "xmltype": _sql("XMLTYPE", *_BLOBS, is_text=True),
    "tinytext": _sql("TINYTEXT", *_BLOBS, of_bytes="tinyblob"),
    "text": _sql("TEXT", *_BLOBS, of_bytes="blob"),
    "mediumtext": _sql("MEDIUMTEXT, LONG, LONG VARCHAR, LONG CHAR VARYING", *_BLOBS, of_bytes="mediumblob"),
    "longtext": _sql("LONGTEXT, CLOB", *_BLOBS, of_bytes="longblob"),
    "tinyblob": _sql("TINYBLOB", *_BLOBS),
    "blob": _sql("BLOB", *_BLOBS),
    "mediumblob": _sql("MEDIUMBLOB, LONG VARBINARY", *_BLOBS),
    "longblob": _sql("LONGBLOB", *_BLOBS),
    "geometrycollection": _sql("GEOMETRYCOLLECTION, GEOMCOLLECTION", ColumnType.geometry),
    **{shape: _sql(shape.upper(), ColumnType.geometry) for shape in _SHAPES.split()},
}

_UNKNOWN_SQL_TYPE = SqlType()


def sql_type(base: str) -> SqlType:
    """The entry for a type of SQL, by its full name."""
    return SQL_TYPES.get(base, _UNKNOWN_SQL_TYPE)
