"""Messages on stdout and stderr."""

from __future__ import annotations

import sys
from typing import BinaryIO, cast

import click

from binlog_kaitai.render.output_text import ENCODING_ERRORS, TerminalWriter, printable


def text_output() -> BinaryIO:
    """Where to write text of a log: stdout, with control characters escaped if it is a terminal."""
    stream = sys.stdout.buffer
    return cast(BinaryIO, TerminalWriter(stream)) if sys.stdout.isatty() else stream


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
