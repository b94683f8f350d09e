"""Every language that the compiler has can be compiled to, from formats/ and from the folded file."""

from __future__ import annotations

import pytest

from tools.generate.__main__ import ENTRY
from tools.generate.compiler import LANGUAGES, Target, compile_grammar
from tools.generate.grammar import Grammar
from tools.generate.webide import fold


@pytest.mark.parametrize("form", ["files", "folded"])
def test_every_language_compiles(grammar: Grammar, form: str) -> None:
    specs = grammar.specs if form == "files" else {ENTRY: fold(grammar, ENTRY)}
    results = compile_grammar(specs, *map(Target, LANGUAGES))
    for language, files in zip(LANGUAGES, results, strict=True):
        assert len(files) >= len(specs), language
