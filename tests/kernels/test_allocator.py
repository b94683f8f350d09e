"""Freed memory serves the next arrays, unless the environment limits it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

#: Size of the arrays, in MiB: less than glibc keeps at most, more than it keeps at first.
_SIZE = 20

#: Prints the page faults of a later array of a process: of the second, or of the first of the last thread.
_PROGRAM = f"""
import resource, sys
from concurrent.futures import ThreadPoolExecutor
from binlog_kaitai.kernels.library import LIBRARY, library
library(LIBRARY)
threads = [ThreadPoolExecutor(1) for _ in range(int(sys.argv[1]))]
for number in range(max(2, len(threads))):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    threads[number % len(threads)].submit(lambda: len(b"x" * ({_SIZE} << 20))).result()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(after - before)
"""


def faults(threads: int = 1, **environment: str) -> int:
    command = [sys.executable, "-c", _PROGRAM, str(threads)]
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these limits")
def test_the_second_array_uses_the_memory_of_the_first() -> None:
    pages = (_SIZE << 20) // os.sysconf("SC_PAGESIZE")
    assert faults() < pages / 10
    assert faults(threads=3) < pages / 10
    assert faults(MALLOC_TRIM_THRESHOLD_=str(1 << 20), MALLOC_MMAP_THRESHOLD_=str(1 << 20)) > pages / 2
