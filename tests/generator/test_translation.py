"""Kaitai's expressions as Python: their results on numbers and on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.log.gather import _Operations
from tools.generate.expressions import ExpressionError
from tools.generate.grammar import Grammar
from tools.generate.translation import COLUMNS, Scope, Translator


class _Columns(Translator[Scope]):
    style = COLUMNS

    def name(self, scope: Scope, names: Sequence[str]) -> str:
        return f"v[{'.'.join(names)!r}]"


GRAMMAR = Grammar({"one": {"meta": {"id": "one"}, "enums": {"an_enum": {3: "abc"}}}})


def evaluate(text: str, /, **values: Any) -> Any:
    source = _Columns(GRAMMAR).text(Scope(GRAMMAR.top("one")), text)
    return eval(source, {"n": _Operations, "v": values})


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2", 3),
        ("7 % 4 - 1", 2),
        ("1 << 4 | 3 & 2", 18),
        ("0x1f ^ 0b11", 28),
        ("1_000", 1000),
        ("-3 + ~0", -4),
        ("not false and true", True),
        ("true or false and false", True),
        ("1 < 2 and 2 <= 2", True),
        ("not (1 == 2)", True),
        ("1 == 2 ? 10 : 3 > 2 ? 20 : 30", 20),
        ("an_enum::abc", 3),
        ("(5 + 1).as<u8>", 6),
        ("300.to_i", 300),
    ],
)
def test_constants(text: str, result: object) -> None:
    assert evaluate(text) == result


def test_arrays_and_numbers_mix() -> None:
    flags = np.array([0, 1, 2, 3])
    assert evaluate("(flags & 1) != 0 ? flags : 10 * wide", flags=flags, wide=2).tolist() == [20, 1, 20, 3]
    assert evaluate("flags > 0 and not (flags == 2)", flags=flags).tolist() == [False, True, False, True]
    assert evaluate("flags == 0 or is_set", flags=flags, is_set=True) is True


def test_only_the_branch_that_counts_is_there() -> None:
    assert evaluate("version > 1 ? 13 : flags", version=3, flags=0) == 13


def test_names_of_many_parts_stay_together() -> None:
    assert evaluate("length.value + 1", **{"length.value": 4}) == 5


@pytest.mark.parametrize("text", ["a[0]", "text.to_s('UTF-8')", "a.as<other_type>", "1 +", "a b", "'text' @"])
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, a=1, b=2, text=b"")
