"""The grammar as data: every .ksy file under formats/ as parsed YAML, with its names resolved.

Names resolve as in the compiler: outward through the enclosing types, then among the top-level types of all
files. `a::b` is the type or enum `b` inside the type `a`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Node = dict[str, Any]


class GrammarError(Exception):
    """A .ksy file contains something that the generator does not support; names the file."""


@dataclass(frozen=True)
class Type:
    """A type of the grammar: the top-level type of a file, or a nested type."""

    spec: str  # path of the file below formats/, without ".ksy"
    path: tuple[str, ...]  # meta/id of the file, then the names of the nested types down to this one
    node: Node = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """The file's meta/id, which is the name of the generated module."""
        return self.path[0]

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def class_path(self) -> str:
        """Name of the generated class, such as `MysqlBinlog.LogEntry`."""
        return ".".join(camel_case(name) for name in self.path)

    @property
    def seq(self) -> list[Node]:
        return list(self.node.get("seq") or ())

    @property
    def params(self) -> list[Node]:
        return list(self.node.get("params") or ())

    @property
    def instances(self) -> dict[str, Node]:
        return dict(self.node.get("instances") or {})

    @property
    def enums(self) -> dict[str, Node]:
        return dict(self.node.get("enums") or {})

    def children(self) -> Iterator[Type]:
        for name, node in (self.node.get("types") or {}).items():
            yield Type(self.spec, (*self.path, name), node)


@dataclass(frozen=True)
class Enum:
    """An enumeration and the type that declares it."""

    owner: Type
    name: str
    members: dict[int, str]

    @property
    def class_path(self) -> str:
        return f"{self.owner.class_path}.{camel_case(self.name)}"


class Grammar:
    """All files of a grammar. `specs` maps a file's path below the root, without ".ksy", to its YAML."""

    def __init__(self, specs: dict[str, Node]) -> None:
        self.specs = specs
        self._tops: dict[str, Type] = {}
        self._types: dict[tuple[str, ...], Type] = {}
        for spec, node in specs.items():
            top = Type(spec, (node["meta"]["id"],), node)
            if top.id in self._tops:
                raise GrammarError(f"{spec}: meta/id {top.id!r} is also that of {self._tops[top.id].spec}")
            self._tops[top.id] = top
            for type_ in _with_children(top):
                self._types[type_.path] = type_

    @classmethod
    def load(cls, root: Path) -> Grammar:
        """Read every .ksy file below `root`."""
        paths = sorted(root.rglob("*.ksy"))
        return cls({path.relative_to(root).with_suffix("").as_posix(): load_yaml(path) for path in paths})

    def __iter__(self) -> Iterator[Type]:
        """Every type, in order of file paths, enclosing types first."""
        return iter(self._types.values())

    def top(self, id_: str) -> Type:
        """The top-level type of the file with this meta/id."""
        return self._tops[id_]

    def tops(self) -> list[Type]:
        return list(self._tops.values())

    def resolve(self, scope: Type, name: str) -> Type:
        """The type that `name` (without arguments) refers to in `scope`."""
        path = tuple(name.split("::"))
        for depth in range(len(scope.path), -1, -1):
            if type_ := self._types.get((*scope.path[:depth], *path)):
                return type_
        # A type may refer to itself, or to an enclosing type.
        for depth in range(len(scope.path), 0, -1):
            type_ = self._types.get((*scope.path[:depth], *path[1:]))
            if type_ and type_.path[depth - 1] == path[0]:
                return type_
        raise GrammarError(f"{scope.spec}: no type {name!r}")

    def enum(self, scope: Type, name: str) -> Enum:
        """The enum that `name` refers to in `scope`."""
        *owner_path, enum_name = name.split("::")
        if owner_path:
            owners = [self.resolve(scope, "::".join(owner_path))]
        else:
            owners = [self._types[scope.path[:depth]] for depth in range(len(scope.path), 0, -1)]
        for owner in owners:
            if enum_name in owner.enums:
                members = {int(number): enum_member_name(m) for number, m in owner.enums[enum_name].items()}
                return Enum(owner, enum_name, members)
        raise GrammarError(f"{scope.spec}: no enum {name!r}")

    def constant(self, scope: Type, names: Sequence[str]) -> int:
        """The number of an enum member, by its name in `scope`."""
        members = self.enum(scope, "::".join(names[:-1])).members
        return next(number for number, name in members.items() if name == names[-1])

    def imports(self, spec: str) -> list[str]:
        """The files that a file imports, as keys of `specs`."""
        folder = spec.rpartition("/")[0]
        targets = []
        for name in self.specs[spec]["meta"].get("imports") or ():
            target = name[1:] if name.startswith("/") else f"{folder}/{name}".lstrip("/")
            if target not in self.specs:
                raise GrammarError(f"{spec}: no file {target}.ksy to import")
            targets.append(target)
        return targets

    def all_imports(self, spec: str) -> list[str]:
        """The files that a file imports, directly or through others."""
        known: list[str] = []
        pending = self.imports(spec)
        while pending:
            name = pending.pop(0)
            if name not in known and name != spec:
                known.append(name)
                pending.extend(self.imports(name))
        return known


def type_name(text: str) -> str:
    """The name in a type reference: `event_header(1, 13)` refers to `event_header`."""
    return text.partition("(")[0].strip()


def enum_member_name(member: str | Node) -> str:
    """An enum member is a name, or an object with `id` and `doc`."""
    return member if isinstance(member, str) else str(member["id"])


def camel_case(name: str) -> str:
    """The compiler's name for a class: `gtid_event` becomes `GtidEvent`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _with_children(type_: Type) -> Iterator[Type]:
    yield type_
    for child in type_.children():
        yield from _with_children(child)


def load_yaml(path: Path) -> Node:
    """Parse one .ksy file."""
    with path.open(encoding="utf-8") as file:
        try:
            node = yaml.load(file, _Loader)
        except yaml.YAMLError as error:
            raise GrammarError(f"{path}: {error}") from error
    if not isinstance(node, dict) or "id" not in node.get("meta", {}):
        raise GrammarError(f"{path}: no meta/id")
    return node


class _Loader(yaml.SafeLoader):
    """YAML that every parser reads the same: no duplicate keys, no words that YAML 1.1 treats as booleans."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    seen: set[object] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node)
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"{key!r} is a duplicate key", key_node.start_mark
            )
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


def _boolean(loader: _Loader, node: yaml.ScalarNode) -> bool:
    if node.value not in ("true", "false"):
        problem = f"put quotes around {node.value!r}: some parsers take it for a boolean"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    return bool(node.value == "true")


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:bool", _boolean)
