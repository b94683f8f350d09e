"""The grammar with unique type names.

The Web IDE identifies a type by its class name alone, without the enclosing types: types with the same name
are all displayed like one of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tools.generate.casts import Rewriting, mapped
from tools.generate.expressions import Node as Tree
from tools.generate.expressions import parse, write
from tools.generate.grammar import Grammar, GrammarError, Type, camel_case, type_name
from tools.generate.inference import ANY, Inference, Kind, is_primitive

_Path = tuple[str, ...]


def with_unique_names(grammar: Grammar) -> Grammar:
    """Prefix a nested type with the name of its file if its name is not unique."""
    counts = Counter(camel_case(type_.name) for type_ in grammar)
    clashing = [type_ for type_ in grammar if len(type_.path) > 1 and counts[camel_case(type_.name)] > 1]
    for type_ in clashing:
        if type_.enums:
            raise GrammarError(f"{type_.spec}: {type_.name!r} has enums, and its name is not unique")
    names = {type_.path: f"{type_.id}_{type_.name}" for type_ in clashing}
    renaming = _Renaming(Inference(grammar), names)
    return Grammar({top.spec: mapped(top, renaming.field, names) for top in grammar.tops()})


class _Renaming(Rewriting):
    """Applies the new names to type references."""

    def __init__(self, inference: Inference, names: dict[_Path, str]) -> None:
        super().__init__(inference)
        self._names = names

    def rewritten(self, owner: Type, tree: Tree, item: Kind = ANY, want: Kind | None = None) -> Tree:
        if tree[0] == "cast":
            return ("cast", self.rewritten(owner, tree[1]), self._name(owner, tree[2]))
        return self.inside(owner, tree)

    def _text(self, owner: Type, text: Any, item: Kind = ANY, want: Kind | None = None) -> Any:
        if not isinstance(text, str):
            return text
        tree = parse(text)
        new = self.rewritten(owner, tree)
        return text if new == tree else write(new)

    def _use(self, owner: Type, use: str) -> str:
        name = type_name(use)
        return f"{self._name(owner, name)}{use.strip()[len(name) :]}"

    def _name(self, owner: Type, name: str) -> str:
        """The new name of a type in a field or a cast."""
        plain = name.removesuffix("[]")
        if is_primitive(plain) or plain in ("struct", "any"):
            return name
        path = self._inference.grammar.resolve(owner, plain).path
        outer = len(path) - len(plain.split("::"))
        parts = [self._names.get(path[: end + 1], path[end]) for end in range(outer, len(path))]
        return "::".join(parts) + name[len(plain) :]
