"""The seeded bugs match the current code; `make test-seeded` runs them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.seeded_bugs.bugs import BUGS, Bug

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_seeded_bug_changes_one_line_that_still_parses(bug: Bug) -> None:
    text = (ROOT / "binlog_kaitai" / bug.file).read_text(encoding="utf-8")
    assert text.count(bug.right) == 1
    wrong = text.replace(bug.right, bug.wrong)
    assert ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(text))
    assert all((ROOT / "tests" / name).exists() for name in bug.tests)
