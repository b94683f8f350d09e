"""Buffers text in memory while it is short, else in a temporary file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO

#: Maximum size of text kept in memory, and of pieces read from the file, in bytes.
_MOST = 32 << 20
_STEP = 1 << 20


class Spool:
    """Pieces of text, in order."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def __bool__(self) -> bool:
        return bool(self._pieces) or self._file is not None

    def append(self, piece: bytes) -> None:
        """Add a piece."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > _MOST:
            if self._file is None:
                import tempfile

                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed where it is emptied
            self._file.writelines(self._pieces)
            self._pieces.clear()
            self._size = 0

    def extend(self, pieces: Iterable[bytes]) -> None:
        """Add several pieces."""
        for piece in pieces:
            self.append(piece)

    def clear(self) -> None:
        """Discard everything."""
        self._pieces.clear()
        self._size = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def flush(self, write: Callable[[bytes], object]) -> None:
        """Write everything, and clear the spool."""
        if self._file is not None:
            self._file.seek(0)
            while piece := self._file.read(_STEP):
                write(piece)
        for piece in self._pieces:
            write(piece)
        self.clear()
