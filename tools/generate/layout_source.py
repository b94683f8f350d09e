"""Source fragments for layouts and walks: number types, functions, arguments."""

from __future__ import annotations

import re

from tools.generate.grammar import Node

_NUMBER = re.compile(r"(?P<kind>[us])(?P<width>[1248])(?P<order>le|be)?$|f(?P<float>[48])(?P<forder>le|be)?$")
BITS = re.compile(r"b(?P<bits>\d+)(?P<order>le|be)?$")


def number_type(use: object, node: Node, endian: str) -> str | None:
    """NumPy's name of a primitive type, or None; 24 and 48 bits count as numbers of 3 and 6 bytes."""
    if not isinstance(use, str):
        return "u1" if use is None and node.get("repeat") == "expr" and node.get("size") == 1 else None
    if number := _NUMBER.match(use):
        order = ">" if "be" in (number["order"] or number["forder"] or endian) else "<"
        if number["float"]:
            return f"{order}f{number['float']}"
        return ("" if number["width"] == "1" else order) + _integer(number)
    bits = BITS.match(use)
    if bits is None or int(bits["bits"]) not in (8, 16, 24, 32, 48, 64):
        return None
    # Whole bytes read as bits: most significant bit first, unless the type states otherwise.
    order = "" if bits["bits"] == "8" else "<" if bits["order"] == "le" else ">"
    return f"{order}u{int(bits['bits']) // 8}"


def _integer(number: re.Match[str]) -> str:
    return ("u" if number["kind"] == "u" else "i") + number["width"]


def function(source: str | None) -> str | None:
    """Source of a function of the layout, see `layout_steps.Expression`."""
    return None if source in (None, "True") else f"lambda n, v: {source}"


def text(value: str | None) -> str | None:
    """Source of a string or None."""
    return repr(value) if value else None


def flag(value: bool) -> str | None:
    """Source of a flag, omitted if it is false."""
    return "True" if value else None


def keywords(**values: str | None) -> str:
    """Source of the given keyword arguments."""
    return "".join(f", {name}={value}" for name, value in values.items() if value is not None)
