"""Partial updates of JSON documents (`binlog_row_value_options=PARTIAL_JSON`), and their application."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from binlog_kaitai.core.grammar import JsonBinary
from binlog_kaitai.core.grammar import JsonDiff as _Change
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.json_text import JsonText, Node, document_text, node_text, quote

_Operation = _Change.DiffOperation

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

    def apply(self, document: str) -> JsonText:
        """Apply the operations to a document; takes and returns text as servers print it.

        Raises
        ------
        GrammarError
            A path does not exist in this document.
        """
        if not self.operations:
            return JsonText(document)
        root = _tree(json.loads(document, parse_float=JsonText, parse_int=JsonText))
        for one in self.operations:
            _apply(root, one)
        return node_text(root)


def diff_of(cell: Any) -> JsonDiff:
    """The operations in a cell of a row image."""
    return JsonDiff(tuple(_operation(one) for one in cell.content.diffs))


def _operation(change: Any) -> JsonOperation:
    if not isinstance(change.operation, _Operation):
        raise GrammarError(f"invalid JSON diff operation {change.operation}")
    value = None if change.value is None else document_text(change.value)
    return JsonOperation(change.operation.name, change.path, value, change.value)


def _tree(value: Any) -> Node:
    """Convert the output of `json.loads` to the form that `json_text` parses documents into."""
    if isinstance(value, dict):
        return {key: _tree(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_tree(one) for one in value]
    if isinstance(value, JsonText):
        return value
    return quote(value) if isinstance(value, str) else json.dumps(value)


def _legs(path: str) -> list[str | int]:
    legs: list[str | int] = []
    at = 1
    while path[:1] == "$" and at < len(path) and (found := _LEG.match(path, at)):
        quoted, plain, index = found.groups()
        try:
            legs.append(int(index) if index else plain or json.loads(quoted, strict=False))
        except ValueError:
            break
        at = found.end()
    if at < len(path) or not legs:
        raise GrammarError(f"invalid JSON path: {path!r}")
    return legs


def _apply(root: Node, one: JsonOperation) -> None:
    *way, last = _legs(one.path)
    parent = root
    for leg in way:
        parent = _child(parent, leg, one.path)
    value = (
        None if one.value is None else _tree(json.loads(one.value, parse_float=JsonText, parse_int=JsonText))
    )
    match one.operation:
        case "replace" if value is not None:
            _child(parent, last, one.path)
            parent[last] = value  # type: ignore[index]
        case "remove":
            _child(parent, last, one.path)
            del parent[last]  # type: ignore[arg-type,union-attr]
        case "insert" if value is not None and isinstance(parent, list) and isinstance(last, int):
            parent.insert(last, value)
        case "insert" if value is not None and isinstance(parent, dict) and last not in parent:
            _insert_member(parent, str(last), value)
        case _:
            raise _no_such_path(one.path)


def _child(node: Node, leg: str | int, path: str) -> Node:
    if isinstance(node, dict) and isinstance(leg, str) and leg in node:
        return node[leg]
    if isinstance(node, list) and isinstance(leg, int) and leg < len(node):
        return node[leg]
    raise _no_such_path(path)


def _insert_member(node: dict[str, Node], key: str, value: Node) -> None:
    # Servers sort members by length in bytes, then by their bytes.
    node[key] = value
    ordered = sorted(node.items(), key=lambda item: _order(item[0]))
    node.clear()
    node.update(ordered)


def _order(key: str) -> tuple[int, bytes]:
    data = key.encode("utf-8", "surrogateescape")
    return len(data), data


def _no_such_path(path: str) -> GrammarError:
    return GrammarError(f"path {path} not found in the JSON document before the change")
