"""The stubs: every field with its type and docs, and mypy finds errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.generate.__main__ import ROOT


@pytest.fixture
def generated(generated_root: Path) -> Path:
    return generated_root / "generated"


def test_fields_have_types_and_docs(generated: Path) -> None:
    stub = (generated / "binlog_grammar" / "mysql_binlog.pyi").read_text()
    for expected in (
        "    flags: MysqlBinlog.Flag | int\n",
        '    """What follows.\n\n    The server\'s name: flag_bits\n    """\n',
        '    size: int | None\n    """A size, with "quotes"."""\n',
        "    names: list[_name.Name]\n",
        "    value: int | _name.Name | None\n",
        '    @property\n    def first(self) -> str:\n        """The first name."""\n',
        "    def size_or_zero(self) -> int: ...\n",
        '        other = 2\n        """No size."""\n',
        "    class Unused(KaitaiStruct):\n        bytes: _bytes\n",
    ):
        assert expected in stub
    assert (
        "def __init__(self, len: int, _io: KaitaiStream"
        in (generated / "binlog_grammar/name.pyi").read_text()
    )


def mypy(folder: Path, program: str, path: Path) -> str:
    """What `mypy --strict` finds in a program that uses the packages in `path`."""
    file = folder / "user.py"
    file.write_text(program)
    options = ["--strict", "--no-error-summary", "--config-file=", "--cache-dir", str(folder / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    environment = {"MYPYPATH": str(path), "PATH": ""}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=False
    ).stdout


@pytest.mark.thorough
def test_mypy_accepts_a_right_use_and_catches_a_wrong_one(generated: Path, tmp_path: Path) -> None:
    start = "from binlog_grammar.mysql_binlog import MysqlBinlog\nlog = MysqlBinlog.from_bytes(b'')\n"
    right = "text: str = log.names[0].text + log.first\nif log.size is not None:\n    print(log.size + 1)\n"
    assert mypy(tmp_path, start + right, generated) == ""
    assert '"MysqlBinlog" has no attribute "sise"' in mypy(tmp_path, start + "log.sise", generated)
    assert 'Unsupported operand types for + ("None" and "int")' in mypy(
        tmp_path, start + "log.size + 1", generated
    )


@pytest.mark.thorough
def test_the_stubs_of_the_project_are_right_in_themselves(tmp_path: Path) -> None:
    modules = sorted(path.stem for path in (ROOT / "generated/binlog_grammar").glob("*.pyi"))
    program = "".join(f"import binlog_grammar.{module}\n" for module in modules if module != "__init__")
    assert mypy(tmp_path, program, ROOT / "generated") == ""
