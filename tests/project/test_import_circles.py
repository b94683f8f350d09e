"""No import goes up a layer or closes a circle.

That includes hidden ones: in functions, under `TYPE_CHECKING`, and of modules named in strings.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "binlog_kaitai"

#: The package's face, which loads names when they are used: it knows all layers, and none may import it.
FACES = {PACKAGE}


@cache
def modules() -> dict[str, Path]:
    """The modules of the package by name."""
    paths = (ROOT / PACKAGE).rglob("*.py")
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imported(source: str, known: set[str]) -> Iterator[str]:
    """The modules of the package that a source imports, wherever and however it does."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module)):
                names = [f"{module}.{name.name}" for name in node.names]
                yield from (name if name in known else module for name in names)
            case ast.Import():
                yield from (name.name for name in node.names)
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module


@cache
def graph() -> dict[str, set[str]]:
    """Each module, and the modules of the package that it imports."""
    known = set(modules())
    found = {name: set(imported(path.read_text("utf-8"), known)) for name, path in modules().items()}
    return {name: (names & known) - {name} for name, names in found.items()}


def layers() -> dict[str, int]:
    """The layer of each folder, from the lowest up, as `pyproject.toml` states them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    rows = next(one["layers"] for one in contracts if one.get("containers") == [PACKAGE])
    return {name: -row for row, text in enumerate(rows) for name in re.findall(r"\w+", text)}


def test_no_import_goes_up_a_layer() -> None:
    layer = layers()
    upward = [
        f"{name} imports {other}"
        for name, others in graph().items()
        if name not in FACES
        for other in others - FACES
        if layer[other.split(".")[1]] > layer[name.split(".")[1]]
    ]
    assert upward == []


def test_only_commands_import_the_face() -> None:
    users = {name for name, others in graph().items() if others & FACES}
    assert {name for name in users if not name.endswith("_command")} == {f"{PACKAGE}.cli.app"}


def test_there_is_no_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None


def test_hidden_imports_are_seen() -> None:
    source = """
if TYPE_CHECKING:
    from binlog_kaitai.a import B
def f():
    from binlog_kaitai import c
    importlib.import_module("binlog_kaitai.d.e")
"""
    assert set(imported(source, {"binlog_kaitai.c"})) == {
        "binlog_kaitai.a",
        "binlog_kaitai.c",
        "binlog_kaitai.d.e",
    }
