"""Builds the library of all kernels: new and changed ones are compiled by one process per core.

Object files are cached in `build/kernels`, under a digest of everything they depend on.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from binlog_kaitai.kernels.compile import called_by, fingerprint
from binlog_kaitai.kernels.library import CHECKED, LIBRARY, REASON, KernelRow
from tools.kernels.annotations import find_kernel, signatures
from tools.kernels.linking import LinkError, compiler, link
from tools.kernels.targets import TARGETS, own_level, this_machine

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build/kernels"

#: Days after which an object file that no build has used is removed.
_UNUSED = 30


class BuildError(Exception):
    """The kernels cannot be compiled; contains the reason."""


class Task(NamedTuple):
    """One kernel for one processor level: a line for a worker, and its output files."""

    name: str
    signature: str
    entry: str
    path: Path

    @property
    def result_path(self) -> Path:
        """The file with the types of a result."""
        return self.path.with_suffix(".result")


def build(
    output: Path,
    signatures: Mapping[str, str],
    *,
    machine: str = "",
    levels: Iterable[str] = (),
    is_checked: bool = False,
    is_in_place: bool = True,
) -> None:
    """Write the library of the given kernels, unless it exists and nothing has changed.

    Parameters
    ----------
    output
        The library.
    signatures
        Argument types of each kernel.
    machine, levels
        The machine, as in `targets.TARGETS`, and some of its levels; by default, this machine and all levels.
    is_checked
        Check array bounds: an access outside is an exception.
    is_in_place
        Store fingerprints in the library, so that a kernel edited since is not used.

    Raises
    ------
    BuildError
    """
    machine = machine or this_machine()
    if machine not in TARGETS:
        raise BuildError(f"kernels are compiled for {', '.join(TARGETS)}, not for {machine}")
    levels = list(levels) or TARGETS[machine].levels
    try:
        compiler(machine)
        versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite")]
    except (LinkError, importlib.metadata.PackageNotFoundError) as error:
        raise BuildError(str(error)) from error
    made_by = _digest(*versions, Path(__file__).with_name("translate.py").read_text())
    KEPT.mkdir(parents=True, exist_ok=True)
    rows, tasks = [], []
    for name, signature in signatures.items():
        code = fingerprint(find_kernel(name))
        entry = f"{name.rpartition('.')[2].strip('_')}_{_digest(name, signature, code)}"
        rows.append((name, signature, entry, code if is_in_place else ""))
        tasks += [
            Task(name, signature, *_object(entry, machine, level, is_checked, made_by)) for level in levels
        ]
    for number, level in enumerate(levels):
        _translate(tasks[number :: len(levels)], machine, level, is_checked)
    results = [task.result_path.read_text() for task in tasks[:: len(levels)]]
    table = [KernelRow(*row, result) for row, result in zip(rows, results, strict=True)]
    objects = sorted(task.path for task in tasks)
    for path in objects:
        os.utime(path)
    stamp = _digest(repr(table), *map(str, objects), machine, *levels)
    stamp_file = KEPT / f"{_digest(str(output.resolve()))}.linked"
    if not (output.exists() and stamp_file.exists() and stamp_file.read_text() == stamp):
        try:
            link(output, table, objects, machine, KEPT)
        except LinkError as error:
            raise BuildError(str(error)) from error
        stamp_file.write_text(stamp)
    _clear()


def build_here(*, is_checked: bool = False) -> None:
    """The library of this checkout, for this processor.

    Raises
    ------
    BuildError
    """
    output, reason = Path(CHECKED if is_checked else LIBRARY), Path(REASON)
    try:
        build(output, signatures(), levels=[own_level()], is_checked=is_checked)
    except BuildError as error:
        output.unlink(missing_ok=True)
        reason.write_text(f"{error}\n")
        raise
    reason.unlink(missing_ok=True)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _object(entry: str, machine: str, level: str, is_checked: bool, made_by: str) -> tuple[str, Path]:
    """The symbol, and the file."""
    symbol = f"{entry}_{TARGETS[machine].levels.index(level)}"
    return symbol, KEPT / f"{_digest(symbol, machine, level, str(is_checked), made_by)}.o"


def _translate(tasks: list[Task], machine: str, level: str, is_checked: bool) -> None:
    """Have workers create the missing object files."""
    pending: SimpleQueue[Task] = SimpleQueue()
    missing = [task for task in tasks if not task.path.exists()]
    # The slowest ones take ten times as long as others, so they are compiled first.
    for task in sorted(missing, key=lambda task: -_size(task.name)):
        pending.put(task)
    if not missing:
        return
    progress = _Progress(len(missing), f"{level}{', with bounds checked' if is_checked else ''}")
    command = [sys.executable, "-m", "tools.kernels.worker", machine, level]
    command += ["checked"] if is_checked else []
    count = min(os.cpu_count() or 1, len(missing))
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(_work, command, pending, progress) for _ in range(count)]:
            done.result()
    progress.end()


def _size(name: str) -> int:
    seen, pending = set(), [find_kernel(name)]
    while pending:
        function = pending.pop()
        if function not in seen:
            seen.add(function)
            pending += called_by(function).values()
    return sum(len(function.__code__.co_code) for function in seen)


def _work(command: list[str], pending: SimpleQueue[Task], progress: _Progress) -> None:
    """Give tasks to a worker, one at a time."""
    environment = {**os.environ, "BINLOG_KAITAI_KERNELS": "python"}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env=environment,
        ) as worker,
    ):
        assert worker.stdin is not None
        assert worker.stdout is not None
        while True:
            try:
                task = pending.get_nowait()
            except Empty:
                worker.stdin.close()
                return
            with suppress(BrokenPipeError):  # the missing answer shows that it has ended
                worker.stdin.write("\t".join(map(str, task)) + "\n")
                worker.stdin.flush()
            status, _, text = worker.stdout.readline().rstrip("\n").partition("\t")
            if status != "done":
                worker.kill()
                errors.seek(0)
                raise BuildError(text or f"{task.name}: {errors.read().strip() or 'the compiler ended'}")
            progress.step()


class _Progress:
    """A progress line; without a terminal, one line at the start and one at the end."""

    def __init__(self, count: int, what: str) -> None:
        self._done, self._count, self._what = 0, count, what
        self._start = time.monotonic()
        self._is_seen = sys.stderr.isatty()
        self._print("\n")

    def step(self) -> None:
        self._done += 1
        if self._is_seen:
            self._print("")

    def end(self) -> None:
        self._print(f" in {time.monotonic() - self._start:.0f} s\n")

    def _print(self, ending: str) -> None:
        begin = "\r" if self._is_seen else ""
        ending = "" if self._is_seen and not self._done else ending
        line = f"{begin}compiling kernels for {self._what}: {self._done} of {self._count}"
        print(line, end=ending, file=sys.stderr, flush=True)


def _clear() -> None:
    oldest = time.time() - _UNUSED * 86400
    for path in KEPT.iterdir():
        with suppress(FileNotFoundError):  # other builds remove their own files
            if path.stat().st_mtime < oldest:
                path.unlink()
