"""Closed logs of an archive in an object store.

===================  ==================================================================================
in the directory     `store.json`: the store, and the last log that is in it
in the store         the closed logs, compressed or not; `fetch.json`, which never changes; `era-1/` …
===================  ==================================================================================

A log is uploaded whole, oldest first, and read back. Only then is it recorded, and only after that may its
local copy be removed. A log that a killed process uploaded but did not record is found there, and compared.
The store has no index file, which would have to be overwritten: logs are listed by name, so they are refused
if their names do not sort in the order of the archive.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from binlog_kaitai.errors import BinlogError, SourceError, UsageError, reading
from binlog_kaitai.live.causes import pause_after
from binlog_kaitai.live.eras import age, is_same
from binlog_kaitai.live.packing import SUFFIX
from binlog_kaitai.live.state import SPOOL, STORE, State, StoreRecord, is_log
from binlog_kaitai.sources import eras, remote
from binlog_kaitai.sources.eras import STATE
from binlog_kaitai.sources.packed import SUFFIXES
from binlog_kaitai.sources.source import log_name
from binlog_kaitai.sources.uploads import StoppedError, upload

#: Attempts to store a log once nothing else is left to do; until then there is no limit.
_TRIES = 8

#: Seconds that an upload has to stop.
_STOP_SECONDS = 10.0


class Store:
    """Uploads closed logs in the background.

    Parameters
    ----------
    url
        A folder in an object store.
    folder
        The archive's directory, which this process has locked.
    keep_local
        How many of the logs in the store stay in the directory; None for all.

    Attributes
    ----------
    record : StoreRecord
        What is in the store.
    failures : int
        Failed attempts so far.

    Raises
    ------
    SourceError
        The archive's logs are in another store, or the store is new and cannot be reached.
    UsageError
        The directory is a spool.
    """

    def __init__(self, url: str, folder: Path, keep_local: int | None) -> None:
        if (folder / SPOOL).exists():
            reason = "is a spool, from which logs are removed; fetch into another directory to store them"
            raise UsageError(reason, file=str(folder))
        self._url, self._folder = url, folder
        name, known = remote.without_options(url), StoreRecord.load(folder)
        if known is None:
            with reading(name):
                remote.existing([remote.join(url, STATE)])
        elif known.url != name:
            reason = f"the archive's logs are in {known.url}; to use {name}, copy them and remove this file"
            raise SourceError(reason, file=str(folder / STORE))
        self.record = replace(known or StoreRecord(name), keep_local=keep_local)
        if self.record != known:
            self.record.save(folder)
        self.failures = 0
        self._waiting: queue.SimpleQueue[tuple[str, Future[None] | None] | None] = queue.SimpleQueue()
        self._added = self._stored = 0
        self._last_added = self.record.last
        self._checked: set[int] = set()
        self._news: queue.SimpleQueue[tuple[str, dict[str, Any]]] = queue.SimpleQueue()
        self._error: BinlogError | None = None
        self._stop, self._is_closing = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="binlog-kaitai store", daemon=True)
        self._thread.start()

    @property
    def unstored(self) -> int:
        """The number of closed logs that are not in the store yet."""
        return self._added - self._stored

    def add(self, logs: Sequence[str], packed: Mapping[str, Future[None]]) -> None:
        """Store those of the closed logs that are not stored, or waiting for it.

        Parameters
        ----------
        logs
            All closed logs: their paths in the archive's directory, oldest first.
        packed
            For some of them, what is done once they are compressed.

        Raises
        ------
        SourceError
            By its name, a log would be listed before older ones.
        """
        new = logs[logs.index(self._last_added) + 1 :] if self._last_added in logs else logs
        for log in new:
            if self._last_added and age(log) <= age(self._last_added):
                reason = f"{log} sorts before {self._last_added}, which is older: the server's logs have got "
                reason += "another name. Fetch into another directory, with another store"
                raise SourceError(reason, file=str(self._folder))
            self._last_added = log
            self._added += 1
            self._waiting.put((log, packed.get(log)))

    def news(self) -> list[tuple[str, dict[str, Any]]]:
        """What has happened since the last call, for reports."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._news.get_nowait())
        return found

    def check(self) -> None:
        """Raise what ended the work in the background.

        Raises
        ------
        SourceError
            Something else is in the store, or it could not be reached until the end.
        """
        if self._error is not None:
            raise self._error

    def is_busy(self, seconds: float) -> bool:
        """Whether uploads are under way after so many seconds; nothing is added any more."""
        if not self._is_closing:
            self._is_closing = True
            self._waiting.put(None)
        self._thread.join(seconds)
        return self._thread.is_alive()

    def stop(self) -> None:
        """Have uploads end at once."""
        self._stop.set()

    def close(self) -> None:
        """Stop; the next run stores the rest."""
        self.stop()
        self.is_busy(_STOP_SECONDS)

    # -- in the background

    def _run(self) -> None:
        try:
            while (item := self._waiting.get()) is not None and not self._stop.is_set():
                self._store(*item)
        except StoppedError:
            pass
        except BinlogError as error:
            self._error = error
        except Exception as error:
            self._error = SourceError(f"{type(error).__name__}: {error}", file=self.record.url)
            self._error.__cause__ = error

    def _store(self, log: str, packed: Future[None] | None) -> None:
        failures = 0
        while True:
            try:
                if packed is not None:
                    packed.result()
                there = self._upload(log)
                break
            except CancelledError:
                raise StoppedError from None
            except OSError as error:
                failures += 1
                self.failures += 1
                reason = error.strerror or str(error)
                if self._is_closing and failures >= _TRIES:
                    reason += f"; {self.unstored} logs, from {log} on, are not stored. Run the command again"
                    raise SourceError(reason, file=self.record.url) from error
                pause = pause_after(failures)
                self._news.put(("store retry", {"log": log, "reason": reason, "seconds": round(pause, 1)}))
                if self._stop.wait(pause):
                    raise StoppedError from error
        record = replace(self.record, last=log)
        record.save(self._folder)
        self.record = record  # only now may local copies be removed
        self._stored += 1
        self._news.put(("stored", {"log": log, "url": remote.without_options(there)}))

    def _upload(self, log: str) -> str:
        path = self._folder / log
        found = [one for one in (path.with_name(path.name + SUFFIX), path) if one.exists()]
        if not found:
            raise SourceError(f"is not in the store {self.record.url}, and not here any more", file=str(path))
        era = eras.number_of(log)
        folder = eras.folder_of(self._url, era) if era else self._url
        if era not in self._checked:
            self._check(folder, path.parent)
            self._checked.add(era)
        others = (remote.join(folder, path.name + suffix) for suffix in ("", *SUFFIXES))
        url = remote.join(folder, found[0].name)
        return upload(found[0], url, same=tuple(one for one in others if one != url), stop=self._stop)

    def _check(self, folder: str, era: Path) -> None:
        """The store has logs of the same server; what says so is written with the first of them."""
        mine = State.load(era)
        assert mine is not None
        assert mine.server is not None
        name = remote.without_options(folder)
        with _errors_of_system():
            theirs = State.load(folder)
        if theirs is None:
            if logs := _logs_in(folder):
                reason = f"has {logs[0]} in it, and no {STATE}: fetch did not store it; use another folder"
                raise SourceError(reason, file=name)
            text = replace(mine, place=None).text()
            upload(text.encode(), remote.join(folder, STATE), stop=self._stop)
        elif (
            theirs.server is None
            or not is_same(theirs.server, mine.server)
            or theirs.read_before != mine.read_before
        ):
            raise SourceError("has the logs of another server, or of another archive of it", file=name)


def _logs_in(folder: str) -> list[str]:
    with suppress(SourceError), _errors_of_system():  # nothing is there
        names = [one.partition("?")[0].rpartition("/")[2] for one in remote.find(folder)]
        return sorted(name for name in names if is_log(log_name(name)))
    return []


@contextmanager
def _errors_of_system() -> Iterator[None]:
    """Raise errors of the store as they are, since another try may help."""
    try:
        yield
    except SourceError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        raise
