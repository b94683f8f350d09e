"""Limits for the time and memory of an entry point on a small log."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Processor seconds that an entry point may take, and after which it is stopped; wall-clock seconds.
SLOW, LONGEST, LONGEST_WAIT = 3.0, 20, 300

#: Bytes that the process may grow by, and bytes of address space above those at the start.
MOST_GROWTH, MOST_SPACE = 300 << 20, 6 << 30

_STATUS, _RESET = "/proc/self/status", "/proc/self/clear_refs"


class TooLongError(Exception):
    """An entry point does not terminate."""


def limit_memory() -> None:
    """Limit the address space to what a small log can need."""
    now = _status("VmSize")
    if now:
        resource.setrlimit(resource.RLIMIT_AS, (now + MOST_SPACE, resource.RLIM_INFINITY))


@contextmanager
def limited() -> Iterator[None]:
    """Stop long-running code with `TooLongError`."""

    def stop(*_: Any) -> None:
        raise TooLongError(f"more than {LONGEST} s of a processor, or {LONGEST_WAIT} s")

    for kind in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(kind, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


class Growth:
    """The peak memory of the process above that at the start."""

    def __init__(self) -> None:
        try:
            with open(_RESET, "w") as file:
                file.write("5")  # resets the peak to the current usage
        except OSError:  # another operating system
            pass
        self._before = _status("VmRSS")

    @property
    def most(self) -> int:
        """In bytes; 0 if the system does not report it."""
        return max(_status("VmHWM") - self._before, 0) if self._before else 0


def _status(name: str) -> int:
    try:
        with open(_STATUS, "rb") as file:
            for line in file:
                if line.startswith(name.encode()):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def clock() -> float:
    """Processor seconds of the process."""
    return time.process_time()
