"""How trees of two languages are compared, and what drivers print. `make test-languages` runs the drivers."""

from __future__ import annotations

import json
from typing import Any

from tools.conformance.__main__ import ROOT
from tools.conformance.compare import STRICT, Comparison, Leniency
from tools.conformance.languages import LANGUAGES
from tools.conformance.run import corpus, run_all
from tools.conformance.schema import schema
from tools.generate.grammar import Grammar


def difference(expected: Any, found: Any, leniency: Leniency = STRICT) -> str | None:
    return Comparison(leniency, frozenset({"none"})).difference(json.dumps(expected), json.dumps(found))


def test_a_difference_is_seen() -> None:
    assert difference({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}) == ".a[1].b: 'x' expected, not 'y'"
    assert difference({"a": 1}, {"a": 1, "b": None}) == ".b: only one has it"
    assert difference({"a": 1, "b": None}, {"a": 1}) == ".b: only Python has it"
    assert difference([1], [1, 2]) == ": 1 items expected, not 2"
    assert difference(True, 1) is not None
    assert difference(None, 0) is not None
    assert difference(1, None) is not None
    assert difference(2**64 - 1, 18446744073709552000) is not None
    assert difference("a\ufffd\ufffdb", "a\ufffdb") is None


def test_what_a_runtime_cannot_say_is_let_through() -> None:
    rounded = Leniency(numbers_are_rounded=True)
    assert difference(2**64 - 1, 18446744073709552000, rounded) is None
    assert difference(-1, 18446744073709552000, rounded) is None
    assert difference(-(2**33), -(2**33) + 2**32, rounded) is None
    assert difference(-(2**33) - 1, -(2**33) - 1 + 2**32, rounded) is not None
    assert difference(2**53, 2**53 + 2, rounded) is not None
    absent = Leniency(absent_is_zero=True)
    zeros: list[object] = [0, "", False, [], {"hex": ""}, "none"]
    assert all(difference(None, zero, absent) is None for zero in zeros)
    assert difference(None, 1, absent) is not None
    assert difference(0, None, absent) is not None
    lost = Leniency(unreadable_text_is_lost=True)
    assert difference("a\ufffd", "", lost) is None
    assert difference("a", "", lost) is not None
    assert difference(77, None, Leniency(unknown_enum_is_null=True)) is None


def test_the_fields_that_drivers_print(grammar: Grammar) -> None:
    fields = {path: [field.name for field in found] for path, found in schema(grammar).items()}
    assert "rows" in fields["RowsEvent"]
    assert "cells" in fields["RowImage"]
    assert "upcoming" not in fields["MysqlBinlog.LogEntry"]  # reads from where the stream happens to be
    assert "column" not in fields["RowImage.Cell"]  # stands in the table map's part of the tree
    assert [field.kind for field in schema(grammar)["VarlenInteger"] if field.name == "value"] == ["u"]


def test_javascript_reads_small_logs_alike() -> None:
    (javascript,) = (language for language in LANGUAGES if language.target == "javascript")
    logs = [log for log in corpus(ROOT) if log.stat().st_size < 4096]
    (result,) = run_all(ROOT, [javascript], logs)
    assert result.logs == len(logs) > 20
    assert result.differences == []
