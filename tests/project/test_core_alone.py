"""The core does without each leaf of the package: docs/architecture.md draws them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.corpus_files import case

ROOT = Path(__file__).parents[2]

#: The folders of each leaf, and its commands.
LEAVES = {
    "dump": (("dump",), {"dump"}),
    "live": (("live",), {"fetch"}),
    "statistics": (("statistics",), {"stats"}),
    "lake": (("lake", "snapshot", "pipeline", "spark"), {"lake", "pipeline"}),
}

#: Tests of the core that need no common fixtures, of a few seconds.
TESTS = (
    "grammar/test_json.py",
    "ddl/test_alter.py",
    "rows/test_json_null.py",
    "follow/test_backlog.py",
)

#: Prints what the core does with a log; on stderr, what is there at all.
_USE = """
import sys
import binlog_kaitai as bk
from binlog_kaitai.cli.app import _COMMANDS, main
log = sys.argv[1]
def note(*words):
    print("@", *words, file=sys.stderr)
def call(*words):
    try:
        main([*words])
    except SystemExit as end:
        print(*words, end.code, flush=True)
note(bk.__file__)
for name in bk.__all__:
    try:
        getattr(bk, name)
    except ModuleNotFoundError as error:
        note("no", name)
for read in (bk.read_events, bk.read_transactions, bk.read_changes, bk.read_ddl):
    print(*(batch.to_pylist() for batch in read(log)))
print(*bk.read_rows(log), *bk.sql_script(log), bk.gtids(log), bk.find("2001-01-01", log).to_pylist())
print(*bk.verify(log))
with bk.open(log) as events:
    print(*events)
for line in ("verify", "rows", "rows -t orders", "sql", "events", "transactions", "explain"):
    call(*line.split(), log)
print("HELP", flush=True)
call("--help")
for name in _COMMANDS:
    note("command", name)
    call(name, "--help")
"""


def run(root: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(ROOT / "generated")])}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


def test_the_leaves_are_those_of_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = (one for one in settings["contracts"] if one["name"] == "The core imports no leaf")
    leaves = {f"binlog_kaitai.{folder}" for folders, _ in LEAVES.values() for folder in folders}
    assert {*contract["forbidden_modules"]} == leaves
    folders = {f"binlog_kaitai.{path.parent.name}" for path in ROOT.glob("binlog_kaitai/*/__init__.py")}
    assert {*contract["source_modules"]} - {"binlog_kaitai.arrow", "binlog_kaitai.errors"} == folders - leaves


def without(folders: Iterable[str], root: Path) -> Path:
    """A copy of the package without these folders, beside the tests."""
    shutil.copytree(ROOT / "binlog_kaitai", root / "binlog_kaitai")
    for folder in folders:
        shutil.rmtree(root / "binlog_kaitai" / folder)
    (root / "tests").symlink_to(ROOT / "tests")
    return root


def use(root: Path) -> tuple[str, str, set[str]]:
    """What the package prints about a log, the help of its commands, and its notes."""
    done = run(root, "-c", _USE, case("mysql-9.7", "orders").logs[0])
    assert done.returncode == 0, done.stderr
    face, *notes = [line[2:] for line in done.stderr.splitlines() if line.startswith("@ ")]
    assert Path(face).is_relative_to(root)
    printed, helped = done.stdout.split("HELP\n")
    return printed, helped, {*notes}


@pytest.fixture(scope="module")
def whole() -> tuple[str, str, set[str]]:
    return use(ROOT)


@pytest.mark.parametrize("leaf", LEAVES)
def test_without_a_leaf_all_else_does_what_it_did(
    leaf: str, tmp_path: Path, whole: tuple[str, str, set[str]]
) -> None:
    folders, commands = LEAVES[leaf]
    printed, helped, notes = use(without(folders, tmp_path))
    assert printed == whole[0]
    lost = {"no stats", "no Stats"} if leaf == "statistics" else set()
    assert notes ^ whole[2] == lost | {f"command {name}" for name in commands}
    assert helped.count("--help 0\n") == 1 + len(notes - lost)
    assert {f"\n  {name} " in helped for name in commands} == {False}


def test_without_all_leaves_tests_of_the_core_pass(tmp_path: Path) -> None:
    root = without([folder for folders, _ in LEAVES.values() for folder in folders], tmp_path)
    options = "-q", "-c", os.devnull, "--noconftest", "--import-mode=importlib"
    done = run(root, "-m", "pytest", *options, *(root / "tests" / name for name in TESTS))
    assert done.returncode == 0, done.stdout
