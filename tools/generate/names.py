"""Finds names that some language does not allow: reserved words, and names that collide when converted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.generate.grammar import Grammar, GrammarError, Type, camel_case, enum_member_name

# Each set contains only the words that the compiler does not escape in that language.
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

_RUBY = """
    BEGIN END alias and begin break case class def defined do else elsif end ensure false for if in
    initialize module next nil not or raise redo rescue retry return self send super then true undef
    unless until when while yield
"""
_LUA = """
    and break do else elseif end false for function goto if in local nil not or repeat return self
    then true until while
"""
_PHP_CLASSES = """
    abstract and array as bool break callable case catch class clone const continue declare default
    die do echo else elseif empty exit extends false final finally float fn for foreach
    function global goto if implements include instanceof insteadof int interface isset iterable
    list match mixed namespace never new null object or parent print private protected public
    readonly require resource return self static string switch throw trait true try unset use var
    void while xor yield
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that are not allowed for a parameter, field or instance: reserved, or a method of every object.
FIELDS = {
    "Java": _words(_JAVA),
    "C++": _words(_CPP),
    "Python": _words(_PYTHON),
    "Ruby": _words(_RUBY),
    "Lua": _words(_LUA),
    "Rust": _words("crate self super"),  # other keywords become `r#type`
    "Perl": _words("new import"),
    "Nim": _words("io parent root"),
}
#: In Go, a parameter or an unexported instance is in lower case.
_HIDDEN = {"Go": _words(_GO)}
#: Names not allowed for nested types or enums. PHP ignores case.
_CLASSES = {"PHP": _words(_PHP_CLASSES)}
#: Names not allowed for members of an enum. Rust uses `Unknown` for all other numbers.
_MEMBERS = {"Lua": _words(_LUA), "PHP": _words("class"), "Rust": _words("self unknown")}
#: Java classes that generated code uses and that a nested type of the same name would hide.
_JAVA_CLASSES = _words("""
    Object String Number Integer Long Double Float Boolean List ArrayList Map Arrays HashMap Math Override
    KaitaiStream KaitaiStruct IOException Throwable
""")


def check(grammar: Grammar, root: Path) -> None:
    """Raise a `GrammarError` that lists every such name, with file and line."""
    problems = [
        f"{place(root, type_, name)}: {what}" for type_ in grammar for name, what in problems_of(type_)
    ]
    if problems:
        raise GrammarError("\n".join(problems))


def problems_of(type_: Type) -> Iterator[tuple[str, str]]:
    """The invalid names in a type, with reasons."""
    exported = [node["id"] for node in type_.seq]
    hidden = [*(node["id"] for node in type_.params), *type_.instances]
    nested = [*(child.name for child in type_.children()), *type_.enums]
    members = [enum_member_name(member) for enum in type_.enums.values() for member in enum.values()]
    yield from _reserved(exported, FIELDS)
    yield from _reserved(hidden, {**FIELDS, **_HIDDEN})
    yield from _reserved(nested, _CLASSES)
    yield from _reserved(members, _MEMBERS)
    for name in [*exported, *hidden]:
        if camel_case(name) == camel_case(type_.name):
            yield name, f"C#: a member has the name of its type {type_.name!r}"
    yield from _collisions(type_, [*exported, *hidden])


def _reserved(names: list[str], words: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    for name in names:
        if languages := [language for language, taken in words.items() if name in taken]:
            yield name, f"{name!r} is a reserved word in {', '.join(languages)}"


def _collisions(type_: Type, fields: list[str]) -> Iterator[tuple[str, str]]:
    nested = [*(child.name for child in type_.children()), *type_.enums]
    taken: dict[str, str] = {}
    for name in fields:
        other = taken.setdefault(camel_case(name).lower(), name)
        if other != name:
            yield name, f"{name!r} becomes {other!r} when its case is converted"
    for name in nested:
        if camel_case(name) in map(camel_case, fields):
            yield name, f"C#: {name!r} is a type or an enum and also a field of {type_.name!r}"
        if camel_case(name) in _JAVA_CLASSES:
            yield name, f"Java: a type {camel_case(name)!r} hides the class of that name"


def place(root: Path, type_: Type, name: str) -> str:
    """File and line where a type uses a name."""
    path = root / f"{type_.spec}.ksy"
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = _line_of(path, type_)
    for number, line in enumerate(lines[begin:], begin + 1):
        if re.match(rf"\s*(- id: {name}|{name}:|\d+: {name}|id: {name})\s*$", line):
            return f"{path}:{number}"
    return str(path)


def _line_of(path: Path, type_: Type) -> int:
    """The line, from 0, at which the content of a type begins."""
    with path.open(encoding="utf-8") as file:
        node: Any = yaml.compose(file, yaml.SafeLoader)
    for name in type_.path[1:]:
        for key in ("types", name):
            node = next(value for k, value in node.value if k.value == key)
    return int(node.start_mark.line)
