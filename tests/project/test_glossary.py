"""The code keeps to the glossary: no name in it contains a word that the glossary replaces."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Words that are not used for what the glossary names, and the terms used instead.
REPLACED = {
    "told": "fingerprint, message",
    "tells": "has, shows, lists",
    "places": "offsets, positions",
    "behind": "after",
    "odd": "invalid",
    "misfit": "mismatch",
    "fit": "match",
    "fits": "matches",
    "upheaval": "table effect",
    "upheavals": "table effects",
    "rests": "quiescent points",
    "turned": "byte-swapped, inverse",
    "judge": "body validator",
    "judged": "validated",
    "ahead": "prefetch",
    "mending": "skip damage",
    "mended": "corrected",
    "cuts": "split points",
    "marks": "checkpoints",
    "heads": "log headers",
    "hurt": "damaged",
    "dress": "output style",
}
#: Names in which these words have another meaning: MySQL calls it lag behind a source; odd numbers; quotes.
OTHER_MEANINGS = {"bytes_behind", "gtids_behind", "_BEHIND", "round_to_odd", "marks"}

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def names_in(tree: ast.AST) -> Iterator[str]:
    """The identifiers of a module, except for keywords of calls, which its callee names."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def replaced_words(name: str) -> set[str]:
    """The words of a name that the glossary replaces."""
    return REPLACED.keys() & {word.lower() for word in _WORDS.findall(name)}


@pytest.mark.parametrize("folder", ["binlog_kaitai", "tools", "tests", "examples"])
def test_names_follow_the_glossary(folder: str) -> None:
    """Neither identifiers nor files are named by a replaced word."""
    wrong = set()
    for path in (ROOT / folder).rglob("*.py"):
        names = {path.stem, *names_in(ast.parse(path.read_text(encoding="utf-8")))} - OTHER_MEANINGS
        wrong |= {f"{path.relative_to(ROOT)}: {name}" for name in names if replaced_words(name)}
    assert not wrong


def test_words_of_a_name() -> None:
    assert replaced_words("_BYTES_BEHIND") == {"behind"}
    assert replaced_words("MisfitError") == {"misfit"}
    assert replaced_words("fitted_behindhand") == set()
