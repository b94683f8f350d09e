"""A pipeline that follows logs goes on after its Java, or a worker, is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.corpus_files import CORPUS
from tests.lake.lakes import complete, fill, kill, opened, rows, table

pytestmark = pytest.mark.spark

LOGS = sorted((CORPUS / "mysql-9.7" / "workload").glob("binlog.0*"))

#: The command, whose pauses are shorter here: the first failure comes after one, or it would end the command.
_RUN = """
import sys
from binlog_kaitai.cli import main
from binlog_kaitai.pipeline import fleet
fleet.PAUSE = 0.5
main(sys.argv[1:])
"""

ENGINES = {"spark": ["--master", "local[2]"], "local": ["--engine", "local"]}


def wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def children(process: int) -> list[tuple[int, str]]:
    """Processes that a process has started, with their programs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, fields = (folder / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if int(fields.split()[1]) == process:
            found.append((int(folder.name), name))
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_engine_is_started_again(engine: str, tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "logs"
    folder.mkdir()
    shutil.copy(LOGS[0], folder)
    options = ["--continuous", "--interval", "1 second", "--state", *ENGINES[engine], "--to", str(lake)]
    command = [sys.executable, "-c", _RUN, "pipeline", *options, "--split-size", "9000", str(folder)]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, start_new_session=True, stdout=said, stderr=said)
    try:
        wait(lambda: complete(lake) >= 0 or process.poll() is not None)
        time.sleep(1)
        is_java = engine == "spark"
        for child, name in children(process.pid):
            if (name == "java") == is_java:
                os.kill(child, signal.SIGKILL)
        for log in LOGS[1:]:
            shutil.copy(log, folder)
        wait(lambda: complete(lake) >= 1 or process.poll() is not None)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, (tmp_path / "said").read_text()
    finally:
        kill(process)
    assert "another try in" in (tmp_path / "said").read_text()
    fill(tmp_path / "whole", [folder], keeps_state=True)
    found, whole = opened(lake), opened(tmp_path / "whole")
    names = [f"{part}/{name}" for part in ("changes", "state") for name in whole.storage.names(part)]
    for name in ("events", *names):
        assert rows(table(found, name)) == rows(table(whole, name)), name
