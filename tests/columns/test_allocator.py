"""Freed memory serves the next arrays, unless the environment limits it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

#: Size of the arrays, in MiB: less than glibc keeps at most, more than it keeps at first.
_SIZE = 20

#: Prints the page faults of the second array of a process.
_PROGRAM = f"""
import resource
from binlog_kaitai.kernels.library import LIBRARY, library
library(LIBRARY)
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    array = b"x" * ({_SIZE} << 20)
    del array
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(after - before)
"""


def faults(**environment: str) -> int:
    command = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these limits")
def test_the_second_array_uses_the_memory_of_the_first() -> None:
    pages = (_SIZE << 20) // os.sysconf("SC_PAGESIZE")
    assert faults() < pages / 10
    assert faults(MALLOC_TRIM_THRESHOLD_=str(1 << 20), MALLOC_MMAP_THRESHOLD_=str(1 << 20)) > pages / 2
