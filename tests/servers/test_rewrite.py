"""Each server's own client reads the output of `repair` and `slice` without complaint."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.repair import repair
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.sources.source import Source, resolve
from binlog_kaitai.views.transactions_view import read_transactions
from tests.check.damage import random_damage, transactions_of
from tests.corpus_files import LogFile, logs
from tools.servers import SERVERS, Server

pytestmark = pytest.mark.server

#: Damaged logs of each server.
_TIMES = 25

#: What the clients cannot read even undamaged.
_LEFT_OUT = ("types_v1_rows", "types_old_temporal")


def _complaints(server: str, log: Path, folder: Path) -> str:
    """What the server's client has to say against a log."""
    command = [*Server(server).client(), "--no-defaults", "-vv", f"--local-load={folder}", str(log)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    complaints = done.stderr.decode(errors="replace")
    return (
        complaints
        if done.returncode
        else "\n".join(line for line in complaints.splitlines() if "error" in line.lower())
    )


def _logs_of(server: str) -> list[LogFile]:
    return [
        log
        for log in logs(server)
        if log.case.folder.name not in _LEFT_OUT
        and log.path.stat().st_size < 50_000
        and transactions_of(log.path)
        and not scan(Source.of_path(str(log.path))).checksums["none"]  # else not all damage is seen
    ]


@pytest.mark.parametrize("server", SERVERS)
def test_repaired_logs(server: str, tmp_path: Path) -> None:
    chance = random.Random(server)
    candidates = _logs_of(server)
    damaged, target = tmp_path / "damaged", tmp_path / "repaired"
    for _ in range(_TIMES):
        log = chance.choice(candidates)
        first = next(event.end_position for event in bk.open(log.path))
        damage = random_damage(log.path.read_bytes(), chance, first)
        damaged.write_bytes(damage.data)
        repair(Source.of_path(str(damaged)), str(target), overwrite=True)
        assert not _complaints(server, target, tmp_path), f"{log.id}, {damage.what}"


@pytest.mark.parametrize("server", SERVERS)
def test_slices(server: str, tmp_path: Path) -> None:
    for log in _logs_of(server)[::3]:
        starts = read_transactions(str(log.path)).read_all()["position"].to_pylist()
        target = tmp_path / "slice"
        (done,) = slice_log(
            resolve(str(log.path)), str(target), overwrite=True, start_position=starts[len(starts) // 2]
        )
        assert done.transactions or done.open
        assert not _complaints(server, target, tmp_path), log.id
