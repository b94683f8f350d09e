"""A progress bar on stderr for long work, where stderr is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from binlog_kaitai.sources import Source

#: Smaller files are done before a bar would be seen, in bytes.
_WORTHWHILE = 64 << 20


@contextmanager
def progress_over(source: Source) -> Iterator[Callable[[int], object]]:
    """A bar for reading one log; gives a function that takes the offset that has been reached."""
    size = os.path.getsize(source.path) if source.path and os.path.isfile(source.path) else 0
    if size < _WORTHWHILE or not sys.stderr.isatty():
        yield lambda position: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(os.path.basename(source.name), total=size)
        yield lambda position: bar.update(task, completed=position)


@contextmanager
def progress_over_all(task: str) -> Iterator[Callable[[Source, int], object]]:
    """A bar for reading several logs, each from its start; gives a function that takes log and offset."""
    if not sys.stderr.isatty():
        yield lambda source, position: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task(task, total=None)
        names: list[str] = []

        def advance(source: Source, position: int) -> None:
            if names[-1:] != [source.name]:
                names.append(source.name)
                size = os.path.getsize(source.path) if source.path and os.path.isfile(source.path) else None
                bar.reset(shown, total=size, description=f"{task} {os.path.basename(source.name)}")
            bar.update(shown, completed=position)

        yield advance
