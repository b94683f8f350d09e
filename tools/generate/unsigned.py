"""Operations that some language computes incorrectly for unsigned 64-bit numbers, which the grammar avoids.

Java has no such type: from 2^63 on, quotients, shifts, and comparisons are those of a negative number.
JavaScript shifts only 32 bits. The grammar splits such numbers instead (`varlen_integer`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.generate.casts import UNSIGNED, Casts
from tools.generate.expressions import Node as Tree
from tools.generate.expressions import write
from tools.generate.grammar import Grammar, GrammarError, Type
from tools.generate.inference import Inference, Kind
from tools.generate.names import place

REFUSED = ("/", "%", ">>", "<<", "<", "<=", ">", ">=")


def check(grammar: Grammar, root: Path) -> None:
    """Raise a `GrammarError` that lists every such operation, with file and line."""
    inference = Inference(grammar)
    problems = [
        f"{place(root, type_, name)}: {what}"
        for type_ in grammar
        for name, what in _problems(inference, type_)
    ]
    if problems:
        raise GrammarError("\n".join(problems))


def _problems(inference: Inference, type_: Type) -> Iterator[tuple[str, str]]:
    nodes = [*((node["id"], node) for node in type_.seq), *type_.instances.items()]
    for name, node in nodes:
        search = _Search(inference)
        try:
            search.field(type_, node)
        except GrammarError:  # an unknown name, which the compiler reports
            continue
        for operation in search.found:
            yield name, f"{operation!r}: Java has no unsigned 64-bit number; split it, or cast it to s8"


class _Search(Casts):
    """Visits the expressions of a field like `Casts`, which infers the width of each part."""

    def __init__(self, inference: Inference) -> None:
        super().__init__(inference)
        self.found: list[str] = []

    def _binary(self, operator: str, left: tuple[Tree, Kind], right: tuple[Tree, Kind]) -> tuple[Tree, Kind]:
        if operator in REFUSED and UNSIGNED in (left[1], right[1]):
            self.found.append(write(("binary", operator, left[0], right[0])))
        return super()._binary(operator, left, right)
