"""Messages on stdout and stderr."""

from __future__ import annotations

import click

from binlog_kaitai.render.terminal import printable


def say(line: str, *, err: bool = False) -> None:
    """Print a line, with control characters escaped."""
    click.echo(printable(line), err=err)


def warn(message: object) -> None:
    """Print a warning or an error to stderr."""
    say(f"binlog-kaitai: {message}", err=True)
