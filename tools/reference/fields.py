"""The table of a structure: offset, size, type, name in server source, version and meaning of each field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.generate.grammar import Grammar, GrammarError, Node, Type, type_name
from tools.generate.sizes import contents

_NUMBER = re.compile(r"([usf])([1248])(le|be)?$")
_BITS = re.compile(r"b(\d+)(le|be)?$")
_SINCE = re.compile(r"(?:^|(?<=[.;] ))Since ((?:MySQL |MariaDB )?\d+(?:\.\d+)*)\.(?= |$)")


@dataclass(frozen=True)
class FieldRow:
    """A row of the table of a structure; every cell is Markdown."""

    name: str
    offset: str
    size: str
    kind: str
    server_name: str
    since: str
    meaning: str
    mistake: str  # errors in published descriptions of the field


class StructureFields:
    """The rows of one structure; `link` formats a Markdown link to a type of the grammar."""

    def __init__(self, grammar: Grammar, type_: Type) -> None:
        self._grammar = grammar
        self._type = type_

    def stored(self) -> Iterator[FieldRow]:
        """The stored fields, in byte order."""
        offsets = _Offsets()
        for field in self._type.seq:
            bits = _bits(field)
            yield self._row(field["id"], field, offsets.of(field, bits), _size(field, bits))

    def derived(self) -> Iterator[FieldRow]:
        """The documented instances: values derived from the fields, or read in advance."""
        for name, node in self._type.instances.items():
            if "doc" in node:
                yield self._row(name, node, "", "")

    def cases(self) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
        """For each field whose type depends on a value: its name, the value, and the types by value."""
        for field in self._type.seq:
            type_ = field.get("type")
            if isinstance(type_, dict):
                uses = [(_case_label(case), self.type_link(use)) for case, use in type_["cases"].items()]
                yield field["id"], code(type_["switch-on"]), uses

    def type_link(self, use: str) -> str:
        """The type as Markdown, with a link if the grammar defines it."""
        try:
            target = self._grammar.resolve(self._type, type_name(use))
        except GrammarError:
            return "text" if use in ("str", "strz") else f"`{use}`"
        return f"[{type_name(use)}]({self._target(target)})"

    def _row(self, name: str, node: Node, offset: str, size: str) -> FieldRow:
        since, text = split_since(" ".join(str(node.get("doc", "")).split()))
        if "if" in node:
            text = f"*if* {code(node['if'])}" + (f": {text}" if text else "")
        server_name = node.get("-orig-id", name)
        return FieldRow(
            name=f"`{name}`",
            offset=offset,
            size=size,
            kind=self._kind(node) if size or "type" in node else "",
            server_name=f"`{server_name}`" if server_name != name else "",
            since=since,
            meaning=text,
            mistake=" ".join(str(node.get("-published-wrong", "")).split()),
        )

    def _kind(self, field: Node) -> str:
        type_ = field.get("type")
        if type_ is None:
            return "bytes"
        if isinstance(type_, dict):
            return f"by {code(type_['switch-on'])}, below"
        if "enum" in field:
            enum = self._grammar.enum(self._type, field["enum"])
            return f"`{type_}`, [{enum.name}]({self._target(enum.owner)})"
        return self.type_link(type_)

    def _target(self, target: Type) -> str:
        page = f"{target.id}.md" if target.id != self._type.id else ""
        return f"{page}#{anchor(heading(target))}"


class _Offsets:
    """Offsets of fields, as far as they are fixed.

    Fields under one condition have fixed offsets relative to each other; a field after them has none.
    """

    def __init__(self) -> None:
        self._bits: int | None = 0
        self._conditions: set[str] = set()

    def of(self, field: Node, bits: int | None) -> str:
        condition = field.get("if")
        is_fixed = self._bits is not None and self._conditions <= {condition}
        here, self._bits = self._bits, None
        if not is_fixed or here is None:
            return ""
        if bits is not None:
            self._bits = here + bits
            self._conditions |= {condition} if condition else set()
        byte, bit = divmod(here, 8)
        return f"{byte}, bit {bit}" if bit or (bits or 8) % 8 else str(byte)


def split_since(doc: str) -> tuple[str, str]:
    """The version in a sentence "Since ….", and the text without that sentence."""
    match = _SINCE.search(doc)
    return (match[1], " ".join(_SINCE.sub("", doc).split())) if match else ("", doc)


def heading(type_: Type) -> str:
    return ".".join(type_.path)


def anchor(text: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


def code(expression: object) -> str:
    text = " ".join(str(expression).split())
    return text if text.isdigit() else f"`{text}`"


def _case_label(case: object) -> str:
    return "anything else" if case == "_" else f"`{str(case).rpartition('::')[2]}`"


def _bits(field: Node) -> int | None:
    """Size of a fixed-size field, in bits."""
    type_ = field.get("type")
    if "repeat" in field:
        return None
    if "contents" in field:
        return 8 * len(contents(field))
    if "size" in field:
        return 8 * int(field["size"]) if str(field["size"]).isdigit() else None
    if isinstance(type_, str) and (match := _NUMBER.match(type_)):
        return 8 * int(match[2])
    if isinstance(type_, str) and (match := _BITS.match(type_)):
        return int(match[1])
    return None


def _size(field: Node, bits: int | None) -> str:
    if bits is not None:
        return f"{bits} bit" + "s" * (bits > 1) if bits % 8 else str(bits // 8)
    type_ = field.get("type")
    if "size" in field:
        size = code(field["size"])
    elif field.get("size-eos"):
        size = "rest"
    elif "terminator" in field or type_ == "strz":
        size = "to a zero"
    elif isinstance(type_, str) and (match := _NUMBER.match(type_)):
        size = match[2]
    elif isinstance(type_, str) and (match := _BITS.match(type_)):
        size = f"{match[1]} bits"
    else:
        size = "varies"
    if field.get("repeat") == "expr":
        return f"{code(field['repeat-expr'])} × {size}"
    repeated = {"eos": f"{size}, repeated to the end", "until": f"{size}, repeated"}
    return repeated.get(field.get("repeat", ""), size)
