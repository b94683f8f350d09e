"""The directory of an archive: a server's logs, their index, and how far they are safe.

=================  ===========================================================
`binlog.000001` …  the logs, byte for byte
`binlog.index`     their names, in the format of a server's index file
`fetch.json`       the state: server, identity of this client, safe position
=================  ===========================================================

The state is replaced atomically after the bytes that it describes are on disk (fsync). Bytes of a log after
the safe position are from an interruption: when the archive is opened, complete transactions with correct
checksums are kept, and the rest is cut off. A log that is being fetched has its in-use flag set, like the
server's own; the event that closes the log clears it.
"""

from __future__ import annotations

import json
import os
import random
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, header_offset, masks, read_header
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError, ServerError, SourceError, reading, writing_to
from binlog_kaitai.kernels.arrays import view_of
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.live.server_session import Replica, Server
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.boundaries import QuiescentPoints
from binlog_kaitai.log.checksum_runs import check
from binlog_kaitai.sources import eras
from binlog_kaitai.sources.disk import (
    open_for_writing,
    read_at,
    remove_drafts,
    replace_file,
    sync,
    try_lock,
    write_at,
)
from binlog_kaitai.sources.eras import STATE, VERSION
from binlog_kaitai.sources.packed import SUFFIXES
from binlog_kaitai.sources.source import LOG_NAME, log_name, series_of

#: Offset of the byte with the in-use flag of a log, and the flag.
FLAGS_AT = len(MAGIC) + header_offset("flags")
IN_USE = masks.EventHeader.IS_IN_USE

#: Events that end a log.
_ENDS = (EventType.rotate_event, EventType.stop_event)

#: Maximum size of the last transaction to fetch again and compare, in bytes.
_MOST_AGAIN = 16 << 20

#: Range of randomly chosen server ids, which are higher than those usually assigned.
SERVER_IDS = 1 << 31, (1 << 32) - 1


@dataclass(frozen=True)
class SafePosition:
    """The safe position in a log.

    `again`: where to resume: an earlier position between transactions, or the same.
    """

    name: str
    position: int = 0
    again: int = 0


@dataclass(frozen=True)
class ArchiveState:
    """The content of `fetch.json`.

    `read_before`: the GTIDs that the archive had when it continued at this server, see `archive_eras`.
    """

    server: Server | None
    replica: Replica
    place: SafePosition | None
    read_before: str = ""

    @classmethod
    def load(cls, folder: Path | str) -> ArchiveState | None:
        """The state of an archive, whose directory may be a URL; None if there is none."""
        if (state := eras.read_state(str(folder))) is None:
            return None
        with eras.reading_state(str(folder)):
            return cls(
                Server(**state["server"]) if state["server"] else None,
                Replica(**state["replica"]),
                SafePosition(**state["place"]) if state["place"] else None,
                str(GtidSet.parse(state.get("read_before", ""))),
            )

    def save(self, folder: Path) -> None:
        """Write the state to disk."""
        replace_file(folder / STATE, self.text())

    def text(self) -> str:
        """The content of the file."""
        state = {"version": VERSION, **asdict(self)}
        if not self.read_before:
            del state["read_before"]
        return json.dumps(state, indent=1) + "\n"


class InUseError(SourceError):
    """Another process is writing to the archive."""


def lock(folder: Path) -> int:
    """Lock an archive for this process; returns the descriptor of its directory, which holds the lock.

    Raises `InUseError`: another process has locked it; `SourceError`: the file system cannot lock it.
    """
    with writing_to(str(folder)):
        descriptor = try_lock(folder)
    if descriptor is None:
        raise InUseError("another fetch is writing to this directory", file=str(folder))
    return descriptor


class Archive:
    """A directory that is open for writing, and locked.

    Raises `SourceError`: the directory is not an archive, is in use, or lacks bytes that were safe.

    `place`: the safe position of the archive; None before the first log.
    `read_before`: the GTIDs of earlier eras, see `archive_eras`.
    `names`: the logs, oldest first; the last one is in use.
    """

    def __init__(self, folder: Path, *, server_id: int | None = None) -> None:
        self.folder = folder
        self.place: SafePosition | None = None
        self.server: Server | None = None
        self.written = 0
        self.context = Context(4)
        self._file: int | None = None
        self._end = 0  # of the open log, in bytes
        self._complete = SafePosition("")  # like `place`, but not on disk yet
        self._flushes = ThreadPoolExecutor(1, "fsync")
        self._flush: tuple[Future[None], SafePosition] | None = None  # in progress, and what is safe then
        self._quiescent = QuiescentPoints()
        self._is_closed = False  # by an event of the server
        self._is_flag_unsafe = False
        self.names: list[str] = []
        self.read_before = ""
        with writing_to(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
        self._lock = lock(folder)
        try:
            with writing_to(str(folder)):
                remove_drafts(folder)
            self.replica = self._load(server_id)
            self._recover()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the directory; bytes that are not safe are cut off when it is opened again."""
        self._close_file()
        self._flushes.shutdown()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    @property
    def unsafe(self) -> bool:
        """Whether complete transactions have been written since the last `sync`."""
        return (self._complete != self.place or self._is_flag_unsafe) and bool(self._complete.name)

    @property
    def _path(self) -> Path:
        return self.folder / self._complete.name

    # -- logs

    def begin(self, name: str) -> None:
        """Start a log.

        Raises `ServerError`: the archive already has a log of this name.
        """
        is_new = self.place is None or (self.place.name, self.place.position) != (name, 0)
        if is_new and any((self.folder / (name + suffix)).exists() for suffix in ("", *SUFFIXES)):
            reason = (
                f"the server begins a log {name}, and the archive has one; nothing is overwritten. "
                "Were the server's logs reset? Fetch into another directory"
            )
            raise ServerError(reason, file=str(self.folder / name))
        self.sync()
        self._close_file()
        self.place = self._complete = SafePosition(name)
        self._save()
        with writing_to(str(self.folder / name)):
            self._file = open_for_writing(self.folder / name, os.O_TRUNC)
        self._start(0)
        if name not in self.names:
            self.names.append(name)

    def resume(self, name: str, position: int) -> None:
        """Continue the newest log from a position at or before its end; ServerError if there is none."""
        if self.place is None or name != self.place.name or position > self._end:
            here = f"{self.place.name} at {self._end}" if self.place else "no log"
            raise ServerError(f"the server sends {name} from {position} on; the archive ends in {here}")
        self._quiescent = QuiescentPoints()
        self.context = context_of(self.folder / name)

    def check_description(self, raw: bytes) -> None:
        """Compare the format description that a server sends in mid-log with the log's own.

        Raises `ServerError`: they differ, or the log has none yet.
        """
        assert self._file is not None
        mine = read_at(self._file, len(raw), len(MAGIC))
        # Position, flags and checksum belong to the stream.
        if len(mine) < len(raw):
            raise ServerError("the server sends a format description in a log that does not begin with one")
        if read_header(mine, 4)[:4] != read_header(raw, 4)[:4]:
            raise self._differs(len(MAGIC))

    def write(self, block: Block) -> None:
        """Write the next events of the log; events that the archive already has are compared.

        Raises `ServerError`: they differ from those in the archive; `SourceError`: they cannot be written.
        """
        begin, end = int(block.positions[0]), int(block.end_positions[-1])
        data = view_of(block.data)[int(block.starts[0]) :][: end - begin]
        if begin < self._end:
            data = data[self._compare(data, begin) :]
        if len(data):
            self._put(data, is_first=begin == len(MAGIC))
        self._pass(block)

    def _pass(self, block: Block) -> None:
        """Record the offset up to which no transaction is open, and whether the log is closed."""
        offsets = np.append(block.positions, block.end_positions[-1])[self._quiescent.of(block)]
        self._note(offsets[offsets >= self._complete.position].tolist())
        self._is_closed = int(block.types[-1]) in _ENDS
        if self._is_closed:
            self._set_in_use(is_set=False)

    def finish(self) -> None:
        """Finish the log because another one follows.

        A log that its server did not close, because it was killed, is recovered when the server restarts.
        MySQL then clears the in-use flag, MariaDB leaves it set.
        """
        if not self._is_closed and self.server is not None and not self.server.is_mariadb:
            self._set_in_use(is_set=False)
            self._is_flag_unsafe = True
        self.sync()

    def sync(self, *, and_state: bool = True) -> None:
        """Write all complete transactions to disk, then update the state."""
        self.settle()
        if not self.unsafe or self._file is None:
            return
        is_new = self.place is None or not self.place.position
        with self._syncing():
            os.fsync(self._file)
            self._is_flag_unsafe = False
            if is_new:
                sync(self.folder)
        if is_new:
            self._write_index()
        if and_state or is_new:
            self.place = self._complete
            self._save()

    def begin_sync(self) -> None:
        """Like `sync`, but in a thread; the state is updated by the next call of `settle`, `sync` or this."""
        self.settle()
        if self.place is None or not self.place.position:
            self.sync()  # a new log needs more
        elif self.unsafe and self._file is not None:
            self._flush = self._flushes.submit(os.fsync, self._file), self._complete

    @property
    def is_synced(self) -> bool:
        """Whether a sync has ended whose state `settle` has to write."""
        return self._flush is not None and self._flush[0].done()

    def settle(self) -> None:
        """Wait for the end of a sync that is in progress, and update the state."""
        if self._flush is not None:
            (flush, place), self._flush = self._flush, None
            with self._syncing():
                flush.result()
            self.place = place
            self._save()

    @contextmanager
    def _syncing(self) -> Iterator[None]:
        """If a sync fails, forget what it was to make safe: systems report each failure only once."""
        try:
            with writing_to(str(self._path)):
                yield
        except SourceError:
            self._complete, self._is_flag_unsafe = self.place or self._complete, False
            raise

    def remove_before(self, name: str) -> None:
        """Remove the logs before one of them; the index no longer lists them when they go."""
        if name in self.names:
            names, self.names = self.names, self.names[self.names.index(name) :]
            remove_logs(self.folder, names, self.names)

    def cut(self) -> None:
        """Remove the bytes of an incomplete transaction."""
        if self._file is not None and self._complete.name:
            with writing_to(str(self._path)):
                os.ftruncate(self._file, self._complete.position)
            self._end = self._complete.position
            self.sync()

    def identify(self, server: Server) -> None:
        """Record the server of these logs, or compare it."""
        known = self.server
        if known is not None and (known.is_mariadb, known.uuid) != (server.is_mariadb, server.uuid):
            names = known.uuid or known.version, server.uuid or server.version
            reason = (
                f"the archive is of the server {names[0]}, and this one is {names[1]}; "
                "fetch its logs into another directory"
            )
            raise ServerError(reason, file=str(self.folder))
        if known != server:
            self.server = server
            if known is None:
                self._save()  # otherwise with the next bytes, once these prove that it is the same server

    # -- bytes

    def _start(self, end: int) -> None:
        self._end = end
        self._quiescent, self._is_closed = QuiescentPoints(), False
        self.context = Context(4)

    def _put(self, data: memoryview, *, is_first: bool) -> None:
        assert self._file is not None
        with writing_to(str(self._path)):
            if not self._end:
                self._end = write_at(self._file, MAGIC, 0)
            while len(data):
                count = write_at(self._file, data, self._end)
                self._end += count
                self.written += count
                data = data[count:]
        if is_first:
            self._set_in_use(is_set=True)

    def _compare(self, data: memoryview, begin: int) -> int:
        """The number of given bytes that the log already has; they must be the same.

        The in-use flag may differ, since servers clear it.
        """
        assert self._file is not None
        count = min(len(data), self._end - begin)
        with reading(str(self._path)):
            mine = bytearray(read_at(self._file, count, begin))
        if begin <= FLAGS_AT < begin + len(mine):
            mine[FLAGS_AT - begin] &= ~IN_USE
        if mine != data[:count]:
            raise self._differs(begin)
        return count

    def _differs(self, position: int) -> ServerError:
        reason = (
            "the server's log is not the one in the archive: the server was reset or replaced. "
            "Fetch into another directory"
        )
        return ServerError(reason, file=str(self._path), position=position)

    def _set_in_use(self, *, is_set: bool) -> None:
        assert self._file is not None
        with writing_to(str(self._path)):
            flags = read_at(self._file, 1, FLAGS_AT)[0]
            flags = flags | IN_USE if is_set else flags & ~IN_USE
            write_at(self._file, bytes([flags]), FLAGS_AT)

    def _note(self, offsets: list[int]) -> None:
        """Record the last of some offsets at which no transaction is open."""
        if not offsets or offsets[-1] <= self._complete.position:
            return
        last = offsets[-1]
        resumable = (*offsets[-2:-1], self._complete.position, last)
        again = next(offset for offset in resumable if last - offset <= _MOST_AGAIN)
        self._complete = SafePosition(self._complete.name, last, max(again, len(MAGIC)))

    def _close_file(self) -> None:
        with suppress(SourceError):
            self.settle()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    # -- state

    def _load(self, server_id: int | None) -> Replica:
        state = ArchiveState.load(self.folder)
        if state is None:
            refuse_strangers(self.folder)
            chosen = random.SystemRandom().randrange(*SERVER_IDS) if server_id is None else server_id
            return Replica(chosen, str(uuid.uuid4()))
        self.server, self.place, replica = state.server, state.place, state.replica
        self.read_before = state.read_before
        self.names = read_names(self.folder)
        return replica if server_id is None else Replica(server_id, replica.uuid)

    def _save(self) -> None:
        ArchiveState(self.server, self.replica, self.place, self.read_before).save(self.folder)

    def _write_index(self) -> None:
        index = self.folder / f"{series_of(self.names[0])[1]}index"
        replace_file(index, "".join(f"./{name}\n" for name in self.names))

    # -- after an interruption

    def _recover(self) -> None:
        """Keep the complete transactions of the newest log, and cut off the rest."""
        if self.place is None:
            return
        name, safe = self.place.name, self.place.position
        path = self.folder / name
        size = path.stat().st_size if path.exists() else 0
        if size < safe:
            reason = f"has {size} bytes, of which {safe} were safe: the archive is damaged"
            raise SourceError(reason, file=str(path))
        with writing_to(str(path)):
            self._file = open_for_writing(path)
        self._start(safe)
        self._complete = self.place
        if size > safe:
            with suppress(BinlogError):  # the bytes end, or are not events
                for block in _intact_blocks(path, safe):
                    self._pass(block)
        with writing_to(str(path)):
            os.ftruncate(self._file, self._complete.position)
        self._end = self._complete.position
        if name not in self.names:
            self.names.append(name)
        if safe and read_names(self.folder) != self.names:
            self._write_index()
        self.sync()


def _intact_blocks(path: Path, position: int) -> Iterator[Block]:
    """The blocks of a log from a position on, as far as its checksums are correct.

    Ends without an error where the bytes end.

    Raises `BinlogError`: they end within an event, or the rest is not one.
    """
    with reading(str(path)), path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            return
        context = context_of(path) if position else Context(4)
        begin = max(position, len(MAGIC))
        stream.seek(begin)
        for block in BlockReader(stream, context, begin, name=str(path)):
            if not block.is_special and not block.layout.is_checksummed:
                return
            if (check(block) == BAD).any():
                return
            yield block


# -- the directory


def refuse_strangers(folder: Path) -> None:
    """Reject a directory with logs that were not written by `fetch`."""
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    logs = [name for name in names if name.endswith(".index") or name.rpartition(".")[2].isdigit()]
    if logs:
        reason = f"has {logs[0]} in it, and no {STATE}: fetch did not make it; choose another directory"
        raise SourceError(reason, file=str(folder))


def read_names(folder: Path) -> list[str]:
    """The logs in the index, oldest first."""
    for path in folder.glob("*.index"):
        with reading(str(path)):
            return [line.removeprefix("./") for line in path.read_text(encoding="utf-8").splitlines()]
    return []


def remove_logs(folder: Path, names: list[str], kept: list[str]) -> None:
    """Remove all logs but some; the index no longer lists them when they go.

    `names`: those that the index may list.
    """
    for index in folder.glob("*.index") if kept != names else ():
        replace_file(index, "".join(f"./{name}\n" for name in kept))
    with writing_to(str(folder)):
        # A killed process may have left logs that the index no longer lists.
        for path in folder.iterdir():
            log = log_name(path.name)
            if LOG_NAME.fullmatch(log) and log not in kept:
                path.unlink()


def context_of(path: Path) -> Context:
    """What the first events of a log say about those that follow."""
    with reading(str(path)), path.open("rb") as stream:
        reader = BlockReader.of_file(stream, str(path), block_size=1 << 16)
        for block in reader:
            if not block.is_special:
                break
    return reader.context
