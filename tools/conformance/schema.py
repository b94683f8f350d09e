"""The fields that drivers print for each type, as a table of tab-separated lines.

    T  class path                   a type, such as MysqlBinlog.LogEntry
    F  field, kind, enum or "-"     a field of it, in the order of printing
    E  path                         an enum, such as BinlogEnums.EventType
    M  number, name                 a member of it

A kind is a letter, followed by `*` for a list: `i` integer, `u` unsigned 64-bit integer, `f` floating point,
`b` boolean, `s` text, `x` bytes, `e` enum, `r` record.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.generate.grammar import Enum, Grammar, GrammarError, Node, Type
from tools.generate.inference import Inference, Kind

_PLACE = r"_io\.(?:pos|eof)\b"
_LETTERS = {"u8": "u", "f4": "f", "f8": "f", "bool": "b", "str": "s", "bytes": "x"}
_LETTERS |= {"enum": "e", "record": "r"}


class Field(NamedTuple):
    """A field that drivers print."""

    name: str
    kind: str
    enum: str | None
    is_optional: bool


Schema = dict[str, list[Field]]
"""By class path: the fields that can be read at any time."""


def schema(grammar: Grammar) -> Schema:
    inference = Inference(grammar)
    return {type_.class_path: _fields(inference, type_) for type_ in grammar}


def render(grammar: Grammar) -> str:
    """The table in the drivers' format."""
    lines = []
    for path, fields in schema(grammar).items():
        lines.append(f"T\t{path}")
        lines += [f"F\t{field.name}\t{field.kind}\t{field.enum or '-'}" for field in fields]
    for path, members in enums(grammar).items():
        lines.append(f"E\t{path}")
        lines += [f"M\t{number}\t{name}" for number, name in members.items()]
    return "\n".join(lines) + "\n"


def enums(grammar: Grammar) -> dict[str, dict[int, str]]:
    """The members of each enum, by path."""
    enums = [grammar.enum(type_, name) for type_ in grammar for name in type_.enums]
    return {enum.class_path: enum.members for enum in enums}


def _fields(inference: Inference, type_: Type) -> list[Field]:
    fields = [_field(inference, type_, node["id"], node) for node in type_.seq]
    peeked = _peek(type_.instances)
    for name, node in type_.instances.items():
        # A computed record is part of the tree elsewhere, possibly around this one.
        if name not in peeked and not ("value" in node and _is_record(inference.field(type_, name))):
            fields.append(_field(inference, type_, name, node))
    return fields


def _field(inference: Inference, type_: Type, name: str, node: Node) -> Field:
    kind = inference.field(type_, name)
    if isinstance(node.get("type"), dict):
        item, items = Kind("record"), "*" if "repeat" in node else ""
    else:
        item, items = (kind.of, "*") if kind.name == "list" and isinstance(kind.of, Kind) else (kind, "")
    letter = "i" if item.is_integer and item.name != "u8" else _LETTERS.get(item.name)
    if letter is None:
        raise GrammarError(f"{type_.spec}: no kind for {name!r}, which is {kind}")
    is_optional = "if" in node or isinstance(node.get("type"), dict)
    return Field(name, letter + items, item.of.class_path if isinstance(item.of, Enum) else None, is_optional)


def _is_record(kind: Kind) -> bool:
    while kind.name == "list" and isinstance(kind.of, Kind):
        kind = kind.of
    return kind.name in ("record", "any")


def _peek(instances: dict[str, Node]) -> set[str]:
    """Instances that read at the current stream position, and those derived from them."""
    peeking: set[str] = set()
    pattern = re.compile(_PLACE)
    while new := {name for name, node in instances.items() if pattern.search(_before(node))} - peeking:
        peeking |= new
        pattern = re.compile("|".join([_PLACE, *(rf"(?<!\.)\b{name}\b" for name in peeking)]))
    return peeking


def _before(node: Node) -> str:
    """The parts of a field that are evaluated before it is read; the end of a repetition is not."""
    return str({key: value for key, value in node.items() if key not in ("repeat-until", "doc")})
