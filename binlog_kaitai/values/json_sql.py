"""JSON documents as SQL, with expressions for values that JSON text cannot express.

DECIMAL, dates, times and byte strings inside a document have their own types, which JSON text reduces to
numbers and strings. MySQL's SQL parser reads doubles exactly; the JSON parser of MySQL 5.7 and 8.0 does not
if they have many digits or a large exponent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from binlog_kaitai.core.grammar import ColumnType, JsonBinary
from binlog_kaitai.values.json_text import (
    ARRAYS,
    OBJECTS,
    JsonText,
    node_text,
    opaque_text,
    parse_document,
    quote,
)
from binlog_kaitai.values.numbers import double_text
from binlog_kaitai.values.sql_text import hexed, literal

_Type = JsonBinary.ValueType

#: The keys of objects and indexes of arrays that lead to a value.
_Keys = tuple[str | int, ...]

_AS_BINARY = " AS BINARY)"

#: SQL types of values without a JSON equivalent, other than DECIMAL.
CASTS: dict[ColumnType | int, str] = {
    ColumnType.date: "DATE",
    ColumnType.time: "TIME(6)",
    ColumnType.datetime: "DATETIME(6)",
    ColumnType.timestamp: "DATETIME(6)",
}

#: Types of byte strings, by their origin; which of them a BINARY gets depends on the server's version.
BYTE_STRINGS = (ColumnType.varchar, ColumnType.blob, ColumnType.var_string, ColumnType.string)

#: Every JSON parser reads a double exactly if one multiplication or division by a power of ten yields it.
EXACT_DIGITS, EXACT_POWER = 15, 22

#: Texts of documents that may have other doubles: 16 digits with a point among them, or an exponent.
_LONG_DOUBLE = re.compile(
    "|".join(
        ["[0-9][eE]", *(rf"[0-9]{{{count}}}\.[0-9]{{{EXACT_DIGITS + 1 - count}}}" for count in range(1, 16))]
    )
)

#: Documents store the capacity for digits, in groups of nine: up to 72 for a number of 65 digits.
MOST_DIGITS = 65


def document_sql(document: JsonBinary) -> str:
    """A document as SQL: a string literal, or an expression that sets the values JSON text cannot hold.

    Raises
    ------
    GrammarError
        As `parse_document` does.
    """
    node = parse_document(document)  # reports errors; terminates on any input
    replaced = list(_replaced(document.type, document.content.content, ()))
    for keys, expression in replaced:
        if expression.endswith(_AS_BINARY):
            _set(node, keys)  # its text need not be valid
    return _with(node_text(node), replaced)


def text_sql(text: JsonText) -> str:
    """Like `document_sql`, for the text of a document, which does not show what is a DECIMAL or a time."""
    if _LONG_DOUBLE.search(text) is None:
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


def _replaced(kind: Any, content: Any, keys: _Keys) -> Iterator[tuple[_Keys, str]]:
    """Where a document has values that JSON text cannot express, and SQL expressions for them."""
    if kind in OBJECTS:
        for key, entry in zip(content.key_entries, content.value_entries, strict=True):
            yield from _element(entry, (*keys, key.key))
    elif kind in ARRAYS:
        for index, entry in enumerate(content.value_entries):
            yield from _element(entry, (*keys, index))
    elif (value := _expression(kind, content)) is not None:
        yield keys, value


def _expression(kind: Any, content: Any) -> str | None:
    match kind:
        case _Type.opaque:
            return _cast(content)
        case _Type.double:
            return _double(double_text(content.value))
    return None


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
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    power = int(exponent or 0) - len(fraction)
    if len((whole + fraction).lstrip("0")) <= EXACT_DIGITS and abs(power) <= EXACT_POWER:
        return None
    return text if exponent else f"{text}e0"


def _element(entry: Any, keys: _Keys) -> Iterator[tuple[_Keys, str]]:
    if not entry.is_inlined:
        yield from _replaced(entry.type, entry.value.content, keys)


def _cast(content: Any) -> str | None:
    text = opaque_text(content)
    if content.type == ColumnType.newdecimal:
        number = content.value.content.number
        precision = min(number.precision, MOST_DIGITS)
        return f"CAST('{text}' AS DECIMAL({precision},{number.scale}))"
    if content.type in BYTE_STRINGS:
        return f"CAST({hexed(content.value.content.data)}{_AS_BINARY}"
    name = CASTS.get(content.type)
    return None if name is None else f"CAST('{text.strip(chr(34))}' AS {name})"
