"""Kaitai's expression language: parses text to a syntax tree and writes it back.

A node is a tuple of a tag and its operands:

    ("number", 1)  ("real", "1.5")  ("truth", True)  ("text", "'a'")  ("list", (node, ...))
    ("name", "a")  ("enum", ("binlog_enums", "event_type", "xid_event"))
    ("member", node, "b")  ("call", node, "to_s", (node, ...))  ("index", node, node)  ("cast", node, "u8")
    ("unary", "not", node)  ("binary", "+", node, node)  ("ternary", node, node, node)
"""

from __future__ import annotations

import re
from typing import Any

Node = tuple[Any, ...]

_TOKEN = re.compile(
    r"\s*(?:(?P<real>\d[\d_]*\.\d+(?:[eE][-+]?\d+)?)"
    r"|(?P<number>0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*)"
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
_CAST = re.compile(r"\s*((?:\w+::)*\w+)\s*(\[\])?\s*>")


class ExpressionError(Exception):
    """The text is not an expression."""


def parse(text: str) -> Node:
    """The syntax tree of an expression.

    >>> parse("a.b + 1 > 2")
    ('binary', '>', ('binary', '+', ('member', ('name', 'a'), 'b'), ('number', 1)), ('number', 2))
    """
    parser = _Parser(text)
    tree = parser.ternary()
    if parser.token != "":
        raise ExpressionError(f"{parser.token!r} is unexpected after an expression in {text!r}")
    return tree


def parse_use(text: str) -> tuple[str, list[Node]]:
    """The name and arguments of a type reference: `event_header(1, 13)`."""
    name, opening, rest = text.strip().partition("(")
    return name.strip(), list(_Parser(rest).arguments(")")) if opening else []


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
                raise ExpressionError(f"cannot read {self.text[self.at :]!r}")
            self.token, self.kind = "", None
        else:
            self.at, self.kind = match.end(), match.lastgroup
            self.token = match.group(match.lastgroup or 0)
        return previous

    def take(self, token: str) -> None:
        if self.token != token:
            raise ExpressionError(f"{token!r} expected in {self.text!r}, not {self.token!r}")
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
        kind, token = self.kind, self.advance()
        if token == "(":
            inside = self.ternary()
            self.take(")")
            return inside
        if token == "[":
            return ("list", self.arguments("]"))
        if kind == "number":
            return ("number", int(token.replace("_", ""), 0))
        if kind in ("real", "text"):
            return (kind, token)
        if kind == "name" and token in ("true", "false"):
            return ("truth", token == "true")
        if kind == "name":
            names = [token]
            while self.token == "::":
                self.advance()
                names.append(self.advance())
            return ("name", token) if len(names) == 1 else ("enum", tuple(names))
        raise ExpressionError(f"{token!r} in {self.text!r}")

    def trailers(self, node: Node) -> Node:
        while self.token in (".", "["):
            if self.advance() == "[":
                node = ("index", node, self.ternary())
                self.take("]")
                continue
            name = self.advance()
            if name == "as" and self.token == "<":
                node = ("cast", node, self.cast())
            elif self.token == "(":
                self.advance()
                node = ("call", node, name, self.arguments(")"))
            else:
                node = ("member", node, name)
        return node

    def arguments(self, end: str) -> tuple[Node, ...]:
        """Expressions separated by commas, up to `end`."""
        arguments: list[Node] = []
        while self.token != end:
            arguments.append(self.ternary())
            if self.token != end:
                self.take(",")
        self.advance()
        return tuple(arguments)

    def cast(self) -> str:
        match = _CAST.match(self.text, self.at)
        if match is None:
            raise ExpressionError(f"a type expected in {self.text!r}")
        self.at = match.end()
        self.advance()
        return match[1] + (match[2] or "")


def write(node: Node) -> str:
    """The text of a syntax tree, with parentheses wherever precedence could differ."""
    match node:
        case ("number" | "real" | "text" | "name", value):
            return str(value)
        case ("truth", value):
            return "true" if value else "false"
        case ("enum", names):
            return "::".join(names)
        case ("list", items):
            return f"[{', '.join(map(write, items))}]"
        case ("member", inner, name):
            return f"{_tight(inner)}.{name}"
        case ("call", inner, name, arguments):
            return f"{_tight(inner)}.{name}({', '.join(map(write, arguments))})"
        case ("index", inner, place):
            return f"{_tight(inner)}[{write(place)}]"
        case ("cast", inner, name):
            return f"{_tight(inner)}.as<{name}>"
        case ("unary", operator, inner):
            return f"{operator} {_tight(inner)}"
        case ("binary", operator, left, right):
            return f"{_tight(left)} {operator} {_tight(right)}"
        case ("ternary", condition, yes, no):
            return f"{_tight(condition)} ? {_tight(yes)} : {_tight(no)}"
    raise ExpressionError(str(node))


def _tight(node: Node) -> str:
    text = write(node)
    return f"({text})" if node[0] in ("unary", "binary", "ternary") else text
