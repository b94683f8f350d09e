"""Binary JSON documents as SQL, with expressions for values that JSON text cannot express.

DECIMAL, dates and times inside a document have their own types, which JSON text reduces to numbers and
strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from binlog_kaitai.core.grammar import ColumnType, JsonBinary
from binlog_kaitai.values.json_text import ARRAYS, OBJECTS, document_text, opaque_text, quote
from binlog_kaitai.values.sql_text import literal

_Type = JsonBinary.ValueType

#: SQL types of values without a JSON equivalent, other than DECIMAL.
CASTS: dict[ColumnType | int, str] = {
    ColumnType.date: "DATE",
    ColumnType.time: "TIME(6)",
    ColumnType.datetime: "DATETIME(6)",
    ColumnType.timestamp: "DATETIME(6)",
}

#: Documents store the capacity for digits, in groups of nine: up to 72 for a number of 65 digits.
MOST_DIGITS = 65


def document_sql(document: JsonBinary) -> str:
    """A document as SQL: a string literal, or an expression that sets the values JSON text cannot hold.

    Raises
    ------
    GrammarError
        As `document_text` does.
    """
    text = document_text(document)  # reports errors; terminates on any input
    paths = list(_paths(document.type, document.content.content, "$"))
    if not paths:
        return literal(text)
    if paths[0][0] == "$":
        return f"CAST({paths[0][1]} AS JSON)"
    arguments = ", ".join(f"{literal(path)}, {value}" for path, value in paths)
    return f"JSON_SET(CAST({literal(text)} AS JSON), {arguments})"


def _paths(kind: Any, content: Any, path: str) -> Iterator[tuple[str, str]]:
    """Paths of the values that JSON text cannot express, and SQL expressions for them."""
    if kind in OBJECTS:
        for key, entry in zip(content.key_entries, content.value_entries, strict=True):
            yield from _element(entry, f"{path}.{quote(key.key)}")
    elif kind in ARRAYS:
        for index, entry in enumerate(content.value_entries):
            yield from _element(entry, f"{path}[{index}]")
    elif kind == _Type.opaque and (value := _cast(content)) is not None:
        yield path, value


def _element(entry: Any, path: str) -> Iterator[tuple[str, str]]:
    if not entry.is_inlined:
        yield from _paths(entry.type, entry.value.content, path)


def _cast(content: Any) -> str | None:
    text = opaque_text(content)
    if content.type == ColumnType.newdecimal:
        number = content.value.content.number
        precision = min(number.precision, MOST_DIGITS)
        return f"CAST('{text}' AS DECIMAL({precision},{number.scale}))"
    name = CASTS.get(content.type)
    return None if name is None else f"CAST('{text.strip(chr(34))}' AS {name})"
