"""Lines on how much of a dump has been read."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from binlog_kaitai.sources.packed import PackedStream, open_file

#: Seconds between two lines.
SECONDS = 5.0

_MEGABYTE = 1_000_000


class DumpProgress:
    """Counts the bytes read of a dump's scripts, and reports them now and then.

    Parameters
    ----------
    path
        The script, or the directory of scripts.
    report
        Called with each line.
    """

    def __init__(self, path: Path, report: Callable[[str], object]) -> None:
        self._report = report
        self._total = _size_of(path)
        self._before = 0  # bytes of the scripts that have been read
        self._next = time.monotonic() + SECONDS

    def advance(self, position: int, tables: int) -> None:
        """Report the offset in the current script and the number of tables so far, if a line is due."""
        if (now := time.monotonic()) < self._next:
            return
        self._next = now + SECONDS
        read = (self._before + position) // _MEGABYTE
        # How long compressed scripts are is not known before their end.
        of_total = "" if self._total is None else f" of {self._total // _MEGABYTE}"
        self._report(f"dump: {read}{of_total} MB read, {tables} {'table' if tables == 1 else 'tables'}")

    def end_script(self, size: int) -> None:
        """Add a script that has been read to its end."""
        self._before += size


def _size_of(path: Path) -> int | None:
    """The size of all files in bytes; None if one is compressed."""
    files = [path] if not path.is_dir() else [one for one in path.iterdir() if one.is_file()]
    for one in files:
        with open_file(str(one)) as stream:
            if isinstance(stream, PackedStream):
                return None
    return sum(one.stat().st_size for one in files)
