"""`python -m tools.generate`: its output, and how `--check` detects outdated files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.generate.__main__ import ROOT, main


def check(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `--check` complains about."""
    capsys.readouterr()
    status = main(["--check", "--root", str(root)])
    complaint = capsys.readouterr().err
    assert status == (1 if complaint else 0)
    return complaint


@pytest.mark.thorough
def test_the_tree_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(ROOT, capsys) == ""


def test_a_changed_grammar_is_drift(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fresh tree has no drift, and neither has one that was generated again."""
    names = {path.name for path in (written / "generated" / "binlog_grammar").iterdir()}
    assert names >= {"__init__.py", "__init__.pyi", "py.typed", "name.py", "name.pyi", "layouts.py"}
    path = written / "formats" / "parts" / "name.ksy"
    path.write_text(path.read_text().replace("doc: The text.", "doc: Some text."))
    complaint = check(written, capsys)
    assert "generated/binlog_grammar/name.pyi: out of date" in complaint
    assert "run `make generate`" in complaint
    assert main(["--root", str(written)]) == 0
    assert check(written, capsys) == ""


@pytest.mark.thorough
def test_files_edited_missing_or_added_by_hand_are_drift(
    written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = written / "generated" / "binlog_grammar"
    (package / "name.py").write_text("edited")
    (package / "mysql_binlog.py").unlink()
    (package / "by_hand.py").write_text("")
    complaint = check(written, capsys)
    for line in ("name.py: out of date", "mysql_binlog.py: missing", "by_hand.py: not generated"):
        assert f"generated/binlog_grammar/{line}" in complaint
    assert main(["--root", str(written)]) == 0
    assert not (package / "by_hand.py").exists()


@pytest.mark.parametrize(("mistake", "place"), [("size: length", "/seq/0/size"), ("sise: len", "/seq/0")])
def test_an_error_in_the_grammar_names_its_location(
    small_root: Path, capsys: pytest.CaptureFixture[str], mistake: str, place: str
) -> None:
    path = small_root / "formats" / "parts" / "name.ksy"
    path.write_text(path.read_text().replace("size: len", mistake))
    assert main(["--root", str(small_root)]) == 1
    assert f"parts/name: {place}:" in capsys.readouterr().err


def test_another_language_goes_to_build(small_root: Path) -> None:
    assert main(["--target", "java", "--root", str(small_root)]) == 0
    names = {path.name for path in (small_root / "build/java").iterdir()}
    assert names == {"EventBody.java", "EventHeader.java", "MysqlBinlog.java", "Name.java"}


def test_a_language_that_is_not_supported_is_said_to_be(
    small_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--target", "perl", "--root", str(small_root)]) == 0
    assert capsys.readouterr().err == (
        "perl is not supported: the compiler's files do not work; see docs/languages.md\n"
    )
