"""Servers as sources: each log as a stream, up to the server's current end.

A log is read over its own connection, from its magic to its end, and is not stored on disk. Reading a log
twice fetches it twice; for repeated use, `fetch` it.

A torn log ends within an event, because the server was killed while writing it or its disk was full. When
MySQL restarts, it cuts the partial event off; MariaDB leaves it and starts a new log. Servers send neither
the partial event nor anything after it: a dump ends with an error, although there are later logs.

What shows that nothing is missing between the tear and the next log is the event with the GTIDs before it:
the server collected them from the torn log when it restarted, and has no other logs in between. MySQL's
PREVIOUS_GTIDS_LOG_EVENT must equal the GTIDs of the complete transactions. MariaDB's GTID_LIST_EVENT must not
name any that are missing; but after a crash it may be older than the torn log (seen in 11.8, if the last
BINLOG_CHECKPOINT_EVENT names an earlier log). Then the first transaction of the next log must be a new one.
"""

from __future__ import annotations

import io
import random
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, cast

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import PREVIOUS_TYPES, LogHeader, read_log_header
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import (
    BinlogError,
    ConnectionLostError,
    DamagedError,
    ServerError,
    TornLogWarning,
    UsageError,
    warn,
)
from binlog_kaitai.live.address import Address, ServerUrl
from binlog_kaitai.live.archive import FLAGS_AT, IN_USE, SERVER_IDS
from binlog_kaitai.live.causes import TORN, TORN_LOG, with_cause
from binlog_kaitai.live.packets import DumpStream, StreamState
from binlog_kaitai.live.server_session import Replica, ServerSession
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.boundaries import QuiescentPoints
from binlog_kaitai.log.gtid_runs import add_gtids, previous_gtids
from binlog_kaitai.sources.source import Source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def resolve(url: str) -> list[Source]:
    """The logs of a server, oldest first; the URL option ``from=NAME`` selects the first one.

    Of several servers, those of the first that can be reached.

    Raises `ServerError`: the server refuses, or cannot be reached; `UsageError`: the URL is invalid, or the
    log does not exist.
    """
    parts = ServerUrl.of(url)
    first = dict(parts.pairs()).get("from")
    others = parts.with_options([pair for pair in parts.pairs() if pair[0] != "from"])
    address, names = _first_reached(Address.parse(str(others)))
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


# -- torn logs

#: What is reported when reading continues after a torn log.
PASSED = "{log} ends within an event, at {position}, as after a crash of the server; continuing with {next}"


def torn(why: str) -> ServerError:
    """The error for a torn log that cannot be read past."""
    return with_cause(TORN, f"{TORN_LOG}, and {why}")


def log_after(session: ServerSession, name: str) -> str:
    """The name of the server's log after another one, which may not exist.

    Raises `ServerError`: the log is the server's newest; `ConnectionLostError` if the server cannot be
    reached.
    """
    try:
        names = [log for log, _ in session.logs()]
    except ConnectionLostError:
        raise
    except ServerError:  # a privilege that reading logs does not require
        stem, _, number = name.rpartition(".")
        return f"{stem}.{int(number) + 1:0{len(number)}}"
    if name not in names[:-1]:
        raise torn("it is the server's newest: restart the server, or rotate its logs")
    return names[names.index(name) + 1]


def check_continues(log: BinaryIO, following: BinaryIO, name: str) -> None:
    """Check that no transaction is missing between a torn log and the next one, and that none is unknown.

    `log`: the torn log, up to its last whole event.
    `following`: the next log.
    `name`: its name.
    Raises `ServerError`: the next log does not continue the torn one, or has no GTIDs that show it.
    """
    mine = gtids_at_end(log)
    header = read_log_header(following, name).checked()
    theirs = None if header is None else header.previous
    if not mine or header is None or not theirs:
        raise torn(f"without GTIDs nothing shows that {name} continues it")
    if missing := theirs - mine:
        raise torn(f"the transactions {missing}, which {name} continues, are missing from it")
    is_new = header.first_gtid is None or header.first_gtid not in mine
    is_old = _is_mariadb(theirs) and is_new
    if (unknown := mine - theirs) and not is_old:
        raise torn(f"the server lost the transactions {unknown} in it, which {name} does not continue")


def gtids_at_end(log: BinaryIO) -> GtidSet:
    """The GTIDs before a log and of its complete transactions; empty if a transaction has none."""
    gtids, points, is_complete, last = GtidSet(), QuiescentPoints(), True, None
    for block in BlockReader.of_file(log, ""):
        kinds = block.counts
        if EventType.anonymous_gtid_log_event in kinds:
            return GtidSet()
        for kind in PREVIOUS_TYPES:
            for row in block.rows_of(kind).tolist():
                gtids.update(previous_gtids(block.event(row)))
        add_gtids(gtids, block)
        rows = [int(block.rows_of(kind)[-1]) for kind in GTID_TYPES if kind in kinds]
        last = block.event(max(rows)).stated_gtid if rows else last
        is_complete = len(block) in points.of(block)
    if not is_complete and last is not None:
        unfinished = GtidSet()
        unfinished.add(last)
        gtids = gtids - unfinished
    return gtids.up_to_last()


def _is_mariadb(gtids: GtidSet) -> bool:
    return any(source.count("-") == 1 for source, _ in gtids.items())
