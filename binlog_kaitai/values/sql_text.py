"""Values as SQL literals that evaluate to the same value.

Rules
-----
1. A literal is printable ASCII without a backslash. The `mysql` client splits a script by its own character
   set, in some of which the last byte of a character may be a backslash or a backquote; whether backslashes
   escape, and what double quotes enclose, depends on `sql_mode`. Single quotes, doubled inside a string,
   mean the same everywhere.
2. Text is a quoted string if it is all printable ASCII, else a hexadecimal literal with an introducer: the
   column's own bytes if they are known, else UTF-8. A value that is not text, or whose character set is
   unknown, is a hexadecimal literal of its bytes, which the column stores unchanged.
3. FLOAT and DOUBLE use the fewest digits that read back as the same number.
4. `time_zone` is +00:00.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import JsonBinary, JsonOpaque
from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.values.charsets import BINARY, encoder_of
from binlog_kaitai.values.column_kinds import OPAQUE_BYTES, Kind, of_type
from binlog_kaitai.values.json_documents import (
    ARRAYS,
    OBJECTS,
    JsonText,
    node_text,
    opaque_text,
    parse_document,
    quote,
)
from binlog_kaitai.values.numbers import double_text, shortest_float
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

#: Bytes allowed in a quoted string: printable ASCII without the backslash.
PLAIN = frozenset(range(0x20, 0x7F)) - {ord("\\")}

_IS_PLAIN = re.compile(r"[ -\[\]-~]*")
_IS_WORD = re.compile(r"[0-9A-Za-z_]+")
_SRID = struct.Struct("<I")
_DIGITS = re.compile(r"[0-9]+")
_POINT, _EXPONENT, _MINUS, _ZERO, _NINE = b".e-09"

#: Names of UTF-8.
UTF8 = frozenset(("utf8", "utf8mb3", "utf8mb4"))

#: utf8mb4 was introduced in MySQL 5.5.3 and MariaDB 5.5.
_UTF8MB4 = (5, 5, 3)

#: From this version on, MySQL accepts an axis order for a geometry, and has axis orders of its own.
_MYSQL_WITH_AXES = (8, 0)


class SqlDialect(NamedTuple):
    """The SQL dialect of a server.

    `is_mariadb`: bool
    `version`: such as ``(8, 0, 36)``.
    """

    is_mariadb: bool = False
    version: tuple[int, ...] = _MYSQL_WITH_AXES

    @classmethod
    def of(cls, server_version: str, *, is_mariadb: bool) -> SqlDialect:
        """The dialect for a server version string, such as ``"5.5.5-10.11.6-MariaDB-log"``."""
        text = server_version.removeprefix("5.5.5-") if is_mariadb else server_version
        return cls(is_mariadb, tuple(map(int, _DIGITS.findall(text.partition("-")[0])))[:3])

    @property
    def has_axes(self) -> bool:
        """Whether geometry functions on WKB accept an axis order."""
        return not self.is_mariadb and self.version >= _MYSQL_WITH_AXES

    @property
    def utf8(self) -> str:
        """The server's name of the character set that covers all of Unicode."""
        return "utf8" if self.version and self.version < _UTF8MB4 else "utf8mb4"


def is_plain(text: str) -> bool:
    """Whether text is printable ASCII without a backslash, which reads the same everywhere."""
    return _IS_PLAIN.fullmatch(text) is not None


def literal(text: str, utf8: str = "utf8mb4") -> str:
    """Text as a literal; `utf8` is the server's name of UTF-8. Bytes that are not valid UTF-8 stay bytes."""
    if is_plain(text):
        return "'" + text.replace("'", "''") + "'"
    return (introducer(utf8) if is_utf8(text) else "") + hexed(_encoded(text))


def introducer(charset: str) -> str:
    """The introducer for a literal in a character set; empty if the name cannot be a character set.

    A definition may contain any text as the name of a character set.
    """
    return f"_{charset} " if _IS_WORD.fullmatch(charset) else ""


def identifier(name: str) -> str:
    """A name in backquotes; only a plain one (`is_plain`) is safe in a script."""
    return "`" + name.replace("`", "``") + "`"


def hexed(data: bytes) -> str:
    """A hexadecimal literal."""
    return "0x" + data.hex().upper() if data else "''"


def string_sql(value: str | bytes, column: Column, dialect: SqlDialect) -> str:
    """CHAR, VARCHAR, TEXT and their binary counterparts, UUID, INET4 and INET6."""
    charset = column.charset
    if isinstance(value, bytes):
        # Servers reject a UTF-8 introducer before bytes that are not valid UTF-8.
        has_introducer = value and charset not in (None, BINARY, *UTF8)
        return (introducer(charset or "") if has_introducer else "") + hexed(value)
    if has_own_text(column) or charset in UTF8:
        return literal(value, dialect.utf8)
    if charset is None:
        return hexed(_encoded(value))
    if (encoded := encoder_of(charset)) is None:
        return literal(value, dialect.utf8)
    return literal(value) if is_plain(value) else introducer(charset) + hexed(encoded(value))


def choice_sql(value: str | int, column: Column, dialect: SqlDialect) -> str:
    """ENUM and SET: members, or their number. An invalid ENUM value "" has the number 0."""
    if isinstance(value, int):
        return str(value)
    members = column.members or ()
    is_wrong = value == "" and column.kind == Kind.ENUM
    if is_wrong and "" not in members:
        return "0"
    if is_wrong or not is_utf8(value):
        numbers = [index for index, member in enumerate(members) if member in value.split(",")]
        is_enum = column.kind == Kind.ENUM
        return str(members.index(value) + 1 if is_enum else sum(1 << index for index in numbers))
    return literal(value, dialect.utf8)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def is_utf8(text: str) -> bool:
    """Whether text is valid UTF-8, that is, contains no bytes escaped as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def float_sql(value: float, *_: object) -> str:
    """FLOAT."""
    return double_sql(shortest_float(value))


def double_sql(value: float, *_: object) -> str:
    """DOUBLE.

    Raises `UsageError`: the value is NaN or infinite. Servers store neither, but both decode.
    """
    if not math.isfinite(value):
        raise UsageError(f"SQL has no literal for {value}; exclude the table or the row")
    text = repr(value)
    return "-0e0" if text == "-0.0" else text.removesuffix(".0")


def geometry_sql(value: bytes, _: Column, dialect: SqlDialect) -> str:
    """A geometry from SRID and WKB, in the stored axis order."""
    if len(value) <= _SRID.size:
        return hexed(value)
    (srid,) = _SRID.unpack_from(value)
    axes = ", 'axis-order=long-lat'" if srid and dialect.has_axes else ""
    number = f", {srid}" if srid else ""
    return f"ST_GeomFromWKB({hexed(value[_SRID.size :])}{number}{axes})"


def vector_sql(value: list[float], *_: object) -> str:
    """VECTOR: its floats as stored."""
    return hexed(struct.pack(f"<{len(value)}f", *value))


_Type = JsonBinary.ValueType

#: The keys of objects and indexes of arrays that lead to a value.
_Keys = tuple[str | int, ...]

_AS_BINARY = " AS BINARY)"

#: Every JSON parser reads a double exactly if one multiplication or division by a power of ten yields it.
_EXACT_DIGITS, _EXACT_POWER = 15, 22

#: Texts of documents that may have doubles.
_DOUBLE = re.compile("[0-9][.eE]")

#: Documents store the capacity for digits, in groups of nine: up to 72 for a number of 65 digits.
MOST_DIGITS = 65


def document_sql(document: JsonBinary) -> str:
    """A document as SQL: a string literal, or an expression that sets the values JSON text cannot hold.

    Raises `GrammarError`: as `parse_document` does.
    """
    node = parse_document(document)  # reports errors; terminates on any input
    replaced = list(_replaced(document.type, document.content.content, ()))
    for keys, expression in replaced:
        if expression.endswith(_AS_BINARY):
            _set(node, keys)  # its text need not be valid
    return _with(node_text(node), replaced)


def text_sql(text: JsonText, *_: object) -> str:
    """Like `document_sql`, for the text of a document, which does not show what is a DECIMAL or a time."""
    if _DOUBLE.search(text) is None:
        return literal(text)
    return _with(text, list(_long_doubles(json.loads(text, parse_float=_Double), ())))


def _with(text: str, replaced: list[tuple[_Keys, str]]) -> str:
    """A document with some of its values replaced by SQL expressions."""
    if not replaced:
        return literal(text)
    if not replaced[0][0]:
        return f"CAST({replaced[0][1]} AS JSON)"
    arguments = ", ".join(f"{literal(_path(keys))}, {value}" for keys, value in replaced)
    return f"JSON_SET(CAST({literal(text)} AS JSON), {arguments})"


def _path(keys: _Keys) -> str:
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{quote(key)}" for key in keys)


def _set(node: Any, keys: _Keys) -> None:
    """Make a value null."""
    for key in keys[:-1]:
        node = node[key]
    if keys:
        node[keys[-1]] = "null"


def _replaced(kind: _Type | int, content: Any, keys: _Keys) -> Iterator[tuple[_Keys, str]]:
    """Where a document has values that JSON text cannot express, and SQL expressions for them."""
    if kind in OBJECTS:
        for key, entry in zip(content.key_entries, content.value_entries, strict=True):
            yield from _element(entry, (*keys, key.key))
    elif kind in ARRAYS:
        for index, entry in enumerate(content.value_entries):
            yield from _element(entry, (*keys, index))
    elif kind in (_Type.opaque, _Type.double):
        value = _cast(content) if kind == _Type.opaque else _double(double_text(content.value))
        if value is not None:
            yield keys, value


class _Double(str):
    """The text of a double in a document."""


def _long_doubles(node: Any, keys: _Keys) -> Iterator[tuple[_Keys, str]]:
    if isinstance(node, dict):
        for key, member in node.items():
            yield from _long_doubles(member, (*keys, key))
    elif isinstance(node, list):
        for index, element in enumerate(node):
            yield from _long_doubles(element, (*keys, index))
    elif isinstance(node, _Double) and (value := _double(node)) is not None:
        yield keys, value


def _double(text: str) -> str | None:
    """An SQL literal for a double that JSON parsers may round; without an exponent, it would be a DECIMAL."""
    if not is_long_double(text.encode(), 0, len(text)):
        return None
    return text if "e" in text else f"{text}e0"


def is_long_double(text: Bytes | bytes, begin: int, end: int) -> bool:
    """Whether JSON parsers may round the number `text[begin:end]`, in the format of servers."""
    digits, fraction = 0, 0
    exponent: Any = 0
    has_point, has_exponent, is_negative = False, False, False
    for position in range(begin, end):
        byte = text[position]
        if byte == _POINT:
            has_point = True
        elif byte == _EXPONENT:
            has_exponent = True
        elif has_exponent and byte == _MINUS:
            is_negative = True
        elif _ZERO <= byte <= _NINE:
            if has_exponent:
                exponent = 10 * exponent + np.int64(byte) - _ZERO
            else:
                digits += digits > 0 or byte != _ZERO
                fraction += has_point
    power = (-exponent if is_negative else exponent) - fraction
    return digits > _EXACT_DIGITS or abs(power) > _EXACT_POWER


def _element(entry: JsonBinary.ValueEntry, keys: _Keys) -> Iterator[tuple[_Keys, str]]:
    if entry.value is not None:
        yield from _replaced(entry.type, entry.value.content, keys)


def _cast(content: JsonBinary.Opaque) -> str | None:
    text, value = opaque_text(content), content.value.content
    if isinstance(value, JsonOpaque.Decimal):
        number = value.number
        precision = min(number.precision, MOST_DIGITS)
        return f"CAST('{text}' AS DECIMAL({precision},{number.scale}))"
    name = of_type(content.type).document_type
    if isinstance(value, JsonOpaque.Other):
        return f"CAST({hexed(value.data)}{_AS_BINARY}" if content.type in OPAQUE_BYTES else None
    return f"CAST('{text.strip(chr(34))}' AS {name})"
