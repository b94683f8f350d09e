"""Resolves a caller's sources (path, glob, directory, index file, bytes, stream) to logs, and opens them.

A :class:`Source` is a name and a function that opens it; nothing is opened before it is read. Files of a
series are in the order in which the server wrote them: by the index file, or by the number in their name.

A log is opened as plain bytes, whether it is compressed, encrypted, inside InnoDB, a write set of Galera, or
plain: its first bytes show that. Its name does not matter.
"""

from __future__ import annotations

import glob
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from binlog_kaitai.core.framing import ENCRYPTED_MAGIC, MAGIC, read_up_to
from binlog_kaitai.core.grammar import sizes
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader, Span, read_log_header
from binlog_kaitai.errors import BinlogError, DamagedError, MissingFileError, SourceError, UsageError, reading
from binlog_kaitai.sources import encryption, eras, is_server, packed, remote, servers_of
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.layer import Borrowed, Preceded, Refused
from binlog_kaitai.sources.packed import SUFFIXES

if TYPE_CHECKING:
    from binlog_kaitai.sources.innodb_pages import Beside


class LogState(NamedTuple):
    """Properties of a log known without reading its events.

    `size`: size of the plain log in bytes; of the file, if it must be decompressed from its start.
    `modified`: modification time, in seconds since 1970.
    `is_divisible`: whether it can be read from the middle.
    """

    size: int
    modified: float
    is_divisible: bool = True


@dataclass(frozen=True)
class Source:
    """A log to read, or a span of one; can be pickled if it has a path.

    `name`: its name in errors and output: the path as given, ``"-"`` for stdin, ``"<bytes>"``.
    `open`: returns a binary stream at the first byte of the log; raises ``OSError``.
    `path`: its path in the file system, if it has one.
    `span`: only these events; None for all.
    `keys`: where to find keys if it is encrypted, besides the process and its environment.
    `repeated`: transactions that earlier eras have: readers of rows, events and transactions leave them out.
    `is_stream`: it can be read only once.
    `state`: its size and modification time when it was listed, if it was; identifies it in caches.
    """

    name: str
    open: Callable[[], BinaryIO] = field(compare=False)
    path: str | None = None
    span: Span | None = None
    keys: Keys | None = field(default=None, repr=False)
    repeated: GtidSet | None = field(default=None, repr=False, compare=False)
    state: LogState | None = field(default=None, repr=False)
    is_stream: bool = False

    @property
    def size(self) -> int:
        """Size of the plain log in bytes, when it was listed."""
        assert self.state is not None
        return self.state.size

    @classmethod
    def of_path(cls, path: str, keys: Keys | None = None) -> Source:
        path = remote.public(path)
        return cls(path, partial(_open_plain, path, keys), path, keys=keys)

    @classmethod
    def of_bytes(
        cls, data: bytes | bytearray | memoryview, name: str = "<bytes>", keys: Keys | None = None
    ) -> Source:
        return cls(name, lambda: plain(io.BytesIO(data), keys), keys=keys)

    @classmethod
    def of_stream(cls, stream: BinaryIO, name: str, keys: Keys | None = None) -> Source:
        """A caller's stream, which stays open."""
        return cls(name, lambda: plain(cast(BinaryIO, Borrowed(stream)), keys), keys=keys, is_stream=True)


SourceLike = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Source


def _open_plain(path: str, keys: Keys | None) -> BinaryIO:
    return plain(_open_raw(path), keys, beside(path))


def _open_raw(path: str) -> BinaryIO:
    return remote.open_url(path) if remote.is_url(path) else open(path, "rb")


#: The number in the name of a log, which logs inside InnoDB have before their suffix; what a kernel can take.
_LOG_NUMBER = re.compile(r"(?a:\d+)(?=(\.ibb)?$)")
_MAX_NUMBER = (1 << 63) - 1

#: The name of a log in an archive.
LOG_NAME = re.compile(r".+\.(?a:\d+)")


def beside(path: str) -> Callable[[int], BinaryIO | None]:
    """Opens other logs of a series inside InnoDB by number, compressed or not; None for missing ones."""

    def opened(number: int) -> BinaryIO | None:
        log = log_name(path)
        match = _LOG_NUMBER.search(log)
        if match is None or not log.endswith(".ibb"):
            return None
        other = f"{log[: match.start()]}{number:0{len(match[0])}d}{log[match.end() :]}"
        for suffix in ("", *SUFFIXES):
            with suppress(FileNotFoundError):
                raw = _open_raw(other + suffix)
                stream = packed.unpacked(raw)
                if stream is raw:
                    return raw
                from binlog_kaitai.sources.innodb_log import copied

                return copied(stream)
        return None

    return opened


def resolve(
    source: SourceLike | Iterable[SourceLike], keys: Keys | None = None, *, repeats: bool = False
) -> list[Source]:
    """The logs of a caller's source, in reading order.

    `source`: a path, or a URL that PyArrow or fsspec opens (see `remote`); a glob pattern; a directory (its
    binary logs, by index file if there is exactly one, and those of later eras, see `eras`); a ``.index``
    file; a running server, ``mysql://USER@HOST/``, for the logs that it has; ``"-"`` for stdin; ``bytes``; an
    open binary file; or several of these.
    `keys`: where to find the keys of encrypted logs, besides the environment.
    `repeats`: read a log that is given again, by whatever path, again.
    Raises `SourceError`: no file was found, or none that is a binary log.
    """
    logs = _resolved(source, keys)
    if repeats:
        return logs
    once: dict[object, Source] = {}
    for log in logs:
        once.setdefault(_identity(log), log)
    return list(once.values())


def _identity(log: Source) -> object:
    """Equal for sources of the same bytes: through links, or of a log and its compressed copy."""
    if log.path is None:
        return id(log)
    path = log.path if remote.is_url(log.path) else os.path.realpath(log.path)
    return log_name(path), log.span


def _resolved(source: SourceLike | Iterable[SourceLike], keys: Keys | None) -> list[Source]:
    if isinstance(source, Source):
        return [source]
    if isinstance(source, (bytes, bytearray, memoryview)):
        return [Source.of_bytes(source, keys=keys)]
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path == "-":
            return [Source.of_stream(sys.stdin.buffer, "-", keys)]
        if is_server(path):
            return cast("list[Source]", servers_of(path).logs(path))
        path = remote.public(path)
        return [*(Source.of_path(log, keys) for log in _paths_of(path)), *_logs_of_later_eras(path, keys)]
    if hasattr(source, "read"):
        stream = cast(BinaryIO, source)
        return [Source.of_stream(stream, str(getattr(stream, "name", "<stream>")), keys)]
    try:
        parts = iter(source)
    except TypeError:
        kinds = "a path, bytes, a binary file or several of these"
        raise TypeError(f"the source must be {kinds}, not {type(source).__name__}") from None
    return [log for part in parts for log in _resolved(part, keys)]


def _logs_of_later_eras(archive: str, keys: Keys | None) -> Iterator[Source]:
    """The logs of all eras of an archive but the first, without transactions of earlier eras."""
    for era in eras.folders(archive):
        repeated = eras.read_before(era)
        for log in resolve(era, keys) if _has_logs(era) else ():
            if repeated and repeated in _gtids_before(log):
                repeated = GtidSet()  # all of them are in logs before this one
            yield replace(log, repeated=repeated or None)


def _has_logs(era: str) -> bool:
    """Whether something of an era's first log is on disk."""
    if not remote.is_url(era):
        return bool(glob.glob("*.index", root_dir=era))
    names = (url.rpartition("/")[2].partition("?")[0] for url in remote.find(era))
    return any(LOG_NAME.fullmatch(log_name(name)) for name in names)


def _gtids_before(log: Source) -> GtidSet:
    """The GTIDs in all logs before one; empty if unknown."""
    if log.path is None or state_of(log.path).size <= len(MAGIC):
        return GtidSet()
    return header_of(log).previous or GtidSet()


def header_of(log: Source, *, reads_gtids: bool = True) -> LogHeader:
    """The header of a log, which is opened for it."""
    with reading(log.name), log.open() as stream:
        return read_log_header(stream, log.name, reads_gtids=reads_gtids)


def by_server(logs: Iterable[Source]) -> dict[int | None, list[Source]]:
    """Logs by the server ID in their first event.

    Raises `BinlogError`: the start of a log cannot be read.
    """
    groups: dict[int | None, list[Source]] = {}
    for log in logs:
        groups.setdefault(header_of(log, reads_gtids=False).server_id, []).append(log)
    return groups


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
            raise MissingFileError("no file matches the pattern", file=path)
        return _without_copies([log for log in matches if not log.endswith(".index")])
    if not os.path.exists(path):
        raise MissingFileError("no such file or directory", file=path)
    return [path]


def _resolve_directory(path: str) -> list[str]:
    names = sorted(os.listdir(path), key=natural_key)
    indexes = [name for name in names if name.endswith(".index")]
    if len(indexes) == 1:
        return read_index(os.path.join(path, indexes[0]))
    logs = [full for full in (os.path.join(path, name) for name in names) if _starts_like_a_log(full)]
    logs = _of_server(_without_copies(logs))
    if not logs:
        raise SourceError("the directory contains no binary logs", file=path)
    return logs


def _resolve_url(url: str) -> list[str]:
    urls = sorted(remote.find(url), key=natural_key)
    if urls == [url] and not url.endswith(".index"):
        return [url]
    logs = _of_server(_without_copies([other for other in urls if _starts_like_a_log(other)]))
    if urls == [url]:
        logs = _in_index(url)
    if not logs:
        raise SourceError("no binary log found", file=url)
    return logs


def _in_index(url: str) -> list[str]:
    """The logs listed in a remote index file that exist beside it."""
    with reading(url):
        entries = _entries(remote.read_whole(url).decode("utf-8", "surrogateescape"))
    folder = url.rpartition("/")[0]
    there = set(remote.find(folder))
    logs = ["/".join((folder, os.path.basename(entry.replace("\\", "/")))) for entry in entries]
    return [next((log + suffix for suffix in ("", *SUFFIXES) if log + suffix in there), log) for log in logs]


def log_name(path: str) -> str:
    """Path or URL of a log without the extension of a compressed file."""
    return next((path.removesuffix(suffix) for suffix in SUFFIXES if path.endswith(suffix)), path)


def _without_copies(logs: list[str]) -> list[str]:
    """The logs without compressed copies of others."""
    names = set(logs)
    return [log for log in logs if log_name(log) == log or log_name(log) not in names]


#: Name of a write set that a node of Galera could not apply.
_WRITE_SET = re.compile(r"GRA_\d+_-?\d+(_v2)?\.log")


def _is_write_set(path: str) -> bool:
    return _WRITE_SET.fullmatch(os.path.basename(log_name(path))) is not None


def _of_server(logs: list[str]) -> list[str]:
    """The logs of a folder; Galera write sets next to them are not part of the series."""
    return [log for log in logs if not _is_write_set(log)] or logs


def _starts_like_a_log(path: str) -> bool:
    if _is_write_set(path):
        return True
    with suppress(OSError, DamagedError):
        if remote.is_url(path) or os.path.isfile(path):
            with _open_raw(path) as file:
                return read_up_to(packed.unpacked(file), len(MAGIC)) in (
                    MAGIC,
                    ENCRYPTED_MAGIC,
                    _INNODB_MAGIC,
                )
    return False


def state_of(path: str) -> LogState:
    """The size and modification time of a log.

    Raises `OSError`: the file does not exist.
    """
    file = _file_state(path)
    size = _plain_size(path, *file, unpacks=False)
    return LogState(file.size if size is None else size, file.modified, size is not None)


def with_state(log: Source) -> Source:
    """A log with its size and modification time now.

    Raises `UsageError`: it is a stream, which another process cannot read; `SourceError`: the file does not
    exist.
    """
    if log.path is None:
        raise UsageError(f"{log.name} is a stream; only files can be split")
    with reading(log.path):
        return replace(log, state=state_of(log.path))


def length_of(path: str) -> int:
    """Size of a plain log in bytes, for which some compressed files are decompressed.

    Raises `OSError`: the file does not exist; `BinlogError`: the file cannot be decompressed.
    """
    size = _plain_size(path, *_file_state(path), unpacks=True)
    assert size is not None
    return size


def _file_state(path: str) -> remote.FileState:
    if remote.is_url(path):
        return remote.state_of(path)
    status = os.stat(path)
    return remote.FileState(status.st_size, status.st_mtime)


@lru_cache(maxsize=1 << 12)
def _plain_size(path: str, size: int, modified: float, *, unpacks: bool) -> int | None:
    """Size in bytes of the plain log in a file with the given modification time.

    None for compressed files and files inside InnoDB that must be read for this, unless `unpacks` is set.
    """
    if not remote.is_url(path) and not os.path.isfile(path):
        return size
    with _open_raw(path) as raw:
        start = read_up_to(raw, len(MAGIC))
        if (packing := packed.format_of(start)) is not None:
            raw.seek(0)
            unpacking = packed.PackedStream(raw, packing)
            if not unpacks and not unpacking.has_frames:
                return None
            size = unpacking.seek(0, io.SEEK_END)
            unpacking.seek(0)
            start = read_up_to(cast(BinaryIO, unpacking), len(MAGIC))
        if start == ENCRYPTED_MAGIC:
            return max(size - sizes.EncryptionHeader.HEADER_LENGTH, 0)
        if start == _INNODB_MAGIC and not unpacks:
            return None
        if start != MAGIC:
            raw.seek(0)
            return plain(raw, None, beside(path)).seek(0, io.SEEK_END)
        return size


def later_logs(path: str) -> list[str]:
    """The logs of a log's series after it, in the same folder; none of a URL."""
    return _neighbors(path, lambda other, own: other > own)


def earlier_logs(path: str) -> list[str]:
    """The logs of a log's series before it, in the same folder; none of a URL."""
    return _neighbors(path, lambda other, own: other < own)


_Key = list[tuple[int, int, str]]


def _neighbors(path: str, is_wanted: Callable[[_Key, _Key], bool]) -> list[str]:
    if remote.is_url(path):
        return []
    folder, series = series_of(path)
    own = natural_key(log_name(os.path.basename(path)))
    wanted = [
        other
        for other in os.listdir(folder or ".")
        if re.fullmatch(re.escape(series) + r"\d+", log_name(other))
        and is_wanted(natural_key(log_name(other)), own)
    ]
    return [os.path.join(folder, other) for other in _without_copies(sorted(wanted, key=natural_key))]


def series_of(name: str) -> tuple[str, str]:
    """Folder and stem of a log's path or URL, common to the logs of one server."""
    if remote.is_url(name):
        name = name.partition("?")[0]
    folder, file = os.path.split(log_name(name))
    return folder, _LOG_NUMBER.sub("", file)


def log_number(name: str) -> int:
    """The number of a log in its series, from its path or URL; 0 where the name has none."""
    match = _LOG_NUMBER.search(log_name(name.partition("?")[0] if remote.is_url(name) else name))
    return min(int(match[0]), _MAX_NUMBER) if match else 0


def read_index(path: str) -> list[str]:
    """Paths of the logs listed in a server's index file, oldest first.

    Relative entries, and absolute ones whose file does not exist (in an index file copied with its logs), are
    searched beside the index file; so are compressed logs. A server on Windows writes backslashes.
    """
    folder, entries = os.path.dirname(path), list[str]()
    while True:
        with reading(path), open(path, encoding="utf-8", errors="surrogateescape") as file:
            known, entries = entries, _entries(file.read())
        logs = [_locate(entry, folder) for entry in entries]
        missing = [entry for entry, log in zip(entries, logs, strict=True) if not os.path.isfile(log)]
        if not missing:
            return logs
        if entries == known:  # otherwise they may have been removed since: the index is the first to change
            raise SourceError(f"lists {missing[0]!r}, which does not exist", file=path)


def _entries(index: str) -> list[str]:
    return [line.strip() for line in index.split("\n") if line.strip()]


def _locate(entry: str, folder: str) -> str:
    names = (name for form in (entry, entry.replace("\\", "/")) for name in (form, os.path.basename(form)))
    paths = [os.path.join(folder, name) for name in names]
    candidates = (path + suffix for suffix in ("", *SUFFIXES) for path in paths)
    return next(filter(os.path.isfile, candidates), paths[-1])


def natural_key(path: str) -> _Key:
    """Sort key that orders ``binlog.999999`` before ``binlog.1000000``."""
    parts = re.split(r"(\d+)", path)
    return [(1, int(part), "") if part.isdigit() and part.isascii() else (0, 0, part) for part in parts]


# -- the plain bytes of a log

_INNODB_MAGIC = sizes.InnodbLog.FileHeader.MAGIC


def plain(raw: BinaryIO, keys: Keys | None = None, beside: Beside | None = None) -> BinaryIO:
    """A stream of the plain log.

    Reading raises errors in the start of the log: damage, or `EncryptedError` if a key is missing. For
    MariaDB's encrypted logs, the event reader raises it at the first encrypted event.

    `raw`: a stream at the first byte of the file.
    `keys`: where to find keys, besides the process and its environment.
    `beside`: opens other files of the same series, in which logs may continue.
    """
    try:
        return _opened(raw, keys, beside)
    except BinlogError as error:
        return cast(BinaryIO, Refused(raw, error))
    except BaseException:
        raw.close()
        raise


def _opened(raw: BinaryIO, keys: Keys | None, beside: Beside | None) -> BinaryIO:
    begin = raw.tell() if raw.seekable() else 0
    start = read_up_to(raw, len(MAGIC))
    if (packing := packed.format_of(start)) is not None:
        raw = cast(BinaryIO, packed.PackedStream(_again(raw, start, begin), packing))
        begin, start = 0, read_up_to(raw, len(MAGIC))
    if start == ENCRYPTED_MAGIC:
        return encryption.decrypted_log(raw, keys, start)
    if start == _INNODB_MAGIC:
        from binlog_kaitai.sources.innodb_log import opened

        return opened(raw, start, beside)
    if start == MAGIC:
        stream, start = encryption.decrypted_events(raw, start, keys)
        if stream is not None:
            return stream
    elif len(start) == len(MAGIC):
        from binlog_kaitai.sources import write_sets

        stream, start = write_sets.opened(raw, start, begin)
        if stream is not None:
            return stream
    return _again(raw, start, begin)


def _again(raw: BinaryIO, start: bytes, begin: int) -> BinaryIO:
    """The stream from `begin` on, part of which has been read."""
    if raw.seekable():
        raw.seek(begin)
        return raw
    return cast(BinaryIO, Preceded(raw, start))
