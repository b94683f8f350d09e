"""Kaitai's expression language, turned into Python that works on NumPy arrays and on plain numbers alike.

Arrays have no `and`, `or`, `not` and no ternary of their own; those become calls of `n`, a small set of
operations that the caller brings along (`n.both`, `n.either`, `n.negate`, `n.where`). For a kernel, which
looks at one number at a time, they become Python's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

#: A syntax tree: a tag, then what it needs (numbers, names, other nodes).
Node = tuple[Any, ...]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>::|<<|>>|<=|>=|==|!=|[-+*/%&|^~<>?:.,()\[\]]))"
)
_BINDING = {
    "or": 1, "and": 2,
    "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4,
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


class Style(NamedTuple):
    """How logic is written: the formats of `and`, `or`, `not` and the ternary."""

    both: str
    either: str
    negate: str
    choose: str  # with `test`, `yes` and `no`


#: For columns, and for plain numbers.
COLUMNS = Style("n.both({}, {})", "n.either({}, {})", "n.negate({})", "n.where({test}, {yes}, {no})")
NUMBERS = Style("({} and {})", "({} or {})", "(not {})", "({yes} if {test} else {no})")


class UntranslatableError(Exception):
    """The expression says something that arithmetic on columns cannot."""


def parse(text: str) -> Node:
    """The syntax tree of a Kaitai expression.

    >>> parse("a.b + 1 > 2")
    ('binary', '>', ('binary', '+', ('member', ('name', 'a'), 'b'), ('number', 1)), ('number', 2))
    """
    parser = _Parser(text)
    tree = parser.ternary()
    if parser.token != "":
        raise UntranslatableError(f"{parser.token!r} is left over in {text!r}")
    return tree


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.token = ""
        self.kind: str | None = None
        self.advance()

    def advance(self) -> str:
        previous = self.token
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            if self.text[self.at :].strip():
                raise UntranslatableError(f"cannot read {self.text[self.at :]!r}")
            self.token, self.kind = "", None
        else:
            self.at, self.kind = match.end(), match.lastgroup
            self.token = match.group(match.lastgroup or 0)
        return previous

    def take(self, token: str) -> None:
        if self.token != token:
            raise UntranslatableError(f"{token!r} expected in {self.text!r}, not {self.token!r}")
        self.advance()

    def ternary(self) -> Node:
        condition = self.binary(1)
        if self.token != "?":
            return condition
        self.advance()
        yes = self.ternary()
        self.take(":")
        return ("ternary", condition, yes, self.ternary())

    def binary(self, least: int) -> Node:
        left = self.unary()
        while _BINDING.get(self.token, 0) >= least:
            operator = self.advance()
            left = ("binary", operator, left, self.binary(_BINDING[operator] + 1))
        return left

    def unary(self) -> Node:
        if self.token == "not":
            self.advance()
            return ("unary", "not", self.binary(4))
        if self.token in ("-", "~", "+"):
            return ("unary", self.advance(), self.unary())
        return self.trailers(self.atom())

    def atom(self) -> Node:
        if self.token == "(":
            self.advance()
            inside = self.ternary()
            self.take(")")
            return inside
        kind, token = self.kind, self.advance()
        if kind == "number":
            return ("number", int(token.replace("_", ""), 0))
        if kind == "name" and token in ("true", "false"):
            return ("truth", token == "true")
        if kind == "name":
            names = [token]
            while self.token == "::":
                self.advance()
                names.append(self.advance())
            return ("name", token) if len(names) == 1 else ("enum", tuple(names))
        raise UntranslatableError(f"{token!r} in {self.text!r}")

    def trailers(self, node: Node) -> Node:
        while self.token == ".":
            self.advance()
            name = self.advance()
            if name == "as" and self._takes_number_type():
                continue  # a cast between numbers is for targets with numbers of fixed width
            if self.token == "(" or (name == "as" and self.token == "<"):
                raise UntranslatableError(f"the call of {name!r} in {self.text!r}")
            node = ("member", node, name)
        if self.token in ("[", "("):
            raise UntranslatableError(f"an index or a call in {self.text!r}")
        return node

    def _takes_number_type(self) -> bool:
        """Read `<u8>` or another primitive integer type in angle brackets; leave anything else alone."""
        match = re.compile(r"\s*[us][1248]\s*>").match(self.text, self.at)
        if self.token != "<" or match is None:
            return False
        self.at = match.end()
        self.advance()
        return True

    def cast(self) -> str:
        self.take("<")
        name = self.advance()
        self.take(">")
        if not re.fullmatch(r"[us][1248]", name):
            raise UntranslatableError(f"the cast to {name!r} in {self.text!r}")
        return name


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
    """Python source of an expression.

    Parameters
    ----------
    node
        What `parse` gave.
    resolve
        Python source for a chain of names, such as ``("column_count", "value")``.
    constant
        The number behind an enum's constant, by its names: ``("binlog_enums", "event_type", "xid_event")``.
    style
        What the result works on.
    """

    def walk(node: Node) -> str:
        match node:
            case ("number", value) | ("truth", value):
                return str(value)
            case ("enum", names):
                return str(constant(names))
            case ("name" | "member", *_):
                return _chain(node)
            case ("cast", inner, _):
                # It tells typed languages which width to compute in; columns compute in 64 bits.
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
        names: list[str] = []
        while node[0] == "member":
            names.insert(0, node[2])
            node = node[1]
        if node[0] != "name":
            if names == ["to_i"]:
                return f"(0 + {walk(node)})"
            raise UntranslatableError(f"{'.'.join(names)} of something that is no name")
        names.insert(0, node[1])
        if names[-1] == "to_i":
            names.pop()
        return resolve(tuple(names))

    return walk(node)
