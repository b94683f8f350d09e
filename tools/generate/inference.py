"""The type of every expression in Kaitai's type system, for languages with strict types.

An integer has its name in .ksy files (`u4`, `s8`); other types have a `Kind` of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.generate.expressions import Node as Tree
from tools.generate.expressions import parse, parse_use
from tools.generate.grammar import Enum, Grammar, GrammarError, Node, Type, type_name

INTEGER = re.compile(r"[us][1248]$")
_SIZED = re.compile(r"([usf][1248])(?:le|be)?$")
_BITS = re.compile(r"b(\d+)(?:le|be)?$")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "and", "or")


@dataclass(frozen=True)
class Kind:
    """The type of an expression.

    Attributes
    ----------
    name
        `u1` to `s8`, `f4`, `f8`, `bool`, `str`, `bytes`, `io`; `number` for an integer whose width the target
        chooses; `bits` for a bit field; `enum`, `record`, `list`; `any` if unknown.
    of
        The enum, the type of the record, or the kind of the list's items.
    """

    name: str
    of: Enum | Type | Kind | None = None

    @property
    def is_integer(self) -> bool:
        return self.name in ("number", "bits") or bool(INTEGER.match(self.name))


NUMBER, BOOL, TEXT, BYTES, IO, ANY = map(Kind, ("number", "bool", "str", "bytes", "io", "any"))
_LITERALS = {"number": NUMBER, "real": Kind("f8"), "truth": BOOL, "text": TEXT}


class Inference:
    """Infers the kinds of the fields and expressions of a grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self._parents: dict[tuple[str, ...], set[Type]] = {}
        self._instances: dict[tuple[tuple[str, ...], str], Kind] = {}
        for type_ in grammar:
            for node in [*type_.seq, *type_.instances.values()]:
                for used in used_types(node):
                    if not is_primitive(type_name(used)):
                        user = grammar.resolve(type_, type_name(used))
                        self._parents.setdefault(user.path, set()).add(type_)

    def parent(self, type_: Type) -> Type | None:
        """The type of a type's `_parent`, if it is unique."""
        parents = self._parents.get(type_.path, set())
        return next(iter(parents)) if len(parents) == 1 else None

    def field(self, owner: Type, name: str) -> Kind:
        """A parameter, field or instance of a type."""
        for node in owner.params:
            if node["id"] == name:
                return self.declared(owner, node)
        for node in owner.seq:
            if node["id"] == name:
                return self.declared(owner, node)
        if name in owner.instances:
            return self._instance(owner, name)
        raise GrammarError(f"{owner.spec}: {'.'.join(owner.path)} has no {name!r}")

    def _instance(self, owner: Type, name: str) -> Kind:
        key = owner.path, name
        if key not in self._instances:
            self._instances[key] = ANY  # placeholder for recursive definitions
            node = owner.instances[name]
            if "value" not in node:
                self._instances[key] = self.declared(owner, node)
            elif "enum" in node:
                self._instances[key] = Kind("enum", self.grammar.enum(owner, node["enum"]))
            else:
                self._instances[key] = self.of(owner, parse(str(node["value"])))
        return self._instances[key]

    def declared(self, owner: Type, node: Node) -> Kind:
        """The kind declared by `type`, `size` and `enum` of a field."""
        kind = self._declared_one(owner, node)
        return Kind("list", kind) if "repeat" in node else kind

    def _declared_one(self, owner: Type, node: Node) -> Kind:
        type_ = node.get("type")
        if isinstance(type_, dict):
            return ANY
        if type_ is None:
            return BYTES
        if "enum" in node:
            return Kind("enum", self.grammar.enum(owner, node["enum"]))
        return self.named(owner, type_name(type_))

    def named(self, owner: Type, name: str) -> Kind:
        """The meaning of a type name in a field or a cast."""
        if name.endswith("[]"):
            return Kind("list", self.named(owner, name[:-2]))
        if match := _SIZED.match(name):
            return Kind(match[1])
        if match := _BITS.match(name):
            return BOOL if match[1] == "1" else Kind("bits")
        if name in ("str", "strz"):
            return TEXT
        if name in ("bool", "bytes", "io"):
            return Kind(name)
        return Kind("record", self.grammar.resolve(owner, name))

    def of(self, owner: Type, tree: Tree, item: Kind = ANY) -> Kind:
        """The kind of an expression in a type; `item` is the kind of `_`."""
        match tree:
            case ("number" | "real" | "truth" | "text" as tag, _):
                return _LITERALS[tag]
            case ("unary", operator, _):
                return BOOL if operator == "not" else NUMBER
            case ("list", items):
                return Kind("list", self.of(owner, items[0], item) if items else ANY)
            case ("enum", names):
                return Kind("enum", self.grammar.enum(owner, "::".join(names[:-1])))
            case ("name", "_"):
                return item
            case ("name", name):
                return self._name(owner, name)
            case ("member" | "call", inner, name, *_):
                return self._member(self.of(owner, inner, item), name)
            case ("index", inner, _):
                return _item(self.of(owner, inner, item))
            case ("cast", _, name):
                return self.named(owner, name)
            case ("binary", operator, left, _):
                is_text = operator == "+" and self.of(owner, left, item) == TEXT
                return BOOL if operator in _COMPARISONS else TEXT if is_text else NUMBER
            case ("ternary", _, yes, no):
                return _common(self.of(owner, yes, item), self.of(owner, no, item))
        raise GrammarError(f"{owner.spec}: {tree}")

    def _name(self, owner: Type, name: str) -> Kind:
        if name == "_index":
            return NUMBER
        if name == "_io":
            return IO
        if name == "_root":
            return Kind("record", self.grammar.top(owner.id))
        return self._field_or_parent(owner, name)

    def _field_or_parent(self, owner: Type, name: str) -> Kind:
        if name == "_parent":
            parent = self.parent(owner)
            return Kind("record", parent) if parent else ANY
        return self.field(owner, name)

    def _member(self, inner: Kind, name: str) -> Kind:
        if name in ("to_i", "size", "length", "pos"):
            # A grammar may have fields of these names.
            if inner.name == "record" and name != "to_i":
                return self._of_record(inner, name)
            return NUMBER
        if name in ("first", "last") and inner.name == "list":
            return _item(inner)
        if name in ("to_s", "substring"):
            return TEXT
        if name == "eof":
            return BOOL
        if name == "_io":
            return IO
        return self._of_record(inner, name)

    def _of_record(self, inner: Kind, name: str) -> Kind:
        return self._field_or_parent(inner.of, name) if isinstance(inner.of, Type) else ANY


def _item(kind: Kind) -> Kind:
    if kind.name == "bytes":
        return Kind("u1")
    return kind.of if isinstance(kind.of, Kind) else ANY


def _common(yes: Kind, no: Kind) -> Kind:
    if yes == no:
        return yes
    if yes.is_integer and no.is_integer:
        return NUMBER
    return no if yes.name == "any" else yes


def used_types(node: Node) -> Iterator[str]:
    """The types of a field, one for each case."""
    type_ = node.get("type")
    if isinstance(type_, dict):
        yield from map(str, type_["cases"].values())
    elif type_ is not None:
        yield str(type_)


def is_primitive(name: str) -> bool:
    """Whether a type is built into Kaitai."""
    return bool(_SIZED.match(name) or _BITS.match(name)) or name in ("str", "strz", "bool", "bytes", "io")


def arguments(text: str) -> list[Tree]:
    """The arguments of a type reference."""
    return parse_use(text)[1]
