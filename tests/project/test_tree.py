"""Rules for all files of the repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Written in parts, so that this file does not hold them.
FORBIDDEN = ["pypi" + ".org", "registry.npm" + "js", "python" + "hosted", "/wo" + "rk/", "maven" + ".org"]


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git clone")
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_registry_or_a_path_of_some_machine() -> None:
    found = [
        f"{name}: {word}"
        for name in tracked()
        if not name.startswith("tests/corpus/")
        for word in FORBIDDEN
        if word.encode() in (ROOT / name).read_bytes()
    ]
    assert found == []


@pytest.mark.parametrize(
    ("files", "attribute", "value"),
    [("generated/", "linguist-generated", "true"), (r"tests/corpus/.*\.\d{6}$", "text", "unset")],
)
def test_generated_files_are_marked_and_logs_never_converted(files: str, attribute: str, value: str) -> None:
    names = [name for name in tracked() if re.match(files, name)]
    assert names
    command = ["git", "check-attr", "--stdin", attribute]
    lines = subprocess.run(
        command, cwd=ROOT, input="\n".join(names), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [line for line in lines if not line.endswith(f": {value}")] == []


def test_the_corpus_stays_small() -> None:
    size = sum((ROOT / name).stat().st_size for name in tracked() if name.startswith("tests/corpus/"))
    assert size < 15_000_000


def test_names_that_say_little_stand_for_one_class_each() -> None:
    names = ("Program", "Plan", "Dialect", "State")
    found = [
        name
        for path in (ROOT / "binlog_kaitai").rglob("*.py")
        for name in re.findall(r"^class _?(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if name in names
    ]
    assert len(found) == len(set(found))
