"""Source fragments for decoders: sums, reads, and relations between conditions on small numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.generate.grammar import Node
from tools.generate.layout_source import BITS
from tools.generate.translation import is_number

NAME = re.compile(r"[A-Za-z_]\w*")
#: Comparisons of names with numbers, joined; between two of these numbers, the result is constant.
_CONDITION = re.compile(r"(\(|\)| |and|or|not|\w+ (==|!=|<=?|>=?) \d+|[A-Za-z_]\w*)*")
#: Larger than any number in such conditions.
_SMALL = 256


def function_source(name: str, called: str, body: Sequence[str]) -> str:
    return "\n".join([f"def {name}({called}) -> Any:", *(f"    {line}" for line in body)])


def bits_of(node: Node) -> int:
    """Number of bits of a bit field; 0 for other fields."""
    use = node.get("type")
    match = BITS.match(use) if isinstance(use, str) and "repeat" not in node else None
    return int(match["bits"]) if match else 0


def read_source(dtype: str, place: str) -> str:
    size = dtype[-1]
    name = "byte" if size == "1" else f"{'big' if dtype.startswith('>') else 'little'}_{size}"
    return f"{name}(data, {place})"


def is_wrapped(source: str) -> bool:
    """Whether one pair of parentheses encloses everything."""
    depth = 0
    for index, letter in enumerate(source):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return source.startswith("(") and index == len(source) - 1
    return False


def sum_source(*terms: str) -> str:
    numbers = sum(int(term) for term in terms if is_number(term))
    others = [term for term in terms if not is_number(term)]
    return " + ".join([*others, *([str(numbers)] if numbers or not others else [])])


def exclude(first: str, other: str) -> bool:
    """Whether two conditions on the same small number are never both true."""
    return implies(first, f"(not {other})")


def implies(first: str, other: str) -> bool:
    """Whether the second condition is true whenever the first is, if both are about one small number."""
    names = {*NAME.findall(f"{first} {other}")} - {"and", "or", "not"}
    numbers = [int(number) for number in re.findall(r"\b\d+", f"{first} {other}")]
    if len(names) != 1 or not all(_CONDITION.fullmatch(text) for text in (first, other)):
        return False
    (name,) = names
    both = compile(f"not ({first}) or ({other})", "conditions", "eval")
    return max(numbers, default=0) < _SMALL and all(eval(both, {name: value}) for value in range(_SMALL + 1))
