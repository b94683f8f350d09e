"""A spool: an archive that queries read a server's logs from, and that is trimmed once they have read them.

==================  ===================================================================
`binlog.000001` …   the archive, see `archive`
`spool.json`        makes the directory a spool: logs are removed from no other archive
`readers/ID`        the log that a reader needs next, such as `binlog.000003` or `era-1/binlog.000017`
==================  ===================================================================

Any number of readers, in any number of processes, share one spool. The process that holds the archive's lock
fetches, over the only connection to the server; when it ends, another one takes over. Readers read what
`fetch.json` says is on disk, and nothing after it, so that no reader is ever ahead of an archive that lost
power.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.errors import ConnectionLostError, ServerError, UsageError, writing_to
from binlog_kaitai.following.checkpoints import Start
from binlog_kaitai.following.feed import Feed
from binlog_kaitai.following.log_headers import header_of
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.archive import (
    Archive,
    ArchiveState,
    InUseError,
    SafePosition,
    refuse_strangers,
)
from binlog_kaitai.live.archive_eras import (
    EARLIEST,
    LATEST,
    age,
    all_eras,
    choose,
    is_same_server,
    newest_era,
    remove_before,
)
from binlog_kaitai.live.causes import PURGED, pause_after
from binlog_kaitai.live.closed_logs import SPOOL, refuse_trimmed
from binlog_kaitai.live.fetching import TRIES, Fetch, refuse_gap
from binlog_kaitai.live.server_logs import PASSED, anyone, log_header
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.sources import eras
from binlog_kaitai.sources.disk import locked, replace_file
from binlog_kaitai.sources.source import LOG_NAME, natural_key, resolve

_READERS, _LOCK = "readers", ".lock"

#: The only reader of a temporary spool.
_READER = "reader"

#: A reader that has not been seen for so long, in seconds, no longer holds logs back.
READER_LIFETIME = 7 * 86400

#: Seconds between two looks for logs that may be removed.
_TRIM_SECONDS = 5.0

#: A reader is noted again after so many seconds, though nothing has changed.
_TOUCH_SECONDS = 60.0

#: Seconds between two looks at what another process does.
_WATCH_SECONDS = 0.2

_Answer = TypeVar("_Answer")

_log = logging.getLogger(__name__)


def default_folder(url: str) -> Path:
    """Where the spool of a server is unless somebody says otherwise; the same for all queries of a user."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    names = ",".join(server.socket or f"{server.host}:{server.port}" for server in Address.parse(url))
    return Path(base) / "binlog-kaitai" / "spool" / re.sub(r"[^A-Za-z0-9.,-]+", "_", names).strip("_")


class LogSpool:
    """One process's view of a spool.

    Raises `UsageError`, `SourceError`: the URL is invalid, or the directory is neither new nor an archive.

    `folder`: the directory; a new one becomes a spool. An archive of `fetch` is read and kept up to date, but
    nothing is removed from it.
    `start`: where its reader begins, and so does a new spool.
    `passes_gaps`: go on with the oldest log of a server that has purged the next one, in a spool.
    """

    def __init__(self, url: str, folder: Path, start: Start = EARLIEST, *, passes_gaps: bool = False) -> None:
        self.folder = folder
        self._passes_gaps = passes_gaps
        self._addresses = Address.parse(url)
        self._start = start
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._trimmed_at = 0.0
        self._here: set[tuple[str, int]] = set()
        self._noted: dict[str, tuple[str, float]] = {}
        with writing_to(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
            if ArchiveState.load(folder) is None:
                refuse_strangers(folder)
                (folder / _READERS).mkdir(exist_ok=True)
                replace_file(folder / SPOOL, '{"version": 1}\n')
            self._is_trimmed = (folder / SPOOL).exists()
        refuse_trimmed(folder)

    # -- content

    def end(self) -> tuple[str, int] | None:
        """Path of the newest log, as listed, and up to where it is on disk; None in an empty spool."""
        place = self._place()
        if place is None:
            return None
        path = resolve(str(self.folder))[-1].path or ""
        # A log is listed once something of it is on disk; by then the one before it is, to its end.
        is_listed = eras.log_of(path) == eras.log_of(str(newest_era(self.folder) / place.name))
        return path, place.position if is_listed else os.path.getsize(path)

    def reaches(self, name: str, position: int, era: int = 0) -> bool:
        """Whether everything before a position of a log is on disk, in the given era or a later one."""
        place, here_era = self._place(), self._era()
        if place is None or here_era != era:
            return here_era > era
        # No log has anything before its first event.
        goal, here = natural_key(name), natural_key(place.name)
        return here > goal or (here == goal and place.position >= (position if position > len(MAGIC) else 0))

    def begin(self, start: Start, reader: str, *, is_bounded: bool = False) -> Start:
        """Have the logs here from where a new reader begins, and keep them up to date.

        `reader`: its name; ``""`` if it needs nothing kept.
        `is_bounded`: fetch what the server has now, and no more.
        Returns where the reader begins in the logs that are here.
        Raises `ServerError`, `SourceError`: the server cannot be reached or refuses, or the directory cannot
        be written; `UsageError`: the spool was trimmed, and the server still has older logs.
        """
        self._check_start()
        self.note(reader)
        if is_bounded or start != EARLIEST:
            self.update()  # a position can be found once all before it is here
        if start == LATEST and (end := self.end()) is not None:
            start = {"file": end[0], "position": end[1]}
        if not is_bounded:
            self.keep()
            self.wait()
        return start

    def _check_start(self) -> None:
        first = self._first()
        if first is None or self._start != EARLIEST:
            self._ask(lambda session: None)  # it can be reached
            return
        if self._era():
            reason = "the spool has continued at another server; give this query a spool of its own"
            raise UsageError(reason, file=str(self.folder))
        oldest = self._ask(lambda session: session.dump("", len(MAGIC)).log_name)
        if natural_key(oldest) < natural_key(first):
            reason = f"begins with {first}, because other queries no longer need older logs; the server "
            reason += f"still has {oldest}. Give this query a spool of its own, or let it start later"
            raise UsageError(reason, file=str(self.folder))

    def _first_log(self) -> str:
        """Where a new spool has to begin, as `Fetch` takes it: a log, or the GTIDs that are not needed.

        A reader that has read from another server continues after its GTIDs.
        """
        start = self._start
        if isinstance(start, str) or self._place() is not None:
            return start if isinstance(start, str) else EARLIEST
        name, gtids = os.path.basename(str(start.get("file", ""))), str(start.get("gtids", ""))
        if not gtids or not name or self._has_log(name, start.get("log_id")):
            return name or gtids
        return gtids

    def _has_log(self, name: str, log_id: object) -> bool:
        """Whether the server has a log, and it is the one that was read."""
        try:
            header = self._ask(lambda session: log_header(session.address, name))
        except ServerError as error:
            if error.cause == PURGED:
                return False
            raise
        return header is not None and log_id in (header.log_id, None)

    def _state(self) -> ArchiveState | None:
        """The state of the newest era; None in a new spool."""
        return ArchiveState.load(newest_era(self.folder))

    def _place(self) -> SafePosition | None:
        state = self._state()
        return None if state is None else state.place

    def _era(self) -> int:
        return len(all_eras(self.folder)) - 1

    def _first(self) -> str | None:
        """The oldest log here."""
        for folder in all_eras(self.folder):
            if names := sorted(filter(LOG_NAME.fullmatch, os.listdir(folder)), key=natural_key):
                return eras.log_of(os.path.join(folder, names[0]))
        return None

    def _ask(self, question: Callable[[ServerSession], _Answer]) -> _Answer:
        """What a server answers, asked again while connections are lost; of another one if it must be."""
        failures = 0
        while True:
            state = self._state()
            known = None if state is None else state.server
            try:
                address = choose(self._addresses, known, _connect, lambda other: None, may_move=True)
                with _connect(address) as session:
                    return question(session)
            except ConnectionLostError:
                failures += 1
                if failures == TRIES:
                    raise
            self._stop.wait(pause_after(failures))

    def _goal(self) -> tuple[str, int, int]:
        """What the spool's server has now, as `reaches` takes it.

        If only another server can be reached, it is what that one has, in the era that begins with it.
        """
        state, era = self._state(), self._era()

        def end_of(session: ServerSession) -> tuple[str, int, int]:
            known = None if state is None else state.server
            is_other = known is not None and not is_same_server(known, session.server)
            return (*session.newest_position(), era + is_other)

        return self._ask(end_of)

    # -- fetching

    def update(self) -> None:
        """Have everything on disk that the server has now."""
        goal: tuple[str, int, int] | None = None
        while True:
            try:
                self._fetch(follows=False)
                return
            except InUseError:
                goal = goal or self._goal()
            if self.reaches(*goal):
                return
            time.sleep(_WATCH_SECONDS)

    def keep(self) -> None:
        """Follow the server in the background, whenever no other process does, until :meth:`close`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="binlog-kaitai spool", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait for the first event of the newest log."""
        while True:
            self.check()
            place = self._place()
            if (place is not None and place.position) or self._stop.wait(_WATCH_SECONDS):
                return

    def check(self) -> None:
        """Raise what ended the work in the background."""
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End the work in the background."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_TRIM_SECONDS)

    def _keep(self) -> None:
        while not self._stop.is_set():
            try:
                self._fetch(follows=True)
            except InUseError:
                self._stop.wait(_WATCH_SECONDS)
            except BaseException as error:  # raised where the spool is used
                self._error = error
                return

    def _fetch(self, *, follows: bool) -> None:
        Fetch(
            self._addresses,
            self.folder,
            start=self._first_log(),
            follows=follows,
            stop=self._stop,
            on_gap=self._take_gap,
            on_tick=self._trim,
            report=_report,
        ).run()

    def _take_gap(self, error: ServerError) -> None:
        if not self._is_trimmed:
            refuse_gap(error)
        if not self._passes_gaps:
            error.reason += "; to go on without them, set failOnDataLoss=false (pipeline: --allow-loss)"
            raise error
        _log.warning("%s", error)

    # -- readers

    def note(self, reader: str, file: str = "", log_id: int = 0) -> None:
        """Note which log a reader needs: older ones may go once no other reader needs them.

        `file`, `log_id`: as in the reader's checkpoint. Without them, and if that is in another server's log,
        the reader needs all logs.
        """
        name = eras.log_of(file)
        if not name or not self._is_here(name, log_id):
            name = self._first() or ""
        now, (last_name, last_time) = time.monotonic(), self._noted.get(reader, ("", 0.0))
        is_recent = name == last_name and now - last_time < _TOUCH_SECONDS
        if not reader or not self._is_trimmed or is_recent:
            return
        with self._readers():
            replace_file(self.folder / _READERS / reader, f"{name}\n")
        self._noted[reader] = name, now

    def _is_here(self, name: str, log_id: int) -> bool:
        if (name, log_id) not in self._here:
            path = self.folder / name
            header = header_of(str(path)) if path.exists() else None
            if header is None or log_id not in (0, header.log_id):
                return False
            self._here.add((name, log_id))
        return True

    def forget(self, reader: str) -> None:
        """A reader needs nothing any more."""
        with suppress(FileNotFoundError):
            (self.folder / _READERS / reader).unlink()

    @contextmanager
    def _readers(self) -> Iterator[None]:
        """While logs are removed, no reader is added."""
        folder = self.folder / _READERS
        with writing_to(str(folder)), locked(folder / _LOCK):
            yield

    def _trim(self, archive: Archive) -> None:
        now = time.monotonic()
        if not self._is_trimmed or now - self._trimmed_at < _TRIM_SECONDS:
            return
        self._trimmed_at = now
        with self._readers():
            needed = [name for path in (self.folder / _READERS).iterdir() if (name := _needed(path))]
            if needed:
                remove_before(self.folder, archive, min(needed, key=age))


def _connect(address: Address) -> ServerSession:
    return ServerSession(address, anyone())


def _needed(path: Path) -> str:
    """The log that a reader needs; ``""`` for one that is long gone."""
    if path.name.startswith("."):
        return ""
    if time.time() - path.stat().st_mtime > READER_LIFETIME:
        path.unlink()
        return ""
    return path.read_text().strip()


def _report(what: str, facts: dict[str, object]) -> None:
    if what == "retry":
        _log.warning("%s; another try in %s s", facts["reason"], facts["seconds"])
    if what == "failover":
        _log.warning("continuing at %s", facts["server"])
    if what == "torn":
        _log.warning(PASSED.format(**facts))


class TemporarySpool(Feed):
    """A spool in a temporary directory, for one reader in this process.

    The directory holds what the reader has yet to read, and the active log.

    Raises `ServerError`: the server cannot be reached, or refuses.

    `start`: ``"earliest"``, ``"latest"``, or a position as `Follower.place` or `Checkpoint.of` take it.
    `is_bounded`: only what the server has now.
    """

    def __init__(self, url: str, start: Start = EARLIEST, *, is_bounded: bool = False) -> None:
        self._server = Address.parse(url)[0].name
        folder = tempfile.mkdtemp(prefix="binlog-kaitai-")
        self._spool = LogSpool(url, Path(folder), start)
        self._finalize = weakref.finalize(self, _remove, self._spool)
        try:
            super().__init__((folder,), self._spool.begin(start, _READER, is_bounded=is_bounded))
        except BaseException:
            self._finalize()
            raise

    def end(self, file: str, log_id: int) -> tuple[str, int]:
        self._spool.check()
        self._spool.note(_READER, file, log_id)
        end = self._spool.end()
        assert end is not None  # the first event was waited for
        return end

    def name_of(self, path: str) -> str:
        era = eras.number_of(path)
        return self._server + (f"era-{era}/" if era else "") + os.path.basename(path)

    def close(self) -> None:
        self._finalize()


def _remove(spool: LogSpool) -> None:
    spool.close()
    shutil.rmtree(spool.folder, ignore_errors=True)
