"""Files of LOAD DATA, logged in pieces: written to disk for LOAD DATA LOCAL."""

from __future__ import annotations

import os
from contextlib import suppress

from binlog_kaitai.errors import reading

_PREFIX = "SQL_LOAD_MB-"


class LoadFiles:
    """Writes the files, and assigns their names.

    Parameters
    ----------
    folder
        Output folder; None for the system's temporary folder.
    """

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._paths: dict[int, str] = {}

    def begin(self, file_id: int, block: bytes, name: str = "") -> None:
        """Start a file; `name` is a prefix of its number."""
        prefix = f"{name}-" if name else _PREFIX
        self._paths[file_id] = self._create(f"{prefix}{file_id:x}-", block)

    def append(self, file_id: int, block: bytes) -> None:
        """Append to a file; ignored if it was not started."""
        path = self._paths.get(file_id)
        if path is not None:
            with reading(path), open(path, "ab") as file:
                file.write(block)

    def take(self, file_id: int) -> bytes | None:
        """The name of a complete file; None if it was not started."""
        path = self._paths.pop(file_id, None)
        return None if path is None else os.fsencode(path)

    def _create(self, start: str, block: bytes) -> str:
        # The first free name, like the clients.
        from tempfile import gettempdir

        number, folder = 0, gettempdir() if self._folder is None else self._folder
        while True:
            path = os.path.join(folder, f"{start}{number:x}")
            with reading(path), suppress(FileExistsError), open(path, "xb") as file:
                file.write(block)
                return path
            number += 1
