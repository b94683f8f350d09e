"""Local files and folders: flushed to disk, replaced, locked between processes, and not overwritten if read.

A lock is released when its holder ends, however it ends.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from binlog_kaitai.errors import UsageError, writing_to


def sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


#: Values of Linux: paths are relative to the working directory; exchange both.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def exchange(first: Path, second: Path) -> None:
    """Exchange two files or folders of a file system atomically: no process ever finds one of them missing.

    Raises `OSError`: the system or the file system cannot do that, or one of them does not exist.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(first))
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(first), None, str(second))


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically: afterwards, either the new or the old text is on disk."""
    draft = path.with_name(f".{path.name}.new")
    with writing_to(str(path)):
        with draft.open("w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)


def try_lock(path: Path) -> int | None:
    """Lock a folder, or a file, which is created if necessary, unless another holder has locked it.

    Returns a file descriptor, whose closing releases the lock; None if another holder has locked it.
    """
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(number)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return number


@contextmanager
def locked(path: Path, *, is_shared: bool) -> Iterator[None]:
    """Wait for a lock on a file, and hold it; any number of holders may share it."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(number, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def refuse_inputs(target: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str] | None]) -> None:
    """Refuse to write to a file that is read, under this name, another one, or a link.

    `target`: the path to write to, which need not exist.
    `inputs`: the paths to read; None (a stream) and URLs are not local files.
    Raises `UsageError`: the target is one of the inputs.
    """
    for path in inputs:
        with suppress(OSError):
            if path is not None and os.path.samefile(target, path):
                reason = f"is an input, too ({os.fspath(path)}); write to another file"
                raise UsageError(reason, file=os.fspath(target))
