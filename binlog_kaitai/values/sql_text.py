"""Values as SQL literals that give the same value when a statement with them runs.

Rules
-----
1. Statements are in utf8mb4, with `time_zone` +00:00, and backslashes escape (no NO_BACKSLASH_ESCAPES).
2. Text is a quoted string if it is known to be text and can be written in utf8mb4, so that the server turns
   it into the column's character set. All else is a hexadecimal literal: its bytes, which a column takes as
   they are.
3. FLOAT and DOUBLE have few digits, but enough to read back as the same number.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any, NamedTuple

from binlog_kaitai.charsets import BINARY, decoder_of
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.grammar import ColumnType
from binlog_kaitai.schema import Column
from binlog_kaitai.values.numbers import shortest_float
from binlog_kaitai.values.strings import has_own_text

#: What a quoted string has in place of a byte. The `mysql` client changes the bytes of line ends, and refuses
#: zero bytes.
ESCAPES = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}

_UNCLEAN = re.compile("[\0\n\r\x1a\"'\\\\]")
_SRID = struct.Struct("<I")
_DIGITS = re.compile(r"[0-9]+")

#: From here on MySQL lets a geometry say in which order its axes are, and has orders of its own.
_MYSQL_WITH_AXES = (8, 0)


class Dialect(NamedTuple):
    """Whose SQL it is.

    Attributes
    ----------
    is_mariadb : bool
    version : tuple of int
        Such as ``(8, 0, 36)``.
    """

    is_mariadb: bool = False
    version: tuple[int, ...] = _MYSQL_WITH_AXES

    @classmethod
    def of(cls, server_version: str, *, is_mariadb: bool) -> Dialect:
        """The dialect of a server that calls its version this, such as ``"5.5.5-10.11.6-MariaDB-log"``."""
        text = server_version.removeprefix("5.5.5-") if is_mariadb else server_version
        return cls(is_mariadb, tuple(map(int, _DIGITS.findall(text.partition("-")[0])))[:3])

    @property
    def has_axes(self) -> bool:
        """Whether a geometry from WKB takes an order of the axes."""
        return not self.is_mariadb and self.version >= _MYSQL_WITH_AXES


def quoted(text: str) -> str:
    """A string literal."""
    return "'" + _UNCLEAN.sub(lambda found: ESCAPES[ord(found[0])].decode(), text) + "'"


def identifier(name: str) -> str:
    """A name in backquotes."""
    return "`" + name.replace("`", "``") + "`"


def hexed(data: bytes) -> str:
    """A hexadecimal literal."""
    return "0x" + data.hex().upper() if data else "''"


def string_sql(value: str | bytes, column: Column, _: Dialect) -> str:
    """CHAR, VARCHAR, TEXT and their binary twins, UUID, INET4 and INET6."""
    if isinstance(value, str):
        is_sure = column.charset is not None or has_own_text(column)
        return quoted(value) if is_sure and _is_encodable(value) else hexed(_encoded(value))
    is_foreign = column.charset not in (None, BINARY) and decoder_of(column.charset) is None
    return f"_{column.charset} {hexed(value)}" if is_foreign and value else hexed(value)


def choice_sql(value: str | int, column: Column, _: Dialect) -> str:
    """ENUM and SET: members, or their number. An ENUM's wrong value "" has the number 0."""
    if isinstance(value, int):
        return str(value)
    members = column.members or ()
    is_wrong = value == "" and column.type == ColumnType.enum
    if is_wrong and "" not in members:
        return "0"
    if is_wrong or not _is_encodable(value):
        numbers = [index for index, one in enumerate(members) if one in value.split(",")]
        is_enum = column.type == ColumnType.enum
        return str(members.index(value) + 1 if is_enum else sum(1 << index for index in numbers))
    return quoted(value)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def float_sql(value: float, *_: Any) -> str:
    """FLOAT."""
    return double_sql(shortest_float(value))


def double_sql(value: float, *_: Any) -> str:
    """DOUBLE.

    Raises
    ------
    GrammarError
        It is no number, which no server has.
    """
    if not math.isfinite(value):
        raise GrammarError(f"SQL has no literal for {value}")
    text = repr(value)
    return "-0e0" if text == "-0.0" else text.removesuffix(".0")


def geometry_sql(value: bytes, _: Column, dialect: Dialect) -> str:
    """A shape out of SRID and WKB, in the order of axes in which it is stored."""
    if len(value) <= _SRID.size:
        return hexed(value)
    (srid,) = _SRID.unpack_from(value)
    axes = ", 'axis-order=long-lat'" if srid and dialect.has_axes else ""
    number = f", {srid}" if srid else ""
    return f"ST_GeomFromWKB({hexed(value[_SRID.size :])}{number}{axes})"


def vector_sql(value: list[float], *_: Any) -> str:
    """VECTOR: its floats as they are stored."""
    return hexed(struct.pack(f"<{len(value)}f", *value))
