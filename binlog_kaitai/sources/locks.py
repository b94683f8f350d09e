"""Locks on files and folders between processes, released when their holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def try_lock(path: Path) -> int | None:
    """Lock a file, which is created if necessary, unless another holder has locked it.

    Returns
    -------
    A file descriptor, whose closing releases the lock; None if the file is locked.
    """
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    is_locked = False
    try:
        is_locked = try_lock_open(number)
    finally:
        if not is_locked:
            os.close(number)
    return number if is_locked else None


def try_lock_open(number: int) -> bool:
    """Lock an open file or folder by its descriptor; False if another holder has locked it."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path, *, is_shared: bool) -> Iterator[None]:
    """Wait for a lock on a file, and hold it; any number of holders may share it."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(number, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
