"""How kernels are run can be chosen, and machine code that checks bounds does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from binlog_kaitai.columns.kernel_mode import VARIABLE

_OUTSIDE = """
import numpy as np
from binlog_kaitai.columns.compile import kernel

@kernel
def at(data, place):
    return data[place]

room = np.zeros(8, dtype=np.uint8)
print(at.for_work(0)(room, 3), end=" ")
print(at.for_work(0) is at.plain, end=" ")
try:
    at.for_work(0)(room[:4], 6)
except Exception as error:
    print(type(error).__name__)
"""


def _run(mode: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, VARIABLE: mode}
    command = [sys.executable, "-c", _OUTSIDE]
    return subprocess.run(command, env=given, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("", "0 True IndexError\n"),
        ("python", "0 True IndexError\n"),
        ("checked", "0 False RuntimeError\n"),
        ("compiled", "0 False "),
    ],
)
def test_the_environment_chooses(mode: str, expected: str) -> None:
    assert _run(mode).stdout == expected


def test_an_unknown_way_is_refused() -> None:
    done = _run("fast")
    assert f"{VARIABLE}=fast is not one of auto, python, compiled, checked" in done.stderr
