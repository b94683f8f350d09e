"""`--follow`: keep reading as the server writes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from binlog_kaitai.errors import UsageError

if TYPE_CHECKING:
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.following import Span

_Command = TypeVar("_Command", bound=Callable[..., Any])


def follows(command: _Command) -> _Command:
    """Add the options; the command gets them as `follow` and `from_now`."""
    for option in (
        click.option("--from-now", is_flag=True, help="With --follow: skip existing events."),
        click.option("--follow", is_flag=True, help="Keep reading as the server writes, until Ctrl-C."),
    ):
        command = option(command)
    return command


def write_followed(
    sources: tuple[str, ...],
    filters: dict[str, Any],
    write: Callable[[Span, Filters], object],
    *,
    from_now: bool,
    ddl: str | None = None,
) -> None:
    """Write spans of logs as they appear, until interrupted; `write` gets each span and its filters."""
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.following.spans import with_gtids
    from binlog_kaitai.following.tail import tail

    for name in ("stop_position", "stop_datetime"):
        if filters.get(name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} cannot be used with --follow")
    Filters.of(**filters)
    first: str | None = None
    interrupts: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        interrupts.append(number)  # the exception is lost if it is raised while a generator is finalized
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    with suppress(KeyboardInterrupt):
        for span in tail(sources, from_now=from_now, ddl=ddl, stop=lambda: bool(interrupts)):
            first = first or span.path
            chosen = with_gtids(filters, span)
            if span.path != first:
                chosen["start_position"] = None
            write(span, Filters.of(**chosen))
            sys.stdout.buffer.flush()


def check_follow(follow: bool, from_now: bool) -> None:
    """Reject an option that has no meaning without `--follow`."""
    if from_now and not follow:
        raise UsageError("--from-now requires --follow")
