"""Running servers to follow: what speaks to them puts their logs into a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.sources.source import is_server

Start = str | Mapping[str, Any]


class Feed(Protocol):
    """The logs of a server as files, as `binlog_kaitai.live.direct.Direct` provides them."""

    folder: str
    start: Start

    def end(self, file: str, log_id: int) -> tuple[str, int]:
        """The newest log, and up to where it can be read; logs before that of a checkpoint may go."""

    def name_of(self, path: str) -> str:
        """What outputs and errors call a log: its name on the server."""

    def close(self) -> None:
        """Nothing more is read."""


def feed_of(paths: Sequence[str], start: Start, *, is_bounded: bool = False) -> Feed | None:
    """The feed of a server; None for files.

    Raises
    ------
    UsageError
        A server is not the only source.
    ServerError
        The server cannot be reached, or refuses.
    """
    if not any(map(is_server, paths)):
        return None
    if len(paths) > 1:
        raise UsageError("a server cannot be followed together with other sources")
    # It reads what it fetches with the modules above, and is found by name from here.
    live = import_module("binlog_kaitai.live.direct")
    return cast(Feed, live.Direct(paths[0], start, is_bounded=is_bounded))


def first(follower: Follower, start: Start, feed: Feed | None) -> Checkpoint:
    """Where to begin."""
    begin = start if feed is None else feed.start
    if isinstance(begin, Mapping):
        return Checkpoint.of(begin) if "log_id" in begin else follower.place(begin)
    return follower.earliest() if begin == "earliest" else follower.latest()
