"""The Python that waits to become the source of a stream."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from binlog_kaitai.spark.interpreter import local_interpreter
from binlog_kaitai.spark.warm import WARM

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="no /proc"),
]

SECONDS = 60


class Java:
    """What Spark is to a worker: it listens, and is told a process number."""

    def __init__(self, folder: Path, address: Path) -> None:
        path, variables = local_interpreter()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(folder / "java"))
        listener.listen()
        listener.settimeout(SECONDS)
        known = {**variables, WARM: str(address), "PYTHON_WORKER_FACTORY_SOCK_PATH": str(folder / "java")}
        command = [path, "-m", "pyspark.sql.streaming.python_streaming_source_runner"]
        self.launched = subprocess.Popen(command, env={**os.environ, **known}, stderr=subprocess.DEVNULL)
        self.line, _ = listener.accept()
        listener.close()
        self.pid = int.from_bytes(self.line.recv(4), "big")

    def close(self) -> None:
        self.line.close()
        self.launched.wait(SECONDS)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def ends(pid: int) -> bool:
    until = time.monotonic() + SECONDS
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < until:
        time.sleep(0.02)
    return not os.path.exists(f"/proc/{pid}")


@pytest.fixture
def address(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    return tmp_path / "own/warm"


@pytest.fixture
def warm(address: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "binlog_kaitai.spark.warm", str(address)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as line:
            if not line.connect_ex(str(address)):
                break
        time.sleep(0.05)
    yield process
    process.communicate(timeout=SECONDS)


def test_a_copy_of_it_is_what_spark_started(
    tmp_path: Path, address: Path, warm: subprocess.Popen[bytes]
) -> None:
    java = Java(tmp_path, address)
    assert parent_of(java.pid) == warm.pid
    java.close()
    assert ends(java.pid)


def test_a_copy_ends_with_the_process_that_spark_knows(
    tmp_path: Path, address: Path, warm: subprocess.Popen[bytes]
) -> None:
    java = Java(tmp_path, address)
    java.launched.terminate()
    assert ends(java.pid)
    java.close()


def test_without_it_spark_gets_a_python_of_its_own(tmp_path: Path, address: Path) -> None:
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(address))
    java = Java(tmp_path, address)
    assert java.pid == java.launched.pid
    java.close()


def test_it_ends_with_who_started_it_and_leaves_nothing(address: Path, warm: subprocess.Popen[bytes]) -> None:
    warm.communicate(timeout=SECONDS)
    assert not warm.returncode
    assert not address.parent.exists()
