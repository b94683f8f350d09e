"""The visitors of the C++ driver: without reflection, each type needs a function that prints its fields."""

from __future__ import annotations

from collections.abc import Iterator

from tools.conformance.schema import Field, enums, schema
from tools.generate.classes import may_be_absent
from tools.generate.grammar import Grammar, Type

_PUT = {"i": "integer", "u": "natural", "f": "real", "b": "truth", "s": "text", "x": "bytes", "r": "record"}


def render(grammar: Grammar) -> str:
    """Source code to be included by `driver.cpp`."""
    lines = ["// Generated: how each type prints itself.", '#include "driver.h"']
    lines += [f'#include "{top.id}.h"' for top in grammar.tops()]
    for path, members in enums(grammar).items():
        pairs = ", ".join(f'{{{number}, "{name}"}}' for number, name in members.items())
        lines.append(f"static const Members {_enum(path)} = {{{pairs}}};")
    known = schema(grammar)
    for type_ in grammar:
        lines += _visitor(type_, known[type_.class_path])
    lines.append("void register_visitors() {")
    lines += [f"    visitors[typeid({_class(type_)})] = {_function(type_)};" for type_ in grammar]
    lines.append("}")
    return "\n".join(lines) + "\n"


def _visitor(type_: Type, fields: list[Field]) -> Iterator[str]:
    nodes = {**{node["id"]: node for node in type_.seq}, **type_.instances}
    yield f"static void {_function(type_)}(Out& out, kaitai::kstruct* object, const std::string& skip) {{"
    yield f"    {_class(type_)}* it = static_cast<{_class(type_)}*>(object);"
    yield f'    out.begin("{type_.class_path}");'
    for field in fields:
        absent = f"it->_is_null_{field.name}()" if may_be_absent(nodes[field.name]) else "false"
        yield f'    out.field(skip, "{field.name}", [&] {{ if ({absent}) out.null(); else {_put(field)}; }});'
    yield "    out.end();"
    yield "}"


def _put(field: Field) -> str:
    letter, value = field.kind[0], f"it->{field.name}()"
    call = f"out.{_PUT[letter]}({{}})" if letter != "e" else f"out.member({{}}, {_enum(field.enum or '')})"
    if not field.kind.endswith("*"):
        return call.format(value)
    return f"out.list({value}, [&](decltype({value}->at(0)) item) {{ {call.format('item')}; }})"


def _class(type_: Type) -> str:
    return "::".join(f"{name}_t" for name in type_.path)


def _function(type_: Type) -> str:
    return f"visit_{type_.class_path.replace('.', '_')}"


def _enum(path: str) -> str:
    return f"members_{path.replace('.', '_')}"
