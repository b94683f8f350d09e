"""Uploads: files copied whole to a URL, and read back; nothing there is ever overwritten.

Object stores show an object once its stream is closed. Elsewhere, such as in a local folder, a file is
written under a hidden name and renamed. What an interruption leaves under the final name is removed.
"""

from __future__ import annotations

import io
import posixpath
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.errors import DamagedError, SourceError
from binlog_kaitai.sources import disk, packed, remote

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

#: Bytes copied or compared at a time.
_CHUNK = 4 << 20

#: PyArrow's names of the stores in which an object appears as a whole.
_OBJECT_STORES = ("s3", "gcs", "abfs")


class StoppedError(Exception):
    """An upload was stopped before it was complete."""


def upload(source: Path | bytes, url: str, *, same: tuple[str, ...] = (), stop: threading.Event) -> str:
    """Copy a file to a URL and read it back, unless the same log is there.

    `source`: the file, or its content.
    `same`: other URLs at which the log may be, compressed or not.
    Returns the URL at which it is.
    Raises `SourceError`: something else is there; `OSError`: the store cannot be reached, or does not return
    what was written; nothing was left there; `StoppedError`: `stop` was set.
    """
    for there in remote.existing((url, *same)):
        with _opened(source) as mine, remote.open_url(there) as theirs:
            if not _is_same_log(mine, theirs, stop):
                raise SourceError(_different(source), file=remote.without_options(there))
        return there
    with remote.changing(url) as (system, path):
        _write(system, path, url, source, stop)
    return url


def _different(source: Path | bytes) -> str:
    mine = f"{source}" if isinstance(source, Path) else "what fetch would write"
    return f"differs from {mine}; nothing there is overwritten. Use another store, or move this one away"


def _write(system: FileSystem, path: str, url: str, source: Path | bytes, stop: threading.Event) -> None:
    is_object, is_local = system.type_name in _OBJECT_STORES, system.type_name == "local"
    folder, name = posixpath.split(path)
    draft = path if is_object else posixpath.join(folder, f".{name}.new")
    if not is_object:
        system.create_dir(folder, recursive=True)
    file, is_moved = system.open_output_stream(draft), is_object
    try:
        with _opened(source) as mine:
            while data := mine.read(_CHUNK):
                _check(stop)
                file.write(data)
        file.close()
        if is_local:
            disk.sync(Path(draft))
        if not is_object:
            system.move(draft, path)
            is_moved = True
        if is_local:
            disk.sync(Path(folder))
        with _opened(source) as mine, remote.open_url(url) as theirs:
            if not _are_equal(mine, theirs, stop):
                raise OSError("the store returned other bytes than were written")
    except BaseException:
        with suppress(Exception):
            file.close()  # which may complete the object, although its end is missing
        with suppress(Exception):
            system.delete_file(path if is_moved else draft)
        raise


def _opened(source: Path | bytes) -> BinaryIO:
    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source)


def _is_same_log(mine: BinaryIO, theirs: BinaryIO, stop: threading.Event) -> bool:
    with suppress(DamagedError):
        return _are_equal(packed.unpacked(mine), packed.unpacked(theirs), stop)
    return False


def _are_equal(mine: BinaryIO, theirs: BinaryIO, stop: threading.Event) -> bool:
    while data := read_up_to(mine, _CHUNK):
        _check(stop)
        if read_up_to(theirs, len(data)) != data:
            return False
    return not theirs.read(1)


def _check(stop: threading.Event) -> None:
    if stop.is_set():
        raise StoppedError
