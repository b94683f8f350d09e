"""Record layouts: for each event type, the leading fields whose offsets follow by arithmetic.

The result is a Python module of plain data and small lambdas that imports nothing, so that framing small
files does not need NumPy. A layout ends at the first field that requires more than arithmetic (a list of
structures, a type selected by a value); the event reader decodes the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.generate.expressions import parse
from tools.generate.grammar import Grammar, Node, Type, type_name
from tools.generate.layout_expressions import UntranslatableError, translate
from tools.generate.layout_source import (
    BITS,
    arguments,
    constant,
    flag,
    function,
    keywords,
    nest,
    number_type,
    text,
)
from tools.generate.walks import Walk, Walks

_TEXT = re.compile(r"(?P<run>\w+)\.to_s\(\s*(['\"])(?P<encoding>[\w-]+)\2\s*\)$")
_MAX_DEPTH = 8

#: Item types for which any bytes form a list.
_BYTES = (None, "u1", "s1")

#: Types of byte ranges without fields of their own.
_PLAIN = (None, "str", "strz")

_STEPS = Path(__file__).with_name("layout_steps.py")


def render(grammar: Grammar) -> dict[str, str]:
    """Source of the modules `layouts` (`LAYOUTS` by name, `BODIES` by type code, `ENUMS`) and `walks`."""
    walks = Walks(grammar)
    header = _Builder(grammar, walks)
    header.lay_out(grammar.top("event_header"))
    parts = [_STEPS.read_text(encoding="utf-8"), f"EVENT_HEADER = {header.source('event_header')}"]
    names: dict[str, str] = {}
    codes: list[str] = []
    enums = set(header.enums)
    for code, use in _router(grammar):
        if use not in names:
            builder = _Builder(grammar, walks)
            id_ = builder.lay_out_use(grammar.top("event_body"), use)
            enums.update(builder.enums)
            names[use] = _free_name(id_.upper(), set(names.values()))
            parts.append(f"{names[use]} = {builder.source(id_)}")
        codes.append(f"    {code}: {names[use]}," if code is not None else "")
        if code is None:
            parts.append(f"UNKNOWN_BODY = {names[use]}")
    body = "\n".join(line for line in codes if line)
    layouts = "\n".join(f"    {name.lower()!r}: {name}," for name in ("EVENT_HEADER", *names.values()))
    parts.append(f"LAYOUTS: dict[str, Layout] = {{\n{layouts}\n}}")
    parts.append(f"BODIES: dict[int, Layout] = {{\n{body}\n}}")
    parts.append(_render_enums(grammar, enums))
    return {"layouts.py": "\n\n".join(parts) + "\n", "walks.py": walks.render()}


def _router(grammar: Grammar) -> Iterator[tuple[int | None, str]]:
    """Type code (None: any other) and type reference for each case of the body's switch."""
    body = grammar.top("event_body")
    content = next(one for one in body.seq if one["id"] == "content")
    for key, use in content["type"]["cases"].items():
        if key == "_":
            yield None, use
        else:
            yield constant(grammar, body, tuple(key.split("::"))), use


def _free_name(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _render_enums(grammar: Grammar, enums: set[tuple[tuple[str, ...], str]]) -> str:
    by_name: dict[str, dict[int, str]] = {}
    for path, name in sorted(enums):
        owner = next(type_ for type_ in grammar if type_.path == path)
        by_name["::".join((*path, name))] = grammar.enum(owner, name).members
    lines = [f"    {name!r}: {members!r}," for name, members in by_name.items()]
    return "\n".join(["ENUMS: dict[str, dict[int, str]] = {", *lines, "}"])


@dataclass
class _Scope:
    """A type being laid out, with the meaning of its names as Python source."""

    type: Type
    prefix: str = ""
    condition: str | None = None
    parent: _Scope | None = None
    names: dict[str, str | None] = field(default_factory=dict)  # None: known, but not computable
    runs: set[str] = field(default_factory=set)
    children: dict[str, _Scope] = field(default_factory=dict)
    walks: dict[str, Walk] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)


class _Builder:
    """Collects the steps of one layout."""

    def __init__(self, grammar: Grammar, walks: Walks) -> None:
        self.grammar = grammar
        self.walks = walks
        self.steps: list[str] = []
        self.enums: set[tuple[tuple[str, ...], str]] = set()
        self.complete = False
        self._wide: dict[str, bool] = {}
        self._uses_wide = False
        self._in_instance = False

    def source(self, id_: str) -> str:
        lines = "".join(f"        {step},\n" for step in self.steps)
        return f"Layout(\n    {id_!r},\n    (\n{lines}    ),\n    {self.complete},\n)"

    def lay_out(self, type_: Type) -> None:
        """Lay out a top-level type whose parameters the caller passes by name."""
        scope = _Scope(type_, names={one["id"]: f"v[{one['id']!r}]" for one in type_.params})
        self._run(scope)

    def lay_out_use(self, body: Type, use: str) -> str:
        """Lay out the type of a case of the router, with arguments in terms of the router's parameters."""
        router = _Scope(body, "event_body.", names={one["id"]: f"v[{one['id']!r}]" for one in body.params})
        scope = self._child(router, use, "", None)
        self._run(scope)
        return scope.type.name

    def _run(self, scope: _Scope) -> None:
        try:
            self._fields(scope, 0)
            self.complete = True
        except UntranslatableError:
            self.complete = False
            self._instances(scope)

    def _child(self, scope: _Scope, use: str, prefix: str, condition: str | None) -> _Scope:
        type_ = self.grammar.resolve(scope.type, type_name(use))
        names: dict[str, str | None] = {}
        for param, argument in zip(type_.params, arguments(use), strict=True):
            try:
                names[param["id"]] = self._translate(scope, argument)
            except UntranslatableError:
                names[param["id"]] = None
        return _Scope(type_, prefix, condition, scope, names)

    def _fields(self, scope: _Scope, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise UntranslatableError("the types are nested too deep")
        for node in scope.type.seq:
            self._field(scope, node, depth)
        self._instances(scope)

    def _field(self, scope: _Scope, node: Node, depth: int) -> None:
        name, use = node["id"], node.get("type")
        path = scope.prefix + name
        condition = self._condition(scope, node)
        if "repeat" in node:
            self._add_run(scope, node, self._repeated(scope, node), condition)
            return
        if "size" in node or "size-eos" in node or "contents" in node:
            self._add_run(scope, node, self._size(scope, node), condition)
            return
        dtype = number_type(use, node, self._endian(scope))
        if dtype is not None:
            self._add_number(scope, node, dtype, condition)
            return
        if not isinstance(use, str) or use in ("str", "strz") or BITS.match(use):
            raise UntranslatableError(f"{path} requires more than arithmetic")
        child = self._child(scope, use, f"{path}.", condition)
        scope.children[name] = child
        self._fields(child, depth + 1)

    def _endian(self, scope: _Scope) -> str:
        """Byte order of numbers that do not state it: that of the type, or of its file."""
        own = scope.type.node.get("meta", {}).get("endian")
        return str(own or self.grammar.top(scope.type.id).node["meta"].get("endian", "le"))

    def _condition(self, scope: _Scope, node: Node) -> str | None:
        if "if" not in node:
            return scope.condition
        own = self._translate(scope, node["if"])
        return own if scope.condition is None else f"n.both({scope.condition}, {own})"

    def _size(self, scope: _Scope, node: Node) -> str | None:
        if "contents" in node:
            return str(len(node["contents"]))
        return None if "size-eos" in node else self._translate(scope, node["size"])

    def _repeated(self, scope: _Scope, node: Node) -> str | None:
        """Length of a list in bytes."""
        if node["repeat"] == "eos":
            return None
        use = node.get("type")
        bits = BITS.match(use) if isinstance(use, str) else None
        dtype = number_type(use, node, self._endian(scope))
        if node["repeat"] != "expr" or (bits is None and dtype is None):
            raise UntranslatableError("a list of structures")
        count = self._translate(scope, node["repeat-expr"])
        if dtype is not None:
            return f"({count} * {int(dtype[-1])})"
        assert bits is not None
        return f"(({count} * {int(bits['bits'])} + 7) // 8)"

    def _add_number(self, scope: _Scope, node: Node, dtype: str, condition: str | None) -> None:
        path = scope.prefix + node["id"]
        source = f"v[{path!r}]"
        scope.names[node["id"]] = source
        self._wide[source] = dtype[1:] == "u8"
        enum = None
        if "enum" in node:
            found = self.grammar.enum(scope.type, node["enum"])
            self.enums.add((found.owner.path, found.name))
            enum = repr("::".join((*found.owner.path, found.name)))
        valid = self._valid(scope, node, source)
        extra = keywords(condition=function(condition), valid=function(valid), enum=enum)
        self.steps.append(f"Number({path!r}, {dtype!r}{extra})")

    def _add_run(self, scope: _Scope, node: Node, size: str | None, condition: str | None) -> None:
        name, use, is_list = node["id"], node.get("type"), "repeat" in node
        path = scope.prefix + name
        scope.names[name] = None
        scope.runs.add(name)
        is_structure = node["repeat"] == "eos" and use not in _BYTES if is_list else use not in _PLAIN
        walk = self._walk(scope, use, is_list=is_list) if is_structure else None
        is_text = not is_list and use in ("str", "strz")
        extra = keywords(
            condition=function(condition),
            encoding=text(node.get("encoding") if is_text else None),
            ends_at_zero=flag(not is_list and (use == "strz" or node.get("terminator") == 0)),
            item=text(number_type(use, node, self._endian(scope)) if is_list else None),
            is_structure=flag(is_structure),
            walk=text(walk.name if walk else None),
        )
        self.steps.append(f"Run({path!r}, {function(size)}{extra})")
        if walk is not None:
            scope.walks[name] = walk
            self._add_inside(path, walk)

    def _walk(self, scope: _Scope, use: Any, *, is_list: bool) -> Walk | None:
        """The walk over a structure that depends only on its own bytes."""
        if not isinstance(use, str):
            return None
        type_ = self.grammar.resolve(scope.type, type_name(use))
        return None if type_.params else self.walks.over(type_, is_list=is_list)

    def _add_inside(self, path: str, walk: Walk) -> None:
        for one in walk.inside:
            extra = keywords(encoding=text(one.encoding))
            kind, count = ("InnerList", f", {one.items}") if one.items else ("InnerRun", "")
            self.steps.append(f"{kind}({f'{path}.{one.path}'!r}, {path!r}, {one.slot}{count}{extra})")

    def _valid(self, scope: _Scope, node: Node, source: str) -> str | None:
        valid = node.get("valid")
        if valid is None:
            return None
        if not isinstance(valid, dict):
            return f"({source} == {self._translate(scope, valid)})"
        tests: list[str] = []
        for key, operator in (("eq", "=="), ("min", ">="), ("max", "<=")):
            if key in valid:
                tests.append(f"({source} {operator} {self._translate(scope, valid[key])})")
        if "any-of" in valid:
            choices = [f"({source} == {self._translate(scope, one)})" for one in valid["any-of"]]
            tests.append(nest("n.either", choices) or "True")
        if "expr" in valid:
            tests.append(self._translate(scope, re.sub(r"\b_\b(?!\.)", node["id"], str(valid["expr"]))))
        return nest("n.both", tests)

    def _instances(self, scope: _Scope) -> None:
        for name, node in scope.type.instances.items():
            if name not in scope.names and "value" in node:
                if self._text(scope, name, node):
                    continue
                try:
                    self._instance(scope, name, node)
                except UntranslatableError:
                    scope.names[name] = None

    def _instance(self, scope: _Scope, name: str, node: Node) -> str:
        """Add a value instance, where it is first needed or at the end of its type."""
        if name in scope.pending:
            raise UntranslatableError(f"{name} depends on itself")
        scope.pending.add(name)
        outer, self._uses_wide = self._uses_wide, False
        was_in_instance, self._in_instance = self._in_instance, True
        try:
            condition = self._condition(scope, node)
            source = self._translate(scope, node["value"])
            self._uses_wide |= str(node["value"]).strip().endswith(".as<u8>")
            is_unsigned = self._uses_wide and " - " not in source
        finally:
            scope.pending.discard(name)
            self._uses_wide, self._in_instance = outer, was_in_instance
        path = scope.prefix + name
        extra = keywords(condition=function(condition), is_unsigned=flag(is_unsigned))
        self.steps.append(f"Value({path!r}, {function(source)}{extra})")
        scope.names[name] = f"v[{path!r}]"
        self._wide[f"v[{path!r}]"] = is_unsigned
        return f"v[{path!r}]"

    def _text(self, scope: _Scope, name: str, node: Node) -> bool:
        """Add an instance that only states the encoding of a byte field."""
        expression = str(node["value"]).strip()
        match = _TEXT.match(expression)
        if match is not None and match["run"] in scope.runs:
            run, encoding = match["run"], match["encoding"]
        else:
            run, encoding = expression, self._encoding_inside(scope, expression)
        if not encoding:
            return False
        condition = self._condition(scope, node)
        extra = keywords(condition=function(condition))
        self.steps.append(f"Text({scope.prefix + name!r}, {scope.prefix + run!r}, {encoding!r}{extra})")
        scope.names[name] = None
        return True

    @staticmethod
    def _encoding_inside(scope: _Scope, path: str) -> str | None:
        """Encoding of text inside a structure; None if there is none."""
        first, _, rest = path.partition(".")
        inside = scope.walks[first].inside if first in scope.walks else ()
        return next((one.encoding for one in inside if one.path == rest), None)

    def _translate(self, scope: _Scope, expression: Any) -> str:
        if not isinstance(expression, str):
            return str(expression)
        return translate(
            parse(expression),
            lambda names: self._resolve(scope, names),
            lambda names: constant(self.grammar, scope.type, names),
        )

    def _resolve(self, scope: _Scope, names: tuple[str, ...]) -> str:
        first, *rest = names
        if first == "_io":
            return self._stream(rest)
        if first == "_parent" and rest and scope.parent is not None:
            return self._resolve(scope.parent, tuple(rest))
        if first in scope.children and rest:
            return self._resolve(scope.children[first], tuple(rest))
        if first in scope.walks and rest:
            return self._inner(scope, names)
        if first in scope.runs and rest in (["size"], ["length"]):
            return f"v.length({scope.prefix + first!r})"
        if rest:
            raise UntranslatableError(".".join(names))
        instance = scope.type.instances.get(first, {})
        source = scope.names.get(first)
        if source is None and first not in scope.names and "value" in instance:
            source = self._instance(scope, first, instance)
        if source is None:
            raise UntranslatableError(f"{first} cannot be computed")
        self._uses_wide |= self._wide.get(source, False) or "v[" not in source
        return source

    def _inner(self, scope: _Scope, names: tuple[str, ...]) -> str:
        """Add a number inside a structure, which its walk finds."""
        inner = ".".join(names)
        if inner not in scope.names:
            slot = self.walks.slot(scope.walks[names[0]], names[1:])
            self.steps.append(f"Inner({scope.prefix + inner!r}, {scope.prefix + names[0]!r}, {slot})")
            scope.names[inner] = f"v[{scope.prefix + inner!r}]"
        return scope.names[inner] or ""

    def _stream(self, names: list[str]) -> str:
        if names == ["size"]:
            return "v.size"
        if self._in_instance or names not in (["eof"], ["pos"]):
            # An instance is computed once, wherever its reader is positioned.
            raise UntranslatableError("the position in the stream")
        return "v.pos" if names == ["pos"] else "(v.pos >= v.size)"
