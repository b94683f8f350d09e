"""Literals of a dump, as what queries of a snapshot return, and as Arrow arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from binlog_kaitai.arrow import pa
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import plain_value
from binlog_kaitai.snapshot.snapshot_values import value_of_text
from binlog_kaitai.values.charsets import BINARY, decode
from binlog_kaitai.values.column_kinds import STRINGS, Kind
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

_NULL, _INTRODUCER, _CONVERT = b"NULL", b"_binary", b"CONVERT("
_QUOTES = b"'\""
_QUOTES_OR_NULL = _QUOTES + b"N"
_ESCAPED = re.compile(rb"\\(.)|''|\"\"", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"0": b"\0", b"Z": b"\x1a"}

#: The escapes that dumps write, except for that of a backslash.
_WRITTEN = [(b"\\" + letter, _ESCAPES.get(letter, letter)) for letter in (b"'", b'"', b"n", b"0", b"r", b"Z")]

#: Character sets whose text Arrow has as it is.
_UTF8 = ("utf8mb4", "utf8mb3", "utf8")

_Conversion = Callable[[Sequence[bytes], pa.DataType], pa.Array]

#: The length of a date.
_DATE = 10


def data_of(literal: bytes) -> bytes | None:
    """The bytes of a literal: the content of a string, the digits of a number; None for NULL."""
    first = literal[0]
    if first in _QUOTES:
        return unescaped(literal[1:-1], literal[:1])
    if literal == _NULL:
        return None
    if literal.startswith(_INTRODUCER):
        return data_of(literal.removeprefix(_INTRODUCER).lstrip(b" "))
    if literal.startswith(_CONVERT):
        string = literal[len(_CONVERT) : literal.rindex(literal[len(_CONVERT) : len(_CONVERT) + 1]) + 1]
        return data_of(string)
    if literal[:2] == b"0x":
        return _of_hex(literal[2:])
    if literal[1:2] == b"'":
        digits = literal[2:-1]
        return _of_hex(digits) if first in b"xX" else int(digits or b"0", 2).to_bytes((len(digits) + 7) // 8)
    return literal


def _of_hex(digits: bytes) -> bytes:
    return bytes.fromhex(digits.decode("ascii").rjust(len(digits) + len(digits) % 2, "0"))


def unescaped(text: bytes, quote: bytes) -> bytes:
    """The content of a string without escapes and doubled quotes."""
    if quote * 2 in text:
        return _ESCAPED.sub(lambda escape: _unescape(escape[0], quote), text)
    if b"\\" not in text:
        return text
    parts = text.split(b"\\\\")
    for index, part in enumerate(parts):
        if b"\\" in part:
            for escape, byte in _WRITTEN:
                part = part.replace(escape, byte)
            parts[index] = (
                part if b"\\" not in part else _ESCAPED.sub(lambda escape: _unescape(escape[0], b""), part)
            )
    return b"\\".join(parts)


def _unescape(text: bytes, quote: bytes) -> bytes:
    if text[:1] != b"\\":
        return quote if text == quote * 2 else text
    return text if text[1:] in b"%_" else _ESCAPES.get(text[1:], text[1:])


class Converter:
    """Converts the literals of a column to an Arrow array.

    `charset`: the character set of the script: that of text, except after `_binary`.
    """

    def __init__(self, column: Column, charset: str, zero_dates: str) -> None:
        self.kind = arrow_type(column, zero_dates)
        self._column = column
        self._zero_dates = zero_dates
        self._charset = charset
        is_converted = column.kind in STRINGS and BINARY not in (column.charset, charset)
        self._as_dumped = replace(column, charset=charset) if is_converted else column
        self._at_once = self._conversion_at_once()

    def array(self, literals: Sequence[bytes]) -> pa.Array:
        """The array; values are those that a snapshot over a connection has.

        Raises `BinlogError`, `ValueError`, `TypeError`, `ArithmeticError`: a literal is not a value of the
        column.
        """
        if self._at_once is not None:
            with suppress(ValueError, NotImplementedError):  # such as zero dates and invalid UTF-8
                return self._at_once(literals, self.kind)
        return pa.array(list(map(self._value, literals)), self.kind)

    def _conversion_at_once(self) -> _Conversion | None:
        """A conversion of many literals at once; None if each value needs its own."""
        column, kind = self._as_dumped, self.kind
        if column.kind == Kind.INTEGER and pa.types.is_integer(kind):
            return partial(_numbers, int)
        if column.kind in (Kind.FLOAT, Kind.DOUBLE):
            return partial(_numbers, float)
        if column.kind == Kind.DECIMAL:
            return _decimals
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            return _times
        if column.kind in STRINGS and pa.types.is_binary(kind):
            return _byte_strings
        is_utf8 = column.kind in STRINGS and column.charset in _UTF8 and pa.types.is_string(kind)
        return _strings if is_utf8 else None

    def _value(self, literal: bytes) -> object:
        data = data_of(literal)
        if data is None:
            return None
        column = self._column if literal.startswith(_INTRODUCER) else self._as_dumped
        value = value_of_text(self._as_queried(data, column, literal), column)
        return plain_value(value, column, self.kind, self._zero_dates)

    def _as_queried(self, data: bytes, column: Column, literal: bytes) -> bytes | str | int:
        """What a query of a snapshot returns for a value, from the bytes of its literal."""
        match column.kind:
            case Kind.BIT:
                if data is literal:
                    raise ValueError(f"{literal!r} is not a literal of BIT in a dump")
                return data
            case Kind.ENUM:
                return _number_of(self._chosen(data, column, literal), column)
            case Kind.SET:
                text = self._chosen(data, column, literal)
                return sum(1 << _number_of(member, column) - 1 for member in text.split(",")) if text else 0
            case Kind.VECTOR:
                return data.hex()
            case Kind.JSON:
                return data.decode("utf-8")
            case kind if kind in STRINGS or kind is Kind.GEOMETRY:
                # UUID, INET4 and INET6 have the type of BINARY, but are dumped as text.
                return data.decode() if has_own_text(column) else data
        return data.decode("ascii")

    def _chosen(self, data: bytes, column: Column, literal: bytes) -> str:
        """The text of an ENUM or SET."""
        is_in_own = self._charset == BINARY or literal.startswith(_INTRODUCER)
        text = decode(data, column.charset if is_in_own else self._charset)
        if isinstance(text, bytes):
            text = text.decode("latin-1") if column.charset == BINARY else text.decode()
        return text


def _numbers(
    convert: Callable[[bytes], int | float], literals: Sequence[bytes], kind: pa.DataType
) -> pa.Array:
    return pa.array([None if literal == _NULL else convert(literal) for literal in literals], kind)


def _decimals(literals: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    return _texts([None if literal == _NULL else literal for literal in literals]).cast(kind)


def _times(literals: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    texts = [None if literal == _NULL else literal[1:-1] for literal in literals]
    if any(text is not None and len(text) < _DATE for text in texts):
        raise ValueError("a date without a day, which Arrow would complete")
    naive = pa.timestamp(kind.unit) if pa.types.is_timestamp(kind) else kind
    return _texts(texts).cast(naive).cast(kind)


def _texts(texts: list[bytes | None]) -> pa.Array:
    return pa.array(texts, pa.binary()).cast(pa.string())


def _byte_strings(literals: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    contents = [
        text[1:-1]
        if text[0] in _QUOTES and b"\\" not in text and b"''" not in text and b'""' not in text
        else data_of(text)
        for text in literals
    ]
    return pa.array(contents, pa.binary()).cast(kind)


def _strings(literals: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    if any(literal[0] not in _QUOTES_OR_NULL for literal in literals):
        raise ValueError("a string in the character set of its column")
    return _byte_strings(literals, kind)


def _number_of(text: str, column: Column) -> int:
    members = column.members or ()
    if text in members:
        return members.index(text) + 1
    if text:
        raise ValueError(f"{text!r} is not a member of {column.type_name}")
    return 0
