"""Local files and folders: flushed to disk, replaced, locked between processes, and not overwritten if read.

A lock is released when its holder ends, however it ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EDEADLK
from typing import TYPE_CHECKING, BinaryIO

from binlog_kaitai.errors import UsageError, writing_to

if TYPE_CHECKING:
    from pathlib import Path


#: The permissions of files with data of logs: those that servers give to their logs.
DATA_MODE = 0o640

#: Without it, Windows changes the ends of lines.
_BINARY = getattr(os, "O_BINARY", 0)


def content_of(path: str) -> bytes:
    """All bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def sync(path: Path) -> None:
    """Flush a file or folder to disk; Windows does not flush folders."""
    if os.name == "nt" and path.is_dir():
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def remove_drafts(folder: Path) -> None:
    """Remove the drafts of processes that were killed; no other process must be writing to the folder."""
    for draft in folder.glob(f".{'[0-9a-f]' * 16}.new"):
        draft.unlink(missing_ok=True)


def replace_file(path: Path, text: str, mode: int | None = None) -> None:
    """Replace a file atomically: afterwards, either the new or the old text is on disk."""
    with writing_to(str(path)), replacing(path, mode) as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def create(path: str | os.PathLike[str]) -> BinaryIO:
    """A new file to write and read; FileExistsError if there is anything of this name, also a link."""
    return open(path, "x+b", opener=lambda name, flags: os.open(name, flags, DATA_MODE))


def open_for_writing(path: str | os.PathLike[str], flags: int = 0) -> int:
    """The descriptor of a file to write and read, which is created if necessary."""
    return os.open(path, os.O_RDWR | os.O_CREAT | _BINARY | flags, DATA_MODE)


def read_at(number: int, count: int, offset: int) -> bytes:
    """Bytes of an open file from an offset on; the position of the file changes."""
    os.lseek(number, offset, os.SEEK_SET)
    return os.read(number, count)


def write_at(number: int, data: bytes | memoryview, offset: int) -> int:
    """Write to an open file from an offset on, and return how many bytes; its position changes."""
    os.lseek(number, offset, os.SEEK_SET)
    return os.write(number, data)


@contextmanager
def replacing(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete and on disk, unless an exception is raised.

    Until then, it has a name that no other program can know. It replaces a file of the same name, but a pipe
    or a device is written to.

    `mode`: its permissions, whatever the umask; by default those of `create`.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    draft = path.with_name(f".{os.urandom(8).hex()}.new")
    try:
        with create(draft) as file:
            if mode is not None:
                draft.chmod(mode)
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
    number = _lockable(path)
    is_mine = False
    try:
        is_mine = _lock(number, waits=False)
    finally:
        if not is_mine:
            os.close(number)
    return number if is_mine else None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for a lock on a file, and hold it."""
    number = _lockable(path)
    try:
        while not _lock(number, waits=True):
            pass
        yield
    finally:
        os.close(number)


def _lockable(path: Path) -> int:
    if path.is_dir():
        if os.name != "nt":
            return os.open(path, os.O_RDONLY)
        path /= ".lock"  # Windows opens files only
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)


def _lock(number: int, *, waits: bool) -> bool:
    """Lock an open file; False if another holder has locked it, on Windows after waiting ten seconds."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(number, msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (EACCES, EDEADLK):
                return False
            raise
    else:
        import fcntl

        try:
            fcntl.flock(number, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
    return True


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
