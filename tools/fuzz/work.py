"""Processes that share the work.

A process handles every n-th mutant. It reports each mutant that it starts and each finding, so that the log
is known if the process dies or an alarm cannot stop it.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.fuzz.findings import Finding, Findings
from tools.fuzz.mutants import Mutant, mutant
from tools.fuzz.outcome import Problem

#: Seconds without a report after which a process is considered to hang in machine code.
_SILENCE = 600

#: Unreachable objects are freed after this many logs. Those of a reader hold 4 MiB, but Python counts only
#: objects: it would keep so many that the process runs out of address space.
_LOGS_TO_COLLECT = 200

_MEMORY = Path("/dev/shm")

#: The number of a mutant that was started, or of one with a finding.
_Message = tuple[int, "Finding | None"]


@dataclass(frozen=True)
class Plan:
    """The parameters of a run.

    Attributes
    ----------
    seed, logs : int
        The mutants: numbers from 0 on, of this seed.
    seconds : float
        Time limit.
    jobs : int
        Number of processes.
    kernels : str
        How kernels run: a value of `BINLOG_KAITAI_KERNELS`.
    leaves_none_out : bool
        Run every entry point on every log.
    folder : Path
        Folder for findings.
    """

    seed: int
    logs: int
    seconds: float
    jobs: int
    kernels: str
    leaves_none_out: bool
    folder: Path

    def name(self, number: int) -> str:
        return f"{self.seed}/{number}"


def problems_of(mutated: Mutant, folder: Path, *, leaves_none_out: bool = False) -> list[Problem]:
    """The problems of all entry points on one log."""
    from tools.fuzz.entries import run_all
    from tools.fuzz.run import Run

    run = Run(mutated.name, mutated.data, folder)
    try:
        run_all(run, leaves_none_out=leaves_none_out)
    finally:
        run.close()
    return run.problems


def prepare() -> Path:
    """Prepare this process: warnings are errors, memory is limited; returns a folder in memory."""
    from tools.fuzz.bounds import limit_memory

    warnings.simplefilter("ignore")
    warnings.simplefilter("error", RuntimeWarning)
    os.environ["TZ"] = "UTC"
    time.tzset()
    gc.set_threshold(50_000)
    limit_memory()
    sys.stderr = open(os.devnull, "w")  # output of commands  # noqa: SIM115
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None))


def _process(plan: Plan, number: int, words: Any) -> None:
    from tools.fuzz.shrink import shrunk

    folder = prepare()

    def stop(*_: Any) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)  # an exception could be mistaken for a finding, or be lost in machine code

    signal.signal(signal.SIGTERM, stop)
    known: set[str] = set()
    end = time.monotonic() + plan.seconds
    try:
        for count, index in enumerate(range(number, plan.logs, plan.jobs), 1):
            if time.monotonic() > end:
                break
            if count % _LOGS_TO_COLLECT == 0:
                gc.collect()
            words.put(("begin", number, index, None))
            mutated = mutant(plan.name(index))
            for problem in problems_of(mutated, folder, leaves_none_out=plan.leaves_none_out):
                finding = Finding(problem, mutated, plan.kernels)
                smaller = mutated
                if finding.key not in known:
                    known.add(finding.key)
                    smaller = shrunk(mutated, _has(problem, folder, plan.leaves_none_out))
                words.put(("finding", number, index, finding._replace(mutant=smaller)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        words.put(("end", number, 0, None))


def _has(problem: Problem, folder: Path, leaves_none_out: bool) -> Callable[[Mutant], bool]:
    def is_same(other: Mutant) -> bool:
        problems = problems_of(other, folder, leaves_none_out=leaves_none_out)
        return any(known[:2] == problem[:2] for known in problems)

    return is_same


class _Team:
    """The processes, and their last reports."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._context = multiprocessing.get_context("spawn")
        self.words: Any = self._context.Queue()
        self.at = [-1] * plan.jobs
        self.heard = [time.monotonic()] * plan.jobs
        self.processes = [
            self._context.Process(target=_process, args=(plan, number, self.words), daemon=True)
            for number in range(plan.jobs)
        ]
        for process in self.processes:
            process.start()

    def listen(self) -> Iterator[_Message]:
        """Reports of started mutants and findings, until all processes have ended."""
        left = set(range(self.plan.jobs))
        while left:
            try:
                what, number, index, finding = self.words.get(timeout=5)
            except queue.Empty:
                for number in sorted(left):
                    if (lost := self._lost(number)) is not None:
                        left.discard(number)
                        yield self.at[number], lost
                continue
            self.heard[number] = time.monotonic()
            if what == "end":
                left.discard(number)
            else:
                self.at[number] = index
                yield index, finding

    def _lost(self, number: int) -> Finding | None:
        """Report a process that died or hangs, with its mutant."""
        process = self.processes[number]
        if process.is_alive() and time.monotonic() - self.heard[number] < _SILENCE:
            return None
        kind = "hang" if process.is_alive() else "crash"
        sign = f"exit code {process.exitcode}"
        if process.is_alive():
            process.kill()
        name = self.plan.name(max(self.at[number], 0))
        return Finding(Problem(kind, sign, f"{kind}: {sign}"), mutant(name), self.plan.kernels)


def _stop(*_: Any) -> None:
    raise KeyboardInterrupt


def _until_stopped(messages: Iterator[_Message]) -> Iterator[_Message]:
    """Reports until the run is stopped by a signal, which ends it normally."""
    try:
        yield from messages
    except KeyboardInterrupt:
        return


def work(plan: Plan, say: Callable[[str], object]) -> tuple[int, Findings]:
    """Test all mutants of a plan; returns their number, and the findings."""
    findings, done, begin = Findings(plan.folder), 0, time.monotonic()
    reported_at = begin
    signal.signal(signal.SIGTERM, _stop)
    for _, finding in _until_stopped(_Team(plan).listen()):
        if finding is None:
            done += 1
        elif findings.is_new(finding):
            path = finding.write(plan.folder)
            say(f"{finding.problem.kind}: {finding.problem.sign[:160]}\n    {path}")
        if time.monotonic() - reported_at > 60:
            reported_at = time.monotonic()
            rate = done / (reported_at - begin)
            say(f"{done} logs, {rate:.1f} a second, {len(findings.counts)} kinds of findings")
    return done, findings
