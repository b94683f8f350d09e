"""Record layouts: for each event type, the leading fields whose offsets follow by arithmetic.

The result is a Python module of plain data and small lambdas that imports nothing, so that framing small
files does not need NumPy. A layout ends at the first field that requires more than arithmetic (a list of
structures, a type selected by a value); the event reader decodes the rest.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.generate.expressions import parse_use
from tools.generate.grammar import Grammar, Node, Type, type_name
from tools.generate.layout_source import BITS, flag, function, keywords, number_type, text
from tools.generate.translation import COLUMNS, Scope, Translator, UntranslatableError, binary_source
from tools.generate.walks import Walk, Walks

_TEXT = re.compile(r"(?P<run>\w+)\.to_s\(\s*(['\"])(?P<encoding>[\w-]+)\2\s*\)$")
_MAX_DEPTH = 8

#: Item types for which any bytes form a list.
_BYTES = (None, "u1", "s1")

#: Types of byte ranges without fields of their own.
_PLAIN = (None, "str", "strz")

_STEPS = Path(__file__).with_name("layout_steps.py")


def render(grammar: Grammar) -> dict[str, str]:
    """Source of the modules `layouts` (with `BODIES` by type code, and `ENUMS`) and `walks`."""
    walks = Walks(grammar)
    header = _Builder(grammar, walks)
    header.lay_out(grammar.top("event_header"))
    router = _Builder(grammar, walks)
    around = router.lay_out_instances(grammar.top("event_body"))
    parts = [
        _STEPS.read_text(encoding="utf-8"),
        f"EVENT_HEADER = {header.source('event_header')}",
        f"EVENT_BODY = {router.source('event_body')}",
    ]
    names: dict[str, str] = {}
    codes: list[str] = []
    enums = set(header.enums)
    for code, use in _router(grammar):
        if use not in names:
            builder = _Builder(grammar, walks)
            id_ = builder.lay_out_use(around, use)
            enums.update(builder.enums)
            names[use] = _free_name(id_.upper(), set(names.values()))
            parts.append(f"{names[use]} = {builder.source(id_)}")
        codes.append(f"    {code}: {names[use]}," if code is not None else "")
        if code is None:
            parts.append(f"UNKNOWN_BODY = {names[use]}")
    body = "\n".join(line for line in codes if line)
    parts.append(f"BODIES: dict[int, Layout] = {{\n{body}\n}}")
    parts.append(_render_enums(grammar, enums))
    return {"layouts.py": "\n\n".join(parts) + "\n", "walks.py": walks.render()}


def _router(grammar: Grammar) -> Iterator[tuple[int | None, str]]:
    """Type code (None: any other) and type reference for each case of the body's switch."""
    body = grammar.top("event_body")
    content = next(field for field in body.seq if field["id"] == "content")
    for key, use in content["type"]["cases"].items():
        if key == "_":
            yield None, use
        else:
            yield grammar.constant(body, key.split("::")), use


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


def _joined(form: str, tests: list[str]) -> str:
    return functools.reduce(lambda later, test: form.format(test, later), reversed(tests))


@dataclass
class _Scope(Scope):
    """A type being laid out. The source of a name that is known but cannot be computed is empty."""

    condition: str = "True"
    runs: set[str] = field(default_factory=set)
    walks: dict[str, Walk] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)


class _Builder(Translator[_Scope]):
    """Collects the steps of one layout."""

    style = COLUMNS

    def __init__(self, grammar: Grammar, walks: Walks) -> None:
        super().__init__(grammar)
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
        scope = _Scope(type_, names={param["id"]: f"v[{param['id']!r}]" for param in type_.params})
        self._run(scope)

    def lay_out_instances(self, body: Type) -> _Scope:
        """Lay out what the router computes from its parameters, which are also those of each of its cases."""
        scope = _Scope(body, "event_body.", names={node["id"]: f"v[{node['id']!r}]" for node in body.params})
        self._instances(scope)
        return scope

    def lay_out_use(self, router: _Scope, use: str) -> str:
        """Lay out the type of a case of the router."""
        scope = self._child(router, use, "", "True")
        self._run(scope)
        return scope.type.name

    def _run(self, scope: _Scope) -> None:
        try:
            self._fields(scope, 0)
            self.complete = True
        except UntranslatableError:
            self.complete = False
            self._instances(scope)

    def _child(self, scope: _Scope, use: str, prefix: str, condition: str) -> _Scope:
        type_ = self.grammar.resolve(scope.type, type_name(use))
        child = _Scope(type_, prefix, scope, condition=condition)
        for param, argument in zip(type_.params, parse_use(use)[1], strict=True):
            try:
                child.names[param["id"]] = self.tree(scope, argument)
            except UntranslatableError:
                child.names[param["id"]] = ""
        return child

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
        if condition == "False":
            return
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

    def _condition(self, scope: _Scope, node: Node) -> str:
        return self._all([scope.condition, self.text(scope, node["if"]) if "if" in node else "True"])

    def _all(self, tests: list[str]) -> str:
        """Tests joined by `and`."""
        unsure = [test for test in tests if test != "True"]
        if "False" in unsure or not unsure:
            return str(not unsure)
        return _joined(self.style.both, unsure)

    def _size(self, scope: _Scope, node: Node) -> str | None:
        if "contents" in node:
            return str(len(node["contents"]))
        return None if "size-eos" in node else self.text(scope, node["size"])

    def _repeated(self, scope: _Scope, node: Node) -> str | None:
        """Length of a list in bytes."""
        if node["repeat"] == "eos":
            return None
        use = node.get("type")
        bits = BITS.match(use) if isinstance(use, str) else None
        dtype = number_type(use, node, self._endian(scope))
        if node["repeat"] != "expr" or (bits is None and dtype is None):
            raise UntranslatableError("a list of structures")
        count = self.text(scope, node["repeat-expr"])
        if dtype is not None:
            return binary_source("*", count, dtype[-1])
        assert bits is not None
        return binary_source("/", binary_source("+", binary_source("*", count, bits["bits"]), "7"), "8")

    def _add_number(self, scope: _Scope, node: Node, dtype: str, condition: str) -> None:
        path = scope.prefix + node["id"]
        source = f"v[{path!r}]"
        scope.names[node["id"]] = source
        self._wide[source] = dtype[1:] == "u8"
        enum = None
        if "enum" in node:
            members = self.grammar.enum(scope.type, node["enum"])
            self.enums.add((members.owner.path, members.name))
            enum = repr("::".join((*members.owner.path, members.name)))
        valid = self._valid(scope, node, source)
        extra = keywords(condition=function(condition), valid=function(valid), enum=enum)
        self.steps.append(f"Number({path!r}, {dtype!r}{extra})")

    def _add_run(self, scope: _Scope, node: Node, size: str | None, condition: str) -> None:
        name, use, is_list = node["id"], node.get("type"), "repeat" in node
        path = scope.prefix + name
        scope.names[name] = ""
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
        for inner in walk.inside:
            extra = keywords(encoding=text(inner.encoding))
            kind, count = ("InnerList", f", {inner.items}") if inner.items else ("InnerRun", "")
            self.steps.append(f"{kind}({f'{path}.{inner.path}'!r}, {path!r}, {inner.slot}{count}{extra})")

    def _valid(self, scope: _Scope, node: Node, source: str) -> str:
        valid = node.get("valid", {})
        if not isinstance(valid, dict):
            return f"({source} == {self.text(scope, valid)})"
        tests: list[str] = []
        for key, operator in (("eq", "=="), ("min", ">="), ("max", "<=")):
            if key in valid:
                tests.append(f"({source} {operator} {self.text(scope, valid[key])})")
        if "any-of" in valid:
            choices = [f"({source} == {self.text(scope, choice)})" for choice in valid["any-of"]]
            tests.append(_joined(self.style.either, choices))
        if "expr" in valid:
            tests.append(self.text(scope, re.sub(r"\b_\b(?!\.)", node["id"], str(valid["expr"]))))
        return self._all(tests)

    def _instances(self, scope: _Scope) -> None:
        for name, node in scope.type.instances.items():
            if name not in scope.names and "value" in node:
                if self._text(scope, name, node):
                    continue
                try:
                    self._instance(scope, name, node)
                except UntranslatableError:
                    scope.names[name] = ""

    def _instance(self, scope: _Scope, name: str, node: Node) -> None:
        """Add a value instance, where it is first needed or at the end of its type."""
        if name in scope.pending:
            raise UntranslatableError(f"{name} depends on itself")
        scope.pending.add(name)
        outer, self._uses_wide = self._uses_wide, False
        was_in_instance, self._in_instance = self._in_instance, True
        try:
            condition = self._condition(scope, node)
            source = self.text(scope, node["value"])
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
        scope.names[name] = ""
        return True

    @staticmethod
    def _encoding_inside(scope: _Scope, path: str) -> str | None:
        """Encoding of text inside a structure; None if there is none."""
        first, _, rest = path.partition(".")
        inside = scope.walks[first].inside if first in scope.walks else ()
        return next((inner.encoding for inner in inside if inner.path == rest), None)

    def name(self, scope: _Scope, names: Sequence[str]) -> str:
        first, *rest = names
        if first in scope.walks and rest:
            return self._inner(scope, names)
        if first in scope.runs and rest in (["size"], ["length"]):
            return f"v.length({scope.prefix + first!r})"
        if rest:
            raise UntranslatableError(".".join(names))
        instance = scope.type.instances.get(first, {})
        if first not in scope.names and "value" in instance:
            self._instance(scope, first, instance)
        source = scope.names.get(first)
        if not source:
            raise UntranslatableError(f"{first} cannot be computed")
        self._uses_wide |= self._wide.get(source, False) or "v[" not in source
        return source

    def _inner(self, scope: _Scope, names: Sequence[str]) -> str:
        """Add a number inside a structure, which its walk finds."""
        inner = ".".join(names)
        if inner not in scope.names:
            slot = self.walks.slot(scope.walks[names[0]], tuple(names[1:]))
            self.steps.append(f"Inner({scope.prefix + inner!r}, {scope.prefix + names[0]!r}, {slot})")
            scope.names[inner] = f"v[{scope.prefix + inner!r}]"
        return scope.names[inner]

    def stream(self, scope: _Scope, names: list[str]) -> str:
        if names == ["size"]:
            return "v.size"
        if self._in_instance or names not in (["eof"], ["pos"]):
            # An instance is computed once, wherever its reader is positioned.
            raise UntranslatableError("the position in the stream")
        return "v.pos" if names == ["pos"] else "(v.pos >= v.size)"
