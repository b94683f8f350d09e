"""From what a caller names (path, glob, directory, index file, bytes, stream) to files to read.

A :class:`Source` is a name and a way to open it; nothing is opened before it is read. Files of one
series come in the order the server wrote them: by the index file, or by the number in their name.
"""

from __future__ import annotations

import glob
import io
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO, NamedTuple, Union, cast

from binlog_kaitai.errors import SourceError, reading
from binlog_kaitai.sources import remote

#: The first four bytes of a binary log, plain and encrypted (`BINLOG_MAGIC`, sql/rpl_log_encryption.h).
MAGIC = b"\xfebin"
ENCRYPTED_MAGIC = b"\xfdbin"

#: Running servers. What speaks to them takes all that reads logs, and is found by name from here.
_SERVERS = ("mysql://", "mariadb://")

SourceLike = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO, "Source"]


class Part(NamedTuple):
    """Some events of a log, which begin where nothing before them matters but the format.

    Attributes
    ----------
    pieces : tuple of (int, int or None)
        Offsets where the events begin and where the last one ends, None for the end of the file; several
        where what lies between is left out.
    binlog_version : int
        1, 3 or 4.
    formats : tuple of bytes
        The format description events in force, oldest first; none where the log is read from its magic on.
    """

    pieces: tuple[tuple[int, int | None], ...]
    binlog_version: int = 4
    formats: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Source:
    """One log to read.

    Attributes
    ----------
    name : str
        What errors and outputs call it: the path as given, ``"-"`` for stdin, ``"<bytes>"``.
    open : callable
        Gives a binary stream at the log's first byte; raises ``OSError``.
    path : str or None
        Where it lies in the file system, where it does.
    part : Part or None
        Only these of its events; None for all.
    """

    name: str
    open: Callable[[], BinaryIO]
    path: str | None = None
    part: Part | None = None

    @classmethod
    def of_path(cls, path: str) -> Source:
        return cls(path, lambda: remote.open_url(path) if remote.is_url(path) else open(path, "rb"), path)

    @classmethod
    def of_bytes(cls, data: bytes | bytearray | memoryview, name: str = "<bytes>") -> Source:
        return cls(name, lambda: io.BytesIO(data))


def resolve(source: SourceLike | Iterable[SourceLike]) -> list[Source]:
    """The logs that a caller means, in the order to read them.

    Parameters
    ----------
    source
        A path, or a URL that PyArrow or fsspec opens (see `remote`); a glob pattern; a directory (its
        binary logs, by index file where there is just one);
        a ``.index`` file; a running server, ``mysql://USER@HOST/``, for the logs that it has; ``"-"`` for
        stdin; ``bytes``; an open binary file; or several of these.

    Raises
    ------
    SourceError
        Nothing is there, or nothing that is a binary log.
    """
    if isinstance(source, Source):
        return [source]
    if isinstance(source, (bytes, bytearray, memoryview)):
        return [Source.of_bytes(source)]
    if isinstance(source, (str, os.PathLike)):
        return _resolve_path(os.fspath(source))
    if hasattr(source, "read"):
        stream = cast(BinaryIO, source)
        return [Source(str(getattr(stream, "name", "<stream>")), lambda: _borrow(stream))]
    return [found for one in source for found in resolve(one)]


def _resolve_path(path: str) -> list[Source]:
    if path == "-":
        return [Source("-", lambda: _borrow(sys.stdin.buffer))]
    if path.lower().startswith(_SERVERS):
        live = import_module("binlog_kaitai.live.source")
        return cast(list[Source], live.resolve(path))
    if remote.is_url(path):
        return _resolve_url(path)
    if os.path.isdir(path):
        return _resolve_directory(path)
    if path.endswith(".index") and os.path.isfile(path):
        return [Source.of_path(log) for log in read_index(path)]
    if not os.path.lexists(path) and glob.has_magic(path):
        matches = sorted(filter(os.path.isfile, glob.glob(path)), key=natural_key)
        if not matches:
            raise SourceError("no file matches the pattern", file=path)
        return [Source.of_path(log) for log in matches if not log.endswith(".index")]
    if not os.path.exists(path):
        raise SourceError("no such file or directory", file=path)
    return [Source.of_path(path)]


def _resolve_directory(path: str) -> list[Source]:
    names = sorted(os.listdir(path), key=natural_key)
    indexes = [name for name in names if name.endswith(".index")]
    if len(indexes) == 1:
        return [Source.of_path(log) for log in read_index(os.path.join(path, indexes[0]))]
    logs = [full for full in (os.path.join(path, name) for name in names) if _starts_like_a_log(full)]
    if not logs:
        raise SourceError("the directory holds no binary log", file=path)
    return [Source.of_path(log) for log in logs]


def _resolve_url(url: str) -> list[Source]:
    found = sorted(remote.find(url), key=natural_key)
    if found == [url] and not url.endswith(".index"):
        return [Source.of_path(url)]
    logs = [one for one in found if _starts_like_a_log(one)]
    if found == [url]:
        logs = _in_index(url)
    if not logs:
        raise SourceError("there is no binary log", file=url)
    return [Source.of_path(log) for log in logs]


def _in_index(url: str) -> list[str]:
    """The logs that lie beside an index file somewhere else, and that it lists."""
    with reading(url), remote.open_url(url) as file:
        entries = file.read().decode("utf-8", "surrogateescape").split()
    folder = url.rpartition("/")[0]
    return [f"{folder}/{os.path.basename(entry)}" for entry in entries]


def _starts_like_a_log(path: str) -> bool:
    with suppress(OSError):
        if remote.is_url(path) or os.path.isfile(path):
            with Source.of_path(path).open() as file:
                return file.read(4) in (MAGIC, ENCRYPTED_MAGIC)
    return False


def state_of(path: str) -> remote.State:
    """Size and time of the last change of a log's file.

    Raises
    ------
    OSError
        It is not there.
    """
    if remote.is_url(path):
        return remote.state_of(path)
    found = os.stat(path)
    return remote.State(found.st_size, found.st_mtime)


def with_later_logs(sources: list[Source]) -> list[Source]:
    """The logs, and those of the last one's series that the server wrote after it."""
    path = sources[-1].path if sources else None
    if path is None or remote.is_url(path):
        return sources
    folder, series = series_of(path)
    name = os.path.basename(path)
    later = [
        other
        for other in os.listdir(folder or ".")
        if re.fullmatch(re.escape(series) + r"\d+", other) and natural_key(other) > natural_key(name)
    ]
    found = [Source.of_path(os.path.join(folder, other)) for other in sorted(later, key=natural_key)]
    return [*sources, *found]


def series_of(name: str) -> tuple[str, str]:
    """Folder and stem of a log's path or URL, which the logs of one server have in common."""
    if remote.is_url(name):
        name = name.partition("?")[0]
    folder, file = os.path.split(name)
    return folder, re.sub(r"\d+$", "", file)


def read_index(path: str) -> list[str]:
    """Paths of the logs that a server's index file lists, oldest first.

    Relative entries, and absolute ones whose file is not there (an index that was copied along with
    its logs), are looked for beside the index file.
    """
    with reading(path), open(path, encoding="utf-8", errors="surrogateescape") as file:
        entries = [line.strip() for line in file if line.strip()]
    folder = os.path.dirname(path)
    logs = [_locate(entry, folder) for entry in entries]
    missing = [entry for entry, log in zip(entries, logs, strict=True) if not os.path.isfile(log)]
    if missing:
        raise SourceError(f"lists {missing[0]!r}, which is not there", file=path)
    return logs


def _locate(entry: str, folder: str) -> str:
    if os.path.isabs(entry) and os.path.isfile(entry):
        return entry
    relative = os.path.join(folder, entry)
    if not os.path.isabs(entry) and os.path.isfile(relative):
        return relative
    return os.path.join(folder, os.path.basename(entry))


def natural_key(path: str) -> list[tuple[int, int, str]]:
    """Sort key under which ``binlog.999999`` comes before ``binlog.1000000``."""
    parts = re.split(r"(\d+)", path)
    return [(1, int(part), "") if part.isdigit() and part.isascii() else (0, 0, part) for part in parts]


def _borrow(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, _Borrowed(stream))


class _Borrowed(io.RawIOBase):
    """A caller's stream, which reading must not close."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size)

    def seekable(self) -> bool:
        seekable = getattr(self._stream, "seekable", None)
        return bool(seekable and seekable())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()
