"""Syncs a log to disk in a thread, while more of it is received."""

from __future__ import annotations

import os
import threading

from binlog_kaitai.live.state import Place


class Flush:
    """The sync of everything written to a log so far, which begins at once.

    Parameters
    ----------
    file
        The log's descriptor, which has to remain open until :meth:`wait` returns.
    place
        The position that is safe afterwards.
    """

    def __init__(self, file: int, place: Place) -> None:
        self.place = place
        self._file = file
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="fsync", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether :meth:`wait` returns at once."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is done.

        Raises
        ------
        OSError
            The sync failed, so nothing written since the last one is safe.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            self._error = error
