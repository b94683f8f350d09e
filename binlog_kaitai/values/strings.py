"""Strings, byte strings and related types: conversion from the grammar's objects."""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Callable
from itertools import takewhile

from binlog_kaitai.core.grammar import StringValues, parse_structure
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.charsets import BINARY, decode
from binlog_kaitai.values.column_kinds import Kind
from binlog_kaitai.values.schema import Column

#: Deflate compresses by a factor of about a thousand at most.
_MOST_RATIO = 1032


def text_of(cell: StringValues.Text, column: Column) -> str | bytes:
    """A string as text; a byte string, or invalid UTF-8 in an unknown character set, as bytes."""
    return decode(cell.data, column.charset)


def padded_text_of(cell: StringValues.Text, column: Column) -> str | bytes:
    """CHAR; BINARY, with the trailing zero bytes that the log omits; UUID, INET4 and INET6 as text."""
    padded = cell.data.ljust(column.length, b"\0")
    if (special := _special(column)) is not None:
        return special(padded)
    return padded if column.charset == BINARY else decode(cell.data, column.charset)


def vector_of(cell: StringValues.Vector | StringValues.Text, column: Column) -> list[float]:
    """The elements of a VECTOR, which is a VARBINARY in logs of MariaDB."""
    if isinstance(cell, StringValues.Vector):
        return list(cell.content.elements)
    return list(parse_structure(StringValues.VectorContent, cell.data).elements)


def compressed_text_of(cell: StringValues.CompressedText, column: Column) -> str | bytes:
    """A value of a column with MariaDB's COMPRESSED attribute."""
    return decode(_unpack(cell.content), column.charset)


def enum_of(number: int, column: Column) -> str | int:
    """A member of an ENUM; "" for an invalid value the server accepted; the number if members are unknown."""
    if column.members is None:
        return number
    if number > len(column.members):
        raise GrammarError(f"ENUM member {number} does not exist; the column has {len(column.members)}")
    return column.members[number - 1] if number else ""


def set_of(bits: int, column: Column) -> str | int:
    """The members of a SET, joined by commas; the bits as a number if members are unknown."""
    if column.members is None:
        return bits
    if bits >> len(column.members):
        raise GrammarError(f"SET members {bits:#x} do not all exist; the column has {len(column.members)}")
    return ",".join(member for bit, member in enumerate(column.members) if bits >> bit & 1)


def has_own_text(column: Column) -> bool:
    """Whether the type defines its own text form for bytes: MariaDB's UUID, INET4, INET6."""
    return column.kind == Kind.CHAR and _special(column) is not None


def _special(column: Column) -> Callable[[bytes], str | bytes] | None:
    return _SPECIAL.get((column.type_name or "").lower())


def _uuid(data: bytes) -> str | bytes:
    """MariaDB's UUID, whose bytes the log has in order.

    Tables store most UUIDs with their parts swapped so that they sort by time; the positions of version and
    variant identify such a value (sql_type_uuid.h, `rec_need_swap`).
    """
    if len(data) != 16:
        return data
    if data[6] & 0x80 and 0 < data[8] < 0x80:
        data = data[12:16] + data[10:12] + data[8:10] + data[6:8] + data[:6]
    return str(uuid.UUID(bytes=data))


def _inet4(data: bytes) -> str | bytes:
    return ".".join(map(str, data)) if len(data) == 4 else data


def _inet6(data: bytes) -> str | bytes:
    """An INET6 as MariaDB prints it: the longest run of zero groups, even a single one, is omitted."""
    if len(data) != 16:
        return data
    groups = [f"{int.from_bytes(data[index : index + 2], 'big'):x}" for index in range(0, 16, 2)]
    runs = [len(list(takewhile("0".__eq__, groups[start:]))) for start in range(len(groups))]
    length = max(runs)
    start = runs.index(length) if length else 0
    if start == 0 and (length == 6 or (length == 5 and groups[5] == "ffff")):
        groups[6:] = [".".join(map(str, data[12:]))]
    if not length:
        return ":".join(groups)
    return ":".join(groups[:start]) + "::" + ":".join(groups[start + length :])


_SPECIAL: dict[str, Callable[[bytes], str | bytes]] = {"uuid": _uuid, "inet4": _inet4, "inet6": _inet6}

#: MariaDB types that are stored as byte strings and shown as text.
TEXTUAL = frozenset(_SPECIAL)


def _unpack(content: StringValues.CompressedContent) -> bytes:
    if not content.is_compressed:
        return content.data
    size = int.from_bytes(bytes(content.len_original or ()), "big")
    if size > max(len(content.data), 1) * _MOST_RATIO:
        raise GrammarError(f"{len(content.data)} bytes cannot decompress to {size}")
    stream = zlib.decompressobj(-zlib.MAX_WBITS if content.has_bare_stream else zlib.MAX_WBITS)
    try:
        data = stream.decompress(content.data, size + 1)
    except zlib.error as error:
        raise GrammarError(f"does not decompress: {error}") from error
    if len(data) != size:
        raise GrammarError(f"does not decompress to the declared {size} bytes")
    return data
