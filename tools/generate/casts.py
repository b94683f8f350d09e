"""The grammar with every integer's width stated, for languages that do not mix widths.

The compiler takes the result of any arithmetic for a plain `int` and writes the operation as it stands; Go, Nim
and Rust refuse `u1 + u4`. Here both sides become one width, and the result is said to have it.
"""

from __future__ import annotations

from typing import Any

from tools.generate.expressions import Node as Tree
from tools.generate.expressions import parse, write
from tools.generate.grammar import Node, Type, type_name
from tools.generate.inference import ANY, BOOL, NUMBER, Inference, Kind, arguments, is_primitive

_LOGIC = ("and", "or")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
WIDE, UNSIGNED = Kind("s8"), Kind("u8")


class Casts:
    """Rewrites the expressions of a grammar."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference

    def field(self, owner: Type, node: Node) -> Node:
        """A field or instance with casts in all that it says."""
        done = dict(node)
        item = self._inference.declared(owner, node).of if "repeat" in node and "value" not in node else ANY
        item = item if isinstance(item, Kind) else ANY
        for key in ("value", "if", "size", "pos", "repeat-expr", "repeat-until", "io"):
            if isinstance(node.get(key), str):
                done[key] = self._text(owner, node[key], item)
        if "type" in node:
            done["type"] = self._type(owner, node["type"])
        if "valid" in node:
            done["valid"] = self._valid(owner, node["valid"], self._inference.declared(owner, node))
        return done

    def _text(self, owner: Type, text: Any, item: Kind = ANY, want: Kind | None = None) -> Any:
        if not isinstance(text, str):
            return text
        tree, kind = self.typed(owner, parse(text), item)
        return write(_cast(tree, kind, want) if want else tree)

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
            typed, kind = self.typed(owner, tree, ANY)
            passed.append(write(_cast(typed, kind, want) if want.is_integer and kind.is_integer else typed))
        return f"{name}({', '.join(passed)})"

    def _valid(self, owner: Type, valid: Any, kind: Kind) -> Any:
        if isinstance(valid, dict):
            return {key: self._valid(owner, value, kind) for key, value in valid.items()}
        if isinstance(valid, list):
            return [self._valid(owner, value, kind) for value in valid]
        return self._text(owner, valid, want=kind if kind.is_integer else None)

    def typed(self, owner: Type, tree: Tree, item: Kind) -> tuple[Tree, Kind]:
        """An expression with casts, and its kind."""
        match tree:
            case ("unary", "not", inner):
                return ("unary", "not", self.typed(owner, inner, item)[0]), BOOL
            case ("unary", operator, inner):
                one = _cast(*self.typed(owner, inner, item), WIDE)
                return _said(("unary", operator, one), WIDE)
            case ("binary", operator, left, right):
                return self._binary(operator, self.typed(owner, left, item), self.typed(owner, right, item))
            case ("ternary", condition, yes, no):
                test = self.typed(owner, condition, item)[0]
                (a, a_kind), (b, b_kind) = self.typed(owner, yes, item), self.typed(owner, no, item)
                if not (a_kind.is_integer and b_kind.is_integer):
                    return ("ternary", test, a, b), b_kind if a_kind == ANY else a_kind
                width = _width(a_kind, b_kind)
                both = ("ternary", test, _cast(a, a_kind, width), _cast(b, b_kind, width))
                return _said(both, width)
            case ("cast", inner, name):
                return ("cast", self.typed(owner, inner, item)[0], name), self._inference.named(owner, name)
            case ("member", inner, "to_i"):
                return _said(("member", self.typed(owner, inner, item)[0], "to_i"), WIDE)
            case ("member", inner, name):
                return ("member", self.typed(owner, inner, item)[0], name), self._kind(owner, tree, item)
            case ("call", inner, name, arguments):
                inside = tuple(self.typed(owner, one, item)[0] for one in arguments)
                return ("call", self.typed(owner, inner, item)[0], name, inside), self._kind(owner, tree, item)
            case ("index", inner, place):
                at = self.typed(owner, place, item)[0]
                return ("index", self.typed(owner, inner, item)[0], at), self._kind(owner, tree, item)
        return tree, self._kind(owner, tree, item)

    def _kind(self, owner: Type, tree: Tree, item: Kind) -> Kind:
        """The kind of what is no arithmetic; of an instance that is, the width that its casts give it."""
        kind = self._inference.of(owner, tree, item)
        if kind != NUMBER or tree[0] == "number" or tree == ("name", "_index"):
            return kind
        return Kind("number", kind)  # of an unstated width: it is cast wherever it is used

    def _binary(self, operator: str, left: tuple[Tree, Kind], right: tuple[Tree, Kind]) -> tuple[Tree, Kind]:
        (a, a_kind), (b, b_kind) = left, right
        if operator in _LOGIC:
            return ("binary", operator, a, b), BOOL
        if not (a_kind.is_integer and b_kind.is_integer):
            return ("binary", operator, a, b), BOOL if operator in _COMPARISONS else a_kind
        width = WIDE if operator == "-" else _width(a_kind, b_kind)
        tree = ("binary", operator, _cast(a, a_kind, width), _cast(b, b_kind, width))
        return (tree, BOOL) if operator in _COMPARISONS else _said(tree, width)


def _width(a: Kind, b: Kind) -> Kind:
    return UNSIGNED if UNSIGNED in (a, b) else WIDE


def _cast(tree: Tree, kind: Kind, width: Kind) -> Tree:
    return tree if kind == width or not kind.is_integer else ("cast", tree, width.name)


def _said(tree: Tree, width: Kind) -> tuple[Tree, Kind]:
    return ("cast", tree, width.name), width
