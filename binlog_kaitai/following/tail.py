"""What logs have, and then, without an end, what their server writes: transactions as they are committed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NoReturn

from binlog_kaitai.errors import SourceError
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.walk import Span
from binlog_kaitai.sources.source import Source, with_later_logs

#: How often to look for more, in seconds.
PAUSE = 0.5

#: Bytes that are looked through before some of them are given.
_AT_ONCE = 64 << 20


class _Series(Follower):
    """Follows a log into those that its server begins after it."""

    def logs(self) -> list[str]:
        found = with_later_logs([Source.of_path(path) for path in super().logs()])
        return [one.path for one in found if one.path is not None]

    def _lose(self, error: SourceError) -> NoReturn:
        raise error


def tail(
    paths: Sequence[str], *, from_now: bool = False, ddl: str | None = None, pause: float = PAUSE
) -> Iterator[Span]:
    """The parts of logs in order, those that are there and then new ones; ends by an error alone.

    Parameters
    ----------
    paths
        Logs, glob patterns, directories or index files. A log goes on in those of its series after it.
    from_now
        Without what is there already.
    ddl
        Definitions of tables to begin with, as mysqldump writes them.

    Raises
    ------
    BinlogError
        A log is damaged, gone or another one than it was; before, all that comes before that has been given.
    """
    follower = _Series(paths, follows_definitions=True, ddl=ddl)
    mark = follower.latest() if from_now else follower.earliest()
    while True:
        reached = follower.advance(mark, max_bytes=_AT_ONCE)
        if reached == mark:
            time.sleep(pause)
            continue
        yield from follower.spans(mark, reached)
        mark = reached
