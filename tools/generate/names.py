"""Names that some language cannot take: reserved words, and names that collide in another case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.generate.grammar import Grammar, GrammarError, Type, camel_case

# Each set holds only the words that the compiler leaves as they are in that language.
_JAVA = """
    abstract assert boolean break byte case catch char class const continue default do double else
    enum extends final finally float for goto if implements import instanceof int interface long
    native new package private protected public return short static strictfp super switch
    synchronized this throw throws transient try void volatile while true false null
"""
_CPP = """
    alignas alignof and asm auto bool break case catch char class compl const constexpr continue
    decltype default delete do double else enum explicit export extern false float for friend goto
    if inline int long mutable namespace new noexcept not nullptr operator or private protected
    public register return short signed sizeof static struct switch template this throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
"""
_GO = """
    break case chan const continue default defer else fallthrough for func go goto if import
    interface map package range return select struct switch type var
"""
_PYTHON = """
    False None True and as assert async await break class continue def del elif else except finally
    for from global if import in is lambda nonlocal not or pass property raise return try while with
    yield
"""

#: Words that are neither parameter nor field nor instance in any language.
FIELDS = {word for text in (_JAVA, _CPP, _PYTHON) for word in text.split()}
#: In Go a parameter or an instance, which is not exported, is in lower case.
_HIDDEN = set(_GO.split())
#: Classes of Java that generated code uses; a nested type of the name hides them.
_JAVA_CLASSES = {
    *(
        "Object",
        "String",
        "Number",
        "Integer",
        "Long",
        "Double",
        "Float",
        "Boolean",
        "List",
        "ArrayList",
        "Map",
    ),
    *("Arrays", "HashMap", "Math", "Override", "KaitaiStream", "KaitaiStruct", "IOException", "Throwable"),
}


def check(grammar: Grammar, root: Path) -> None:
    """Raise a `GrammarError` that names every such name, with file and line."""
    problems = [
        f"{_place(root, type_, name)}: {what}" for type_ in grammar for name, what in problems_of(type_)
    ]
    if problems:
        raise GrammarError("\n".join(problems))


def problems_of(type_: Type) -> Iterator[tuple[str, str]]:
    """The names in a type that cannot stay, and why."""
    exported = [node["id"] for node in type_.seq]
    hidden = [*(node["id"] for node in type_.params), *type_.instances]
    for name in [*exported, *hidden]:
        if name in FIELDS:
            yield name, f"{name!r} is a reserved word in Java, C++ or Python"
        elif name in hidden and name in _HIDDEN:
            yield name, f"{name!r} is a reserved word in Go"
        if camel_case(name) == camel_case(type_.name):
            yield name, f"C#: a member has the name of its type {type_.name!r}"
    yield from _collisions(type_, [*exported, *hidden])


def _collisions(type_: Type, fields: list[str]) -> Iterator[tuple[str, str]]:
    nested = [*(child.name for child in type_.children()), *type_.enums]
    taken: dict[str, str] = {}
    for name in fields:
        other = taken.setdefault(camel_case(name).lower(), name)
        if other != name:
            yield name, f"{name!r} is {other!r} once its case has changed"
    for name in nested:
        if camel_case(name) in map(camel_case, fields):
            yield name, f"C#: {name!r} is a type or an enum and also a field of {type_.name!r}"
        if camel_case(name) in _JAVA_CLASSES:
            yield name, f"Java: a type {camel_case(name)!r} hides the class of that name"


def _place(root: Path, type_: Type, name: str) -> str:
    """File and line where a type says a name."""
    path = root / f"{type_.spec}.ksy"
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = _line_of(path, type_)
    for number, line in enumerate(lines[begin:], begin + 1):
        if re.match(rf"\s*(- id: {name}|{name}:)\s*$", line):
            return f"{path}:{number}"
    return str(path)


def _line_of(path: Path, type_: Type) -> int:
    """The line, from 0, where the content of a type begins."""
    with path.open(encoding="utf-8") as file:
        node: Any = yaml.compose(file, yaml.SafeLoader)
    for name in type_.path[1:]:
        for key in ("types", name):
            node = next(value for k, value in node.value if k.value == key)
    return int(node.start_mark.line)
