"""The source of one decoder: computes the requested parts, and before them everything that they depend on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tools.generate.decoder_text import (
    NAME,
    bits_of,
    exclude,
    function_source,
    implies,
    is_wrapped,
    read_source,
    sum_source,
)
from tools.generate.expressions import Node as Tree
from tools.generate.expressions import parse_use
from tools.generate.grammar import Grammar, Node, Type, type_name
from tools.generate.layout_source import number_type
from tools.generate.translation import Scope, Translator, UntranslatableError, binary_source, is_number


@dataclass
class _Scope(Scope):
    at: str = ""  # where it starts


class Decoder(Translator[_Scope]):
    """Generates one decoder.

    Parameters
    ----------
    around
        The enclosing types of this one, from the parent outward.
    given
        Arguments from the caller, see `decoders.Wanted`.
    fixed
        Parameters with constant values.
    """

    def __init__(
        self,
        grammar: Grammar,
        type_: Type,
        around: Sequence[Type],
        given: Sequence[str],
        fixed: dict[str, int | str] | dict[str, str],
    ) -> None:
        super().__init__(grammar)
        self._lines: list[str] = []
        self._root = scope = _Scope(type_, at="at")
        for outer in around:
            # Anything without bytes of its own has the offset of its container.
            start = scope.at if not scope.type.seq else ""
            scope.parent = _Scope(outer, f"outer{scope.prefix}_", at=start)
            scope = scope.parent
        self._arguments: list[str] = []
        for name in given:
            scope, names = self._named(name.removeprefix("@"))
            mark = "@" if name.startswith("@") else ""
            self._arguments.append("_".join([*names, "at"] if mark else names))
            scope.names[mark + ".".join(names)] = self._arguments[-1]
        for name, value in fixed.items():
            scope, names = self._named(name)
            scope.names[".".join(names)] = str(value)

    def _named(self, name: str) -> tuple[_Scope, list[str]]:
        """The type to which a name belongs, and the name within it."""
        scope, names = self._root, name.split(".")
        while names[0] == "_parent" and scope.parent is not None:
            scope, names = scope.parent, names[1:]
        return scope, names

    def function(self, name: str, parts: Sequence[str], end: str = "") -> str:
        """The complete function."""
        results = [self._part(part) for part in parts]
        lines = self._needed(results)
        # A decoder that reads no bytes gets none.
        has_bytes = any(re.search(r"\b(data|at)\b", line) for line in [*lines, *results])
        called = ", ".join(f"{name}: Any" for name in [*["data", "at"][: 2 * has_bytes], *self._arguments])
        doc = f'"""{", ".join(parts)} of a `{"::".join(self._root.type.path)}`."""'
        return function_source(name, called, [doc, *lines, f"return {', '.join(results)}"])

    def _needed(self, results: Sequence[str]) -> list[str]:
        """The statements on which the results depend; others were generated only to determine this."""
        used = set(NAME.findall(" ".join(results)))
        lines = list[str]()
        for line in reversed(self._lines):
            variable, _, source = line.partition(" = ")
            if variable in used:
                used.update(NAME.findall(source))
                lines.insert(0, line)
        return lines

    def width(self, name: str) -> str:
        """A function that returns the length of the type, and the size of its length prefix."""
        seq = self._root.type.seq
        is_prefixed = len(seq) > 1 and str(seq[1].get("size")) == f"{seq[0]['id']}.value"
        prefix = self._size(self._root, seq[0]) if is_prefixed else "0"
        results = ["0" if is_prefixed else self._length(self._root), prefix]
        return function_source(name, "column: Any", [*self._needed(results), f"return {', '.join(results)}"])

    def _part(self, part: str) -> str:
        mark, name = part[:1], part[1:]
        if part == "@end":
            return self._offset(self._root, len(self._root.type.seq))
        if mark == "@":
            return self._offset(self._root, self._index(self._root, name))
        if mark == "#":
            return self._size_of_one(self._root, self._root.type.seq[self._index(self._root, name)])
        if mark == "!":
            return self._is_valid(name)
        return self.resolve(self._root, part.split("."))

    def _is_valid(self, name: str) -> str:
        """Whether a field's value is within the minimum and maximum of the grammar."""
        value = self.resolve(self._root, name.split("."))
        scope = self._root
        *around, last = name.split(".")
        for step in around:
            scope = scope.children[step]
        limits = scope.type.seq[self._index(scope, last)]["valid"]
        least = [f"{value} >= {limits['min']}"] if "min" in limits else []
        most = [f"{value} <= {limits['max']}"] if "max" in limits else []
        return f"({' and '.join(least + most)})"

    # Offsets -------------------------------------------------------------------------------------------

    @staticmethod
    def _index(scope: _Scope, name: str) -> int:
        for index, node in enumerate(scope.type.seq):
            if node["id"] == name:
                return index
        raise UntranslatableError(f"{scope.type.name} has no field {name}")

    def _offset(self, scope: _Scope, index: int) -> str:
        """Offset of a field or, for the number of fields, the end of the value."""
        if index < len(scope.type.seq) and (given := scope.names.get("@" + scope.type.seq[index]["id"])):
            return given
        if not scope.at:
            raise UntranslatableError(f"where a {scope.type.name} begins")
        return sum_source(scope.at, self._length(scope, index))

    def _length(self, scope: _Scope, index: int | None = None) -> str:
        """Length of the fields before one, or of all."""
        seq, bits, sizes = scope.type.seq, 0, list[str]()
        index = len(seq) if index is None else index
        before = seq[:index]
        # A condition on the rest of the bytes cannot be translated, and is only needed to exclude others.
        is_conditional = index < len(seq) and any("if" in node for node in before)
        wanted = self._condition(scope, seq[index]) if is_conditional else "True"
        for node in before:
            if (width := bits_of(node)) and "if" not in node:
                bits += width
            elif not exclude(wanted, self._condition(scope, node)):
                sizes.append(self._size(scope, node))
        if bits % 8:
            raise UntranslatableError("bits that fill no bytes")
        return sum_source(str(bits // 8), *sizes)

    def _size(self, scope: _Scope, node: Node) -> str:
        """Length of a field in bytes."""
        condition = self._condition(scope, node)
        if condition == "False":
            return "0"
        size = self._size_of_one(scope, node)
        if node.get("repeat") == "expr":
            size = binary_source("*", self.text(scope, node["repeat-expr"]), size)
        elif "repeat" in node:
            raise UntranslatableError(f"the length of the list {node['id']}")
        return size if condition == "True" else f"({size} if {condition} else 0)"

    def _size_of_one(self, scope: _Scope, node: Node) -> str:
        use = node.get("type")
        if "size" in node:
            return self.text(scope, node["size"])
        if width := bits_of(node):
            if width % 8:
                raise UntranslatableError("bits that fill no bytes")
            return str(width // 8)
        if dtype := number_type(use, node, "le"):
            return dtype[-1]
        if not isinstance(use, str) or use in ("str", "strz"):
            raise UntranslatableError(f"the length of {node['id']}")
        return self._length(self._inner(scope, node))

    def _is_known(self, condition: str) -> bool:
        """Whether a condition follows from those that hold at the point of use."""
        names = NAME.findall(condition)
        about = [test for test in self.known if {*NAME.findall(test)} <= {*names, "and", "or", "not"}]
        return bool(about) and implies(" and ".join(about), condition)

    def _condition(self, scope: _Scope, node: Node) -> str:
        return self.text(scope, node["if"]) if "if" in node else "True"

    # Names --------------------------------------------------------------------------------------------

    def resolve(self, scope: _Scope, names: Sequence[str]) -> str:
        return scope.names.get(".".join(names)) or super().resolve(scope, names)

    def name(self, scope: _Scope, names: Sequence[str]) -> str:
        first, *rest = names
        if first in scope.type.instances and not rest:
            return self._instance(scope, first, scope.type.instances[first])
        node = scope.type.seq[self._index(scope, first)]
        if rest in (["length"], ["size"]) and "size" in node and "type" not in node:
            return self._size(scope, node)
        if rest:
            return self.resolve(self._inner(scope, node), rest)
        return self._field(scope, first, node)

    def _inner(self, scope: _Scope, node: Node) -> _Scope:
        """The type of a field, at the field's offset."""
        if node["id"] in scope.children:
            return scope.children[node["id"]]
        offset = self._offset(scope, self._index(scope, node["id"])) if scope.at else ""
        type_ = self.grammar.resolve(scope.type, type_name(node["type"]))
        child = _Scope(type_, f"{scope.prefix}{node['id']}_", scope, at=offset)
        for param, argument in zip(type_.params, parse_use(node["type"])[1], strict=True):
            child.names[param["id"]] = self.tree(scope, argument)
        scope.children[node["id"]] = child
        return child

    def _instance(self, scope: _Scope, name: str, node: Node) -> str:
        if "value" not in node:
            raise UntranslatableError(f"{name} has an offset of its own")
        # Computed at the point of use.
        known, self.known = self.known, []
        condition = self._condition(scope, node)
        value = "0" if condition == "False" else self.text(scope, node["value"])
        self.known = known
        return self._assign(scope, name, value, condition)

    def _field(self, scope: _Scope, name: str, node: Node) -> str:
        condition = self._condition(scope, node)
        if condition == "False":
            return self._assign(scope, name, "0", "True")
        width, offset = bits_of(node), ""
        if width and "if" not in node:
            return self._bits(scope, name)
        endian = str(self.grammar.top(scope.type.id).node["meta"].get("endian", "le"))
        dtype = number_type(node.get("type"), node, endian)
        if dtype is None or "f" in dtype or "repeat" in node:
            raise UntranslatableError(f"{name} is not one number")
        offset = self._offset(scope, self._index(scope, name))
        value = read_source(dtype, offset)
        if "i" in dtype and dtype[-1] != "8":
            value = f"signed({value}, {8 * int(dtype[-1])})"
        if condition != "True" and self._is_known(condition):
            return value
        return self._assign(scope, name, value, condition)

    def _bits(self, scope: _Scope, name: str) -> str:
        """A bit field: adjacent bit fields are read together."""
        seq, index = scope.type.seq, self._index(scope, name)
        begin = end = index
        while begin and bits_of(seq[begin - 1]) and "if" not in seq[begin - 1]:
            begin -= 1
        while end < len(seq) and bits_of(seq[end]) and "if" not in seq[end]:
            end += 1
        widths = [bits_of(node) for node in seq[begin:end]]
        total, before, width = sum(widths), sum(widths[: index - begin]), widths[index - begin]
        is_little = str(seq[index]["type"]).endswith("le")
        if total % 8 or total > 64:
            raise UntranslatableError("bits that fill no bytes")
        run = "bits" if begin == 0 else f"bits_{begin}"
        if run not in scope.names:
            read = read_source(f"{'<' if is_little else '>'}u{total // 8}", self._offset(scope, begin))
            if len(widths) == 1:
                return self._assign(scope, name, read, "True")
            self._assign(scope, run, read, "True")
        shift = before if is_little else total - before - width
        value = scope.names[run] if shift == 0 else f"({scope.names[run]} >> {shift})"
        is_top = shift + width == total < 64
        return self._assign(scope, name, value if is_top else f"{value} & {(1 << width) - 1:#x}", "True")

    def _assign(self, scope: _Scope, name: str, value: str, condition: str) -> str:
        if condition == "True" and (is_number(value) or NAME.fullmatch(value)):
            scope.names[name] = value
            return value
        variable = scope.prefix + name
        if variable in ("data", "at", *self._arguments):
            variable += "_"
        value = value if condition == "True" else f"{value} if {condition} else 0"
        value = value[1:-1] if is_wrapped(value) else value
        self._lines.append(f"{variable} = {value}")
        scope.names[name] = variable
        return variable

    def tree(self, scope: _Scope, node: Tree) -> str:
        match node:
            case ("index", ("name", name), index):
                return self._item(scope, name, index)
            case ("index", ("member", ("name", "_parent"), name), index) if scope.parent is not None:
                return self._item(scope.parent, name, index, scope)
        return super().tree(scope, node)

    def _item(self, scope: _Scope, name: str, index: Tree, user: _Scope | None = None) -> str:
        """One byte of a byte array."""
        begin = self._offset(scope, self._index(scope, name))
        return f"byte(data, {sum_source(begin, self.tree(user or scope, index))})"
