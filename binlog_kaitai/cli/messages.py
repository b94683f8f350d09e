"""Lines for people, on stdout and stderr."""

from __future__ import annotations

import click

from binlog_kaitai.render.terminal import printable


def say(line: str, *, err: bool = False) -> None:
    """Print a line, with escapes for what would control the terminal."""
    click.echo(printable(line), err=err)


def warn(message: object) -> None:
    """Print a warning, or what went wrong, to stderr."""
    say(f"binlog-kaitai: {message}", err=True)
