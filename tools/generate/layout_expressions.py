"""Translates Kaitai's expression language to Python that works on NumPy arrays as well as plain numbers.

Arrays do not support `and`, `or`, `not` and the ternary; these become calls of `n`, a set of operations
provided by the caller (`n.both`, `n.either`, `n.negate`, `n.where`). In kernels, which process one number at
a time, they become Python's own operators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tools.generate.expressions import ExpressionError, Node, write


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
    """The expression cannot be evaluated by arithmetic on columns."""


def _is_integer(name: str) -> bool:
    return bool(re.fullmatch(r"[us][1248]", name))


def _names(node: Node) -> tuple[Node, list[str]]:
    """The first element of a member chain, and its names."""
    names: list[str] = []
    while node[0] == "member" or (node[0] == "cast" and _is_integer(node[2])):
        if node[0] == "member":
            names.insert(0, node[2])
        node = node[1]
    return node, names


def _binary(operator: str, left: str, right: str, style: Style) -> str:
    if operator in ("and", "or"):
        return (style.both if operator == "and" else style.either).format(left, right)
    return f"({left} {'//' if operator == '/' else operator} {right})"


def translate(
    node: Node,
    resolve: Callable[[tuple[str, ...]], str],
    constant: Callable[[tuple[str, ...]], int],
    style: Style = COLUMNS,
) -> str:
    """Translate an expression to Python.

    Parameters
    ----------
    node
        A syntax tree from `parse`.
    resolve
        Python source for a chain of names, such as ``("column_count", "value")``.
    constant
        The number of an enum constant, by its names: ``("binlog_enums", "event_type", "xid_event")``.
    style
        The kind of values that the result works on.
    """

    def walk(node: Node) -> str:
        match node:
            case ("number", value) | ("truth", value):
                return str(value)
            case ("enum", names):
                return str(constant(names))
            case ("name" | "member", *_):
                return _chain(node)
            case ("cast", inner, name) if _is_integer(name):
                # A cast states the width for typed languages; columns compute in 64 bits.
                return walk(inner)
            case ("unary", operator, inner):
                negated = style.negate.format(walk(inner)) if operator == "not" else None
                return negated or f"({operator}{walk(inner)})"
            case ("binary", operator, left, right):
                return _binary(operator, walk(left), walk(right), style)
            case ("ternary", condition, yes, no):
                return style.choose.format(test=walk(condition), yes=walk(yes), no=walk(no))
        raise UntranslatableError(str(node))

    def _chain(node: Node) -> str:
        start, names = _names(node)
        if start[0] != "name":
            if names == ["to_i"]:
                return f"(0 + {walk(start)})"
            raise UntranslatableError(f"{'.'.join(names)} of something that is no name")
        names.insert(0, start[1])
        if names[-1] == "to_i":
            names.pop()
        return resolve(tuple(names))

    return walk(node)


def large_products(node: Node) -> Iterator[tuple[str, int]]:
    """Factors multiplied by a constant of more than 32 bits, and the value from which on 63 bits overflow."""
    match node:
        case ("binary", "*", factor, ("cast", ("number", constant), _)) if constant >= 2**32:
            yield write(factor), 2**63 // constant
        case (_, *parts):
            for part in parts:
                if isinstance(part, tuple):
                    yield from large_products(part)
