"""Names that a language cannot take are errors of `make generate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.generate.__main__ import ROOT, main
from tools.generate.grammar import Grammar
from tools.generate.names import check


def test_the_grammar_has_none(grammar: Grammar) -> None:
    check(grammar, ROOT / "formats")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("id: names", "id: signed", "reserved word in Java, C++ or Python"),
        ("  first:", "  range:", "reserved word in Go"),
        ("  size_or_zero:", "  unused:", "is a type or an enum and also a field"),
        ("      - id: bytes", "      - id: unused", "a member has the name of its type"),
        ("  unused:", "  number:", "hides the class of that name"),
        ("  size_or_zero:", "  fla_gs:", "once its case has changed"),
    ],
)
def test_what_is_refused(
    small_root: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, complaint: str
) -> None:
    file = small_root / "formats" / "mysql_binlog.ksy"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    line = text[: text.index(old)].count("\n") + 1
    assert main(["--check", "--root", str(small_root)]) == 1
    said = capsys.readouterr().err
    assert complaint in said
    assert f"{file}:" in said
    if "and also" not in complaint:
        assert f"{file}:{line}:" in said
