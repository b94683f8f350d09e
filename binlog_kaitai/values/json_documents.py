"""Binary JSON documents as the server prints them (sql-common/json_dom.cc, `wrapper_to_string`).

Rules
-----
1. A document is parsed into dicts, lists and text; keys keep the order of the document.
2. Servers nest documents no deeper than 100; deeper ones are an error.
3. The parts of a document do not overlap. In a hostile document, overlapping offsets could expand a few
   bytes without end, so the bytes read may not exceed the size of the document.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import Any

from binlog_kaitai.core.grammar import JsonBinary, JsonOpaque, StringValues
from binlog_kaitai.core.grammar import JsonDiff as JsonChange
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.column_kinds import OPAQUE_DATE, OPAQUE_TEXT
from binlog_kaitai.values.numbers import decimal, double_text
from binlog_kaitai.values.temporal import fraction_text

#: JSON_DOCUMENT_MAX_DEPTH.
MAX_DEPTH = 100
#: Line length of base64 as the server writes it.
_LINE = 76

_Type = JsonBinary.ValueType
_Literal = JsonBinary.Literal
OBJECTS = frozenset((_Type.small_object, _Type.large_object))
ARRAYS = frozenset((_Type.small_array, _Type.large_array))
_LITERALS = {_Literal.null_literal: "null", _Literal.true_literal: "true", _Literal.false_literal: "false"}

_SPECIAL = re.compile(r'[\x00-\x1f"\\]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


#: String tokens, and the characters that may end a member of a container.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)


class JsonText(str):
    """A JSON document as text."""

    __slots__ = ()


#: How an object's text begins if its first key equals the marker's.
MARKER = '{"json": '


def marked(document: str) -> JsonText:
    """The document as it appears among the values of a row, where SQL NULL is ``null``.

    The document ``null`` becomes ``{"json": null}``. A document that would look like this marker, an object
    whose only key is ``json``, is wrapped too: an object with just that key always contains the document.
    """
    is_ambiguous = document == "null" or (document.startswith(MARKER) and _has_one_member(document))
    return JsonText(f"{MARKER}{document}}}") if is_ambiguous else JsonText(document)


def _has_one_member(document: str) -> bool:
    depth = 0
    for token in _TOKEN.finditer(document):
        match token[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
            case "," if depth == 1:
                return False
    return True


#: A document: objects, arrays, and the text of all other values.
Node = dict[str, "Node"] | list["Node"] | str


def json_of(cell: StringValues.Json, *_: object) -> JsonText:
    """A value of a JSON column; an absent document counts as JSON null."""
    return JsonText("null") if cell.document is None else document_text(cell.document)


def document_text(document: JsonBinary) -> JsonText:
    """A document as the server prints it.

    Raises `GrammarError`: it is nested too deeply, its parts overlap, or a value is invalid.
    """
    return node_text(parse_document(document))


def parse_document(document: JsonBinary) -> Node:
    """Parse a document into dicts, lists and text; raises as :func:`document_text`."""
    return _Parser(document._io.size()).value(document.type, document.content.content, 0)


def node_text(node: Node) -> JsonText:
    """A parsed document as the server prints it."""
    if isinstance(node, dict):
        members = (f"{quote(key)}: {node_text(value)}" for key, value in node.items())
        return JsonText("{" + ", ".join(members) + "}")
    return JsonText(f"[{', '.join(map(node_text, node))}]" if isinstance(node, list) else node)


def quote(text: str) -> str:
    """A quoted string, escaped as the server does it."""
    return '"' + _SPECIAL.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


class _Parser:
    """Parses one document, counting the bytes read against its size."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.left_to_copy = size * MAX_DEPTH

    def value(self, kind: _Type | int, content: Any, depth: int) -> Node:
        if kind in OBJECTS or kind in ARRAYS:
            if depth >= MAX_DEPTH:
                raise GrammarError(f"the document is nested deeper than {MAX_DEPTH} levels")
            self.left_to_copy -= content.len_container.value
            if self.left_to_copy < 0:
                raise GrammarError("parts of the document overlap")
            if kind in OBJECTS:
                return self._object(content, depth)
            return [self._element(entry, depth) for entry in content.value_entries]
        return self._scalar(kind, content)

    def _object(self, content: JsonBinary.Container, depth: int) -> Node:
        members: dict[str, Node] = {}
        for key, entry in zip(content.key_entries or (), content.value_entries, strict=True):
            self._count(key.len_key)
            if key.key in members:
                raise GrammarError("an object has a duplicate key")
            members[key.key] = self._element(entry, depth)
        return members

    def _element(self, entry: JsonBinary.ValueEntry, depth: int) -> Node:
        self._count(1)
        if entry.value is None:
            return self._scalar(entry.type, entry.inlined)
        return self.value(entry.type, entry.value.content, depth + 1)

    def _scalar(self, kind: _Type | int, content: Any) -> str:
        match kind:
            case _Type.literal:
                if content.value not in _LITERALS:
                    raise GrammarError(f"invalid JSON literal {content.value}")
                return _LITERALS[content.value]
            case _Type.double:
                text = double_text(content.value)
                return text if "." in text or "e" in text else text + ".0"
            case _Type.string:
                self._count(content.len_value.value)
                return quote(content.value)
            case _Type.opaque:
                self._count(content.len_value.value)
                return opaque_text(content)
            case _ if isinstance(kind, _Type):
                return str(content.value)
        raise GrammarError(f"invalid JSON type {kind}")

    def _count(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise GrammarError("parts of the document overlap")


def opaque_text(content: JsonBinary.Opaque) -> str:
    """A value of a type that JSON lacks, as the server prints it."""
    match content.value.content:
        case JsonOpaque.Decimal() as value:
            return f"{decimal(value.number):f}"
        case JsonOpaque.Datetime() as value:
            clock = "" if content.type == OPAQUE_DATE else f" {_clock(value)}"
            return f'"{value.year:04}-{value.month:02}-{value.day:02}{clock}"'
        case JsonOpaque.Time() as value:
            return f'"{"-" if value.is_negative else ""}{_clock(value)}"'
        case JsonOpaque.Other() as value:
            data = value.data
    if content.type == OPAQUE_TEXT:
        return quote(data.decode("utf-8", "surrogateescape"))
    encoded = base64.b64encode(data).decode("ascii")
    lines = "\n".join(encoded[start : start + _LINE] for start in range(0, len(encoded), _LINE))
    return quote(f"base64:type{int(content.type)}:{lines}")


def _clock(value: JsonOpaque.Datetime | JsonOpaque.Time) -> str:
    return f"{value.hour:02}:{value.minute:02}:{value.second:02}{fraction_text(value.microsecond, 6)}"


#: One leg of a JSON path: a member with a plain or quoted name, or an array element.
_LEG = re.compile(r'\s*(?:\.\s*(?:("(?:[^"\\]|\\.)*")|([^\s."\[]+))|\[\s*([0-9]{1,10})\s*\])')


@dataclass(frozen=True, slots=True)
class JsonOperation:
    """One operation: ``"replace"``, ``"insert"`` or ``"remove"``, its path, and the text of the new value.

    `document` is the grammar's object of the value; its text does not tell a DATE from a string.
    """

    operation: str
    path: str
    value: JsonText | None
    document: JsonBinary | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class JsonDiff:
    """The operations of an update to a document, in order of application; empty if nothing changed."""

    operations: tuple[JsonOperation, ...]

    def objects(self) -> list[dict[str, str]]:
        """The operations as objects of JSON."""
        objects = (
            {"operation": step.operation, "path": step.path, "value": step.value} for step in self.operations
        )
        return [{key: text for key, text in fields.items() if text is not None} for fields in objects]

    def apply(self, document: str) -> JsonText:
        """Apply the operations to a document; takes and returns text as servers print it.

        Raises `GrammarError`: a path does not exist in this document.
        """
        if not self.operations:
            return JsonText(document)
        root, extended = _parsed(document), dict[int, dict[str, Node]]()
        for operation in self.operations:
            _apply(root, operation, extended)
        for node in extended.values():
            # Servers sort members by length in bytes, then by their bytes.
            members = sorted(node.items(), key=lambda member: _order(member[0]))
            node.clear()
            node.update(members)
        return node_text(root)


def diff_of(cell: StringValues.JsonDiffs) -> JsonDiff:
    """The operations in a cell of a row image."""
    operations = []
    for change in cell.content.diffs:
        if not isinstance(change.operation, JsonChange.DiffOperation):
            raise GrammarError(f"invalid JSON diff operation {change.operation}")
        value = None if change.value is None else document_text(change.value)
        operations.append(JsonOperation(change.operation.name, change.path, value, change.value))
    return JsonDiff(tuple(operations))


def _parsed(document: str) -> Node:
    """A document, from its text, in the form that `parse_document` gives."""
    return _tree(json.loads(document, parse_float=JsonText, parse_int=JsonText))


def _tree(value: Any) -> Node:
    if isinstance(value, dict):
        return {key: _tree(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tree(item) for item in value]
    if isinstance(value, JsonText):
        return value
    return quote(value) if isinstance(value, str) else json.dumps(value)


def _legs(path: str) -> list[str | int]:
    legs: list[str | int] = []
    offset = 1
    while path[:1] == "$" and offset < len(path) and (leg := _LEG.match(path, offset)):
        quoted, plain, index = leg.groups()
        try:
            legs.append(int(index) if index else plain or json.loads(quoted, strict=False))
        except ValueError:
            break
        offset = leg.end()
    if offset < len(path) or not legs:
        raise GrammarError(f"invalid JSON path: {path!r}")
    return legs


def _apply(root: Node, operation: JsonOperation, extended: dict[int, dict[str, Node]]) -> None:
    """Apply an operation; objects with a new last member are added to `extended`, by identity."""
    *way, last = _legs(operation.path)
    parent = root
    for leg in way:
        parent = _child(parent, leg, operation.path)
    value = None if operation.value is None else _parsed(operation.value)
    match operation.operation:
        case "replace" if value is not None:
            _child(parent, last, operation.path)
            parent[last] = value  # type: ignore[index]
        case "remove":
            _child(parent, last, operation.path)
            del parent[last]  # type: ignore[arg-type,union-attr]
        case "insert" if value is not None and isinstance(parent, list) and isinstance(last, int):
            parent.insert(last, value)
        case "insert" if value is not None and isinstance(parent, dict) and last not in parent:
            parent[str(last)] = value
            extended[id(parent)] = parent
        case _:
            raise _no_such_path(operation.path)


def _child(node: Node, leg: str | int, path: str) -> Node:
    if isinstance(node, dict) and isinstance(leg, str) and leg in node:
        return node[leg]
    if isinstance(node, list) and isinstance(leg, int) and leg < len(node):
        return node[leg]
    raise _no_such_path(path)


def _order(key: str) -> tuple[int, bytes]:
    data = key.encode("utf-8", "surrogateescape")
    return len(data), data


def _no_such_path(path: str) -> GrammarError:
    return GrammarError(f"path {path} not found in the JSON document before the change")
