"""Servers as sources: each log as a stream, up to the server's current end.

A log is read over its own connection, from its magic to its end, and is not stored on disk. Reading a log
twice fetches it twice; for repeated use, `fetch` it.
"""

from __future__ import annotations

import io
import random
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.spans import LogHeader, read_log_header
from binlog_kaitai.errors import (
    BinlogError,
    ConnectionLostError,
    DamagedError,
    ServerError,
    TornLogWarning,
    UsageError,
    warn,
)
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.archive import FLAGS_AT, IN_USE, SERVER_IDS
from binlog_kaitai.live.packets import DumpStream, StreamState
from binlog_kaitai.live.server_session import Replica, ServerSession
from binlog_kaitai.live.torn_logs import PASSED, check_continues, torn
from binlog_kaitai.sources.source import Source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def resolve(url: str) -> list[Source]:
    """The logs of a server, oldest first; the URL option ``from=NAME`` selects the first one.

    Of several servers, those of the first that can be reached.

    Raises `ServerError`: the server refuses, or cannot be reached; `UsageError`: the URL is invalid, or the
    log does not exist.
    """
    first, rest = _without_from(url)
    address, names = _first_reached(Address.parse(rest))
    if first is not None:
        if first not in names:
            raise UsageError(f"the server has no log {first}; its oldest is {names[0]}", file=address.name)
        names = names[names.index(first) :]
    return sources_of(address, names)


def sources_of(address: Address, names: list[str]) -> list[Source]:
    """Logs of a server, given by consecutive names; the last one counts as its newest."""
    pairs = zip(names, [*names[1:], ""], strict=True)
    return [
        Source(address.name + name, partial(open_log, address, name, following)) for name, following in pairs
    ]


def _first_reached(addresses: list[Address]) -> tuple[Address, list[str]]:
    """The first server that can be reached, and the names of its logs."""
    for address in addresses[:-1]:
        with suppress(ConnectionLostError), ServerSession(address, anyone()) as session:
            return address, [name for name, _ in session.logs()]
    with ServerSession(addresses[-1], anyone()) as session:
        return addresses[-1], [name for name, _ in session.logs()]


def _without_from(url: str) -> tuple[str | None, str]:
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    first = next((value for key, value in query if key == "from"), None)
    others = urlencode([(key, value) for key, value in query if key != "from"])
    return first, urlunsplit(parts._replace(query=others))


def anyone() -> Replica:
    """An identity for one connection, which no other one has."""
    return Replica(random.SystemRandom().randrange(*SERVER_IDS), str(uuid.uuid4()))


def open_log(address: Address, name: str, following: str | None = None) -> BinaryIO:
    """A stream of one log of a server, at its first byte.

    `following`: the server's next log; ``""`` if there is none, None if unknown.
    Raises `ServerError`: the server refuses, or has no such log. While reading: the log ends within an event,
    and the next one does not continue it.
    """
    return _open(address, name, following, partial(_pass_torn_log, address, name, following))


def log_header(address: Address, name: str) -> LogHeader | None:
    """The start of a log of a server; None if it has none yet."""
    with open_log(address, name) as stream:
        return read_log_header(stream, address.name + name).checked()


def _open(
    address: Address, name: str, following: str | None, pass_torn_log: Callable[[DumpStream], None]
) -> BinaryIO:
    session = ServerSession(address, anyone())
    try:
        stream = session.dump(name, len(MAGIC))
    except BinlogError as error:
        session.close()
        raise error.at(file=address.name + name, position=None) from error.__cause__
    is_newest = following == ""
    return cast(BinaryIO, LogStream(session, stream, address.name + name, pass_torn_log, is_newest=is_newest))


def _pass_torn_log(address: Address, name: str, following: str | None, stream: DumpStream) -> None:
    """Accept a log that ends within an event if the next one continues it."""
    if not following:
        raise torn("it is the server's newest: restart the server, or rotate its logs")
    with _open(address, name, None, lambda _: None) as log, open_log(address, following) as next_log:
        check_continues(log, next_log, following)
    facts = {"log": address.name + name, "position": stream.position, "next": following}
    warn(PASSED.format(**facts), TornLogWarning)


class LogStream(io.RawIOBase):
    """The bytes of a log, to its end.

    `pass_torn_log`: called if the log ends within an event; its last whole event then is the end, unless this
    raises.
    """

    def __init__(
        self,
        session: ServerSession,
        stream: DumpStream,
        name: str,
        pass_torn_log: Callable[[DumpStream], None],
        *,
        is_newest: bool = False,
    ) -> None:
        self._session = session
        self._pass_torn_log = pass_torn_log
        self._stream = stream
        self._name = name
        self._is_newest = is_newest

    def readable(self) -> bool:
        return True

    def readinto(self, room: WriteableBuffer) -> int:
        stream, view = self._stream, memoryview(room).cast("B")
        try:
            while len(view):
                begin = stream.position
                if count := stream.readinto(view):
                    if self._is_newest and begin <= FLAGS_AT < begin + count:
                        # Servers clear the flag in the events that they send, but the log is in use.
                        view[FLAGS_AT - begin] |= IN_USE
                    return count
                if stream.state in (StreamState.NEXT_LOG, StreamState.ENDED):
                    return 0
                if stream.state is StreamState.TORN:
                    self._pass_torn_log(stream)
                    return 0
                stream.wait()
        except (ServerError, DamagedError) as error:
            raise error.at(file=self._name, position=stream.position) from error.__cause__
        return 0

    def close(self) -> None:
        if not self.closed:
            self._session.close()
        super().close()
