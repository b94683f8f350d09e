"""Selecting how kernels run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from binlog_kaitai.kernels.compile import VARIABLE

_RUN = """
import numpy as np
from binlog_kaitai.kernels import compile
from binlog_kaitai.kernels.byte_kernels import read_u4

if {has_no_library}:
    compile.CHECKED = compile.LIBRARY = compile.LIBRARY.replace("libkernels", "none")
print(read_u4.run is read_u4.plain, read_u4.run(np.arange(4, dtype=np.uint8), np.uint64(0)))
"""


def _run(mode: str, *, has_no_library: bool = False) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, VARIABLE: mode}
    command = [sys.executable, "-c", _RUN.format(has_no_library=has_no_library)]
    return subprocess.run(command, env=given, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("mode", "is_plain"), [("", False), ("python", True), ("compiled", False)])
def test_the_environment_chooses(mode: str, is_plain: bool) -> None:
    done = _run(mode)
    assert (done.stdout, done.stderr) == (f"{is_plain} {0x03020100}\n", "")


def test_without_a_library_there_is_one_warning() -> None:
    done = _run("auto", has_no_library=True)
    assert done.stdout == f"True {0x03020100}\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert "no machine code of kernels" in done.stderr
    assert _run("python", has_no_library=True).stderr == ""


@pytest.mark.parametrize("mode", ["compiled", "checked"])
def test_who_asks_for_machine_code_gets_it_or_an_error(mode: str) -> None:
    done = _run(mode, has_no_library=True)
    assert done.returncode == 1
    assert "UsageError: there is no machine code of kernels" in done.stderr


def test_an_unknown_way_is_refused() -> None:
    done = _run("fast")
    assert f"{VARIABLE}=fast is not one of auto, python, compiled, checked" in done.stderr
