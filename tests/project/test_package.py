"""The installed package: its exports, its imports, the contents of its wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import binlog_kaitai
from binlog_kaitai.kernels.library import Library
from tools.kernels import build as building
from tools.kernels.targets import TARGETS, own_level, this_machine

ROOT = Path(__file__).parents[2]


def test_every_public_name_is_there() -> None:
    missing = [name for name in binlog_kaitai.__all__ if not hasattr(binlog_kaitai, name)]
    assert missing == []
    assert {"open", "read_events", "BinlogError"} <= set(binlog_kaitai.__all__)


def test_the_version_is_that_of_the_project_and_the_changelog() -> None:
    project = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert project is not None
    assert binlog_kaitai.__version__ == project[1]
    assert f"## [{project[1]}]" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    "statement",
    [
        "import binlog_kaitai",
        "from binlog_kaitai.cli import main; main(['--help'])",
        "from binlog_kaitai.cli import main; main(['explain', '--help'])",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(statement: str) -> None:
    code = f"import sys\ntry:\n    {statement}\nexcept SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"numpy", "pyarrow", "numba", "pyspark"} & set(done.stderr.split()) == set()


def test_a_dump_by_whole_columns_does_without_arrow() -> None:
    log = ROOT / "tests" / "corpus" / "mysql-9.7" / "types_full" / "binlog.000001"
    code = (
        "import sys\nfrom binlog_kaitai.dump.dump_logs import dump\n"
        "from binlog_kaitai.dump.dump_options import DumpOptions\n"
        "from binlog_kaitai.dump import block_printer\nblock_printer.KERNELS_FROM = 0\n"
        f"dump({str(log)!r}, lambda _: None, DumpOptions(verbose=2))\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "binlog_kaitai.dump.shape_steps" in loaded
    assert "pyarrow" not in loaded


def test_a_script_does_without_arrow() -> None:
    log = ROOT / "tests" / "corpus" / "mysql-9.7" / "types_full" / "binlog.000001"
    code = (
        f"import sys\nimport binlog_kaitai\nlist(binlog_kaitai.sql_script({str(log)!r}))\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "binlog_kaitai.render.sql.change_statements" in loaded
    assert "pyarrow" not in loaded


def test_the_wheel_holds_the_package_and_the_generated_ones(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    given = {**os.environ, "BINLOG_KAITAI_KERNELS": "python"}
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True, env=given)
    (wheel,) = tmp_path.glob("*-py3-none-any.whl")
    packed = zipfile.ZipFile(wheel)
    names = packed.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {
        "binlog_kaitai",
        "binlog_grammar",
    }
    assert {"binlog_kaitai/py.typed", "binlog_grammar/mysql_binlog.py"} <= set(names)
    assert b"BINLOG_KAITAI_KERNELS=python was set" in packed.read("binlog_kaitai/kernels/libkernels.txt")
    # Mode bits of a file are in the upper half; Spark runs this one.
    assert packed.getinfo("binlog_kaitai/pipeline/worker-python").external_attr >> 16 & 0o111


def test_the_sources_are_enough_for_a_wheel_and_give_pip_the_metadata_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (archive,) = tmp_path.glob("binlog_kaitai-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    folder = archive.with_name(archive.name.removesuffix(".tar.gz"))
    tracked = subprocess.run(
        ["git", "ls-files", "binlog_kaitai", "formats", "generated", "tools/kernels"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [name for name in tracked.stdout.splitlines() if not (folder / name).exists()] == []
    code = (
        "import sys, hatch_build as backend\n"
        "print(*backend.get_requires_for_build_wheel(), sep=';')\n"
        "print(backend.prepare_metadata_for_build_wheel(sys.argv[1]))\n"
        "sys.path.insert(0, 'generated')\n"
        "import tools.kernels.build as build\n"
        "print(build.__file__)"
    )
    given = {**os.environ, "PIP_BUILD_TRACKER": str(tmp_path), "BINLOG_KAITAI_KERNELS": ""}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=folder, capture_output=True, text=True, check=True, env=given,
    )  # fmt: skip
    needed, metadata, compiling = done.stdout.splitlines()
    assert "numba>=0.62" in needed.split(";")
    assert "\nName: binlog-kaitai\n" in (tmp_path / metadata / "METADATA").read_text()
    assert Path(compiling) == folder / "tools/kernels/build.py"
    assert not (folder / "build").exists()


@pytest.mark.parametrize(
    ("system", "machine", "library", "needed"),
    [
        ("linux", "x86_64", "glibc", "numba>=0.62"),
        ("linux", "x86_64", "", ""),
        ("linux", "riscv64", "glibc", ""),
        ("darwin", "arm64", "", "numba>=0.62"),
        ("darwin", "x86_64", "", "numba>=0.62,<0.63"),
        ("win32", "AMD64", "", "numba>=0.62"),
    ],
)
def test_a_build_needs_numba_where_it_has_wheels(
    system: str, machine: str, library: str, needed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = import_module("hatch_build")
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("sys.version_info", (3, 13))
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("platform.libc_ver", lambda: (library, ""))
    assert build._numba() == needed


def _hook(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Any:
    """The build hook, which writes to a folder that no other build has."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    hook = import_module("hatch_build").KernelsHook(str(ROOT), {}, None, None, "", "wheel")
    monkeypatch.setattr(hook, "_folder", lambda: folder)
    return hook


@pytest.mark.parametrize(
    ("machine", "tag"),
    [("", sysconfig.get_platform().replace("-", "_")), (this_machine(), TARGETS[this_machine()].tag)],
)
def test_a_wheel_has_machine_code_for_one_platform(
    machine: str, tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BINLOG_KAITAI_MACHINE", machine)
    monkeypatch.setenv("BINLOG_KAITAI_KERNELS", "")
    monkeypatch.setattr(building, "build", partial(building.build, levels=[own_level()]))
    data: dict[str, Any] = {"force_include": {}}
    _hook(monkeypatch, tmp_path).initialize("standard", data)
    assert (data["tag"], data["pure_python"]) == (f"py3-none-{tag}", False)
    ((library, place),) = data["force_include"].items()
    assert place == "binlog_kaitai/kernels/libkernels.so"
    assert {row.fingerprint for row in Library(library).rows.values()} == {""}


def test_what_cannot_be_compiled_is_installed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **named: Any) -> None:
        raise building.BuildError("there is no C compiler")

    monkeypatch.setattr(building, "build", fail)
    monkeypatch.delenv("BINLOG_KAITAI_MACHINE", raising=False)
    hook = _hook(monkeypatch, tmp_path)
    warned: list[str] = []
    monkeypatch.setattr(type(hook), "app", SimpleNamespace(display_warning=warned.append))
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", data)
    ((reason, place),) = data["force_include"].items()
    assert place == "binlog_kaitai/kernels/libkernels.txt"
    assert Path(reason).read_text() == "there is no C compiler\n"
    assert "100 times as long: there is no C compiler" in warned[0]
