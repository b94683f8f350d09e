"""The command line tool as a process of its own, and in this one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def run() -> Run:
    """Run `binlog-kaitai` with arguments; gives the finished process with its texts."""

    def call(*arguments: object, data: bytes | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "binlog_kaitai", *map(str, arguments)]
        done = subprocess.run(command, input=data, capture_output=True, timeout=120)
        return subprocess.CompletedProcess(
            command, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        )

    return call
