"""The wheels in dist/, which `make test-wheels` builds first, installed as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.corpus_files import CORPUS

ROOT = Path(__file__).parents[2]
LOG = CORPUS / "mysql-9.7/mixed/binlog.000001"
#: The processor that an ELF file is for: bytes 18 and 19.
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}

pytestmark = pytest.mark.wheels


def wheel_for(machine: str) -> Path:
    (path,) = (ROOT / "dist").glob(f"binlog_kaitai-*-py3-none-manylinux_*_{machine}.whl")
    return path


@pytest.mark.parametrize("machine", ELF_MACHINES)
def test_a_wheel_has_machine_code_for_its_processor(machine: str) -> None:
    library = zipfile.ZipFile(wheel_for(machine)).read("binlog_kaitai/kernels/libkernels.so")
    assert library[:4] == b"\x7fELF"
    assert int.from_bytes(library[18:20], "little") == ELF_MACHINES[machine]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a fresh environment that holds the wheel and its dependencies, nothing else."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "venv"], cwd=folder, check=True)
    pip = f"venv/bin/pip install --quiet --disable-pip-version-check {wheel_for('x86_64')}"
    subprocess.run(pip.split(), cwd=folder, check=True)
    return folder / "venv/bin"


def run(folder: Path, *command: str | Path) -> str:
    """What a command prints away from the checkout; it fails if the kernels are not machine code."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables["BINLOG_KAITAI_KERNELS"] = "compiled"
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_the_installed_command_prints_rows(installed: Path, tmp_path: Path) -> None:
    printed = run(tmp_path, installed / "binlog-kaitai", "rows", "--table", "t.my", "--format", "json", LOG)
    rows = [json.loads(line)["after"] for line in printed.splitlines()]
    assert rows[:2] == [{"id": 3, "v": "a"}, {"id": 4, "v": "b"}]


def test_the_installed_library_reads_changes(installed: Path, tmp_path: Path) -> None:
    code = (
        "import sys, binlog_kaitai as bk\n"
        "table = bk.read_changes(sys.argv[1], table='t.my').read_all()\n"
        "print(bk.__file__, table['id'].to_pylist()[:2])"
    )
    printed = run(tmp_path, installed / "python", "-c", code, LOG)
    folder, _, rest = printed.partition(" ")
    assert Path(folder).is_relative_to(installed.parent)
    assert rest == "[3, 4]\n"
