"""Keeps an archive up to date from its server: start, resume, reconnect, follow."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import POSITION_MASK, Header
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import (
    BinlogError,
    ConnectionLostError,
    DamagedError,
    FramingError,
    ServerError,
    UsageError,
)
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.archive import Archive, SafePosition, lock
from binlog_kaitai.live.archive_eras import (
    EARLIEST,
    begin_era,
    choose,
    log_to_continue_with,
    log_to_start_with,
    newest_era,
    read_so_far,
)
from binlog_kaitai.live.causes import GTIDS_PURGED, PURGED, pause_after
from binlog_kaitai.live.closed_logs import ClosedLogs, Report
from binlog_kaitai.live.metrics import Metrics
from binlog_kaitai.live.packets import DumpStream, StreamState
from binlog_kaitai.live.server_logs import LogStream, check_continues, log_after, torn
from binlog_kaitai.live.server_session import MAX_SHORT_POSITION, Server, ServerSession
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.checksum_runs import check, error_at
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.gtid_runs import gtids as logged_gtids
from binlog_kaitai.sources.remote import is_url
from binlog_kaitai.sources.source import natural_key

#: Bytes written, and seconds, after which they are synced to disk.
_SYNC_BYTES, _SYNC_SECONDS = 32 << 20, 1.0

#: Without following, the number of consecutive attempts without a new byte.
TRIES = 8

#: Damage on the network may be temporary; damage in the server's log is not.
_TRIES_OF_DAMAGE = 3

#: With several servers, the number of consecutive attempts to reach the archive's before another one is used.
_TRIES_BEFORE_FAILOVER = 3


def refuse_gap(error: ServerError) -> None:
    """Raise the error, with what to do about an archive."""
    error.reason += "; an archive has no gaps: fetch into another directory"
    raise error


@dataclass(eq=False)
class Fetch:
    """Keeps an archive of a server's logs up to date.

    `addresses`: the server; of several, the one that the archive is from, or the first that answers. If that
    cannot be reached, the archive continues at another one in a new era, see `archive_eras`.
    `folder`: the archive's directory.
    `start`: where a new archive starts: ``earliest``, ``latest``, the name of a log, or a GTID set that is
    already present elsewhere: the log with the first transaction outside this set.
    `follows`: continue until interrupted; otherwise up to the server's current end.
    `semi_sync`: acknowledge safe transactions, so that the server's commits wait for the archive.
    `server_id`: replaces the server id chosen by the archive.
    `heartbeat`: seconds after which an idle server sends a heartbeat.
    `metrics_file`: a file for Prometheus that says how things are, see `metrics`.
    `measures`: ask the server what it has, for metrics and for reports of progress, see `Lag`.
    `compresses`, `store`, `keep_local`: compress rotated logs, and put them into an object
    store; see `ClosedLogs`.
    `stop`: set by another thread to end the run at the next whole event.
    `on_gap`: called if the server has purged what comes next, with an error that says so: raises it, or
    returns so that the archive goes on with the server's oldest log, in a new era.
    `on_tick`: called with the archive at least once a second while connected.
    `report`: called with progress messages.
    """

    addresses: Sequence[Address]
    folder: Path
    _: KW_ONLY
    start: str = EARLIEST
    follows: bool = False
    semi_sync: bool = False
    server_id: int | None = None
    heartbeat: float = 10.0
    metrics_file: Path | None = None
    measures: bool = False
    compresses: bool = False
    store: str | None = None
    keep_local: int | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    on_gap: Callable[[ServerError], object] = refuse_gap
    on_tick: Callable[[Archive], object] = lambda archive: None
    report: Report = lambda what, facts: None

    def __post_init__(self) -> None:
        self._metrics = Metrics(self.metrics_file)
        self._lag: Lag | None = None
        self._synced_at, self._synced_bytes = time.monotonic(), 0
        self._is_from_start = False

    def run(self) -> None:
        """Fetch until the end of the server's logs; if `follows`, until interrupted.

        Raises `ServerError`: the server refuses, or is not the archive's; `ConnectionLostError` after several
        attempts; `SourceError`: the archive cannot be written.
        """
        with ExitStack() as opened:
            self._opened = opened
            if (era := newest_era(self.folder)) != self.folder:
                opened.callback(os.close, lock(self.folder))
            self._open(era)
            self._closed = ClosedLogs(
                self.folder,
                compresses=self.compresses,
                store=self.store,
                keep_local=self.keep_local,
                report=self.report,
            )
            opened.callback(self._closed.close)
            try:
                self._closed.add(self._archive)
                self._run()
                if not self.stop.is_set():
                    self._closed.finish(self._archive)
                    self._show(is_connected=False, is_caught_up=True)
            finally:
                with suppress(BinlogError):  # an error is already being raised, perhaps for the same reason
                    self._archive.cut()

    def _open(self, folder: Path) -> None:
        """Open an era of the archive, to be continued; those before it stay locked."""
        self._archive = Archive(folder, server_id=self.server_id)
        self._opened.callback(self._archive.close)
        if self.measures:
            self._lag = Lag(self._archive, lambda: self._session(self._address))
            self._opened.callback(self._lag.close)

    def _run(self) -> None:
        failures = damages = 0
        while not self.stop.is_set():
            before = self._archive.place
            try:
                may_move = failures >= _TRIES_BEFORE_FAILOVER
                known, others = self._archive.server, self._continue_at
                self._address = choose(self.addresses, known, self._session, others, may_move=may_move)
                if self._fetch_from(self._address):
                    return
            except (ConnectionLostError, DamagedError) as error:
                self._archive.cut()
                if self._archive.place != before:
                    failures = damages = 0
                failures += 1
                damages += isinstance(error, DamagedError)
                if damages == _TRIES_OF_DAMAGE or not (self.follows or failures < TRIES):
                    raise
                pause = pause_after(failures)
                self._metrics.values["reconnects_total"] += 1
                self._closed.tend(self._archive)
                self._show(is_connected=False, is_caught_up=False)
                self.report("retry", {"reason": str(error), "seconds": round(pause, 1)})
                self.stop.wait(pause)
            except ServerError as error:
                if error.cause not in (PURGED, GTIDS_PURGED):
                    raise
                self.on_gap(error)
                self._continue_after_gap()

    def _continue_after_gap(self) -> None:
        """Begin an era of the archive, or a new one, with the oldest log of the server."""
        if self._archive.place is None:
            self.start = EARLIEST
            return
        self._archive.cut()
        with self._session(self._address) as session:
            self._begin_era(self._address, session.server, session.dump("", len(MAGIC)).log_name)

    def _continue_at(self, address: Address) -> None:
        """Begin an era of the archive with the logs of another server."""
        with self._session(address) as session:
            log = log_to_continue_with(session, read_so_far(self._archive))
            self._begin_era(address, session.server, log)

    def _begin_era(self, address: Address, server: Server, log: str) -> None:
        era = begin_era(self.folder, self._archive, server, read_so_far(self._archive), log)
        self.report("failover", {"server": address.name, "log": log, "folder": str(era)})
        self._is_from_start = False
        written = self._archive.written
        self._open(era)
        self._archive.written = written
        self._closed.add(self._archive)

    def _fetch_from(self, address: Address) -> bool:
        """Fetch over one connection; False if another one has to continue, after a torn log."""
        name, position = self._place(address)
        with self._session(address) as session:
            self._archive.identify(session.server)
            if self.semi_sync and not session.has_semi_sync():
                reason = "--semi-sync: semi-synchronous replication is not enabled on the server"
                raise ServerError(reason, file=address.name)
            try:
                stream = session.dump(name, position, waits=self.follows, semi_sync=self.semi_sync)
            except ServerError as error:
                raise self._explained(error, address, name, position) from error
            self.report("connected", {"server": address.name, "log": stream.log_name, "position": position})
            self._show(is_connected=True, is_caught_up=False)
            try:
                self._read(session, stream)
                if stream.state is not StreamState.TORN:
                    return True
                self._pass_torn_log(address, stream, position)
                return False
            except (ServerError, DamagedError) as error:
                log = stream.log_name
                raise self._explained(error, address, log, stream.position) from error

    def _session(self, address: Address) -> ServerSession:
        return ServerSession(address, self._archive.replica, heartbeat=self.heartbeat)

    # -- where to begin

    def _place(self, address: Address) -> tuple[str, int]:
        """The log and position to request."""
        place = self._archive.place
        if place is None:
            return log_to_start_with(address, self._session, self.start), len(MAGIC)
        if self._is_from_start:
            return place.name, len(MAGIC)
        if place.again <= MAX_SHORT_POSITION:
            return place.name, max(place.again, len(MAGIC))
        with self._session(address) as session:
            # If no request can express the position, the log is fetched again from its start and compared.
            return place.name, place.again if session.can_start_far() else len(MAGIC)

    def _explained(self, error: BinlogError, address: Address, name: str, position: int) -> BinlogError:
        if isinstance(error, ConnectionLostError):
            return error
        if isinstance(error, ServerError):
            with suppress(BinlogError), self._session(address) as session:
                error.reason += explain_gap(error.cause, session, self._archive)
        return error.at(file=f"{address.name}{name}", position=position or None)

    # -- what comes

    def _read(self, session: ServerSession, stream: DumpStream) -> None:
        self._enter(stream)
        while not self.stop.is_set():
            self._read_burst(stream)
            match stream.state:
                case StreamState.IDLE:
                    self._rest(session, stream)
                case StreamState.NEXT_LOG:
                    self._archive.finish()
                    self.report("log complete", self._facts())
                    stream.begin_next()
                    self._enter(stream)
                    self._closed.add(self._archive)
                case StreamState.ENDED:
                    if self.follows:
                        raise ConnectionLostError("the server ended the stream")
                    self._sync()
                    self._show(is_connected=False, is_caught_up=True)
                    self.report("up to date", self._facts())
                    return
                case StreamState.TORN:
                    return

    def _pass_torn_log(self, address: Address, stream: DumpStream, start: int) -> None:
        """Continue after a log that ends within an event, if the server's next log continues it.

        The archive has the log up to its last whole event.
        """
        archive, name, position = self._archive, stream.log_name, stream.position
        if position <= len(MAGIC):
            raise torn("not even its first event is complete")
        if position == start:
            self._is_from_start = True  # servers report the same if no event begins there
            return
        self._sync()
        if archive.place is not None and archive.place.position > position:
            raise torn("the archive has more of it: the server lost transactions")
        with self._session(address) as session:
            following = log_after(session, name)
        with self._session(address) as session, (archive.folder / name).open("rb") as log:
            next_log = LogStream(session, session.dump(following, len(MAGIC)), following, lambda _: None)
            check_continues(log, cast(BinaryIO, next_log), following)
        archive.finish()
        self.report("torn", {"log": name, "position": position, "next": following})
        archive.begin(following)
        self._closed.add(archive)
        self._is_from_start = False

    def _enter(self, stream: DumpStream) -> None:
        place = self._archive.place
        if place is not None and place.position and place.name == stream.log_name:
            self._archive.resume(stream.log_name, stream.position)
            if stream.position == 0:
                stream.read(len(MAGIC))
            return
        if stream.position:
            raise ServerError(f"the server begins {stream.log_name} at {stream.position}, not at its start")
        self._archive.begin(stream.log_name)
        stream.read(len(MAGIC))

    def _read_burst(self, stream: DumpStream) -> None:
        """Process the received events, up to the end of an event."""
        archive = self._archive
        source, place = cast(BinaryIO, stream), (archive.context, stream.position)
        reader = BlockReader(source, *place, name=f"{self._address.name}{stream.log_name}")
        for block in reader:
            if stream.description:
                archive.check_description(stream.description)
                stream.description = b""
            newest = _check_received(block, has_exact_positions=archive.context.has_exact_positions)
            if newest is not None:
                self._metrics.values["last_event_timestamp_seconds"] = newest.timestamp
            archive.write(block)
            if self._lag is not None:
                self._lag.add(block)
            if archive.written - self._synced_bytes >= _SYNC_BYTES or self._is_due():
                self._sync(waits=False)
                self._show(is_caught_up=False)
            elif archive.is_synced:
                archive.settle()
                self._tick()
            if self.stop.is_set():
                return

    def _rest(self, session: ServerSession, stream: DumpStream) -> None:
        """Nothing more has arrived: sync to disk, and wait."""
        if stream.ack_wanted:
            self._archive.sync(and_state=False)
            session.acknowledge(stream, stream.position)
        self._show(is_caught_up=True)
        while not self.stop.is_set():
            if self._is_due():
                self._sync()
                self._show(is_caught_up=True)
            self._tick()
            patience = _SYNC_SECONDS
            if self._archive.unsafe:
                patience = max(0.0, self._synced_at + _SYNC_SECONDS - time.monotonic())
            if stream.wait(patience):
                return

    def _is_due(self) -> bool:
        return self._archive.unsafe and time.monotonic() - self._synced_at >= _SYNC_SECONDS

    def _sync(self, *, waits: bool = True) -> None:
        self._archive.sync() if waits else self._archive.begin_sync()
        self._synced_at, self._synced_bytes = time.monotonic(), self._archive.written
        self._tick()

    def _tick(self) -> None:
        self.on_tick(self._archive)
        self._closed.tend(self._archive)

    def _show(self, *, is_caught_up: bool, is_connected: bool | None = None) -> None:
        """Update the metrics."""
        values, place = self._metrics.values, self._archive.place
        values["caught_up"] = is_caught_up
        values["bytes_total"] = self._archive.written
        values.update(self._closed.values)
        if is_connected is not None:
            values["connected"] = is_connected
        if values["connected"]:
            values["last_contact_timestamp_seconds"] = time.time()
        if place is not None:
            values["log_number"] = int(place.name.rpartition(".")[2])
            values["position_bytes"] = place.position
        if self._lag is not None:
            self._measure(self._lag, is_caught_up=is_caught_up)
        self._metrics.write(at_once=is_connected is not None)

    def _measure(self, lag: Lag, *, is_caught_up: bool) -> None:
        values = self._metrics.values
        values["bytes_behind"] = values["gtids_behind"] = 0
        if not is_caught_up:
            is_new = values["connected"] and lag.update()
            values["bytes_behind"], values["gtids_behind"] = lag.bytes_behind, lag.gtids_behind
            if is_new:
                seconds = {"lag_seconds": round(self._metrics.lag(), 1)}
                self.report("progress", self._facts() | lag.facts() | seconds)

    def _facts(self) -> dict[str, object]:
        place = self._archive.place
        return {"log": place.name, "position": place.position} if place else {}


def fetch(
    url: str,
    to: str | Path,
    *,
    start: str = EARLIEST,
    follow: bool = False,
    semi_sync: bool = False,
    server_id: int | None = None,
    heartbeat: float = 10.0,
    defaults_file: str | None = None,
    metrics_file: Path | None = None,
    measure: bool = False,
    compress: str | None = None,
    store: str | None = None,
    keep_local: int | None = None,
    report: Report = lambda what, facts: None,
) -> None:
    """Copy the binary logs of a running server into a directory, or update an earlier copy.

    Parameters
    ----------
    url
        See `Address.parse`.
    to
        The archive's directory.
    start, follow, semi_sync, server_id, heartbeat, metrics_file, report
        See `Fetch`.
    defaults_file
        The only option file to read.
    measure
        Report progress, with what the server has and the archive lacks; a metrics file always has that.
    compress
        ``"zstd"``: compress rotated logs; readers find them by the index as before.
    store
        The URL of a folder in an object store, into which closed logs are copied.
    keep_local
        How many of the stored logs stay in the directory; None for all.

    Raises
    ------
    ServerError, SourceError, UsageError
        As `Fetch.run` does.
    """
    if compress not in (None, "zstd"):
        raise UsageError(f"compress must be zstd, not {compress!r}")
    if store is not None and not is_url(store):
        raise UsageError(f"the store must be a URL, such as s3://bucket/folder, not {store!r}")
    if keep_local is not None and (store is None or keep_local < 0):
        raise UsageError("keep_local requires a store, and a number from 0 on")
    addresses = Address.parse(url, defaults_file=defaults_file)
    Fetch(
        addresses,
        Path(to),
        start=start,
        follows=follow,
        semi_sync=semi_sync,
        server_id=server_id,
        heartbeat=heartbeat,
        metrics_file=metrics_file,
        measures=measure or metrics_file is not None,
        compresses=compress is not None,
        store=store,
        keep_local=keep_local,
        report=report,
    ).run()


def _check_received(block: Block, *, has_exact_positions: bool) -> Header | None:
    """The header of the last event; None for a format description or another event that changes the format.

    Rejects events that were damaged or lost on the network or on the server.

    Raises `ChecksumError`, `FramingError`: an event is damaged; events before the last one are missing.
    """
    states = check(block)
    if (states == BAD).any():
        raise error_at(block, int((states == BAD).argmax()))
    if block.is_special:
        return None
    last, end = block.fixed_header(len(block) - 1), int(block.end_positions[-1])
    if has_exact_positions and last.next_position and last.next_position != end & POSITION_MASK:
        reason = (
            f"events are missing before this one, which ends at {end}; its header says {last.next_position}"
        )
        raise FramingError(reason, file=block.file, position=int(block.positions[-1]))
    return last


# -- what the server has and the archive lacks

#: Seconds between two questions, and after one that was not answered.
_ASK_SECONDS, _ASK_SECONDS_AFTER_FAILURE = 10.0, 60.0


def explain_gap(cause: str, session: ServerSession, archive: Archive) -> str:
    """Details on a log that the server no longer has: its oldest log, and the missing GTIDs."""
    if cause not in (PURGED, GTIDS_PURGED):
        return ""
    purged = session.gtids("global.gtid_purged")
    oldest = session.dump("", 4).log_name
    details = f"; its oldest log is {oldest}"
    if archive.place is not None and (missing := purged - gtids_of(archive)):
        details += f"; the transactions {missing} are lost to this archive"
    return details


def gtids_of(archive: Archive) -> GtidSet:
    """The transactions of all logs up to the safe position, according to the newest log."""
    if archive.place is None or not archive.place.position:
        return GtidSet()
    return logged_gtids(archive.folder / archive.place.name)


class Lag:
    """Follows what an archive gets, and compares it with what the server has.

    The server is asked now and then, over a connection of its own, because that of the dump cannot serve
    queries. That takes REPLICATION CLIENT (MariaDB: BINLOG MONITOR); without it, the figures are not a
    number.

    `bytes_behind`, `gtids_behind`: as of the last question; not a number where the server does not say.
    """

    def __init__(self, archive: Archive, connect: Callable[[], ServerSession]) -> None:
        self._archive = archive
        self._connect = connect
        self._session: ServerSession | None = None
        self._next = 0.0
        self._gtids = GtidSet()
        with suppress(BinlogError):
            self._gtids = gtids_of(archive)
        self.bytes_behind = self.gtids_behind = math.nan

    def add(self, block: Block) -> None:
        """Add the transactions of a block that the archive has got."""
        add_gtids(self._gtids, block)

    def update(self) -> bool:
        """Ask the server, unless it was asked a moment ago; whether it has answered."""
        if time.monotonic() < self._next:
            return False
        try:
            if self._session is None:
                self._session = self._connect()
            self.bytes_behind = self._bytes(self._session)
            self.gtids_behind = self._transactions(self._session)
            self._next = time.monotonic() + _ASK_SECONDS
            return True
        except BinlogError:
            self.bytes_behind = self.gtids_behind = math.nan
            self._next = time.monotonic() + _ASK_SECONDS_AFTER_FAILURE
            self.close()
            return False

    def facts(self) -> dict[str, int | None]:
        """What the server said last, for reports; None for what it did not say."""
        figures = {"bytes_behind": self.bytes_behind, "gtids_behind": self.gtids_behind}
        return {name: None if math.isnan(value) else int(value) for name, value in figures.items()}

    def close(self) -> None:
        """Close the connection; the next question opens another one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _bytes(self, session: ServerSession) -> float:
        place, logs = self._archive.place or SafePosition(""), session.logs()
        later = sum(size for name, size in logs if natural_key(name) > natural_key(place.name))
        return float(later + max(0, dict(logs).get(place.name, 0) - place.position))

    def _transactions(self, session: ServerSession) -> float:
        if session.server.is_mariadb:
            theirs = session.gtids("global.gtid_binlog_pos")
            return float(len(theirs.up_to_here().without(self._gtids.up_to_here([theirs]))))
        if session.variable("global.gtid_mode") != "ON":
            return math.nan
        return float(len(session.gtids("global.gtid_executed").without(self._gtids)))
