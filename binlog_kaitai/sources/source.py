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
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import BinaryIO, NamedTuple, Union, cast

from binlog_kaitai.core.framing import MAGIC as MAGIC
from binlog_kaitai.errors import DamagedError, SourceError, reading
from binlog_kaitai.sources import remote
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.opening import is_log, plain, plain_size, unpacked
from binlog_kaitai.sources.packed import SUFFIXES

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
    keys : Keys or None
        Where to look for keys, if it is encrypted, besides the process and its environment.
    """

    name: str
    open: Callable[[], BinaryIO]
    path: str | None = None
    part: Part | None = None
    keys: Keys | None = field(default=None, repr=False)

    @classmethod
    def of_path(cls, path: str, keys: Keys | None = None) -> Source:
        return cls(path, lambda: plain(_open_raw(path), keys, beside(path)), path, keys=keys)

    @classmethod
    def of_bytes(
        cls, data: bytes | bytearray | memoryview, name: str = "<bytes>", keys: Keys | None = None
    ) -> Source:
        return cls(name, lambda: plain(io.BytesIO(data), keys), keys=keys)

    @classmethod
    def of_stream(cls, stream: BinaryIO, name: str, keys: Keys | None = None) -> Source:
        """A caller's stream, which stays open."""
        return cls(name, lambda: plain(_borrow(stream), keys), keys=keys)


def _open_raw(path: str) -> BinaryIO:
    return remote.open_url(path) if remote.is_url(path) else open(path, "rb")


#: The number in the name of a log, which logs inside InnoDB have before their suffix; what a kernel can take.
_LOG_NUMBER = re.compile(r"(?a:\d+)(?=(\.ibb)?$)")
_MAX_NUMBER = (1 << 63) - 1

#: The number in the name of a log inside InnoDB.
_NUMBER = re.compile(r"\d+(?=\.ibb$)")


def beside(path: str) -> Callable[[int], BinaryIO | None]:
    """Opens other logs inside InnoDB of the same series by number, packed or not; None for missing ones."""

    def opened(number: int) -> BinaryIO | None:
        log = log_name(path)
        found = _NUMBER.search(log)
        if found is None:
            return None
        other = _NUMBER.sub(f"{number:0{len(found[0])}d}", log)
        for suffix in ("", *SUFFIXES):
            with suppress(FileNotFoundError):
                return unpacked(_open_raw(other + suffix))
        return None

    return opened


def resolve(source: SourceLike | Iterable[SourceLike], keys: Keys | None = None) -> list[Source]:
    """The logs that a caller means, in the order to read them.

    Parameters
    ----------
    source
        A path, or a URL that PyArrow or fsspec opens (see `remote`); a glob pattern; a directory (its
        binary logs, by index file where there is just one);
        a ``.index`` file; a running server, ``mysql://USER@HOST/``, for the logs that it has; ``"-"`` for
        stdin; ``bytes``; an open binary file; or several of these.
    keys
        Where to look for the keys of encrypted logs, besides the environment.

    Raises
    ------
    SourceError
        Nothing is there, or nothing that is a binary log.
    """
    if isinstance(source, Source):
        return [source]
    if isinstance(source, (bytes, bytearray, memoryview)):
        return [Source.of_bytes(source, keys=keys)]
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path == "-":
            return [Source.of_stream(sys.stdin.buffer, "-", keys)]
        if is_server(path):
            live = import_module("binlog_kaitai.live.source")
            return cast(list[Source], live.resolve(path))
        return [Source.of_path(found, keys) for found in _paths_of(path)]
    if hasattr(source, "read"):
        stream = cast(BinaryIO, source)
        return [Source.of_stream(stream, str(getattr(stream, "name", "<stream>")), keys)]
    return [found for one in source for found in resolve(one, keys)]


def is_server(path: str) -> bool:
    """Whether a source is the URL of a running server."""
    return path.lower().startswith(_SERVERS)


def _paths_of(path: str) -> list[str]:
    if remote.is_url(path):
        return _resolve_url(path)
    if os.path.isdir(path):
        return _resolve_directory(path)
    if path.endswith(".index") and os.path.isfile(path):
        return read_index(path)
    if not os.path.lexists(path) and glob.has_magic(path):
        matches = sorted(filter(os.path.isfile, glob.glob(path)), key=natural_key)
        if not matches:
            raise SourceError("no file matches the pattern", file=path)
        return _without_copies([log for log in matches if not log.endswith(".index")])
    if not os.path.exists(path):
        raise SourceError("no such file or directory", file=path)
    return [path]


def _resolve_directory(path: str) -> list[str]:
    names = sorted(os.listdir(path), key=natural_key)
    indexes = [name for name in names if name.endswith(".index")]
    if len(indexes) == 1:
        return read_index(os.path.join(path, indexes[0]))
    logs = [full for full in (os.path.join(path, name) for name in names) if _starts_like_a_log(full)]
    logs = _without_copies(logs)
    if not logs:
        raise SourceError("the directory contains no binary logs", file=path)
    return logs


def _resolve_url(url: str) -> list[str]:
    found = sorted(remote.find(url), key=natural_key)
    if found == [url] and not url.endswith(".index"):
        return [url]
    logs = _without_copies([one for one in found if _starts_like_a_log(one)])
    if found == [url]:
        logs = _in_index(url)
    if not logs:
        raise SourceError("no binary log found", file=url)
    return logs


def _in_index(url: str) -> list[str]:
    """The logs that lie beside an index file somewhere else, and that it lists."""
    with reading(url), remote.open_url(url) as file:
        entries = file.read().decode("utf-8", "surrogateescape").split()
    folder = url.rpartition("/")[0]
    there = set(remote.find(folder))
    logs = [f"{folder}/{os.path.basename(entry)}" for entry in entries]
    return [next((log + one for one in ("", *SUFFIXES) if log + one in there), log) for log in logs]


def log_name(path: str) -> str:
    """Path or URL of a log without what was added to its name when it was packed."""
    return next((path.removesuffix(suffix) for suffix in SUFFIXES if path.endswith(suffix)), path)


def _without_copies(logs: list[str]) -> list[str]:
    """The logs, but for packed ones that are there unpacked, too."""
    names = set(logs)
    return [log for log in logs if log_name(log) == log or log_name(log) not in names]


def _starts_like_a_log(path: str) -> bool:
    with suppress(OSError, DamagedError):
        if remote.is_url(path) or os.path.isfile(path):
            with _open_raw(path) as file:
                return is_log(file)
    return False


class State(NamedTuple):
    """What is known of a log without reading its events.

    Attributes
    ----------
    size : int
        Length of the plain log in bytes; of the file, where that has to be unpacked from its start.
    modified : float
        Time of the last change in seconds since 1970.
    is_divisible : bool
        It can be read from the middle.
    """

    size: int
    modified: float
    is_divisible: bool = True


def state_of(path: str) -> State:
    """Size and time of the last change of a log.

    Raises
    ------
    OSError
        It is not there.
    """
    found = _file_state(path)
    size = _plain_size(path, *found, unpacks=False)
    return State(found.size if size is None else size, found.modified, size is not None)


def length_of(path: str) -> int:
    """Length of a plain log in bytes, for which some packed files are unpacked.

    Raises
    ------
    OSError
        It is not there.
    BinlogError
        It cannot be unpacked.
    """
    size = _plain_size(path, *_file_state(path), unpacks=True)
    assert size is not None
    return size


def _file_state(path: str) -> remote.State:
    if remote.is_url(path):
        return remote.state_of(path)
    found = os.stat(path)
    return remote.State(found.st_size, found.st_mtime)


@lru_cache(maxsize=1 << 12)
def _plain_size(path: str, size: int, modified: float, *, unpacks: bool) -> int | None:
    """Length of the plain log in a file that was last changed at that time; see `plain_size`."""
    if not remote.is_url(path) and not os.path.isfile(path):
        return size
    with _open_raw(path) as raw:
        return plain_size(raw, size, unpacks=unpacks, beside=beside(path))


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
        if re.fullmatch(re.escape(series) + r"\d+", log_name(other))
        and natural_key(log_name(other)) > natural_key(log_name(name))
    ]
    later = _without_copies(sorted(later, key=natural_key))
    found = [Source.of_path(os.path.join(folder, other), sources[-1].keys) for other in later]
    return [*sources, *found]


def series_of(name: str) -> tuple[str, str]:
    """Folder and stem of a log's path or URL, which the logs of one server have in common."""
    if remote.is_url(name):
        name = name.partition("?")[0]
    folder, file = os.path.split(log_name(name))
    return folder, _LOG_NUMBER.sub("", file)


def log_number(name: str) -> int:
    """The number of a log in its series, from its path or URL; 0 where the name has none."""
    found = _LOG_NUMBER.search(log_name(name.partition("?")[0] if remote.is_url(name) else name))
    return min(int(found[0]), _MAX_NUMBER) if found else 0


def read_index(path: str) -> list[str]:
    """Paths of the logs that a server's index file lists, oldest first.

    Relative entries, and absolute ones whose file is not there (an index that was copied along with
    its logs), are looked for beside the index file; so are logs that were packed.
    """
    with reading(path), open(path, encoding="utf-8", errors="surrogateescape") as file:
        entries = [line.strip() for line in file if line.strip()]
    folder = os.path.dirname(path)
    logs = [_locate(entry, folder) for entry in entries]
    missing = [entry for entry, log in zip(entries, logs, strict=True) if not os.path.isfile(log)]
    if missing:
        raise SourceError(f"lists {missing[0]!r}, which does not exist", file=path)
    return logs


def _locate(entry: str, folder: str) -> str:
    offsets = [entry] if os.path.isabs(entry) else [os.path.join(folder, entry)]
    offsets.append(os.path.join(folder, os.path.basename(entry)))
    found = (place + suffix for suffix in ("", *SUFFIXES) for place in offsets)
    return next(filter(os.path.isfile, found), offsets[-1])


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
