"""The options `--follow` and `--from-now`, and what they follow."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import handling
from binlog_kaitai.errors import UsageError

if TYPE_CHECKING:
    from binlog_kaitai.sources.source import Source

#: How many bytes of followed logs are scanned before what they have is written.
_AT_ONCE = 64 << 20

_follow = options.flag("--follow", "Keep reading as the server writes, until Ctrl-C.")
_from_now = options.flag("--from-now", "With --follow: skip existing events.")


def follows(command: options.Command) -> options.Command:
    """Add the options; the command gets them as `follow` and `from_now`."""

    @wraps(command)
    def call(follow: bool, from_now: bool, **others: object) -> object:
        if from_now and not follow:
            raise UsageError("--from-now requires --follow")
        return command(follow=follow, from_now=from_now, **others)

    return _follow(_from_now(cast(options.Command, call)))


@contextmanager
def followed(
    sources: tuple[str, ...],
    filters: Mapping[str, Any],
    *,
    from_now: bool,
    ddl: str | None = None,
    ends_between: bool = False,
) -> Iterator[Iterator[tuple[Source, Mapping[str, Any]]]]:
    """Spans of logs as they appear, each with its filters; stdout is flushed after each.

    Ctrl-C ends the block.

    `ends_between`: it ends the spans instead, and the block only if it comes again.
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.following.feed import FeedFollower

    for name in ("stop_position", "stop_datetime"):
        if filters.get(name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} cannot be used with --follow")
    Filters.of(**filters)
    interrupts: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        interrupts.append(number)  # the exception is lost if it is raised while a generator is finalized
        if len(interrupts) > ends_between:
            raise KeyboardInterrupt

    def spans(logs: FeedFollower) -> Iterator[tuple[Source, Mapping[str, Any]]]:
        first: str | None = None
        for source in logs.follow(_AT_ONCE, stop=lambda: bool(interrupts)):
            first = first or source.path
            yield source, filters if source.path == first else {**filters, "start_position": None}
            sys.stdout.buffer.flush()

    signals = [signal.SIGINT] if signal.getsignal(signal.SIGINT) is signal.default_int_handler else []
    with (
        suppress(KeyboardInterrupt),
        handling(interrupt, *signals),
        closing(FeedFollower(sources, "latest" if from_now else "earliest", ddl=ddl)) as logs,
    ):
        yield spans(logs)
