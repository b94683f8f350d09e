"""The tables of modules in package docstrings, and of folders in the architecture document, are complete."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [
    path.parent for folder in ("binlog_kaitai", "tools") for path in ROOT.glob(f"{folder}/**/__init__.py")
]
_ENTRY = re.compile(r"^ *([a-z0-9_]+(?:, [a-z0-9_]+)*) {2,}\S", re.MULTILINE)


def listed(package: Path) -> set[str]:
    """The modules in the table of a package's docstring; empty if it has no table."""
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    return {name for names in _ENTRY.findall(text) for name in names.split(", ")}


def modules(package: Path) -> set[str]:
    """The modules and packages in a package."""
    files = {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}
    return files | {path.parent.name for path in package.glob("*/__init__.py")}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_table_of_modules_is_complete(package: Path) -> None:
    """A table describes every module of its package, and no others."""
    found = listed(package)
    if package.name != "generate":  # its docstring draws the data flow
        assert found in (set(), modules(package))


def test_the_architecture_describes_every_folder() -> None:
    """Each folder of the package has a row in one of the tables."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([a-z_./]+)` \|", text, re.MULTILINE))
    folders = {path for path in PACKAGES if "binlog_kaitai" in path.parts and path.name != "binlog_kaitai"}
    assert {path.name for path in folders} <= {name.rpartition("/")[2] for name in named}


def test_the_architecture_counts_the_lines_of_core_and_leaves() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| (the core|`[a-z`, ]+`) \| (\d+) \|", text, re.MULTILINE))
    lines = {
        path.name: sum(len(file.read_text("utf-8").splitlines()) for file in path.rglob("*.py"))
        for path in (ROOT / "binlog_kaitai").iterdir()
    }
    parts = {part: re.findall(r"`(\w+)`", part) for part in stated if part != "the core"}
    counts = {part: sum(lines.pop(name) for name in names) for part, names in parts.items()}
    counts["the core"] = sum(lines.values())
    assert {part for part in stated if abs(int(stated[part]) * 1000 - counts[part]) > 1000} == set()
