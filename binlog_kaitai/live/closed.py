"""What happens to closed logs: compressed and stored in the background, and then maybe removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from binlog_kaitai.live.archive import Archive
from binlog_kaitai.live.eras import age, remove_before
from binlog_kaitai.live.state import read_names
from binlog_kaitai.sources import eras

if TYPE_CHECKING:
    from concurrent.futures import Future

    from binlog_kaitai.live.packing import Packer
    from binlog_kaitai.live.storing import Store

#: Seconds between two looks at the work in the background, at the end.
_SECONDS = 0.5


class ClosedLogs:
    """The closed logs of an archive that is being fetched.

    Parameters
    ----------
    folder
        The archive's directory.
    compresses
        Compress them, see `packing`.
    store, keep_local
        Put them into an object store, see `storing`.
    report
        Called with what was stored, and with failures.
    """

    def __init__(
        self,
        folder: Path,
        *,
        compresses: bool = False,
        store: str | None = None,
        keep_local: int | None = None,
        report: Callable[[str, dict[str, Any]], None] = lambda what, facts: None,
    ) -> None:
        self._folder = folder
        self._report = report
        self._packer: Packer | None = None
        self._store: Store | None = None
        self._packed: dict[str, Future[None]] = {}
        self._seen: set[str] = set()
        self._trimmed = ""
        if compresses:
            from binlog_kaitai.live.packing import Packer

            self._packer = Packer()
        if store is not None:
            from binlog_kaitai.live.storing import Store

            self._store = Store(store, folder, keep_local)

    @property
    def values(self) -> dict[str, float]:
        """Metrics of the store."""
        store = self._store
        return {
            "unstored_logs": store.unstored if store else 0,
            "store_failures_total": store.failures if store else 0,
        }

    def add(self, archive: Archive) -> None:
        """Begin with the logs that are closed and not yet under way.

        Parameters
        ----------
        archive
            The last era.

        Raises
        ------
        SourceError
            As :meth:`tend`.
        """
        if self._packer is None and self._store is None:
            return
        logs = self._logs(archive)[:-1]
        if self._packer is not None:
            for log in logs:
                if log not in self._seen and (self._folder / log).exists():
                    self._packed[log] = self._packer.add(self._folder / log)
                self._seen.add(log)
            self._packer.check()
        if self._store is not None:
            self._store.add(logs, self._packed)

    def tend(self, archive: Archive) -> None:
        """Report what has been done, and remove local copies.

        Raises
        ------
        SourceError
            A log cannot be compressed, or something else is in the store.
        """
        if self._store is None:
            return
        self._tell()
        record, place = self._store.record, archive.place
        keep, last = record.keep_local, record.last
        if keep is None or not last or last == self._trimmed or place is None or not place.position:
            return
        logs = self._logs(archive)
        stored = [log for log in logs[:-1] if age(log) <= age(last)]
        if (surplus := len(stored) - keep) > 0:
            remove_before(self._folder, archive, logs[surplus])
        self._trimmed = last

    def finish(self, archive: Archive) -> None:
        """Wait until all is done.

        Raises
        ------
        SourceError
            As :meth:`tend`; or the store cannot be reached after several attempts.
        """
        if self._packer is not None:
            self._packer.close(is_patient=True)
        while self._store is not None and self._store.is_busy(_SECONDS):
            self._tell()
        self.tend(archive)

    def close(self) -> None:
        """Leave what is not done to the next run."""
        if self._store is not None:
            self._store.stop()
        if self._packer is not None:
            self._packer.close(is_patient=False)
        if self._store is not None:
            self._store.close()

    def _tell(self) -> None:
        assert self._store is not None
        for what, facts in self._store.news():
            self._report(what, facts)
        self._store.check()

    def _logs(self, archive: Archive) -> list[str]:
        """All logs of the archive, oldest first; the last one is in use."""
        found: list[str] = []
        for number, folder in enumerate((str(self._folder), *eras.folders(str(self._folder)))):
            is_last = Path(folder) == archive.folder
            names = archive.names if is_last else read_names(Path(folder))
            found += [os.path.join(eras.folder_of("", number), name) for name in names] if number else names
        return found
