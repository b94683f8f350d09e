"""Every language that the compiler has can be compiled to."""

from __future__ import annotations

from tools.generate.compiler import LANGUAGES, Target, compile_grammar
from tools.generate.grammar import Grammar


def test_every_language_compiles(grammar: Grammar) -> None:
    results = compile_grammar(grammar.specs, *map(Target, LANGUAGES))
    for language, files in zip(LANGUAGES, results, strict=True):
        assert len(files) >= len(grammar.specs), language
