"""What happens to the closed logs of an archive: compressed, put into an object store, maybe removed.

One thread does it, oldest first. Logs are compressed before others are stored, so that a store which cannot
be reached does not hold compression up.

Compression: zstd's seekable format, which can be read from the middle. A log is compressed to a file beside
it, which is renamed once it is on disk; then the log is removed. A log whose compressed file is there already
was left by a process that was killed in between.

===================  ==================================================================================
in the directory     `store.json`: the store, and the last log that is in it
in the store         the closed logs, compressed or not; `fetch.json`, which never changes; `era-1/` …
===================  ==================================================================================

A log is uploaded whole and read back; nothing in the store is ever overwritten. Object stores show an object
once its stream is closed; elsewhere, such as in a local folder, a file is written under a hidden name and
renamed. What an interruption leaves under the final name is removed. Only a log that was read back is
recorded, and only after that may its local copy be removed. A log that a killed process uploaded but did not
record is found there, and compared. The store has no index file, which would have to be overwritten: logs are
listed by name, so they are refused if their names do not sort in the order of the archive.
"""

from __future__ import annotations

import io
import json
import os
import posixpath
import queue
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import sizes
from binlog_kaitai.errors import BinlogError, DamagedError, SourceError, UsageError, reading, writing_to
from binlog_kaitai.live.archive import Archive, ArchiveState, read_names
from binlog_kaitai.live.archive_eras import age, all_eras, is_same_server, remove_before
from binlog_kaitai.live.causes import pause_after
from binlog_kaitai.sources import eras, remote
from binlog_kaitai.sources.disk import remove_drafts, replace_file, replacing, sync
from binlog_kaitai.sources.eras import STATE
from binlog_kaitai.sources.packed import SUFFIXES, unpacked
from binlog_kaitai.sources.source import LOG_NAME, log_name

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileSystem

#: What a directory has if its logs are in an object store, and if it is a spool.
STORE, SPOOL = "store.json", "spool.json"

#: Callback for progress: an event name and its details.
Report = Callable[[str, dict[str, object]], None]

#: Attempts to store a log once nothing else is left to do; until then there is no limit.
_TRIES = 8

#: What is to be done with a log, in the order of urgency; and that no more comes, once all are compressed.
_STOP, _COMPRESS, _CLOSE, _STORE, _END = range(5)

#: Seconds between two reports at the end, and those that an upload has to stop.
_SECONDS, _STOP_SECONDS = 0.5, 10.0


class StoppedError(Exception):
    """The work on a log was stopped before it was complete."""


class ClosedLogs:
    """The closed logs of an archive that is being fetched.

    Raises `SourceError`: the archive's logs are in another store, or the store is new and cannot be reached;
    `UsageError`: the directory is a spool.

    `folder`: the archive's directory, which this process has locked.
    `store`: the URL of a folder in an object store, into which they are put.
    `keep_local`: how many of the logs in the store stay in the directory; None for all.
    `report`: called with what was stored, and with failures.
    """

    def __init__(
        self,
        folder: Path,
        *,
        compresses: bool = False,
        store: str | None = None,
        keep_local: int | None = None,
        report: Report = lambda what, facts: None,
    ) -> None:
        self._folder = folder
        self._compresses = compresses
        self._report = report
        self._stop = threading.Event()
        self._store = None if store is None else _LogStore(store, folder, keep_local, self._stop)
        self._seen: set[str] = set()
        self._last_to_store = self._store.record.last if self._store else ""
        self._to_store = self._stored = self._failures = 0
        self._trimmed = ""
        self._is_closing = False
        self._jobs: queue.PriorityQueue[tuple[int, int, str, bool]] = queue.PriorityQueue()
        self._news: queue.SimpleQueue[tuple[str, dict[str, object]]] = queue.SimpleQueue()
        self._error: BinlogError | None = None
        self._thread = threading.Thread(target=self._run, name="binlog-kaitai closed logs", daemon=True)
        if compresses or store is not None:
            self._thread.start()

    @property
    def values(self) -> dict[str, float]:
        """Metrics of the store."""
        return {"unstored_logs": self._to_store - self._stored, "store_failures_total": self._failures}

    def add(self, archive: Archive) -> None:
        """Begin with the logs that are closed and not yet under way.

        `archive`: the last era.
        Raises `SourceError`: as :meth:`tend`; or by its name, a log would be listed before older ones in the
        store.
        """
        if not self._compresses and self._store is None:
            return
        logs = self._logs(archive)[:-1]
        after = logs.index(self._last_to_store) + 1 if self._last_to_store in logs else 0
        for number, log in enumerate(logs):
            if log not in self._seen:
                self._seen.add(log)
                is_to_store = self._store is not None and number >= after
                if is_to_store:
                    self._check_order(log)
                    self._to_store += 1
                self._jobs.put((_COMPRESS, len(self._seen), log, is_to_store))
        self._check()

    def _check_order(self, log: str) -> None:
        last, self._last_to_store = self._last_to_store, log
        if last and age(log) <= age(last):
            reason = f"{log} sorts before {last}, which is older: the server's logs have got another name. "
            reason += "Fetch into another directory, with another store"
            raise SourceError(reason, file=str(self._folder))

    def tend(self, archive: Archive) -> None:
        """Report what has been done, and remove local copies.

        Raises `SourceError`: a log cannot be compressed, or something else is in the store.
        """
        self._check()
        place = archive.place
        if self._store is None or place is None or not place.position:
            return
        record = self._store.record
        if record.keep_local is None or record.last in ("", self._trimmed):
            return
        logs = self._logs(archive)
        stored = [log for log in logs[:-1] if age(log) <= age(record.last)]
        if (surplus := len(stored) - record.keep_local) > 0:
            remove_before(self._folder, archive, logs[surplus])
        self._trimmed = record.last

    def finish(self, archive: Archive) -> None:
        """Wait until all is done.

        Raises `SourceError`: as :meth:`tend`; or the store cannot be reached after several attempts.
        """
        for stage in (_CLOSE, _END):
            self._jobs.put((stage, 0, "", False))
        while self._thread.is_alive():
            self._thread.join(_SECONDS)
            self._check()
        self.tend(archive)

    def close(self) -> None:
        """Stop; the next run does the rest."""
        self._stop.set()
        self._jobs.put((_STOP, 0, "", False))
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _check(self) -> None:
        """Report what has happened, and raise what ended the work in the background."""
        with suppress(queue.Empty):
            while True:
                self._report(*self._news.get_nowait())
        if self._error is not None:
            raise self._error

    def _logs(self, archive: Archive) -> list[str]:
        """All logs of the archive, oldest first; the last one is in use."""
        logs: list[str] = []
        for number, folder in enumerate(all_eras(self._folder)):
            names = archive.names if folder == archive.folder else read_names(folder)
            logs += [os.path.join(eras.folder_of("", number), name) for name in names] if number else names
        return logs

    # -- in the background

    def _run(self) -> None:
        try:
            self._work()
        except StoppedError:
            pass
        except BinlogError as error:
            self._error = error
        except Exception as error:
            self._error = SourceError(f"{type(error).__name__}: {error}", file=str(self._folder))
            self._error.__cause__ = error

    def _work(self) -> None:
        attempt = 1
        while (job := self._jobs.get())[0] not in (_STOP, _END) and not self._stop.is_set():
            stage, number, log, is_to_store = job
            pause = None
            if stage == _CLOSE:
                self._is_closing = True
            elif stage == _STORE:
                pause = self._put(log, attempt)
                attempt = 1 if pause is None else attempt + 1
            elif self._compresses and (self._folder / log).exists():
                compress(self._folder / log, self._stop)
            if pause is not None or (stage == _COMPRESS and is_to_store):
                self._jobs.put((_STORE, number, log, True))
            self._stop.wait(pause or 0)

    def _put(self, log: str, attempt: int) -> float | None:
        """Store a log; returns the seconds until the next attempt if the store cannot be reached."""
        assert self._store is not None
        try:
            url = self._store.put(log)
        except OSError as error:
            self._failures += 1
            reason = error.strerror or str(error)
            if self._is_closing and attempt >= _TRIES:
                unstored = self._to_store - self._stored
                reason += f"; {unstored} logs, from {log} on, are not stored. Run the command again"
                raise SourceError(reason, file=self._store.record.url) from error
            pause = pause_after(attempt)
            self._news.put(("store retry", {"log": log, "reason": reason, "seconds": round(pause, 1)}))
            return pause
        self._stored += 1
        self._news.put(("stored", {"log": log, "url": url}))
        return None


# -- compression

#: Bytes of a log in a frame: as much is decompressed at least to read an event.
_FRAME = 1 << 20

# The fields of `formats/packed/zstd_seek_table.ksy` in their order; tests read them back by the grammar.
_TABLE = sizes.ZstdSeekTable
_WIDTH = _TABLE.LEN_CONTENT_SIZE  # of all numbers
_NO_CHECKSUMS = b"\0"

_COMPRESSED = ".zst"


def compress(path: Path, stop: threading.Event) -> None:
    """Replace a log by its compressed file; raises `StoppedError` if it is stopped before."""
    import zstandard  # only `--compress` needs it

    target = path.with_name(path.name + _COMPRESSED)
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    entries: list[tuple[int, int]] = []
    with writing_to(str(target)):
        if not target.exists():
            with path.open("rb") as log, replacing(target) as file:
                while data := log.read(_FRAME):
                    if stop.is_set():
                        raise StoppedError
                    frame = compressor.compress(data)
                    file.write(frame)
                    entries.append((len(frame), len(data)))
                file.write(seek_table(entries))
                with suppress(OSError):  # as the log: others may be meant to read the archive
                    os.chmod(file.name, stat.S_IMODE(path.stat().st_mode))
            sync(path.parent)
        path.unlink()


def seek_table(entries: list[tuple[int, int]]) -> bytes:
    """The seek table after frames, by their compressed and original sizes."""
    listed = b"".join(_number(packed) + _number(plain) for packed, plain in entries)
    footer = _number(len(entries)) + _NO_CHECKSUMS + _TABLE.Footer.MAGIC
    return _TABLE.MAGIC + _number(len(listed) + len(footer)) + listed + footer


def _number(value: int) -> bytes:
    return value.to_bytes(_WIDTH, "little")


# -- the store

#: Bytes copied or compared at a time.
_COPIED = 4 << 20

#: PyArrow's names of the stores in which an object appears as a whole.
_OBJECT_STORES = ("s3", "gcs", "abfs")


@dataclass(frozen=True)
class StoreRecord:
    """The content of `store.json`.

    `url`: the store, without credentials and options.
    `last`: the newest log that is in it, such as `era-1/binlog.000017`; older ones are, too. ``""`` if none
    is.
    `keep_local`: how many of the logs in the store stay in the directory; None for all.
    """

    url: str
    last: str = ""
    keep_local: int | None = None

    @classmethod
    def load(cls, folder: Path) -> StoreRecord | None:
        """The record of an archive; None if its logs are not stored."""
        path = folder / STORE
        if not path.exists():
            return None
        with reading(str(path)):
            try:
                return cls(**json.loads(path.read_bytes()))
            except (ValueError, TypeError) as error:
                raise SourceError(f"not the record of a store: {error}") from error

    def save(self, folder: Path) -> None:
        """Write the record to disk."""
        replace_file(folder / STORE, json.dumps(asdict(self), indent=1) + "\n")


def refuse_trimmed(folder: Path) -> None:
    """Reject an archive from which `fetch` removes logs that queries may need."""
    record = StoreRecord.load(folder)
    if record is not None and record.keep_local is not None:
        reason = "fetch removes logs from this archive (--keep-local); give the query a spool of its own"
        raise UsageError(reason, file=str(folder))


class _LogStore:
    """The folder in an object store, and the record of what is in it."""

    def __init__(self, url: str, folder: Path, keep_local: int | None, stop: threading.Event) -> None:
        if (folder / SPOOL).exists():
            reason = "is a spool, from which logs are removed; fetch into another directory to store them"
            raise UsageError(reason, file=str(folder))
        self._url, self._folder, self._stop = url, folder, stop
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
        self._checked: set[int] = set()

    def put(self, log: str) -> str:
        """Upload a log and record it; returns its URL.

        Raises `OSError`: the store cannot be reached; another try may help; `SourceError`: something else is
        in the store; `StoppedError`: the upload was stopped.
        """
        path = self._folder / log
        local = path.with_name(path.name + _COMPRESSED)
        if not local.exists():
            local = path
        if not local.exists():
            raise SourceError(f"is not in the store {self.record.url}, and not here any more", file=str(path))
        era = eras.number_of(log)
        folder = eras.folder_of(self._url, era) if era else self._url
        if era not in self._checked:
            self._check(folder, path.parent)
            self._checked.add(era)
        names = (local.name, path.name, *(path.name + suffix for suffix in SUFFIXES))
        stored = self._upload(local, [remote.join(folder, name) for name in dict.fromkeys(names)])
        record = replace(self.record, last=log)
        record.save(self._folder)
        self.record = record  # only now may local copies be removed
        return remote.without_options(stored)

    def _check(self, folder: str, era: Path) -> None:
        """The store has logs of the same server; what says so is written with the first of them."""
        mine = ArchiveState.load(era)
        assert mine is not None
        assert mine.server is not None
        name = remote.without_options(folder)
        with _errors_of_system():
            theirs = ArchiveState.load(folder)
        if theirs is None:
            if logs := _logs_in(folder):
                reason = f"has {logs[0]} in it, and no {STATE}: fetch did not store it; use another folder"
                raise SourceError(reason, file=name)
            self._upload(replace(mine, place=None).text().encode(), [remote.join(folder, STATE)])
        elif (
            theirs.server is None
            or not is_same_server(theirs.server, mine.server)
            or theirs.read_before != mine.read_before
        ):
            raise SourceError("has the logs of another server, or of another archive of it", file=name)

    def _upload(self, source: Path | bytes, urls: list[str]) -> str:
        """Copy a file to a URL and read it back, unless the same log is there.

        `source`: the file, or its content.
        `urls`: the URL, and others at which the log may be, compressed or not.
        Returns the URL at which it is.
        Raises `SourceError`: something else is there; `OSError`: the store cannot be reached, or does not
        return what was written; nothing was left there.
        """
        for url in remote.existing(urls):
            with _opened(source) as mine, remote.open_url(url) as theirs, suppress(DamagedError):
                if self._are_equal(unpacked(mine), unpacked(theirs)):
                    return url
            what = f"{source}" if isinstance(source, Path) else "what fetch would write"
            reason = (
                f"differs from {what}; nothing there is overwritten; use another store, or move this away"
            )
            raise SourceError(reason, file=remote.without_options(url))
        with remote.changing(urls[0]) as (system, path):
            self._write(system, path, urls[0], source)
        return urls[0]

    def _write(self, system: FileSystem, path: str, url: str, source: Path | bytes) -> None:
        folder, name = posixpath.split(path)
        draft = path if system.type_name in _OBJECT_STORES else posixpath.join(folder, f".{name}.new")
        try:
            if system.type_name == "local":
                Path(folder).mkdir(parents=True, exist_ok=True)
                remove_drafts(Path(folder))
                with replacing(Path(path)) as local:
                    self._copy(source, local)
                sync(Path(folder))
            else:
                if draft != path:
                    system.create_dir(folder, recursive=True)
                # An exception closes it, which may complete the object, although its end is missing.
                with system.open_output_stream(draft) as file:
                    self._copy(source, file)
                if draft != path:
                    system.move(draft, path)
            draft = path
            with _opened(source) as mine, remote.open_url(url) as theirs:
                if not self._are_equal(mine, theirs):
                    raise OSError("the store returned other bytes than were written")
        except BaseException:
            with suppress(Exception):
                system.delete_file(draft)
            raise

    def _copy(self, source: Path | bytes, file: BinaryIO | NativeFile) -> None:
        with _opened(source) as mine:
            while data := self._read(mine):
                file.write(data)

    def _are_equal(self, mine: BinaryIO, theirs: BinaryIO) -> bool:
        while data := self._read(mine):
            if read_up_to(theirs, len(data)) != data:
                return False
        return not theirs.read(1)

    def _read(self, file: BinaryIO) -> bytes:
        """The next bytes of a file, unless it is stopped."""
        if self._stop.is_set():
            raise StoppedError
        return read_up_to(file, _COPIED)


def _opened(source: Path | bytes) -> BinaryIO:
    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source)


def _logs_in(folder: str) -> list[str]:
    with suppress(SourceError), _errors_of_system():  # nothing is there
        names = [url.partition("?")[0].rpartition("/")[2] for url in remote.find(folder)]
        return sorted(name for name in names if LOG_NAME.fullmatch(log_name(name)))
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
