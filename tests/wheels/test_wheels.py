"""The wheels and the sources in dist/, which `make test-wheels` writes first, installed as a user would."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.corpus_files import CORPUS
from tools.kernels.targets import TARGETS

ROOT = Path(__file__).parents[2]
LOG = CORPUS / "mysql-9.7/mixed/binlog.000001"
#: The first bytes of a library, up to the number of its processor.
FORMATS = {
    "x86_64": (b"\x7fELF", 18, 62),
    "aarch64": (b"\x7fELF", 18, 183),
    "x86_64-macos": (b"\xcf\xfa\xed\xfe", 4, 0x0007),
    "aarch64-macos": (b"\xcf\xfa\xed\xfe", 4, 0x000C),
    "x86_64-windows": (b"MZ", 0, 0x5A4D),
}
#: What runs `player.c` with a library of another system, and zig's name of that system.
PLAYERS: dict[str, tuple[list[str], str]] = {
    "x86_64": ([], "x86_64-linux-gnu"),
    "x86_64 with musl": ([str(ROOT / "build/musl/lib/ld-musl-x86_64.so.1")], "x86_64-linux-musl"),
    "aarch64": (["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], "aarch64-linux-gnu"),
    "x86_64-windows": (["wine"], "x86_64-windows-gnu"),
}

pytestmark = pytest.mark.wheels

#: The machines whose wheels were built.
MACHINES = os.environ.get("MACHINES", " ".join(TARGETS)).split()


def wheel_for(machine: str) -> Path:
    (path,) = (ROOT / "dist").glob(f"binlog_kaitai-*-py3-none-{TARGETS[machine].tag}.whl")
    return path


def library_for(machine: str) -> bytes:
    with zipfile.ZipFile(wheel_for(machine)) as wheel:
        (name,) = (name for name in wheel.namelist() if "/libkernels." in name)
        return wheel.read(name)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_wheel_has_machine_code_for_its_processor(machine: str) -> None:
    library, (magic, place, processor) = library_for(machine), FORMATS[machine]
    assert library.startswith(magic)
    assert int.from_bytes(library[place : place + 2], "little") == processor


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls of kernels, recorded while commands read logs here."""
    path = tmp_path_factory.mktemp("calls") / "calls"
    logs = [CORPUS / server / "types_full/binlog.000001" for server in ("mysql-9.7", "mariadb-11.8")]
    command = [sys.executable, "-m", "tools.kernels.recorded_calls", *map(str, (path, *logs))]
    environment = os.environ | {"BINLOG_KAITAI_KERNELS": "compiled"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    match = re.search(rb"(\d+) calls of (\d+) kernels\n$", done.stderr)
    assert match is not None
    assert int(match[2]) >= 39
    return path


@pytest.mark.parametrize("player", [name for name in PLAYERS if name.partition(" ")[0] in MACHINES])
def test_kernels_for_other_systems_give_what_they_give_here(player: str, calls: Path, tmp_path: Path) -> None:
    """The same bytes, by a small program that runs under an emulator, or with another C library."""
    pytest.importorskip("ziglang", reason="pip install ziglang")
    command, target = PLAYERS[player]
    if command and shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    library, program = tmp_path / "library.dll", tmp_path / "player.exe"
    library.write_bytes(library_for(player.partition(" ")[0]))
    compiler = [sys.executable, "-m", "ziglang", "cc", "-O1", "-target", target, "-dynamic"]
    subprocess.run([*compiler, "-o", program, ROOT / "tools/kernels/player.c"], check=True)
    environment = os.environ | {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"}
    done = subprocess.run(
        [*command, program, library, calls], env=environment, capture_output=True, text=True, check=False
    )
    assert re.fullmatch(r"\d+ calls\n", done.stdout), done.stderr


@pytest.fixture(scope="module", params=["wheel", "sources"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a fresh environment that holds the package and its dependencies, nothing else."""
    folder = tmp_path_factory.mktemp("fresh")
    (sources,) = (ROOT / "dist").glob("binlog_kaitai-*.tar.gz")
    subprocess.run([sys.executable, "-m", "venv", "venv"], cwd=folder, check=True)
    package = wheel_for("x86_64") if request.param == "wheel" else sources
    pip = f"venv/bin/pip install --quiet --disable-pip-version-check {package}"
    environment = os.environ | {"BINLOG_KAITAI_LEVEL": "native"}
    subprocess.run(pip.split(), cwd=folder, env=environment, check=True)
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
