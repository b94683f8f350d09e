"""The grammar with explicit integer widths, for languages that do not mix widths.

The compiler treats the result of any arithmetic as a plain `int` and translates operations literally; Go, Nim
and Rust reject `u1 + u4`. Here, both operands are cast to one width, and the result has that width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tools.generate.expressions import Node as Tree
from tools.generate.expressions import parse, write
from tools.generate.grammar import Node, Type, type_name
from tools.generate.inference import ANY, BOOL, Inference, Kind, arguments, is_primitive

_LOGIC = ("and", "or")
_SHIFT_OPERATORS = ("<<", ">>")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_TAGS = ("member", "call", "index", "cast", "unary", "binary", "ternary")
_FIELDS = ("name", "member", "index")
WIDE, UNSIGNED = Kind("s8"), Kind("u8")


class Rewriting:
    """Visits all expressions of a field; `rewritten` returns the replacement of an expression."""

    #: Required widths of the attributes of a field.
    WANTED: Mapping[str, Kind] = {}

    def __init__(self, inference: Inference) -> None:
        self._inference = inference

    def field(self, owner: Type, node: Node) -> Node:
        """A field or instance with all its expressions rewritten."""
        done = dict(node)
        item = self._inference.declared(owner, node).of if "repeat" in node and "value" not in node else ANY
        item = item if isinstance(item, Kind) else ANY
        for key in ("value", "if", "size", "pos", "repeat-expr", "repeat-until", "io"):
            if isinstance(node.get(key), str):
                done[key] = self._text(owner, node[key], item, self.WANTED.get(key))
        if "type" in node:
            done["type"] = self._type(owner, node["type"])
        if "valid" in node:
            done["valid"] = self._valid(owner, node["valid"], self._inference.declared(owner, node))
        return done

    def rewritten(self, owner: Type, tree: Tree, item: Kind = ANY, want: Kind | None = None) -> Tree:
        """An expression, rewritten; `item` is the meaning of `_`, `want` the required width."""
        raise NotImplementedError

    def inside(self, owner: Type, tree: Tree) -> Tree:
        """An expression whose parts are rewritten."""
        return tuple(self._part(owner, part) for part in tree)

    def _part(self, owner: Type, part: Any) -> Any:
        if not isinstance(part, tuple):
            return part
        is_list = not part or isinstance(part[0], tuple)
        return tuple(self._part(owner, inner) for inner in part) if is_list else self.rewritten(owner, part)

    def _text(self, owner: Type, text: Any, item: Kind = ANY, want: Kind | None = None) -> Any:
        return write(self.rewritten(owner, parse(text), item, want)) if isinstance(text, str) else text

    def _type(self, owner: Type, type_: Any) -> Any:
        if isinstance(type_, dict):
            cases = {case: self._use(owner, str(used)) for case, used in type_["cases"].items()}
            return {**type_, "switch-on": self._text(owner, type_["switch-on"]), "cases": cases}
        return self._use(owner, str(type_))

    def _use(self, owner: Type, use: str) -> str:
        name = type_name(use)
        if is_primitive(name) or "(" not in use:
            return use
        params = self._inference.grammar.resolve(owner, name).params
        passed = []
        for param, tree in zip(params, arguments(use), strict=True):
            want = self._inference.declared(owner, {k: v for k, v in param.items() if k != "enum"})
            passed.append(write(self.rewritten(owner, tree, want=want if want.is_integer else None)))
        return f"{name}({', '.join(passed)})"

    def _valid(self, owner: Type, valid: Any, kind: Kind) -> Any:
        if isinstance(valid, dict):
            return {key: self._valid(owner, value, kind) for key, value in valid.items()}
        if isinstance(valid, list):
            return [self._valid(owner, value, kind) for value in valid]
        return self._text(owner, valid, want=kind if kind.is_integer else None)


def mapped(
    type_: Type, rewrite: Callable[[Type, Node], Node], names: Mapping[tuple[str, ...], str] = {}
) -> Node:
    """A type with all its fields, instances and parameters rewritten, and its nested types, some renamed."""
    done = dict(type_.node)
    for key in ("params", "seq"):
        if key in done:
            done[key] = [rewrite(type_, node) for node in done[key]]
    if "instances" in done:
        done["instances"] = {name: rewrite(type_, node) for name, node in type_.instances.items()}
    if "types" in done:
        children = type_.children()
        done["types"] = {names.get(one.path, one.name): mapped(one, rewrite, names) for one in children}
    return done


class Casts(Rewriting):
    """Adds a width to every integer."""

    def rewritten(self, owner: Type, tree: Tree, item: Kind = ANY, want: Kind | None = None) -> Tree:
        typed, kind = self.typed(owner, tree, item)
        return self.passed(typed, kind, want) if want else typed

    def passed(self, tree: Tree, kind: Kind, want: Kind) -> Tree:
        """An expression where a number of some width is required."""
        return _cast(tree, kind, want)

    def condition(self, tree: Tree) -> Tree:
        """A condition."""
        return tree

    def index(self, place: Tree, _: Kind) -> Tree:
        """An expression used as an index, or as an argument of a method."""
        return place

    def shift(self, by: Tree, kind: Kind, width: Kind) -> Tree:
        """The right operand of a shift."""
        return _cast(by, kind, width)

    def typed(self, owner: Type, tree: Tree, item: Kind) -> tuple[Tree, Kind]:
        """An expression with casts, and its kind."""
        match tree:
            case ("unary", "not", inner):
                return ("unary", "not", self.typed(owner, inner, item)[0]), BOOL
            case ("unary", operator, inner):
                cast = _cast(*self.typed(owner, inner, item), WIDE)
                return _cast_result(("unary", operator, cast), WIDE)
            case ("binary", operator, left, right):
                return self._binary(operator, self.typed(owner, left, item), self.typed(owner, right, item))
            case ("ternary", condition, yes, no):
                test = self.condition(self.typed(owner, condition, item)[0])
                (a, a_kind), (b, b_kind) = self.typed(owner, yes, item), self.typed(owner, no, item)
                if not (a_kind.is_integer and b_kind.is_integer):
                    return ("ternary", test, a, b), b_kind if a_kind == ANY else a_kind
                width = _width(a_kind, b_kind)
                both = ("ternary", test, _cast(a, a_kind, width), _cast(b, b_kind, width))
                return _cast_result(both, width)
            case ("cast", inner, name):
                return ("cast", self.typed(owner, inner, item)[0], name), self._inference.named(owner, name)
            case ("member", inner, "to_i"):
                return _cast_result(("member", self.typed(owner, inner, item)[0], "to_i"), WIDE)
            case ("member", inner, name):
                member = ("member", self.typed(owner, inner, item)[0], name)
                return member, self._inference.of(owner, tree, item)
            case ("call", inner, name, arguments):
                inside = tuple(self.index(*self.typed(owner, argument, item)) for argument in arguments)
                call = ("call", self.typed(owner, inner, item)[0], name, inside)
                return call, self._inference.of(owner, tree, item)
            case ("index", inner, place):
                at = self.index(*self.typed(owner, place, item))
                return ("index", self.typed(owner, inner, item)[0], at), self._inference.of(owner, tree, item)
        return tree, self._inference.of(owner, tree, item)

    def _binary(self, operator: str, left: tuple[Tree, Kind], right: tuple[Tree, Kind]) -> tuple[Tree, Kind]:
        (a, a_kind), (b, b_kind) = left, right
        if operator in _LOGIC:
            return _lazy(operator, self.condition(a), b), BOOL
        if not (a_kind.is_integer and b_kind.is_integer):
            return ("binary", operator, a, b), BOOL if operator in _COMPARISONS else a_kind
        width = WIDE if operator == "-" else _width(a_kind, b_kind)
        right_side = self.shift if operator in _SHIFT_OPERATORS else _cast
        tree = ("binary", operator, _cast(a, a_kind, width), right_side(b, b_kind, width))
        return (tree, BOOL) if operator in _COMPARISONS else _cast_result(tree, width)


class IndexCasts(Casts):
    """Casts for C#: an index and the right operand of a shift are `int`, and a field with a condition is
    nullable, which only a cast removes."""

    WANTED: Mapping[str, Kind] = {"size": WIDE, "pos": WIDE, "repeat-expr": WIDE}

    def passed(self, tree: Tree, kind: Kind, want: Kind) -> Tree:
        return (
            ("cast", tree, want.name) if kind.is_integer and tree[0] in _FIELDS else _cast(tree, kind, want)
        )

    def condition(self, tree: Tree) -> Tree:
        return ("binary", "==", tree, ("truth", True)) if tree[0] in _FIELDS else tree

    def index(self, place: Tree, kind: Kind) -> Tree:
        return ("cast", place, "s4") if kind.is_integer and place[0] != "number" else place

    def shift(self, by: Tree, kind: Kind, _: Kind) -> Tree:
        return self.index(by, kind)


def _lazy(operator: str, a: Tree, b: Tree) -> Tree:
    """`and` and `or` as a ternary: in Go, the compiler evaluates both operands, though one may be absent."""
    return ("ternary", a, b, ("truth", False)) if operator == "and" else ("ternary", a, ("truth", True), b)


def _width(a: Kind, b: Kind) -> Kind:
    return UNSIGNED if UNSIGNED in (a, b) else WIDE


def _cast(tree: Tree, kind: Kind, width: Kind) -> Tree:
    return tree if kind == width or not kind.is_integer else ("cast", tree, width.name)


def _cast_result(tree: Tree, width: Kind) -> tuple[Tree, Kind]:
    return ("cast", tree, width.name), width


class Comparisons(Rewriting):
    """Compares numbers by value: in Java, the compiler writes `==` between two boxed numbers."""

    def rewritten(self, owner: Type, tree: Tree, item: Kind = ANY, want: Kind | None = None) -> Tree:
        tag, *parts = tree
        tree = (tag, *(self.rewritten(owner, p, item) if _is_tree(p) else p for p in parts))
        match tree:
            case ("binary", "==" | "!=" as operator, left, right) if "number" not in (left[0], right[0]):
                kind = self._inference.of(owner, left, item)
                if kind.is_integer and self._inference.of(owner, right, item).is_integer:
                    return ("binary", operator, ("cast", left, _or_wide(kind).name), right)
        return tree


def _is_tree(part: Any) -> bool:
    return isinstance(part, tuple) and bool(part) and part[0] in _TAGS


def _or_wide(kind: Kind) -> Kind:
    return kind if kind.name[0] in "us" else WIDE
