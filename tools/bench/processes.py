"""Resources used by a process and its descendants, from Linux's /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def family_of(root: int) -> Iterator[Path]:
    """The /proc folders of a process and its descendants."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            parents[int(path.parent.name)] = int(_stat(path)[1])
    wanted = {root}
    while more := {one for one, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    return (Path(f"/proc/{one}") for one in wanted)


def processor_seconds(root: int) -> float:
    """Processor seconds of a process tree, including ended children."""
    return sum(sum(seconds) for seconds in _seconds(root).values())


def peaks(root: int) -> Iterator[int]:
    """Peak memory of each Python worker below a process, in bytes."""
    for process in family_of(root):
        try:
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        except OSError:
            continue
        # The status of a zombie has no memory figures.
        is_worker = status.get("Name", "").strip().startswith("python") and process.name != str(root)
        if is_worker and "VmHWM" in status:
            yield int(status["VmHWM"].split()[0]) * 1024


class Watched:
    """Processor seconds of a process tree that ends while it is watched, by polling.

    Spark's daemons do not wait for the workers that they end, so no process has the total.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._own: dict[str, float] = {}

    def look(self) -> None:
        for name, (own, _) in _seconds(self._root).items():
            self._own[name] = max(own, self._own.get(name, 0.0))

    @property
    def seconds(self) -> float:
        return sum(self._own.values())


def _seconds(root: int) -> dict[str, tuple[float, float]]:
    """The seconds of each process, and those of its ended children."""
    found = {}
    for process in family_of(root):
        with suppress(OSError):
            user, system, ended, in_system = map(int, _stat(process / "stat")[11:15])
            found[process.name] = (user + system) / _TICKS, (ended + in_system) / _TICKS
    return found


def _stat(path: Path) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent ..."""
    return path.read_text().rpartition(")")[2].split()
