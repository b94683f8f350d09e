"""Runs of a program over a log: what it counts, and the seconds and memory it needs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tools.bench.__main__ import environment
from tools.peers.build import ROOT, Program
from tools.peers.printed import counts

_USAGE = Path(__file__).with_name("usage.py")


class Counts(NamedTuple):
    """Row images and NULLs in a log."""

    rows: int
    nulls: int


class Run(NamedTuple):
    """Seconds of processors and of the clock, and the peak of memory in bytes, mapped files included."""

    cpu: float
    seconds: float
    peak: int


class RunError(Exception):
    """A program ended with an error."""


def counted(program: Program, log: Path) -> Counts:
    """What a program counts in a log; not timed, because text is counted here."""
    if not program.is_client:
        return _measured(program, log)[1]
    with subprocess.Popen(
        [*program.command, log], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as client:
        assert client.stdout is not None
        found = Counts(*counts(client.stdout))
    if client.returncode:
        raise RunError("it ended with an error")
    return found


def best(program: Program, log: Path, times: int) -> Run:
    """The run of the least processor time."""
    return min(_measured(program, log)[0] for _ in range(times))


def _measured(program: Program, log: Path) -> tuple[Run, Counts]:
    passes = [str(program.passes)] if program.passes else []
    with tempfile.NamedTemporaryFile("r") as used, tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [sys.executable, "-IS", _USAGE, used.name, *program.command, log, *passes],
            stdout=subprocess.DEVNULL if program.is_client else output,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=ROOT,
            check=False,
        )
        if done.returncode:
            raise RunError("it ended with an error")
        usage = json.load(used)
        output.seek(0)
        lines = output.read().splitlines()
    found = json.loads(lines[-1]) if lines else {"rows": 0, "nulls": 0}
    usage.update({name: found[name] for name in ("cpu", "seconds") if name in found})
    return Run(**usage), Counts(found["rows"], found["nulls"])
