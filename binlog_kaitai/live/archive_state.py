"""The files of an archive besides its logs: state, index and record of a store, each replaced as a whole."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import ServerError, SourceError, UsageError, reading, writing_to
from binlog_kaitai.live.server_session import Replica, Server
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.sources import eras
from binlog_kaitai.sources.disk import replace_file, try_lock
from binlog_kaitai.sources.eras import STATE, VERSION
from binlog_kaitai.sources.packed import SUFFIXES
from binlog_kaitai.sources.source import log_name

#: What a directory has if its logs are in an object store, and if it is a spool.
STORE, SPOOL = "store.json", "spool.json"


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

    replica: Replica
    server: Server | None
    place: SafePosition | None
    read_before: str = ""

    @classmethod
    def load(cls, folder: Path | str) -> ArchiveState | None:
        """The state of an archive, whose directory may be a URL; None if there is none."""
        if (state := eras.read_state(str(folder))) is None:
            return None
        with eras.reading_state(str(folder)):
            return cls(
                Replica(**state["replica"]),
                Server(**state["server"]) if state["server"] else None,
                SafePosition(**state["place"]) if state["place"] else None,
                str(GtidSet.parse(state.get("read_before", ""))),
            )

    def save(self, folder: Path) -> None:
        """Write the state to disk."""
        replace_file(folder / STATE, self.text())

    def text(self) -> str:
        """The content of the file."""
        state: dict[str, object] = {
            "version": VERSION,
            "server": asdict(self.server) if self.server else None,
            "replica": asdict(self.replica),
            "place": asdict(self.place) if self.place else None,
        }
        if self.read_before:
            state["read_before"] = self.read_before
        return json.dumps(state, indent=1) + "\n"


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


def refuse_strangers(folder: Path) -> None:
    """Reject a directory with logs that were not written by `fetch`."""
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    logs = [name for name in names if name.endswith(".index") or name.rpartition(".")[2].isdigit()]
    if logs:
        reason = f"has {logs[0]} in it, and no {STATE}: fetch did not make it; choose another directory"
        raise SourceError(reason, file=str(folder))


def refuse_existing(folder: Path, name: str) -> None:
    """Reject a log that an archive already has, possibly compressed."""
    if any((folder / (name + suffix)).exists() for suffix in ("", *SUFFIXES)):
        reason = (
            f"the server begins a log {name}, and the archive has one; nothing is overwritten. "
            "Were the server's logs reset? Fetch into another directory"
        )
        raise ServerError(reason, file=str(folder / name))


def refuse_trimmed(folder: Path) -> None:
    """Reject an archive from which `fetch` removes logs that queries may need."""
    record = StoreRecord.load(folder)
    if record is not None and record.keep_local is not None:
        reason = "fetch removes logs from this archive (--keep-local); give the query a spool of its own"
        raise UsageError(reason, file=str(folder))


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
            if is_log(log) and log not in kept:
                path.unlink()


def is_log(name: str) -> bool:
    """Whether a file of an archive is a log, by its name."""
    stem, _, number = name.rpartition(".")
    return bool(stem) and number.isascii() and number.isdigit()


def context_of(path: Path) -> Context:
    """What the first events of a log say about those that follow."""
    with reading(str(path)), path.open("rb") as stream:
        reader = BlockReader.of_file(stream, str(path), block_size=1 << 16)
        for block in reader:
            if not block.is_special:
                break
    return reader.context
