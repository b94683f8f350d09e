"""The source of one walk: the fields of a type as statements, in reading order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tools.generate.expressions import parse, parse_use
from tools.generate.grammar import Grammar, Node, Type, type_name
from tools.generate.layout_source import number_type
from tools.generate.translation import Scope, Translator, UntranslatableError, large_products

_TEXT = (None, "str", "strz")


@dataclass
class _Scope(Scope):
    """A type at the point of use, with the bounds of its stream."""

    path: tuple[str, ...] = ()
    begin: str = "begin"
    end: str = "end"


class Function(Translator[_Scope]):
    """Generates one function.

    Parameters
    ----------
    results
        For each type with a function of its own, the instances that it returns; required ones are added.
    used
        The variables that are read; by default, all are set.

    Attributes
    ----------
    used : set of str
        The variables that are read.
    inside : list
        Runs and lists of numbers with offsets of their own: path, number of items (0 for a run), encoding.
    """

    def __init__(
        self, grammar: Grammar, type_: Type, results: dict[Type, set[str]], used: set[str] | None = None
    ) -> None:
        super().__init__(grammar)
        self.used: set[str] = set()
        self.inside: list[tuple[tuple[str, ...], int, str | None]] = []
        self._results = results
        self._is_used = (lambda name: True) if used is None else used.__contains__
        self._lines: list[str] = []
        self._depth = 1
        self._set: list[str] = []
        self._computed: list[tuple[_Scope, str]] = []
        self._streams = 0
        self._in_loop = self._choices = 0
        self._failure = "-1"
        self._list_slots: dict[tuple[str, ...], int] = {}
        self._root = _Scope(type_)

    def source(self, name: str, out: str | None) -> str:
        """The complete function; `out` is the name of the last argument of a walk."""
        head = "data: Any, at: Any, end: Any" + (f", {out}: Any" if out else "")
        lines = [f"def {name}({head}) -> Any:"]
        if "begin" in self.used:
            lines.append("    begin = at")
        return "\n".join(lines + self._lines)

    def walk(self, wanted: list[tuple[tuple[str, ...], int]], *, is_list: bool) -> None:
        """The statements of a walk that stores the requested values in its slots."""
        slot = 0
        for path, count in wanted:
            self._list_slots[path] = slot
            slot += count
        if is_list:
            with self._loop(f"while at < {self._root.end}:"):
                self._fields(self._root)
        else:
            self._fields(self._root)
        for path, count in wanted:
            slot = self._list_slots[path]
            if count == 1:
                self._emit(f"out[{slot}] = {self.resolve(self._root, path)}")
            elif count == 2:
                start, length = self._run_names(path)
                self.used |= {start, length}
                self._emit(f"out[{slot}], out[{slot + 1}] = {start}, {length}")
        self._emit("return at")

    def give(self, results: list[str]) -> None:
        """The statements of a function that returns the offset after the type, and some instances."""
        self._failure = "-1" + ", 0" * len(results)
        self._fields(self._root)
        values = [self.resolve(self._root, (name,)) for name in results]
        self._emit(f"return {', '.join(['at', *values])}")

    # Statements ---------------------------------------------------------------------------------------

    def _emit(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def _refuse_if(self, condition: str) -> None:
        self._emit(f"if {condition}:")
        self._emit(f"    return {self._failure}")

    def _assign(self, name: str, source: str) -> None:
        self._set.append(name)
        self._emit(f"{name} = {source}")

    @contextmanager
    def _block(self, head: str, *, keeps: bool) -> Iterator[None]:
        """An indented block; if it is not executed, the variables that it sets are 0 (`keeps`)."""
        outer, self._lines = self._lines, []
        was_set, self._set = self._set, []
        known = len(self._computed)
        self._depth += 1
        yield
        # An instance first used in this block is not computed if the block is skipped.
        for scope, name in self._computed[known:]:
            scope.names.pop(name, None)
        del self._computed[known:]
        if not self._lines:
            self._emit("pass")
        self._depth -= 1
        inner, self._lines = self._lines, outer
        for name in dict.fromkeys(self._set) if keeps else ():
            self._emit(f"{name} = 0")
        self._emit(head)
        self._lines += inner
        self._set = was_set + self._set

    @contextmanager
    def _alternative(self, head: str, *, keeps: bool) -> Iterator[None]:
        self._choices += 1
        with self._block(head, keeps=keeps):
            yield
        self._choices -= 1

    @contextmanager
    def _loop(self, head: str) -> Iterator[None]:
        self._in_loop += 1
        with self._block(head, keeps=False):
            yield
        self._in_loop -= 1

    # Fields -------------------------------------------------------------------------------------------

    def _fields(self, scope: _Scope) -> None:
        if any("process" in node for node in scope.type.instances.values()):
            raise UntranslatableError("compressed bytes")
        for node in scope.type.seq:
            if "if" in node:
                with self._alternative(f"if {self.text(scope, node['if'])}:", keeps=True):
                    self._field(scope, node)
            else:
                self._field(scope, node)

    def _field(self, scope: _Scope, node: Node) -> None:
        if "repeat" not in node:
            self._one(scope, node)
        elif node["repeat"] == "eos":
            with self._loop(f"while at < {scope.end}:"), _forgotten(scope):
                self._one(scope, node)
        elif node["repeat"] == "expr":
            count = self.text(scope, node["repeat-expr"])
            with self._loop(f"for index in range({count}):"), _forgotten(scope):
                self._one(scope, node)
                self._note_item(scope, node, count)
        else:
            raise UntranslatableError("a list up to a condition")

    def _note_item(self, scope: _Scope, node: Node, count: str) -> None:
        """A list of packed integers is stored in as many slots."""
        path = (*scope.path, node["id"], "value")
        child = scope.children.get(node["id"])
        is_one = self._in_loop == 1 and not self._choices
        if not is_one or not count.isdigit() or child is None or "value" not in child.type.instances:
            return
        self.inside.append((path, int(count), None))
        if path in self._list_slots:
            slot = self._list_slots[path]
            self._emit(f"out[{slot} + index] = {self.resolve(scope, (node['id'], 'value'))}")
        else:
            self.resolve(scope, (node["id"], "value"))

    def _one(self, scope: _Scope, node: Node) -> None:
        use = node.get("type")
        if "contents" in node or ("valid" in node and number_type(use, node, "le") is None):
            raise UntranslatableError(node["id"])
        if "size" in node or "size-eos" in node:
            self._sized(scope, node)
        elif isinstance(use, dict):
            self._switch(scope, node, use, scope.begin, scope.end)
        elif use == "strz" and node.get("terminator", 0) == 0:
            self._refuse_if(f"at >= {scope.end}")
            self._emit("while data[at] != 0:")
            self._emit("    at += 1")
            with self._indented():
                self._refuse_if(f"at >= {scope.end}")
            self._emit("at += 1")
        elif (dtype := number_type(use, node, self._endian(scope))) is not None:
            self._number(scope, node, dtype)
        elif isinstance(use, str) and use not in _TEXT:
            self._child(scope, node["id"], use, scope.begin, scope.end)
        else:
            raise UntranslatableError(node["id"])

    @contextmanager
    def _indented(self) -> Iterator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    def _endian(self, scope: _Scope) -> str:
        return str(self.grammar.top(scope.type.id).node["meta"].get("endian", "le"))

    def _number(self, scope: _Scope, node: Node, dtype: str) -> None:
        width, name = int(dtype[-1]), self._variable(scope, node["id"])
        self._refuse_if(f"at + {width} > {scope.end}")
        if "u" in dtype:
            scope.names[node["id"]] = name
            self._read(name, "at", dtype)
        self._emit(f"at += {width}")
        if "valid" in node:
            allowed = node["valid"]
            if isinstance(allowed, dict):
                raise UntranslatableError(f"the valid values of {node['id']}")
            self.used.add(name)
            self._refuse_if(f"{name} != {self.text(scope, allowed)}")

    def _read(self, name: str, place: str, dtype: str) -> None:
        if not self._is_used(name):
            return
        width = int(dtype[-1])
        self._assign(name, f"{'_big' if dtype[0] == '>' else '_little'}(data, {place}, {width})")
        if width == 8:
            self._refuse_if(f"{name} < 0")

    def _sized(self, scope: _Scope, node: Node) -> None:
        use = node.get("type")
        length = f"{scope.end} - at"
        if "size" in node:
            length = self.text(scope, node["size"])
            self._refuse_if(f"{length} < 0 or {length} > {scope.end} - at")
        if not isinstance(use, dict) and use in _TEXT:
            path = (*scope.path, node["id"])
            place, size = self._run_names(path)
            for name, source in ((place, "at"), (size, length)):
                if self._is_used(name):
                    self._assign(name, source)
            if not self._in_loop and not self._choices:
                self.inside.append((path, 0, node.get("encoding") if use else None))
            self._emit(f"at = {scope.end}" if "size-eos" in node else f"at += {length}")
            return
        self._streams += 1
        begin, end = f"begin_{self._streams}", f"end_{self._streams}"
        self._assign(begin, "at")
        self._assign(end, f"at + {length}")
        if isinstance(use, dict):
            self._switch(scope, node, use, begin, end)
        else:
            self._child(scope, node["id"], str(use), begin, end)
        # The grammar rejects trailing bytes.
        self._refuse_if(f"at != {end}")

    def _switch(self, scope: _Scope, node: Node, use: Node, begin: str, end: str) -> None:
        subject = self.text(scope, use["switch-on"])
        word = "if"
        cases = {key: case for key, case in use["cases"].items() if key != "_"}
        for key, case in cases.items():
            head = f"{word} {subject} == {self.text(scope, key)}:"
            with self._alternative(head, keeps=False), _forgotten(scope):
                self._child(scope, node["id"], case, begin, end)
            word = "elif"
        with self._alternative("else:", keeps=False), _forgotten(scope):
            if "_" not in use["cases"]:
                raise UntranslatableError("a `switch-on` without a default case")
            self._child(scope, node["id"], use["cases"]["_"], begin, end)

    def _child(self, scope: _Scope, name: str, use: str, begin: str, end: str) -> None:
        type_ = self.grammar.resolve(scope.type, type_name(use))
        child = _Scope(type_, parent=scope, path=(*scope.path, name), begin=begin, end=end)
        for param, argument in zip(type_.params, parse_use(use)[1], strict=True):
            child.names[param["id"]] = self.tree(scope, argument)
        scope.children[name] = child
        if len(type_.path) > 1 or type_.id == self._root.type.id or type_.params:
            self._fields(child)
            return
        asked = self._results.setdefault(type_, set())
        targets = ["at"]
        for result in sorted(asked):
            child.names[result] = self._variable(child, result)
            self._set.append(child.names[result])
            targets.append(child.names[result])
        call = f"_{type_.name}(data, at, {end})"
        self._emit(f"{', '.join(targets)} = {call}")
        self._refuse_if("at < 0")

    # Names --------------------------------------------------------------------------------------------

    def _variable(self, scope: _Scope, name: str) -> str:
        return "__".join((*scope.path, name))

    @staticmethod
    def _run_names(path: tuple[str, ...]) -> tuple[str, str]:
        return "__".join((*path, "", "at")), "__".join((*path, "", "length"))

    def name(self, scope: _Scope, names: Sequence[str]) -> str:
        first, *rest = names
        if rest:
            raise UntranslatableError(".".join(names))
        if first not in scope.names and first in scope.type.instances:
            self._instance(scope, first, scope.type.instances[first])
        if first not in scope.names:
            raise UntranslatableError(f"{first} cannot be computed")
        self.used.add(scope.names[first])
        return scope.names[first]

    def stream(self, scope: _Scope, names: list[str]) -> str:
        if names not in (["eof"], ["pos"], ["size"]):
            return super().stream(scope, names)
        if names == ["eof"]:
            return f"(at >= {scope.end})"
        self.used.add(scope.begin)
        return f"(at - {scope.begin})" if names == ["pos"] else f"({scope.end} - {scope.begin})"

    def _instance(self, scope: _Scope, name: str, node: Node) -> None:
        """Compute an instance at its first use, like the generated classes."""
        if self._is_called(scope):
            self._results[scope.type].add(name)
            scope.names[name] = self._variable(scope, name)
            return
        variable = self._variable(scope, name)
        condition = self.text(scope, node["if"]) if "if" in node else None
        if condition is not None:
            with self._block(f"if {condition}:", keeps=True):
                self._compute(scope, variable, node)
        else:
            self._compute(scope, variable, node)
        scope.names[name] = variable
        self._computed.append((scope, name))

    def _is_called(self, scope: _Scope) -> bool:
        is_root = scope.type is self._root.type or scope.parent is None
        return not is_root and scope.type in self._results and len(scope.type.path) == 1

    def _compute(self, scope: _Scope, variable: str, node: Node) -> None:
        if "value" in node:
            if self._is_used(variable):
                for factor, limit in large_products(parse(str(node["value"]))):
                    self._refuse_if(f"{self.text(scope, factor)} >= {limit}")
            self._assign(variable, self.text(scope, node["value"]))
            return
        dtype = number_type(node.get("type"), node, self._endian(scope))
        if "pos" not in node or dtype is None or "u" not in dtype or "io" in node:
            raise UntranslatableError(variable)
        place = f"{variable}____at"
        self.used.add(scope.begin)
        self._assign(place, f"{scope.begin} + {self.text(scope, node['pos'])}")
        self._refuse_if(f"{place} < {scope.begin} or {place} + {dtype[-1]} > {scope.end}")
        self._read(variable, place, dtype)


@contextmanager
def _forgotten(scope: _Scope) -> Iterator[None]:
    """Names defined here are undefined afterwards."""
    names, children = dict(scope.names), dict(scope.children)
    yield
    scope.names, scope.children = names, children
