"""A connection to a server: queries, whose answers are checked, and its logs as a stream.

PyMySQL connects, authenticates and encrypts. It does not check what it parses, so whatever it raises becomes
an error of this package that names the server. It has no dump commands, so from the dump on, this module
reads the socket; servers close a connection after a dump, so it cannot be used for anything else.

The Kaitai compiler writes no serializers for the Python classes of this project. Each message of a replica
(`formats/network`) is a list of its fields here, in the grammar's order; tests parse the bytes with the
grammar, so that the two cannot differ.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import masks, sizes
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError, ConnectionLostError, ServerError, UsageError
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.causes import LOGIN, NO_LOG, UNKNOWN_VARIABLE, broken, refusal
from binlog_kaitai.live.packets import PACKET_HEADER, SEQUENCE_AT, DumpStream, checked_name

if TYPE_CHECKING:
    from binlog_kaitai.live.connection import Connection

#: A row whose values are of the types that `ServerSession.ask` was given.
Row = tuple[Any, ...]

#: Maximum delay of a heartbeat, in seconds.
_GRACE = 5.0
#: Seconds that a server waits for a client with a slow disk.
_WRITE_TIMEOUT = 1800
#: MariaDB: this client supports GTIDs. At lower levels, servers replace events by others of the same length.
_CAPABILITY = 4

#: The stream ends after the newest event; the same bit in both dump commands.
NON_BLOCKING = masks.ComBinlogDump.IS_NON_BLOCKING

#: Without it, MariaDB omits ANNOTATE_ROWS events. In MySQL, this bit has another meaning.
WITH_ANNOTATIONS = masks.ComBinlogDump.WANTS_ANNOTATIONS

#: The largest position that COM_BINLOG_DUMP can name, in every version.
MAX_SHORT_POSITION = (1 << 8 * sizes.ComBinlogDump.POSITION_SIZE) - 1

_TAGGED = 1


@dataclass(frozen=True)
class Replica:
    """The identity of this client among the replicas of a server.

    Servers disconnect a replica when another one with the same identity connects: MySQL compares the UUID,
    MariaDB the server id.
    """

    server_id: int
    uuid: str


@dataclass(frozen=True)
class Server:
    """Properties of a server.

    `uuid`: ``""`` if it has none: MariaDB, and MySQL before 5.6.
    """

    version: str
    uuid: str
    server_id: int
    is_mariadb: bool

    @property
    def shows_all_doubles(self) -> bool:
        """Whether it prints a double in a document as such even if it has no fraction: not `2`, but `2.0`."""
        return self.is_mariadb or _version(self.version) >= (8, 0)


class ServerSession:
    """A connection to a server.

    Raises `ServerError`: the server rejects the login; `ConnectionLostError` if it cannot be reached;
    `UsageError`: PyMySQL is missing.

    `heartbeat`: interval of the server's heartbeats in seconds; the connection is lost after twice the time
    without any.
    """

    def __init__(self, address: Address, replica: Replica, *, heartbeat: float = 10.0) -> None:
        self.address = address
        self._stream: DumpStream | None = None
        self._replica = replica
        self._heartbeat = heartbeat
        self._timeout = 2 * heartbeat + _GRACE
        try:
            from binlog_kaitai.live.connection import Connection
        except ImportError as error:
            raise UsageError(f"a server needs PyMySQL: {pip_install('live')}") from error
        self._connection: Connection
        with self._reported(LOGIN):
            self._connection = Connection(
                **address.arguments(),
                charset="utf8mb4",
                autocommit=True,
                read_timeout=self._timeout,
                write_timeout=self._timeout,
                program_name="binlog-kaitai",
            )
        try:
            self.server = self._server()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, BinlogError) and not isinstance(error, UsageError):
            error.at(file=self.address.name, position=None)
        self.close()

    def close(self) -> None:
        """Close the connection, and the stream on it."""
        if self._stream is not None:
            self._stream.close()
        with suppress(Exception):
            self._connection._force_close()

    # -- queries

    def ask(self, statement: str, *kinds: type | tuple[type, ...], what: str = "") -> list[Row]:
        """The rows of a query.

        `kinds`: the types of a row's first values. More of them are ignored: newer servers add columns.
        `what`: what is asked for, and the privilege that it takes.
        Raises `ServerError`: the server rejects it, or answers something else.
        """
        with self._reported(what):
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                rows = list(cursor.fetchall())
            for row in rows:
                if len(row) < len(kinds) or not all(map(isinstance, row, kinds)):
                    raise ServerError(f"the server's answer to {statement} has the row {row!r:.200}")
            return rows

    def ask_one(self, statement: str, *kinds: type | tuple[type, ...], what: str = "") -> Row:
        """The only row of a query."""
        rows = self.ask(statement, *kinds, what=what)
        if len(rows) != 1:
            reason = f"the server's answer to {statement} has {len(rows)} rows"
            raise ServerError(reason, file=self.address.name)
        return rows[0][: len(kinds)]

    def run(self, statement: str, *values: int | str) -> None:
        """Execute a statement without a result."""
        with self._reported(""), self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)

    def stream(
        self, statement: str, columns: int, what: str = ""
    ) -> Iterator[tuple[str | bytes | None, ...]]:
        """The rows of a query as they arrive, with values as the server sends them: text, or bytes."""
        import pymysql.cursors

        with self._reported(what), self._connection.cursor(pymysql.cursors.SSCursor) as cursor:
            decoders, self._connection.decoders = self._connection.decoders, {}
            try:
                cursor.execute(statement)
                for row in cursor:
                    if len(row) != columns:
                        raise ServerError(f"the server sent a row of {len(row)} columns instead of {columns}")
                    yield row
            except BaseException:
                self._connection._force_close()  # otherwise PyMySQL would read the rest
                raise
            finally:
                self._connection.decoders = decoders

    def variable(self, name: str) -> str | None:
        """The value of a system variable; None if the server does not have it."""
        try:
            (value,) = self.ask_one(f"SELECT @@{name}", object)
        except ServerError as error:
            if f" {UNKNOWN_VARIABLE}:" in error.reason:
                return None
            raise
        return None if value is None else str(value)

    def gtids(self, name: str) -> GtidSet:
        """The GTIDs in a system variable; none if the server does not have it."""
        try:
            return GtidSet.parse(self.variable(name) or "")
        except UsageError as error:
            raise ServerError(f"the server's {name}: {error.reason}", file=self.address.name) from error

    @contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Convert PyMySQL's exceptions to errors of this package that name the server."""
        import pymysql

        try:
            yield
        except pymysql.MySQLError as error:
            code, message = (*error.args, "", "")[:2]
            if not isinstance(code, int):  # PyMySQL itself finds something wrong
                raise self._unreadable(error) from error
            if isinstance(getattr(error, "original_exception", None), ssl.SSLCertVerificationError):
                # Not to be tried again, though its number is that of a server which cannot be reached.
                raise ServerError(str(message), file=self.address.name) from error
            refused = refusal(code, str(message), what=what)
            raise refused.at(file=self.address.name, position=None) from error
        except BinlogError as error:
            raise error.at(file=self.address.name, position=None) from error.__cause__
        except OSError as error:
            reason = f"the connection broke: {error}"
            raise ConnectionLostError(reason, file=self.address.name) from error
        except Exception as error:  # PyMySQL does not check what it parses
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ServerError:
        """The error for an answer that is malformed; its rest is of no use."""
        self.close()
        reason = f"the server's answer cannot be read: {str(error) or type(error).__name__}"
        return ServerError(reason, file=self.address.name)

    # -- facts

    def newest_position(self) -> tuple[str, int]:
        """The log that the server is writing, and its length in bytes."""
        return self.log_status()[:2]

    def log_status(self) -> Row:
        """The newest log, its length in bytes, and the databases whose changes alone, or not, are logged."""
        statement = "SHOW MASTER STATUS"
        if not self.server.is_mariadb and _version(self.server.version) >= (8, 2):
            statement = "SHOW BINARY LOG STATUS"
        what = "the newest log (REPLICATION CLIENT, or BINLOG MONITOR)"
        rows = self.ask(statement, str, int, str, str, what=what)
        if not rows:
            raise ServerError(NO_LOG)
        with self._reported(what):
            self._check_log(*rows[0][:2])
        return rows[0]

    def is_replica(self) -> bool:
        """Whether the server has a source."""
        statement = "SHOW ALL SLAVES STATUS" if self.server.is_mariadb else "SHOW SLAVE STATUS"
        if not self.server.is_mariadb and _version(self.server.version) >= (8, 4):
            statement = "SHOW REPLICA STATUS"
        return bool(self.ask(statement, what="its source (REPLICATION CLIENT, or REPLICA MONITOR)"))

    def logs(self) -> list[tuple[str, int]]:
        """The server's logs with their sizes, oldest first.

        Raises `ServerError`: the server refuses, or what it lists cannot be a series of logs.
        """
        what = "the list of logs (REPLICATION CLIENT, or BINLOG MONITOR)"
        logs = [(name, size) for name, size, *_ in self.ask("SHOW BINARY LOGS", str, int, what=what)]
        with self._reported(what):
            for name, size in logs:
                self._check_log(name, size)
            if len(dict(logs)) != len(logs):
                raise ServerError("the server lists a log twice")
            if not logs:
                raise ServerError("the server lists no logs")
        return logs

    def _check_log(self, name: str, size: int) -> None:
        checked_name(name)
        if size < 0:
            raise ServerError(f"the server says that its log {name} has {size} bytes")

    def _server(self) -> Server:
        version = self.variable("version") or ""
        if self.variable("log_bin") in ("0", "OFF"):
            raise ServerError(NO_LOG, file=self.address.name)
        return Server(
            version=version,
            uuid=self.variable("server_uuid") or "",
            server_id=self.ask_one("SELECT @@server_id", int)[0],
            is_mariadb="mariadb" in version.lower(),
        )

    # -- dumps

    def dump(
        self, file_name: str, position: int, *, waits: bool = False, semi_sync: bool = False
    ) -> DumpStream:
        """The stream of a log from a position on, and of the following logs.

        `file_name`: ``""`` for the oldest log.
        `waits`: wait for more after the newest event.
        `semi_sync`: make the server wait for acknowledgements.
        """
        self._introduce(semi_sync=semi_sync)
        flags = 0 if waits else NON_BLOCKING
        if self.server.is_mariadb:
            flags |= WITH_ANNOTATIONS
        server_id = self._replica.server_id
        if position <= MAX_SHORT_POSITION:
            request = binlog_dump(file_name, position, flags, server_id)
        elif self.can_start_far():
            # The name selects the start, and nothing is excluded.
            request = binlog_dump_gtid(file_name, position, flags, server_id, GtidSet())
        else:
            reason = "past 4 GiB a log cannot be resumed without gtid_mode=ON"
            raise ServerError(reason, file=file_name, position=position)
        stream = self._start(request, waits=waits, is_eager=semi_sync)
        if file_name and (stream.log_name, max(stream.position, len(MAGIC))) != (file_name, position):
            reason = f"the server sends {stream.log_name} from {stream.position} on, and not {file_name}"
            raise ServerError(f"{reason} from {position} on, which was asked for")
        return stream

    def log_after(self, gtids: GtidSet) -> str:
        """The log with the first transaction that is not in a set."""
        self._introduce()
        flags = NON_BLOCKING
        if self.server.is_mariadb:
            self._set("slave_connect_state", str(gtids.position()))
            request = binlog_dump("", 4, flags, self._replica.server_id)
        else:
            request = binlog_dump_gtid("", 4, flags, self._replica.server_id, gtids)
        return self._start(request).log_name

    def can_start_far(self) -> bool:
        """Whether a dump may start after 4 GiB, which requires MySQL with GTIDs."""
        return not self.server.is_mariadb and self.variable("gtid_mode") == "ON"

    def has_semi_sync(self) -> bool:
        """Whether semi-synchronous replication is enabled on the server."""
        names = ("rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled")
        return any(self.variable(f"global.{name}") in ("1", "ON") for name in names)

    def acknowledge(self, stream: DumpStream, position: int) -> None:
        """Acknowledge that everything before a position is safe, in semi-synchronous replication."""
        self._send(semi_sync_ack(stream.log_name, position))
        stream.sent_acknowledgement()

    def _introduce(self, *, semi_sync: bool = False) -> None:
        """Set a replica's session variables before a dump; each server ignores the other's spellings."""
        nanoseconds = int(self._heartbeat * 1_000_000_000)
        checksum = self.variable("global.binlog_checksum")  # MySQL before 5.6 has none
        for word in ("master", "source"):
            if checksum is not None:
                self._set(f"{word}_binlog_checksum", checksum)
            self._set(f"{word}_heartbeat_period", nanoseconds)
        for word in ("slave", "replica"):
            self._set(f"{word}_uuid", self._replica.uuid)
            if semi_sync:
                self._set(f"rpl_semi_sync_{word}", 1)
        if self.server.is_mariadb:
            self._set("mariadb_slave_capability", _CAPABILITY)
        self.run(f"SET SESSION net_write_timeout = {_WRITE_TIMEOUT}")

    def _set(self, name: str, value: int | str) -> None:
        self.run(f"SET @{name} = %s", value)

    def _start(self, request: bytes, *, waits: bool = False, is_eager: bool = False) -> DumpStream:
        with self._reported("the binary log (REPLICATION SLAVE)"):
            self._send(register_slave(self._replica.server_id))
            self._connection._next_seq_id = 1
            self._connection._read_packet()
        self._send(request)
        self._connection._sock.settimeout(self._timeout)
        stream = self._stream = DumpStream(
            self._connection._sock, self._timeout, waits=waits, is_eager=is_eager
        )
        stream.begin()
        return stream

    def _send(self, payload: bytes) -> None:
        """Send a message of one packet, the first of its exchange."""
        head = len(payload).to_bytes(SEQUENCE_AT, "little") + bytes(PACKET_HEADER - SEQUENCE_AT)
        try:
            self._connection._sock.sendall(head + payload)
        except OSError as error:
            raise broken(error) from error


def _version(text: str) -> tuple[int, ...]:
    numbers = re.match(r"(\d+)\.(\d+)", text)
    return tuple(map(int, numbers.groups())) if numbers else (0, 0)


# -- the messages of a replica


def binlog_dump(file_name: str, position: int, flags: int, server_id: int) -> bytes:
    """COM_BINLOG_DUMP: the stream from a position of a log on; an empty name selects the oldest log."""
    return b"".join(
        (sizes.ComBinlogDump.COMMAND, _u4(position), _u2(flags), _u4(server_id), file_name.encode("utf-8"))
    )


def binlog_dump_gtid(file_name: str, position: int, flags: int, server_id: int, gtids: GtidSet) -> bytes:
    """COM_BINLOG_DUMP_GTID: the stream without the given transactions.

    With a name, it starts at the position, which has 8 bytes here; without one, at the first transaction that
    is not in the set.
    """
    name, data = file_name.encode("utf-8"), gtid_set(gtids)
    head = (sizes.ComBinlogDumpGtid.COMMAND, _u2(flags), _u4(server_id), _u4(len(name)), name, _u8(position))
    return b"".join((*head, _u4(len(data)), data))


def register_slave(server_id: int) -> bytes:
    """COM_REGISTER_SLAVE: SHOW REPLICAS lists this client. Host, user and password are empty."""
    host = user = password = _u1(0)
    port, rank, source_id = _u2(0), _u4(0), _u4(0)
    return b"".join(
        (sizes.ComRegisterSlave.COMMAND, _u4(server_id), host, user, password, port, rank, source_id)
    )


def semi_sync_ack(file_name: str, position: int) -> bytes:
    """The reply to an event of semi-synchronous replication: everything before the position is safe."""
    return b"".join((sizes.SemiSyncAck.MAGIC, _u8(position), file_name.encode("utf-8")))


def gtid_set(gtids: GtidSet) -> bytes:
    """A GTID set of MySQL; in the older form, which every server accepts, unless a GTID has a tag."""
    sources = []
    for source, intervals in gtids.items():
        server, _, name = source.partition(":")
        sources.append((UUID(server).bytes, name.encode(), intervals))
    sources.sort(key=itemgetter(0, 1))
    is_tagged = any(tag for _, tag, _ in sources)
    count = len(sources)
    parts = [_u1(_TAGGED) + _number(count, 6) + _u1(_TAGGED) if is_tagged else _u8(count)]
    for uuid, tag, intervals in sources:
        parts.append(uuid)
        if is_tagged:
            # A variable-length integer; below 64, it is one byte with twice the number.
            parts += [_u1(2 * len(tag)), tag]
        ranges = list(iter(intervals))  # a list of the set itself would request its length
        parts.append(_u8(len(ranges)))
        parts += [_u8(first) + _u8(last + 1) for first, last in ranges]
    return b"".join(parts)


def _number(value: int, width: int) -> bytes:
    return value.to_bytes(width, "little")


_u1, _u2, _u4, _u8 = (partial(_number, width=width) for width in (1, 2, 4, 8))
