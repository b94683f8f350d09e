"""Runs of a program over a log: what it counts, the seconds and memory it needs, and the table of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from tools.bench.__main__ import environment
from tools.peers.build import ROOT, Program

_IMAGES = (b"\n### SET\n", b"\n### WHERE\n")
_NULL = re.compile(rb"\n###   @\d+=NULL\b")

_CHUNK = 4 << 20


def counts(text: IO[bytes]) -> tuple[int, int]:
    """The numbers of row images and of NULLs in the text of `mysqlbinlog -v` and `mariadb-binlog -v`.

    A row image is a line `### SET` or `### WHERE` with a line for each column after it. Values print without
    line breaks, so no value looks like such a line.
    """
    rows, nulls, rest = 0, 0, b"\n"
    while chunk := text.read(_CHUNK):
        whole, _, tail = (rest + chunk).rpartition(b"\n")
        whole += b"\n"
        rows += sum(whole.count(image) for image in _IMAGES)
        nulls += len(_NULL.findall(whole))
        rest = b"\n" + tail
    return rows, nulls


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
        totals = Counts(*counts(client.stdout))
    if client.returncode:
        raise RunError("it ended with an error")
    return totals


def best(program: Program, log: Path, times: int) -> Run:
    """The run of the least processor time."""
    return min(_measured(program, log)[0] for _ in range(times))


def _measured(program: Program, log: Path) -> tuple[Run, Counts]:
    with tempfile.NamedTemporaryFile("r") as used, tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [sys.executable, "-IS", _USAGE, used.name, *program.command, log, *program.options],
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
    result = json.loads(lines[-1]) if lines else {"rows": 0, "nulls": 0}
    usage.update({name: result[name] for name in ("cpu", "seconds") if name in result})
    return Run(**usage), Counts(result["rows"], result["nulls"])


class Figure(NamedTuple):
    """A program's runs over a log of one transaction and over a long one."""

    name: str
    least: Run
    most: Run

    def slope(self, sizes: tuple[int, int]) -> tuple[float, float]:
        """Seconds per byte, of processors and of the clock."""
        size = sizes[1] - sizes[0]
        return (self.most.cpu - self.least.cpu) / size, (self.most.seconds - self.least.seconds) / size


class Comparison(NamedTuple):
    """Programs' figures on one log; the first figure is the one that others are compared with.

    `sizes`: bytes of the log of one transaction, and of the long one; `counts`: of the long one.
    `notes`: a sentence on each program that fails or disagrees.
    """

    figures: list[Figure]
    notes: list[str]
    sizes: tuple[int, int]
    counts: Counts

    def speed(self, figure: Figure) -> float:
        """Rows in a second of processors, after the start."""
        return self.counts.rows / (figure.slope(self.sizes)[0] * self.sizes[1])

    def reasons(self) -> str:
        return "".join(f"\n{note}.\n" for note in self.notes)


def compare(programs: list[Program], short: Path, long: Path, times: int) -> Comparison:
    """Measure programs on a log of one transaction and on a long one; the first must succeed."""
    counts, figures, notes = counted(programs[0], long), list[Figure](), list[str]()
    for program in programs:
        try:
            other = counted(program, long)
            if other != counts:
                notes.append(f"{program.name} does not count: it finds {other}, the first program {counts}")
                continue
            figures.append(Figure(program.name, best(program, short, times), best(program, long, times)))
        except RunError as error:
            notes.append(f"{program.name} does not count: {error}")
    return Comparison(figures, notes, (short.stat().st_size, long.stat().st_size), counts)


HEADINGS = (
    "",
    "CPU s",
    "seconds",
    "start, CPU s",
    "start, seconds",
    "MB/s of CPU after the start",
    "MB/s after the start",
    "M rows/s of CPU after the start",
    "throughput, `read_changes` = 1",
    "peak MB",
)


def table(log: Comparison) -> str:
    """The table of one log."""
    lines, sizes = [_ruled(HEADINGS)], log.sizes
    own, _ = log.figures[0].slope(sizes)
    for figure in log.figures:
        cpu, clock = figure.slope(sizes)
        starts = (
            max(run - slope * sizes[0], 0.0) for run, slope in zip(figure.least, (cpu, clock), strict=False)
        )
        cells = [figure.name, f"{figure.most.cpu:.2f}", f"{figure.most.seconds:.2f}"]
        cells += [f"{start:.2f}" for start in starts]
        cells += [f"{1e-6 / cpu:.0f}", f"{1e-6 / clock:.0f}", f"{log.speed(figure) / 1e6:.2f}"]
        cells += [f"{own / cpu:.2f}", f"{figure.most.peak / 1e6:.0f}"]
        lines.append(_line(cells))
    return "".join(lines)


def table_of_rows(logs: dict[str, Comparison]) -> str:
    """Thousands of rows in a second of processors, after the start, of each program on each log."""
    lines = [_ruled(("", *logs))]
    speeds = {name: {figure.name: log.speed(figure) for figure in log.figures} for name, log in logs.items()}
    for program in dict.fromkeys(chain.from_iterable(speeds.values())):
        cells = (f"{speed[program] / 1e3:.0f}" if program in speed else "" for speed in speeds.values())
        lines.append(_line((program, *cells)))
    return "".join(lines)


def _ruled(headings: Sequence[str]) -> str:
    return f"{_line(headings)}|---|{'---:|' * (len(headings) - 1)}\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
