"""The type of every field, as inferred by the compiler.

Only the compiler knows the type of `value: a ? b.c : d.e`. Of its targets, Nim's output states it most
plainly: a declaration of each type with all its fields, instances and parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tools.generate.grammar import Grammar, GrammarError, Node, Type, camel_case, type_name

_TYPE = re.compile(r"^  (\w+)\* = ref object of KaitaiStruct$")
_FIELD = re.compile(r"^    `(\w+)`\*?: (.+)$")
_PLAIN = {
    **{f"{sign}int{bits}": "int" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "int": "int",
    "float32": "float",
    "float64": "float",
    "bool": "bool",
    "string": "str",
    "seq[byte]": "bytes",
    "KaitaiStruct": "KaitaiStruct",
    "KaitaiStream": "KaitaiStream",
}
_PRIMITIVE = re.compile(r"(?:([us])[1248]|(f)[48]|(b1)|(b)\d+|(strz?))(?:le|be)?$")

Quote = Callable[[Type, str], str]
"""How a stub names a class of the grammar: the type that owns it, and its path within the module."""


class FieldTypes:
    """The Python annotations of fields. `quote` formats a reference to a class."""

    def __init__(self, grammar: Grammar, nim: dict[str, str]) -> None:
        self._grammar = grammar
        self._fields = _declarations(nim.values())
        self._classes = {type_.class_path.replace(".", "_"): type_ for type_ in grammar}
        self._enums = {
            f"{nim_name}_{camel_case(enum)}": (type_, f"{type_.class_path}.{camel_case(enum)}")
            for nim_name, type_ in self._classes.items()
            for enum in type_.enums
        }

    def of_field(self, owner: Type, field: Node, quote: Quote) -> str:
        """A field of `seq` or a parameter."""
        return self._spell(owner, _nim_name(field["id"]), field, quote)

    def of_instance(self, owner: Type, name: str, node: Node, quote: Quote) -> str:
        return self._spell(owner, f"{_nim_name(name)}Inst", node, quote)

    def is_object(self, param: Node) -> bool:
        """Whether a parameter is a record rather than a number or text."""
        type_ = str(param.get("type", "bytes"))
        return not is_primitive(type_) and "[" not in type_

    def raw_of_field(self, owner: Type, field: Node) -> str | None:
        """The bytes that the compiler stores for a field with both a size and a type of its own."""
        declared = self._fields[owner.class_path.replace(".", "_")]
        nim = declared.get(f"raw{camel_case(field['id'])}")
        return nim and self._annotation(nim, lambda _, path: path)

    def _spell(self, owner: Type, nim_name: str, node: Node, quote: Quote) -> str:
        nim = self._fields[owner.class_path.replace(".", "_")][nim_name]
        if isinstance(node.get("type"), dict):
            union = self._union(owner, node, quote)
            return f"list[{union}]" if "repeat" in node else union
        return self._annotation(nim, quote)

    def _annotation(self, nim: str, quote: Quote) -> str:
        if nim in _PLAIN:
            return _PLAIN[nim]
        if nim.startswith("seq["):
            return f"list[{self._annotation(nim[4:-1], quote)}]"
        if nim in self._enums:
            # A number that is not a member of the enum remains a plain int.
            return f"{quote(*self._enums[nim])} | int"
        if nim in self._classes:
            return quote(self._classes[nim], self._classes[nim].class_path)
        raise GrammarError(f"no Python type for the compiler's {nim!r}")

    def _union(self, owner: Type, node: Node, quote: Quote) -> str:
        cases = node["type"]["cases"]
        parts = [self._case(owner, str(case), quote) for case in cases.values()]
        if "_" not in cases and any(key in node for key in ("size", "size-eos", "terminator")):
            parts.append("bytes")
        return " | ".join(dict.fromkeys(parts))

    def _case(self, owner: Type, case: str, quote: Quote) -> str:
        if match := _PRIMITIVE.match(case):
            _, real, bit, _, text = match.groups()
            return "float" if real else "bool" if bit else "str" if text else "int"
        type_ = self._grammar.resolve(owner, type_name(case))
        return quote(type_, type_.class_path)


def is_primitive(type_: str) -> bool:
    """Whether a type is built into Kaitai rather than defined in the grammar."""
    return bool(_PRIMITIVE.match(type_)) or type_ in ("bool", "bytes", "io")


def _declarations(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Nim's types by name, with the type of each field."""
    types: dict[str, dict[str, str]] = {}
    for text in texts:
        current: dict[str, str] = {}
        for line in text.splitlines():
            if match := _TYPE.match(line):
                current = types.setdefault(match[1], {})
            elif match := _FIELD.match(line):
                current[match[1]] = match[2]
    return types


def _nim_name(name: str) -> str:
    camel = camel_case(name)
    return camel[:1].lower() + camel[1:]
