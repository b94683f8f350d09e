"""The grammar in the layout of Kaitai's collection of formats."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tools.generate.__main__ import ROOT
from tools.generate.collection import FOLDER, render
from tools.generate.compiler import Target, compile_grammar
from tools.generate.grammar import Grammar


@pytest.mark.thorough
def test_the_folder_compiles_from_the_root_of_the_collection(grammar: Grammar) -> None:
    files = render(grammar, ROOT / "formats")
    specs = {name.removesuffix(".ksy"): yaml.safe_load(text) for name, text in files.items()}
    for spec in specs.values():
        assert all(name.startswith(f"/{FOLDER}/") for name in spec["meta"].get("imports", ()))
    here, there = compile_grammar(grammar.specs, Target("ruby")), compile_grammar(specs, Target("ruby"))
    assert {Path(name).name for name in there[0]} == {Path(name).name for name in here[0]}


def test_nothing_but_imports_differs(grammar: Grammar) -> None:
    for name, text in render(grammar, ROOT / "formats").items():
        original = (ROOT / "formats" / Path(name).relative_to(FOLDER)).read_text(encoding="utf-8")
        pairs = zip(original.splitlines(), text.splitlines(), strict=True)
        changed = [there for here, there in pairs if here != there]
        assert all(line.startswith(f"    - /{FOLDER}/") for line in changed), name
