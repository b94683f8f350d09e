"""docs/grammar.md: tables that a person reads, with links that lead somewhere."""

from __future__ import annotations

import re

from tools.generate.grammar import Grammar
from tools.generate.tables import anchor, render


def test_a_row_for_each_field(small: Grammar) -> None:
    text = render(small)
    for row in (
        "| `flags` | 1 | `u1`, [flag](#mysql_binlog) | What follows. (`flag_bits`) |",
        '| `size` | 4 | `u4` | *if* `flags == flag::sized`: A size, with "quotes". |',
        "| `names` | 2 × varies | [name](#name) |  |",
        "| `text` | `len` | text | The text. |",
        "- `other`: [name](#name)",
        "| 2 | `other` | No size. |",
    ):
        assert row in text.splitlines()


def test_every_link_has_its_heading(grammar: Grammar) -> None:
    text = render(grammar)
    headings = {anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= headings
