"""The visitors of the Nim driver: without reflection, each type needs a procedure that prints its fields."""

from __future__ import annotations

from collections.abc import Iterator

from tools.conformance.schema import Field, enums, schema
from tools.generate.grammar import Grammar, Type, camel_case

_PUT = {"i": "integer", "u": "natural", "f": "real", "b": "truth", "s": "text", "x": "bytes", "r": "record"}
_CONVERTED = {"i": "int64({})", "u": "uint64({})", "f": "float64({})"}


def render(grammar: Grammar) -> str:
    """The module `visitors`, which `driver.nim` imports."""
    lines = [
        "# Generated: how each type prints itself.",
        "import std/tables",
        "import kaitai_struct_nim_runtime",
    ]
    lines += ["import driver_out", *(f"import {top.id}" for top in grammar.tops()), ""]
    for path, members in enums(grammar).items():
        pairs = ", ".join(f'{number}\'i64: "{name}"' for number, name in members.items())
        lines.append(f"let {_enum(path)} = {{{pairs}}}.toTable")
    types = list(grammar)
    lines += ["", 'proc record*(o: var Out, it: KaitaiStruct, skip = "")']
    lines += [_head(type_) for type_ in types]
    known = schema(grammar)
    for type_ in types:
        lines += ["", *_visitor(type_, known[type_.class_path])]
    lines += ["", 'proc record*(o: var Out, it: KaitaiStruct, skip = "") =', "  if it.isNil: o.null()"]
    lines += [f"  elif it of {_class(type_)}: o.record({_class(type_)}(it), skip)" for type_ in types]
    return "\n".join(lines) + "\n"


def _head(type_: Type) -> str:
    return f'proc record*(o: var Out, it: {_class(type_)}, skip = "")'


def _visitor(type_: Type, fields: list[Field]) -> Iterator[str]:
    yield f"{_head(type_)} ="
    yield "  if it.isNil:"
    yield "    o.null()"
    yield "    return"
    yield f'  o.begin("{type_.class_path}")'
    for field in fields:
        yield f'  o.field(skip, "{field.name}"): {_put(field)}'
    yield "  o.finish()"


def _put(field: Field) -> str:
    name = camel_case(field.name)
    value = f"it.`{name[:1].lower()}{name[1:]}`"
    if not field.kind.endswith("*"):
        return _one(field, value)
    return f"o.list({value}, {_one(field, 'item')})"


def _one(field: Field, value: str) -> str:
    letter = field.kind[0]
    if letter == "e":
        return f"o.member(int64(ord({value})), {_enum(field.enum or '')})"
    return f"o.{_PUT[letter]}({_CONVERTED.get(letter, '{}').format(value)})"


def _class(type_: Type) -> str:
    return type_.class_path.replace(".", "_")


def _enum(path: str) -> str:
    return f"members{path.replace('.', '')}"
