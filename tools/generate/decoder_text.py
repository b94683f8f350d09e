"""Source fragments for decoders: sums, operations, and relations between conditions on small numbers."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

from tools.generate.expressions import Node as Tree
from tools.generate.grammar import Node
from tools.generate.layout_expressions import UntranslatableError
from tools.generate.layout_source import BITS

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
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
NAME = re.compile(r"[A-Za-z_]\w*")
#: Comparisons of names with numbers, joined; between two of these numbers, the result is constant.
_CONDITION = re.compile(r"(\(|\)| |and|or|not|\w+ (==|!=|<=?|>=?) \d+|[A-Za-z_]\w*)*")
#: Larger than any number in such conditions.
_SMALL = 256


def function_source(name: str, called: str, body: Sequence[str]) -> str:
    return "\n".join([f"def {name}({called}) -> Any:", *(f"    {line}" for line in body)])


def names_in(node: Tree) -> list[str]:
    names: list[str] = []
    while node[0] in ("member", "cast"):
        if node[0] == "member":
            names.insert(0, node[2])
        node = node[1]
    if node[0] != "name":
        raise UntranslatableError(str(node))
    return [node[1], *names]


def bits_of(node: Node) -> int:
    """Number of bits of a bit field; 0 for other fields."""
    use = node.get("type")
    found = BITS.match(use) if isinstance(use, str) and "repeat" not in node else None
    return int(found["bits"]) if found else 0


def read_source(dtype: str, place: str) -> str:
    size = dtype[-1]
    name = "byte" if size == "1" else f"{'big' if dtype.startswith('>') else 'little'}_{size}"
    return f"{name}(data, {place})"


def is_number(source: str) -> bool:
    return source.lstrip("-").isdigit()


def is_wrapped(source: str) -> bool:
    """Whether one pair of parentheses encloses everything."""
    depth = 0
    for index, letter in enumerate(source):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return source.startswith("(") and index == len(source) - 1
    return False


def sum_source(*terms: str) -> str:
    numbers = sum(int(one) for one in terms if is_number(one))
    others = [one for one in terms if not is_number(one)]
    return " + ".join([*others, *([str(numbers)] if numbers or not others else [])])


def exclude(one: str, other: str) -> bool:
    """Whether two conditions on the same small number are never both true."""
    return implies(one, f"(not {other})")


def implies(one: str, other: str) -> bool:
    """Whether the second condition is true whenever the first is, if both are about one small number."""
    names = {*NAME.findall(f"{one} {other}")} - {"and", "or", "not"}
    numbers = [int(number) for number in re.findall(r"\b\d+", f"{one} {other}")]
    if len(names) != 1 or not all(_CONDITION.fullmatch(text) for text in (one, other)):
        return False
    (name,) = names
    both = compile(f"not ({one}) or ({other})", "conditions", "eval")
    return max(numbers, default=0) < _SMALL and all(eval(both, {name: value}) for value in range(_SMALL + 1))


def unary_source(mark: str, inner: str) -> str:
    if mark == "not":
        return {"True": "False", "False": "True"}.get(inner) or f"(not {inner})"
    return str(-int(inner)) if mark == "-" and is_number(inner) else f"({mark}{inner})"


def binary_source(mark: str, left: str, right: str) -> str:
    if is_number(left) and is_number(right):
        return str(_ARITHMETIC[mark](int(left), int(right)))
    if is_number(right) and mark in ("/", "%") and int(right).bit_count() == 1:
        # Equivalent for all integers, and Numba compiles it to one instruction.
        bits = int(right).bit_length() - 1
        return f"({left} >> {bits})" if mark == "/" else f"({left} & {int(right) - 1})"
    if mark == "*" and "1" in (left, right):
        return right if left == "1" else left
    if (mark in "+-" and right == "0") or (mark == "+" and left == "0"):
        return left if right == "0" else right
    return f"({left} {'//' if mark == '/' else mark} {right})"
