"""Translates Kaitai's expression language to Python that works on NumPy arrays, or on one number at a time.

What is constant is computed here. Arrays do not support `and`, `or`, `not` and the ternary; in record
layouts, these become calls of `n`, a set of operations provided by the caller.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from tools.generate.expressions import ExpressionError, parse, write
from tools.generate.expressions import Node as Tree
from tools.generate.grammar import Grammar, Type

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Style(NamedTuple):
    """The formats of `and`, `or`, `not` and the ternary."""

    both: str
    either: str
    negate: str
    choose: str  # with the fields `test`, `yes` and `no`


#: For columns, and for plain numbers.
COLUMNS = Style("n.both({}, {})", "n.either({}, {})", "n.negate({})", "n.where({test}, {yes}, {no})")
NUMBERS = Style("({} and {})", "({} or {})", "(not {})", "({yes} if {test} else {no})")


class UntranslatableError(ExpressionError):
    """The expression cannot be evaluated by arithmetic."""


@dataclass
class Scope:
    """A type at the point of use, with the meaning of its names as Python source."""

    type: Type
    prefix: str = ""
    parent: Self | None = None
    names: dict[str, str] = field(default_factory=dict)
    children: dict[str, Self] = field(default_factory=dict)


_Scope = TypeVar("_Scope", bound=Scope)


class Translator(Generic[_Scope]):
    """Translates the expressions of a grammar.

    Attributes
    ----------
    known : list of str
        Conditions that hold where an expression is used, from the enclosing ternaries.
    """

    style: ClassVar[Style] = NUMBERS

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.known: list[str] = []

    def text(self, scope: _Scope, expression: Any) -> str:
        """An expression of the grammar, or a number, as Python."""
        return self.tree(scope, parse(expression)) if isinstance(expression, str) else str(expression)

    def tree(self, scope: _Scope, node: Tree) -> str:
        """A syntax tree as Python."""
        match node:
            case ("number" | "truth", value):
                return str(value)
            case ("enum", names):
                return str(self.grammar.constant(scope.type, names))
            case ("cast", inner, name) if _is_integer(name):
                # A cast states the width for typed languages; here, everything has 64 bits.
                return self.tree(scope, inner)
            case ("unary", mark, inner):
                return unary_source(mark, self.tree(scope, inner), self.style)
            case ("binary", "and" | "or" as mark, left, right):
                return self._logic(scope, mark, left, right)
            case ("binary", mark, left, right):
                return binary_source(mark, self.tree(scope, left), self.tree(scope, right))
            case ("ternary", test, yes, no):
                return self._choice(scope, test, yes, no)
            case ("member", inner, "to_i") if inner[0] in ("name", "member"):
                return self.tree(scope, inner)
            case ("member", inner, "to_i"):
                return f"(0 + {self.tree(scope, inner)})"
            case ("name" | "member", *_):
                return self.resolve(scope, _names_in(node))
        raise UntranslatableError(str(node))

    def resolve(self, scope: _Scope, names: Sequence[str]) -> str:
        """A chain of names, such as ``["column_count", "value"]``, as Python."""
        first, *rest = names
        if first == "_io":
            return self.stream(scope, rest)
        if first == "_parent" and rest and scope.parent is not None:
            return self.resolve(scope.parent, rest)
        if first in scope.children and rest:
            return self.resolve(scope.children[first], rest)
        return self.name(scope, names)

    def stream(self, scope: _Scope, names: list[str]) -> str:
        """A property of the stream."""
        raise UntranslatableError("the stream")

    def name(self, scope: _Scope, names: Sequence[str]) -> str:
        """A chain of names that begins with a parameter, field or instance of the type."""
        raise UntranslatableError(".".join(names))

    def _logic(self, scope: _Scope, mark: str, left: Tree, right: Tree) -> str:
        first = self.tree(scope, left)
        decisive = str(mark == "or")
        if first in ("True", "False"):
            return first if first == decisive else self.tree(scope, right)
        second = self.tree(scope, right)
        if second in ("True", "False"):
            return second if second == decisive else first
        return (self.style.either if mark == "or" else self.style.both).format(first, second)

    def _choice(self, scope: _Scope, test: Tree, yes: Tree, no: Tree) -> str:
        condition = self.tree(scope, test)
        if condition in ("True", "False"):
            return self.tree(scope, yes if condition == "True" else no)
        self.known.append(condition)
        first = self.tree(scope, yes)
        self.known[-1] = unary_source("not", condition, self.style)
        second = self.tree(scope, no)
        self.known.pop()
        return first if first == second else self.style.choose.format(test=condition, yes=first, no=second)


def _is_integer(name: str) -> bool:
    return bool(re.fullmatch(r"[us][1248]", name))


def _names_in(node: Tree) -> list[str]:
    names: list[str] = []
    while node[0] == "member" or (node[0] == "cast" and _is_integer(node[2])):
        if node[0] == "member":
            names.insert(0, node[2])
        node = node[1]
    if node[0] != "name":
        raise UntranslatableError(str(node))
    return [node[1], *names]


def is_number(source: str) -> bool:
    return source.lstrip("-").isdigit()


def unary_source(mark: str, inner: str, style: Style = NUMBERS) -> str:
    if mark == "not":
        return {"True": "False", "False": "True"}.get(inner) or style.negate.format(inner)
    return str(-int(inner)) if mark == "-" and is_number(inner) else f"({mark}{inner})"


def binary_source(mark: str, left: str, right: str) -> str:
    if is_number(left) and is_number(right):
        return str(_OPERATIONS[mark](int(left), int(right)))
    if is_number(right) and mark in ("/", "%") and int(right).bit_count() == 1:
        # Equivalent for all integers, and Numba compiles it to one instruction.
        bits = int(right).bit_length() - 1
        return f"({left} >> {bits})" if mark == "/" else f"({left} & {int(right) - 1})"
    if mark == "*" and "1" in (left, right):
        return right if left == "1" else left
    if (mark in "+-" and right == "0") or (mark == "+" and left == "0"):
        return left if right == "0" else right
    return f"({left} {'//' if mark == '/' else mark} {right})"


def large_products(node: Tree) -> Iterator[tuple[str, int]]:
    """Factors multiplied by a constant of more than 32 bits, and the value from which on 63 bits overflow."""
    match node:
        case ("binary", "*", factor, ("cast", ("number", constant), _)) if constant >= 2**32:
            yield write(factor), 2**63 // constant
        case (_, *parts):
            for part in parts:
                if isinstance(part, tuple):
                    yield from large_products(part)
