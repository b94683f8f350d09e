"""SQL column types: their names, and the table map types they may be logged as."""

from __future__ import annotations

from typing import NamedTuple

from binlog_kaitai.core.grammar import masks


class SqlType(NamedTuple):
    """One SQL type: the types it may have in table maps, by the grammar's names, and its kind.

    `stored` is None for an unknown type.
    """

    stored: frozenset[str] | None
    is_number: bool = False
    is_text: bool = False


def _type(stored: str, *, is_number: bool = False, is_text: bool = False) -> SqlType:
    return SqlType(frozenset(stored.split()), is_number, is_text)


#: Strings that are too long become TEXT or BLOB if `sql_mode` is not strict.
_STRING = "string var_string varchar varchar_compressed blob"
_BLOB = "blob tiny_blob medium_blob long_blob blob_compressed"

_TYPES = {
    "tinyint": _type("tiny", is_number=True),
    "smallint": _type("short", is_number=True),
    "mediumint": _type("int24", is_number=True),
    "int": _type("long", is_number=True),
    "bigint": _type("longlong", is_number=True),
    "decimal": _type("decimal newdecimal", is_number=True),
    "float": _type("float double", is_number=True),
    "double": _type("double float", is_number=True),
    "bit": _type("bit tiny"),
    "year": _type("year"),
    "date": _type("date newdate"),
    "time": _type("time time2"),
    "datetime": _type("datetime datetime2"),
    "timestamp": _type("timestamp timestamp2"),
    "char": _type(_STRING, is_text=True),
    "varchar": _type(_STRING, is_text=True),
    "binary": _type(_STRING),
    "varbinary": _type(_STRING),
    "enum": _type("enum", is_text=True),
    "set": _type("set", is_text=True),
    "json": _type(f"json {_BLOB}"),
    "vector": _type(f"vector {_STRING} {_BLOB}"),
    "uuid": _type("string"),
    "inet6": _type("string"),
    "inet4": _type("string"),
    "xmltype": _type(_BLOB, is_text=True),
}
_TYPES |= {size + "text": _type(_BLOB, is_text=True) for size in ("", "tiny", "medium", "long")}
_TYPES |= {size + "blob": _type(_BLOB) for size in ("", "tiny", "medium", "long")}
_SHAPES = "geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection"
_TYPES |= {shape: _type("geometry") for shape in _SHAPES.split()}

_UNKNOWN = SqlType(None)

#: Synonyms of types, with their full names.
SYNONYMS = {
    "int1": "tinyint",
    "int2": "smallint",
    "int3": "mediumint",
    "middleint": "mediumint",
    "int4": "int",
    "integer": "int",
    "int8": "bigint",
    "dec": "decimal",
    "numeric": "decimal",
    "fixed": "decimal",
    "number": "decimal",
    "float4": "float",
    "float8": "double",
    "character": "char",
    "varcharacter": "varchar",
    "varchar2": "varchar",
    "nchar": "char",
    "nvarchar": "varchar",
    "clob": "longtext",
    "raw": "varbinary",
    "geomcollection": "geometrycollection",
}

#: Types that are synonyms for another type with fixed arguments.
BOOLEANS = ("bool", "boolean")
SERIAL = "serial"

_REAL_AS_FLOAT = masks.SqlMode.IS_REAL_AS_FLOAT
_MAXDB = masks.SqlMode.IS_MAXDB
#: Oracle's types need both bits: before MariaDB 10.3, and in MySQL, ORACLE alone leaves types as they are.
_ORACLE = masks.SqlMode.IS_ORACLE | masks.SqlMode.IS_SIMULTANEOUS_ASSIGNMENT << 32
#: The modes that MariaDB's qualifiers of type names stand for.
_MODES_OF_QUALIFIERS = {"mariadb_schema": 0, "oracle_schema": _ORACLE, "maxdb_schema": _MAXDB}

#: FLOAT with more binary digits is DOUBLE.
_MOST_FLOAT_DIGITS = 24


def sql_type(base: str) -> SqlType:
    """The entry for a type, by its full name."""
    return _TYPES.get(base, _UNKNOWN)


def is_type(base: str) -> bool:
    """Whether a server has a type of this full name."""
    return base in _TYPES or base in BOOLEANS or base == SERIAL


def mode_of_qualifier(qualifier: str, sql_mode: int) -> int | None:
    """The mode in which MariaDB reads a type name after a qualifier; None for an unknown qualifier."""
    modes = _MODES_OF_QUALIFIERS.get(qualifier.lower())
    return None if modes is None else sql_mode & _REAL_AS_FLOAT | modes


def full_name(name: str, sql_mode: int, *, has_arguments: bool) -> str:
    """The full name of a type by a name in lower case, which may depend on `sql_mode`."""
    if name == "real":
        return "float" if sql_mode & _REAL_AS_FLOAT else "double"
    if name == "timestamp" and sql_mode & _MAXDB:
        return "datetime"
    if name == "number" and not has_arguments:
        return "double"
    if sql_mode & _ORACLE == _ORACLE:
        if name == "date":
            return "datetime"
        if name == "blob" and not has_arguments:
            return "longblob"
    return SYNONYMS.get(name, name)


def is_long_float(digits: str) -> bool:
    """Whether FLOAT with this number of binary digits is stored as DOUBLE."""
    return digits.isdecimal() and int(digits) > _MOST_FLOAT_DIGITS
