"""docs/supported.md agrees with the grammar and the corpus on each event type."""

from __future__ import annotations

import re
from pathlib import Path

from binlog_kaitai.core.grammar import EventType
from tests.corpus_files import absent_types

ROOT = Path(__file__).parents[2]


def test_the_table_of_event_types_is_right() -> None:
    text = (ROOT / "docs/supported.md").read_text()
    stated = {
        (int(code), name, real == "yes")
        for code, name, real in re.findall(r"^\| (\d+) \| `(\w+)` \| *(yes)? *\|$", text, re.MULTILINE)
    }
    names = {kind.value: kind.name.upper() for kind in EventType}
    assert stated == {(code, name, name not in absent_types()) for code, name in names.items()}
