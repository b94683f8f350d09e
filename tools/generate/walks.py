"""Walks: functions that decode structures which no record layout can, one number after another.

A layout computes with columns, which is impossible if the items of a list have different lengths or a value
selects the type. For these, a function generated from the grammar steps through the bytes. Types of other
files become functions of their own; all others are inlined where they are used.

Structures that cannot be expressed this way (bit fields that do not fill bytes, lists up to a condition)
raise an `UntranslatableError`, and are left to the event reader.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tools.generate.grammar import Grammar, Type
from tools.generate.translation import UntranslatableError
from tools.generate.walk_source import Function

_READS = Path(__file__).with_name("walk_reads.py")


class Inside(NamedTuple):
    """A byte range, or a list of numbers, inside a structure: its path and slots."""

    path: str
    slot: int
    items: int  # of the list; 0 for a byte range, which has two slots, offset and length
    encoding: str | None


@dataclass
class Walk:
    """The walk over one type: the names of the values that it records, in slot order."""

    type: Type
    name: str
    wanted: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    inside: tuple[Inside, ...] = ()

    @property
    def slots(self) -> int:
        """Number of slots."""
        return sum(count for _, count in self.wanted)


class Walks:
    """The walks used by layouts."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._walks: dict[tuple[tuple[str, ...], bool], Walk] = {}
        #: For types with functions of their own, the requested instances.
        self._results: dict[Type, set[str]] = {}

    def over(self, type_: Type, *, is_list: bool) -> Walk | None:
        """The walk over a type, or over a list of it up to the end; None if it cannot be generated."""
        key = type_.path, is_list
        if key not in self._walks:
            walk = Walk(type_, "_".join((*type_.path, "list")[: len(type_.path) + is_list]))
            asked = {type_: set(names) for type_, names in self._results.items()}
            try:
                inside = self._build(walk, is_list=is_list).inside
                self._helpers()
            except UntranslatableError:
                self._results = asked
                return None
            parts = []
            for path, count, encoding in inside:
                parts.append(Inside(".".join(path), walk.slots, count, encoding))
                walk.wanted.append((path, count or 2))
            walk.inside = tuple(parts)
            self._walks[key] = walk
        return self._walks[key]

    def slot(self, walk: Walk, names: tuple[str, ...]) -> int:
        """The slot of a number inside a structure."""
        before = 0
        for path, count in walk.wanted:
            if path == names:
                return before
            before += count
        is_list = self._walks.get((walk.type.path, True)) is walk
        tried = Walk(walk.type, walk.name, [*walk.wanted, (names, 1)])
        self._build(tried, is_list=is_list)
        walk.wanted.append((names, 1))
        return before

    def _build(self, walk: Walk, *, is_list: bool) -> Function:
        """Generate the function of a walk in two passes: first with all variables, then with those read."""
        drafts = Function(self._grammar, walk.type, self._results)
        drafts.walk(walk.wanted, is_list=is_list)
        function = Function(self._grammar, walk.type, self._results, drafts.used)
        function.walk(walk.wanted, is_list=is_list)
        return function

    def render(self) -> str:
        """Source of the module `walks`."""
        bodies: dict[str, str] = {}
        for (_, is_list), walk in self._walks.items():
            bodies[walk.name] = self._build(walk, is_list=is_list).source(f"_{walk.name}", "out")
        parts = [_READS.read_text(encoding="utf-8").rstrip(), *self._helpers()]
        for name, body in bodies.items():
            parts += [body, _LOOP.format(name=name)]
        slots = "".join(f"    {walk.name!r}: {walk.slots},\n" for walk in self._walks.values())
        parts.append(f"SLOTS = {{\n{slots}}}")
        return "\n\n\n".join(parts) + "\n"

    def _helpers(self) -> list[str]:
        """The types with functions of their own, and those that they use."""
        helpers: dict[Type, str] = {}
        while missing := [type_ for type_ in self._results if type_ not in helpers]:
            helpers |= {type_: self._helper(type_) for type_ in missing}
        return list(helpers.values())

    def _helper(self, type_: Type) -> str:
        results = sorted(self._results[type_])
        drafts = Function(self._grammar, type_, self._results)
        drafts.give(results)
        function = Function(self._grammar, type_, self._results, drafts.used)
        function.give(results)
        return function.source(f"_{type_.name}", None)


_LOOP = '''\
def {name}(data: Bytes, starts: Ints, ends: Ints, out: OutTable, follows: OutBools) -> None:
    """See the module docstring."""
    for index in range(starts.shape[0]):
        at, end = starts[index], ends[index]
        is_inside = 0 <= at <= end <= data.shape[0]
        follows[index] = is_inside and _{name}(data, at, end, out[index]) == end'''
