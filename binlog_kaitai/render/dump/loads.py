"""The files of LOAD DATA, which the log has in pieces: written to disk, where LOAD DATA LOCAL finds them."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

from binlog_kaitai.errors import reading

_PREFIX = "SQL_LOAD_MB-"


class LoadFiles:
    """Writes the files, and knows their names.

    Parameters
    ----------
    folder
        Where to write; None for the system's folder for temporary files.
    """

    def __init__(self, folder: str | None) -> None:
        self.folder = folder if folder is not None else tempfile.gettempdir()
        self._paths: dict[int, str] = {}

    def begin(self, file_id: int, block: bytes, name: str = "") -> None:
        """Start a file; a `name` is put in front of its number."""
        prefix = f"{name}-" if name else _PREFIX
        self._paths[file_id] = self._create(f"{prefix}{file_id:x}-", block)

    def append(self, file_id: int, block: bytes) -> None:
        """Go on with a file; one that was not begun is none."""
        path = self._paths.get(file_id)
        if path is not None:
            with reading(path), open(path, "ab") as file:
                file.write(block)

    def take(self, file_id: int) -> bytes | None:
        """The name of a file that is whole; None if it was not begun."""
        path = self._paths.pop(file_id, None)
        return None if path is None else os.fsencode(path)

    def _create(self, start: str, block: bytes) -> str:
        # The first free name, as the clients choose it.
        number = 0
        while True:
            path = os.path.join(self.folder, f"{start}{number:x}")
            with reading(path), suppress(FileExistsError), open(path, "xb") as file:
                file.write(block)
                return path
            number += 1
