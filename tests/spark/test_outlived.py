"""A pipeline that follows logs goes on after its Java, or a worker, is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.standalone import wait
from tests.lake.lakes import WORKLOAD, complete, fill, kill, opened, processes, rows, table
from tests.spark.test_kills import ENGINES

pytestmark = pytest.mark.spark

#: The command, whose pauses are shorter here: the first failure comes after one, or it would end the command.
_RUN = """
import sys
from binlog_kaitai.cli import main
from binlog_kaitai.pipeline import fleet
fleet.PAUSE = 0.5
main(sys.argv[1:])
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_engine_is_started_again(engine: str, tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "logs"
    folder.mkdir()
    shutil.copy(WORKLOAD[0], folder)
    options = ["--continuous", "--interval", "1 second", "--state", *ENGINES[engine], "--to", str(lake)]
    command = [sys.executable, "-c", _RUN, "pipeline", *options, "--split-size", "9000", str(folder)]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, start_new_session=True, stdout=said, stderr=said)
    try:
        wait("a batch is complete", lambda: complete(lake) >= 0 or process.poll() is not None)
        time.sleep(1)
        for number in processes(process.pid, {"spark": "java", "local": "spawn_main"}[engine]):
            os.kill(number, signal.SIGKILL)
        for log in WORKLOAD[1:]:
            shutil.copy(log, folder)
        wait("a batch is complete", lambda: complete(lake) >= 1 or process.poll() is not None)
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
