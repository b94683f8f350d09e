"""Local files and folders: flushed to disk, replaced, locked between processes, and not overwritten if read.

A lock is released when its holder ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from binlog_kaitai.errors import UsageError, writing_to

if TYPE_CHECKING:
    from pathlib import Path


def content_of(path: str) -> bytes:
    """All bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically: afterwards, either the new or the old text is on disk."""
    with writing_to(str(path)), replacing(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that replaces another one once it is on disk, unless an exception is raised."""
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


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
def locked(path: Path) -> Iterator[None]:
    """Wait for a lock on a file, and hold it."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
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
