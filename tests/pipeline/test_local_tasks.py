"""`pipeline --engine local`: tasks in processes of this machine, without Spark and Java."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from binlog_kaitai.errors import ChecksumError, SourceError
from binlog_kaitai.pipeline.tasks import LocalTasks
from tests.corpus_files import CORPUS
from tests.lake.lakes import WORKLOAD, contents, fill, opened


@pytest.fixture(autouse=True)
def _without_spark(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the driver nor its processes can import PySpark."""
    folder = tmp_path_factory.mktemp("without")
    for name in ("pyspark", "py4j"):
        (folder / f"{name}.py").write_text(f"raise ImportError('{name}')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, sys.path)]))


_WITHOUT_JAVA = """
import os, sys
os.environ["PATH"] = os.environ["JAVA_HOME"] = "/nowhere"
from binlog_kaitai.cli import main
main(["pipeline", "--engine", "local", "--batch-size", "30k", "--split-size", "10k", *sys.argv[1:]])
"""


def pipeline(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WITHOUT_JAVA, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_lake_is_that_of_other_tasks(tmp_path: Path) -> None:
    done = pipeline("--state", "--to", tmp_path / "lake", *WORKLOAD)
    assert done.returncode == 0, done.stderr
    fill(tmp_path / "other", WORKLOAD, keeps_state=True)
    assert contents(opened(tmp_path / "lake")) == contents(opened(tmp_path / "other"))


def test_damage_in_a_task_names_file_and_position(tmp_path: Path) -> None:
    log = tmp_path / WORKLOAD[0].name
    data = bytearray(WORKLOAD[0].read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    done = pipeline("--to", tmp_path / "lake", log)
    assert done.returncode == 1
    assert f"binlog-kaitai: {log}, position " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", [["--ui"], ["--master", "local[2]"], ["--conf", "spark.a=b"]], ids=str)
def test_options_of_spark_need_it(option: list[str], tmp_path: Path) -> None:
    done = pipeline("--to", tmp_path / "lake", *option, WORKLOAD[0])
    assert done.returncode == 2
    assert f"{option[0]} requires --engine spark" in done.stderr


def _size_or_end(packed: bytes) -> int:
    if packed == b"end":
        os.kill(os.getpid(), signal.SIGKILL)
    return len(packed)


def _refuse(packed: bytes) -> int:
    raise ChecksumError("a reason", file="a file", position=len(packed))


def test_errors_of_tasks_are_raised_as_they_are() -> None:
    tasks = LocalTasks()
    try:
        with pytest.raises(ChecksumError, match="a file, position 1: a reason"):
            tasks.run(_refuse, [b"1", b"22"])
        assert tasks.run(_size_or_end, [b"1", b"", b"333"]) == [1, 0, 3]
    finally:
        tasks.stop()


def test_tasks_outlive_a_process_that_is_killed() -> None:
    tasks = LocalTasks()
    try:
        with pytest.raises(SourceError, match="was killed"):
            tasks.run(_size_or_end, [b"1", b"end"])
        assert tasks.run(_size_or_end, [b"1", b"22"]) == [1, 2]
    finally:
        tasks.stop()


def _sleep_long(packed: bytes) -> int:
    Path(packed.decode()).touch()
    time.sleep(120)
    return 0


_SLEEPING = """
import sys
from binlog_kaitai.pipeline.tasks import LocalTasks
from tests.pipeline.test_local_tasks import _sleep_long
if __name__ == "__main__":
    LocalTasks().run(_sleep_long, [name.encode() for name in sys.argv[1:]])
"""


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    script = tmp_path / "sleeping.py"
    script.write_text(_SLEEPING)
    mark = tmp_path / "1"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(CORPUS.parents[1]), *sys.path))}
    command = [sys.executable, str(script), str(mark), str(tmp_path / "2")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not mark.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert mark.exists()
        process.kill()
        assert process.stdout is not None
        before = time.monotonic()
        assert process.stdout.read() == b""  # until all processes have closed it
        assert time.monotonic() - before < 60
