"""Output: messages, text of logs, and a progress bar.

The bar is on stderr, if that is a terminal. It is shown only once a log turns out to be long, and not if
output lines go to the same terminal.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from binlog_kaitai.text.output_text import ENCODING_ERRORS, TableWriter, TerminalWriter, printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from binlog_kaitai.sources.source import Source


@contextmanager
def handling(handler: Callable[[int, FrameType | None], object], *numbers: signal.Signals) -> Iterator[None]:
    """Handle signals in the block, and as before after it."""
    before = [(number, signal.signal(number, handler)) for number in numbers]
    try:
        yield
    finally:
        for number, earlier in before:
            signal.signal(number, earlier)


def interrupt(*_: object) -> None:
    """Handle a signal like Ctrl-C."""
    raise KeyboardInterrupt


def text_output(*, is_table: bool = False) -> BinaryIO:
    """Where to write text of a log: stdout, with control characters escaped if it is a terminal.

    A terminal gets the lines of a table folded and colored, and others colored on request.
    """
    stream, is_terminal = sys.stdout.buffer, sys.stdout.isatty()
    if not is_terminal and not (is_table and has_colors()):
        return stream
    if not is_table:
        return cast(BinaryIO, TerminalWriter(stream))
    from shutil import get_terminal_size  # the import takes 2 ms

    width = get_terminal_size().columns if is_terminal else sys.maxsize
    return cast(BinaryIO, TableWriter(stream, width, has_colors=has_colors()))


def has_colors() -> bool:
    """Whether stdout gets colors: as was asked for (see `shared_options.color`), else if it shows them."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def print_json(text: str) -> None:
    """Print a line of JSON."""
    stdout = text_output()
    stdout.write(f"{text}\n".encode("utf-8", ENCODING_ERRORS))
    stdout.flush()


def say(line: str, *, err: bool = False) -> None:
    """Print a line, with control characters escaped."""
    click.echo(printable(line), err=err)


def warn(message: object) -> None:
    """Print a warning or an error to stderr."""
    say(f"binlog-kaitai: {message}", err=True)


#: Minimum size in bytes; shorter logs are read before a bar would be noticed.
_WORTHWHILE = 4 << 20

if TYPE_CHECKING:
    Advance = Callable[[Source, int], object]


@contextmanager
def progress_over(task: str = "", *, beside_output: bool = False) -> Iterator[Advance]:
    """A bar for reading logs, each from its start; yields a function that takes log and offset.

    `task`: the name of the operation, if there are several.
    `beside_output`: lines are written to stdout meanwhile: no bar if that is a terminal, too.
    """
    if not sys.stderr.isatty() or (beside_output and sys.stdout.isatty()):
        yield lambda source, position: None
        return
    bar = _Bar(task)
    try:
        yield bar.advance
    finally:
        bar.close()


class _Bar:
    """The bar, which is shown once the log is long enough."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._name: str | None = None
        self._size: int | None = None
        self._bar: Progress | None = None
        self._shown: TaskID  # of the bar

    def advance(self, source: Source, position: int) -> None:
        """Set how much of a log has been read."""
        if source.name != self._name:
            self._name = source.name
            is_file = source.path is not None and os.path.isfile(source.path)
            self._size = os.path.getsize(str(source.path)) if is_file else None
            if self._bar is not None:
                self._bar.reset(self._shown, total=self._size, description=self._title())
        if self._bar is None and (self._size or position) >= _WORTHWHILE:
            self._begin()
        if self._bar is not None:
            self._bar.update(self._shown, completed=position)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _title(self) -> str:
        # Text in brackets would be markup.
        name = printable(os.path.basename(self._name or "")).replace("[", r"\[")
        return f"{self._task} {name}".strip()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._shown = self._bar.add_task(self._title(), total=self._size)
