"""Flushes files and folders to disk, and replaces them."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from binlog_kaitai.errors import writing_to


def sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


#: Values of Linux: paths are relative to the working directory; exchange both.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def exchange(one: Path, other: Path) -> None:
    """Exchange two files or folders of a file system atomically: no process ever finds one of them missing.

    Raises
    ------
    OSError
        The system or the file system cannot do that, or one of them does not exist.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(one))
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically: afterwards, either the new or the old text is on disk."""
    draft = path.with_name(f".{path.name}.new")
    with writing_to(str(path)):
        with draft.open("w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
