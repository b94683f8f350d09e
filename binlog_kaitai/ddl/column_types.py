"""Names of SQL column types: synonyms, and what they mean in a mode of the server."""

from __future__ import annotations

from binlog_kaitai.core.grammar import masks
from binlog_kaitai.values.column_kinds import SQL_TYPES, SqlType

_UNKNOWN = SqlType()

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
    return SQL_TYPES.get(base, _UNKNOWN)


def is_type(base: str) -> bool:
    """Whether a server has a type of this full name."""
    return base in SQL_TYPES or base in BOOLEANS or base == SERIAL


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
