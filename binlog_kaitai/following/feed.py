"""Running servers as a source to follow: their logs are fetched into a folder."""

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
        """The newest log, and up to where it can be read; logs before that of a checkpoint may be removed."""

    def name_of(self, path: str) -> str:
        """The name of a log in output and errors: that on the server."""

    def close(self) -> None:
        """Stop fetching."""


def feed_of(paths: Sequence[str], start: Start, *, is_bounded: bool = False) -> Feed | None:
    """The feed of a server; None for files.

    Raises
    ------
    UsageError
        A server is not the only source.
    ServerError
        The server cannot be reached, or rejects the request.
    """
    if not any(map(is_server, paths)):
        return None
    if len(paths) > 1:
        raise UsageError("a server cannot be followed together with other sources")
    # Imported by name, since it uses the modules above to read what it fetches.
    live = import_module("binlog_kaitai.live.direct")
    return cast(Feed, live.Direct(paths[0], start, is_bounded=is_bounded))


def first(follower: Follower, start: Start, feed: Feed | None) -> Checkpoint:
    """Where to start."""
    begin = start if feed is None else feed.start
    if isinstance(begin, Mapping):
        return Checkpoint.of(begin) if "log_id" in begin else follower.place(begin)
    return follower.earliest() if begin == "earliest" else follower.latest()
