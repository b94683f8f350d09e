"""A log that is truncated while it is read: an error that names the file and a position, never a signal."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.mapped_memory import LONG
from binlog_kaitai.log.resync import RandomAccess
from tests.extent import rounds
from tests.long_logs import log_of_value

COMMANDS = [
    ["verify"],
    ["verify", "--thorough"],
    ["repair", "--to"],
    ["slice", "--to"],
    ["dump", "-vv"],
    ["rows", "--format", "json"],
    ["sql"],
    ["stats"],
    ["export", "--to"],
    ["transactions"],
    ["events"],
    ["gtids"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_ends_with_its_own_exit_code(command: list[str], tmp_path: Path) -> None:
    """The log has one event that is too long for memory, which is cut at some time."""
    moments = random.Random(" ".join(command))
    for number in range(rounds(5, 1)):
        log = log_of_value(tmp_path / f"binlog.{number:06}", 2 * LONG)
        target = [str(tmp_path / f"to{number}")] if command[-1] == "--to" else []
        with (tmp_path / "reports").open("w+") as reports:
            running = subprocess.Popen(
                [sys.executable, "-m", "binlog_kaitai", *command, *target, str(log)],
                stdout=reports if command[0] == "verify" else subprocess.DEVNULL, stderr=reports,
            )  # fmt: skip
            time.sleep(moments.uniform(0.1, 0.6))
            os.truncate(log, LONG // 2)
            status = running.wait(timeout=120)
            reports.seek(0)
            text = reports.read()
        assert status >= 0, text
        assert "Traceback" not in text
        if status:
            assert str(log) in text


def test_a_long_event_stays_whole_once_it_is_a_block(tmp_path: Path) -> None:
    log = log_of_value(tmp_path / "binlog.000001", 2 * LONG)
    with log.open("rb") as stream:
        for block in BlockReader.of_file(stream, str(log)):
            if int(block.sizes.max()) > LONG:
                os.truncate(log, 1000)
                assert int(block.data[LONG:].max()) >= 0  # reads every page
                break
        else:
            pytest.fail("no long event")


def test_a_search_for_intact_events_reads_zeros_past_the_end() -> None:
    stream = io.BytesIO(b"x" * 200_000)
    log = RandomAccess(stream)
    stream.truncate(100)
    offsets = np.array([50, 99, 150_000])
    assert log.rows_at(offsets, 2).tolist() == [[120, 120], [120, 0], [0, 0]]
