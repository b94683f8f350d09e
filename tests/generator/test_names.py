"""`make generate` rejects what a language cannot express: names, operations on unsigned numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.generate import unsigned
from tools.generate.__main__ import ROOT, main
from tools.generate.grammar import Grammar
from tools.generate.names import check


def test_the_grammar_has_none(grammar: Grammar) -> None:
    check(grammar, ROOT / "formats")
    unsigned.check(grammar, ROOT / "formats")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("id: names", "id: signed", "reserved word in C++"),
        ("id: names", "id: class", "reserved word in Java, C++, Python, Ruby"),
        ("id: names", "id: send", "reserved word in Ruby"),
        ("id: names", "id: elseif", "reserved word in Lua"),
        ("id: names", "id: crate", "reserved word in Rust"),
        ("id: names", "id: import", "reserved word in Java, Python, Perl"),
        ("id: names", "id: parent", "reserved word in Nim"),
        ("  unused:", "  list:", "reserved word in PHP"),
        ("1: sized", "1: until", "reserved word in Lua"),
        ("id: other", "id: unknown", "reserved word in Rust"),
        ("  first:", "  range:", "reserved word in Go"),
        ("  size_or_zero:", "  unused:", "is a type or an enum and also a field"),
        ("      - id: bytes", "      - id: unused", "a member has the name of its type"),
        ("  unused:", "  number:", "hides the class of that name"),
        ("  size_or_zero:", "  fla_gs:", "when its case is converted"),
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


@pytest.mark.parametrize(
    ("value", "operation"),
    [
        ("big / 2", "big / 2"),
        ("big % size", "big % size"),
        ("big >> 1", "big >> 1"),
        ("size << big", "size << big"),
        ("big > 0", "big > 0"),
        ("size == 0 ? 1 : size <= big ? 1 : 2", "size <= big"),
        ("(big + 1) * 3 / 2", "/ 2"),
        ("names[big / 2].len", "big / 2"),
        ("big - 1 < 0", None),
        ("big.as<s8> / 2", None),
        ("big == 1 and (big & 1) != 0", None),
        ("size / 2 + big", None),
    ],
)
def test_operations_on_unsigned_64_bits(
    small_root: Path, capsys: pytest.CaptureFixture[str], value: str, operation: str | None
) -> None:
    file = small_root / "formats" / "mysql_binlog.ksy"
    text = file.read_text().replace("seq:\n", "seq:\n  - id: big\n    type: u8\n", 1)
    text = text.replace("  size_or_zero:\n", f"  computed:\n    value: '{value}'\n  size_or_zero:\n")
    file.write_text(text)
    line = text[: text.index("  computed:")].count("\n") + 1
    if operation is None:
        unsigned.check(Grammar.load(file.parent), file.parent)
        return
    assert main(["--check", "--root", str(small_root)]) == 1
    said = capsys.readouterr().err
    assert f"{file}:{line}: " in said
    assert f"{operation}': Java has no unsigned" in said
