"""Adaptations for single languages that no reader of the grammar needs.

The grammar gets casts before compilation; afterwards, output that would not compile is corrected. Each
correction fails if a later compiler produces different output.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tools.generate import nim
from tools.generate.casts import Casts, Comparisons, IndexCasts, mapped
from tools.generate.compiler import Target, compile_grammar
from tools.generate.expressions import parse, write
from tools.generate.grammar import Grammar, Node, Type, camel_case
from tools.generate.inference import Inference

#: Languages that do not mix integers of different widths.
_STRICT = ("go", "nim", "rust")
#: The package of the generated Go files.
GO_PACKAGE = "mysql_binlog"

_Rewrite = Callable[[Type, Node], Node]


def compile_for(grammar: Grammar, language: str) -> dict[str, str]:
    """The files of a grammar in one language, by name, ready for that language's compiler."""
    (files,) = compile_grammar(prepare(grammar, language), Target(language))
    return finish(grammar, language, files)


def prepare(grammar: Grammar, language: str) -> dict[str, Node]:
    """The grammar's files as input of the Kaitai compiler for a language."""
    inference = Inference(grammar)
    specs = _rewritten(grammar, _qualified(inference))
    if language == "java":
        again = Grammar(specs)
        specs = _rewritten(again, Comparisons(Inference(again)).field)
    if language == "nim":
        specs = {top.spec: nim.with_checks(top) for top in Grammar(specs).tops()}
    if language in _STRICT:
        again = Grammar(specs)
        casts = nim.NimCasts if language == "nim" else Casts
        specs = _rewritten(again, casts(Inference(again)).field)
    if language == "nim":
        specs = nim.with_enum_members(Grammar(specs))
    if language == "csharp":
        again = Grammar(specs)
        specs = _rewritten(again, IndexCasts(Inference(again)).field)
    return specs


def finish(grammar: Grammar, language: str, files: dict[str, str]) -> dict[str, str]:
    """The Kaitai compiler's output, corrected."""
    if language == "php":
        return {name: _php(text) for name, text in files.items()}
    if language == "csharp":
        return {name: _csharp(text, grammar) for name, text in files.items()}
    if language == "nim":
        return nim.finish(grammar, files)
    if language == "rust":
        return {name: _rust(text) for name, text in files.items()}
    if language == "cpp_stl":
        return {name: _cpp(text) if name.endswith(".h") else text for name, text in files.items()}
    if language == "go":
        enums = {_go_name(type_, enum) for type_ in grammar for enum in type_.enums}
        return {name: _go(text, enums) for name, text in files.items()}
    return files


def _rewritten(grammar: Grammar, rewrite: _Rewrite) -> dict[str, Node]:
    return {top.spec: mapped(top, rewrite) for top in grammar.tops()}


def _qualified(inference: Inference) -> _Rewrite:
    """Instances whose type is nested in another file are cast to it, so that the full name is written.

    Java, C++ and C# Cast instances whose type is nested in another file, so that the full name is written.
    """

    def rewrite(owner: Type, node: Node) -> Node:
        if "value" not in node:
            return node
        tree = parse(str(node["value"]))
        kind = inference.of(owner, tree).of
        if tree[0] == "cast" or not isinstance(kind, Type) or kind.id == owner.id or len(kind.path) == 1:
            return node
        return {**node, "value": write(("cast", tree, "::".join(kind.path)))}

    return rewrite


def _go_name(type_: Type, enum: str) -> str:
    return f"{type_.class_path.replace('.', '_')}_{camel_case(enum)}"


def _php(text: str) -> str:
    """PHP: a parameter may be null, such as the table map of a rows event without one."""
    return re.sub(r"(?<=[( ])(\\\w+(?:\\\w+)* \$(?!_))", r"?\1", text)


def _csharp(text: str, grammar: Grammar) -> str:
    """C#: enums get qualified names; a property must not have the name of its class."""
    enums = "|".join(rf"{type_.class_path}\.{camel_case(enum)}" for type_ in grammar for enum in type_.enums)
    return re.sub(rf"(?<![\w.])(?:{enums})\b", r"global::Kaitai.\g<0>", text)


_RUST_KEYWORDS = (
    *("abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn"),
    *("else", "enum", "extern", "final", "fn", "for", "if", "impl", "in", "let", "loop", "macro", "match"),
    *("mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "try"),
    *("type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield"),
)
_RUST_FIELD = re.compile(
    rf"(\.|\bfn |^ +)({'|'.join(_RUST_KEYWORDS)})(?=\(|\.borrow|: (?:Ref|Opt))", re.MULTILINE
)


def _rust(text: str) -> str:
    """Rust: escape fields named like a keyword, which the compiler does not."""
    return _RUST_FIELD.sub(r"\1r#\2", text)


def _cpp(header: str) -> str:
    """C++: initialize members that `_clean_up` reads and the compiler's constructors do not set.

    After an exception, the destructor reads pointers to one of several types, and flags of absent fields. The
    initializers require C++11.
    """
    header = re.sub(r"^( +\S+\* m_\w+);$", r"\1 = nullptr;", header, flags=re.MULTILINE)
    return re.sub(r"^( +bool n_\w+);$", r"\1 = true;", header, flags=re.MULTILINE)


_GO_FUNCTION = re.compile(r"func \(this \*\w+\) \w+\(\) \(v (\w+), err error\) \{")


def _go(text: str, enums: set[str]) -> str:
    """Go: a package, 0 as result when a function that returns a number fails, and an index from 0.

    In `repeat: until`, the compiler counts `_index` from 1 (kaitai_struct_compiler, pull request 245).
    """
    text = text.replace("for i := 1;; i++ {", "for i := 0;; i++ {")
    lines, returned = [f"package {GO_PACKAGE}", ""], ""
    for line in text.splitlines():
        if match := _GO_FUNCTION.match(line):
            returned = match[1]
        elif line.startswith("func "):
            returned = ""
        lines.append(line.replace("return nil, err", "return 0, err") if returned in enums else line)
    return "\n".join(lines) + "\n"
