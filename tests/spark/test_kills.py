"""A pipeline that is killed in the midst of its batches, on Spark or not: each row is in the lake once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from binlog_kaitai.lake import STATEMENTS
from binlog_kaitai.lake.changes import TableChanges
from tests.corpus_files import CORPUS
from tests.lake.lakes import complete, fill, kill, opened, rows, table

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

LOGS = CORPUS / "mysql-9.7" / "workload"

#: A kill counts only if the run has committed so many batches.
KILLS, LEAST = 3, 2

ENGINES = {"spark": ["--master", "local[2]"], "local": ["--engine", "local"]}


def start(lake: Path, engine: str) -> subprocess.Popen[bytes]:
    options = ["--batch-size", "2000", "--split-size", "1000", "--state", *ENGINES[engine]]
    command = [sys.executable, "-m", "binlog_kaitai", "pipeline", *options, "--to", str(lake), str(LOGS)]
    return subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_each_row_once_over_many_kills(engine: str, tmp_path: Path) -> None:
    choose, counted = random.Random(5), 0
    lake = tmp_path / "lake"
    for _ in range(KILLS):
        process, before = start(lake, engine), complete(lake)
        deadline = time.monotonic() + 240
        while process.poll() is None and complete(lake) < before + LEAST:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(choose.uniform(0, 1))
        counted += process.poll() is None
        kill(process)
    assert counted == KILLS
    process = start(lake, engine)
    assert process.wait(600) == 0, process.stderr and process.stderr.read().decode()
    fill(tmp_path / "whole", [LOGS], 2000, keeps_state=True)
    found, whole = opened(lake), opened(tmp_path / "whole")
    assert found.plan is not None
    assert whole.plan is not None
    assert found.plan.batch == whole.plan.batch
    names = [f"{folder}/{name}" for folder in ("changes", "state") for name in whole.storage.names(folder)]
    for name in ("events", "transactions", STATEMENTS, *names):
        assert rows(table(found, name)) == rows(table(whole, name)), name
    kept, expected = TableChanges(found).lineage, TableChanges(whole).lineage
    assert (kept.keys, kept.unclear) == (expected.keys, expected.unclear)
    assert kept.tables() == expected.tables() != []
