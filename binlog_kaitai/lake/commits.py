"""Atomic, exactly-once commits of batches to a lake.

The rule
--------
1. The files of a batch are written to a staging folder.
2. A record that lists them is written under a temporary name and renamed: this decides the batch.
3. The files are renamed into the lake, under names that include the batch, and added to its Iceberg tables.
4. The record is renamed again: the batch is complete.

A process killed before step 2 leaves nothing in the lake, and the batch is repeated. A process killed
before step 4 leaves a record: the next process moves the remaining files, and adds them to the tables that
lack them. The lake therefore contains each row of a decided batch exactly once, and no other row. Files of
complete batches may be joined later, see `compaction`.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake.origins import written_name
from binlog_kaitai.sources.disk import locked, replace_file, sync, try_lock

if TYPE_CHECKING:
    from binlog_kaitai.lake.iceberg import IcebergTables

PRIVATE = "_pipeline"
_DIGITS = 8


class Lake:
    """The folder of a lake.

    Parameters
    ----------
    folder
        New, empty, or an existing lake. It must be on a single file system.
    kind
        The kind of its tables, stored in the records of its batches.
    tables
        The Iceberg tables.

    Attributes
    ----------
    checkpoint : Path
        Folder for Spark's checkpoint.
    snapshot : Path
        Folder for the snapshot that the first batch contains.
    """

    def __init__(self, folder: Path, kind: str = "parquet", tables: IcebergTables | None = None) -> None:
        self.folder = folder
        self._kind = kind
        self._tables = tables
        self.checkpoint = folder / PRIVATE / "checkpoint"
        self.snapshot = folder / PRIVATE / "snapshot"
        self._staging = folder / PRIVATE / "staging"
        self._batches = folder / PRIVATE / "batches"
        self._lock: int | None = None

    def open(self) -> None:
        """Lock the lake for this process, and complete decided batches.

        Raises
        ------
        UsageError
            The folder is not a lake, or a lake of another kind, or another process is writing to it.
        """
        self.check()
        for path in (self._staging, self._batches):
            path.mkdir(parents=True, exist_ok=True)
        self._lock = try_lock(self.folder / PRIVATE / "lock")
        if self._lock is None:
            raise UsageError(f"another pipeline is writing to {self.folder}")
        for path in self._batches.glob(".*"):
            path.unlink()
        if (newest := self.newest()) is not None:
            if not any((self.checkpoint / "offsets").glob("[0-9]*")):
                self.close()
                raise UsageError(f"{self.checkpoint} is missing; without it, the lake cannot continue")
            if (kind := self.kind()) != self._kind:
                self.close()
                raise UsageError(f"{self.folder} is a lake in {kind} format; keep that format")
            self._complete(newest)
        self._clear_staging()
        with suppress(UsageError), self.compacting():
            pass  # this clears what an interrupted compaction left

    def check(self) -> None:
        """Reject a folder that contains anything but a lake."""
        if self.folder.is_dir() and any(self.folder.iterdir()) and not (self.folder / PRIVATE).is_dir():
            raise UsageError(f"{self.folder} is not empty and is not a pipeline's lake")

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def new_staging(self) -> Path:
        """A staging folder for the files of one task; created on first write."""
        return self._staging / uuid.uuid4().hex

    def newest(self) -> int | None:
        """The number of the last decided batch."""
        return max((int(path.stem) for path in self._batches.glob("[0-9]*.*")), default=None)

    def completed(self) -> set[int]:
        """The numbers of all batches whose files are in the lake, also after a power failure."""
        found = {int(path.stem) for path in self._batches.glob("[0-9]*.json")}
        if found:
            sync(self._batches)
        return found

    def kind(self) -> str:
        """The kind of its tables: that of its last batch, if it has one."""
        if (newest := self.newest()) is None:
            return self._kind
        try:
            record = json.loads(self._decided_path(newest).read_text())
        except FileNotFoundError:  # also if another process completes the batch now
            record = self.record(newest)
        kind: str = record.get("format", self._kind)
        return kind

    def keeping_files(self) -> AbstractContextManager[None]:
        """While this context lasts, no process replaces files of the lake; new ones may appear."""
        return locked(self._files_lock(), is_shared=True)

    def replacing_files(self) -> AbstractContextManager[None]:
        """While this context lasts, no other process adds or replaces files of the lake."""
        return locked(self._files_lock(), is_shared=False)

    @contextmanager
    def compacting(self) -> Iterator[Path]:
        """Exclude other compactions; yields an empty folder for new files, which is removed at the end.

        Raises
        ------
        UsageError
            Another process is compacting the lake.
        """
        folder = self.folder / PRIVATE / "compaction"
        lock = try_lock(folder.with_suffix(".lock"))
        if lock is None:
            raise UsageError(f"another process is compacting {self.folder}")
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(exist_ok=True)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)

    def is_decided(self, batch: int) -> bool:
        """Whether a batch is decided, so that it need not be repeated."""
        return self._record_path(batch).exists() or self._decided_path(batch).exists()

    def record(self, batch: int) -> dict[str, Any]:
        """The record of a batch."""
        try:
            found: dict[str, Any] = json.loads(self._record_path(batch).read_text())
        except (OSError, ValueError) as error:
            raise SourceError(f"cannot be read: {error}", file=str(self._record_path(batch))) from error
        return found

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of all batches, in order."""
        for number in sorted(int(path.stem) for path in self._batches.glob("[0-9]*.json")):
            yield self.record(number)

    def commit(self, batch: int, pieces: list[dict[str, Any]]) -> dict[str, Any]:
        """Commit a batch unless it is already decided; returns its record.

        Parameters
        ----------
        pieces
            The output of each task, in log order: ``staging``, its folder; ``files``, paths in it with row
            counts;
            and any further data to keep.
        """
        if not self.is_decided(batch):
            if self._tables is not None:
                self._tables.widen(pieces)
            self._decide(batch, pieces)
        self._complete(batch)
        self._clear_staging()
        return self.record(batch)

    def _decide(self, batch: int, pieces: list[dict[str, Any]]) -> None:
        files = []
        for number, piece in enumerate(pieces):
            count: dict[str, int] = {}
            staging = Path(piece.pop("staging"))
            for path, rows in piece.pop("files").items():
                folder = os.path.dirname(path)
                count[folder] = count.get(folder, 0) + 1
                name = written_name(batch, number, count[folder])
                source = (staging / path).relative_to(self.folder).as_posix()
                sync(staging / path)
                files.append({"from": source, "to": f"{folder}/{name}", "rows": rows})
        record = {"batch": batch, "format": self._kind, "files": files, "pieces": pieces}
        replace_file(self._decided_path(batch), json.dumps(record, indent=1))
        sync(self._batches)

    def _complete(self, batch: int) -> None:
        decided = self._decided_path(batch)
        if not decided.exists():
            return
        files = json.loads(decided.read_text())["files"]
        with self.keeping_files():
            for file in files:
                source, target = self.folder / file["from"], self.folder / file["to"]
                if source.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source.rename(target)
                elif not target.exists():
                    raise SourceError("a file of a batch is missing", file=str(target))
        if self._tables is not None:
            self._tables.add(self._numbering(), batch, [file["to"] for file in files])
        decided.rename(self._record_path(batch))

    def _numbering(self) -> str:
        """The owner of the batch numbering: Spark restarts at 0 for each new checkpoint."""
        found: str = json.loads((self.checkpoint / "metadata").read_text())["id"]
        return found

    def _clear_staging(self) -> None:
        for folder in self._staging.iterdir():
            shutil.rmtree(folder, ignore_errors=True)

    def _record_path(self, batch: int) -> Path:
        return self._batches / f"{batch:0{_DIGITS}}.json"

    def _decided_path(self, batch: int) -> Path:
        return self._batches / f"{batch:0{_DIGITS}}.decided"

    def _files_lock(self) -> Path:
        return self.folder / PRIVATE / "files.lock"
