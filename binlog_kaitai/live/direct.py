"""A server followed without an archive of one's own: its logs pass through a spool in a temporary directory.

Logs are removed once they were read, so that the directory holds what the reader has yet to read and the log
in use.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

from binlog_kaitai.live.address import Address
from binlog_kaitai.live.spool import Spool, Start
from binlog_kaitai.live.starts import EARLIEST
from binlog_kaitai.sources import eras

_READER = "reader"


class Direct:
    """The logs of a server as files, while one reader in this process follows them.

    Parameters
    ----------
    url
        The server.
    start
        ``"earliest"``, ``"latest"``, or a position as `Follower.place` or `Checkpoint.of` take it.
    is_bounded
        Only what the server has now.

    Attributes
    ----------
    paths : tuple of str
        The directory with the logs.
    start : str or mapping
        Where to begin in it, as the parameter.

    Raises
    ------
    ServerError
        The server cannot be reached, or refuses.
    """

    def __init__(self, url: str, start: Start = EARLIEST, *, is_bounded: bool = False) -> None:
        self._server = Address.parse(url)[0].name
        folder = tempfile.mkdtemp(prefix="binlog-kaitai-")
        self.paths: Sequence[str] = (folder,)
        self._spool = Spool(url, Path(folder), start)
        self._finalize = weakref.finalize(self, _remove, self._spool)
        try:
            self.start = self._spool.begin(start, _READER, is_bounded=is_bounded)
        except BaseException:
            self._finalize()
            raise

    def end(self, file: str, log_id: int) -> tuple[str, int]:
        """The newest log, and up to where it can be read; logs before that of a checkpoint may go.

        Raises
        ------
        ServerError, SourceError
            The server refuses, or the temporary directory cannot be written.
        """
        self._spool.check()
        self._spool.note(_READER, file, log_id)
        found = self._spool.end()
        assert found is not None  # the first event was waited for
        return found

    def name_of(self, path: str) -> str:
        """The first server's name, and the log's."""
        era = eras.number_of(path)
        return self._server + (f"era-{era}/" if era else "") + os.path.basename(path)

    def close(self) -> None:
        """Stop fetching, and remove the directory."""
        self._finalize()


def _remove(spool: Spool) -> None:
    spool.close()
    shutil.rmtree(spool.folder, ignore_errors=True)
