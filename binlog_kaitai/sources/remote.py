"""Remote files: `s3://`, `gs://`, `abfss://`, `hdfs://`, and others supported by fsspec.

A file is fetched in ranges. Sequential reads fetch increasing amounts in advance; random reads fetch little.
Each range but the first is followed by a request for the file's state: PyArrow's requests name no ETag, so
nothing else shows that the file was replaced, and a single request at the end would come after its rows were
delivered.

Credentials and endpoints come from the environment, as for PyArrow, or from the URL
(``s3://bucket/folder/binlog.000001?region=eu-central-1``). The key of an account of Azure may be in the
environment, too, where PyArrow does not look for it.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast
from urllib.parse import quote, unquote

from binlog_kaitai.errors import MissingFileError, SourceError, reading
from binlog_kaitai.sources.layer import Layer

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_MAGIC_CHARACTERS = re.compile(r"[*\[]|\?(?=[^=]*$)")

#: Hadoop's names of schemes that PyArrow knows by another name.
_SCHEMES = {"s3a": "s3", "s3n": "s3", "wasb": "abfs", "wasbs": "abfss"}

#: Azure's schemes. What other URLs have before ``@`` are credentials; theirs have a container there.
_AZURE = frozenset(("abfs", "abfss"))

#: Bytes fetched for a single access, and maximum fetched in advance.
_LEAST_FETCHED, _MOST_AHEAD = 64 << 10, 8 << 20

#: Maximum size of a file that is read as a whole: an index, or the state of an archive.
_MOST_WHOLE = 64 << 20


class FileState(NamedTuple):
    """Size in bytes, and modification time in seconds since 1970."""

    size: int
    modified: float


#: Options of URLs that may be shown; others may be credentials.
_SHOWN = frozenset(("region", "scheme", "endpoint_override", "allow_bucket_creation"))


class _Login(NamedTuple):
    """What a URL has that must not be shown: before its host, and as options."""

    credentials: str
    options: str

    def hidden_in(self, text: str) -> str:
        """A text without them."""
        values = (pair.rpartition("=")[2] for pair in self.options.split("&"))
        parts = (self.credentials, self.credentials.rpartition(":")[2], *values)
        for secret in sorted(filter(None, {form(part) for part in parts for form in (str, quote, unquote)})):
            text = text.replace(secret, "***")
        return text


#: By scheme and host: the logins in URLs that this process has got.
_LOGINS: dict[tuple[str, str], _Login] = {}


class PublicUrl(str):
    """The URL of a remote file or folder as it may be shown; pickled with its login."""

    def __reduce__(self) -> tuple[Callable[[str, tuple[str, str], _Login], PublicUrl], tuple[object, ...]]:
        key = scheme_of(self), _host_of(self)
        return _restored, (str(self), key, _LOGINS[key])


def _restored(text: str, key: tuple[str, str], login: _Login) -> PublicUrl:
    _LOGINS[key] = login
    return PublicUrl(text)


def public(path: str) -> str:
    """A path, or a URL without its login, with which the process opens URLs of this host from now on.

    Whatever follows a ``:`` before the last ``@`` is a login, although a password should have neither
    ``/`` nor ``?``.
    """
    if not is_url(path):
        return path
    scheme, rest = scheme_of(path), path.partition("://")[2]
    first = rest.partition("/")[0]
    has_slash = "@" not in first and ":" in first and not first.rpartition(":")[2].isdigit()
    before, sign, _ = (rest if has_slash else first).rpartition("@")
    rest, mark, query = split_options(rest[len(before + sign) :])
    host, slash, rest = rest.partition("/")
    if scheme in _AZURE:
        container, _, before = before.partition(":")
        host = f"{container}@{host}" if container else host
    pairs = query.split("&") if query else []
    shown = [pair for pair in pairs if pair.partition("=")[0] in _SHOWN]
    text = f"{path.partition('://')[0]}://{host}{slash}{rest}{mark if shown else ''}{'&'.join(shown)}"
    if before or len(shown) < len(pairs):
        hidden = "&".join(pair for pair in pairs if pair not in shown)
        _LOGINS[scheme, host] = _Login(quote(before, safe=":%+"), hidden)
    return PublicUrl(text) if (scheme, host) in _LOGINS else path


def _host_of(url: str) -> str:
    return split_options(url.partition("://")[2])[0].partition("/")[0]


def is_url(path: str) -> bool:
    """Whether a path is a URL of a remote file."""
    return _URL.match(path) is not None


def open_url(url: str) -> BinaryIO:
    """A seekable stream of a file at its first byte.

    Raises `OSError`: the file does not exist, or cannot be read.
    """
    with _as_source_error(url):
        place = _place(url)
        info = place.system.get_file_info(place.path)
        file = place.system.open_input_file(place.path)
        return cast(BinaryIO, Ranged(file, partial(_check_unchanged, place, info)))


def read_whole(url: str) -> bytes:
    """The content of a small file.

    Raises `OSError`: the file does not exist, cannot be read, or is too large for what it should be.
    """
    with open_url(url) as file:
        data = file.read(_MOST_WHOLE + 1)
    if len(data) > _MOST_WHOLE:
        raise OSError(f"is larger than the {_MOST_WHOLE >> 20} MiB supported here")
    return data


def _check_unchanged(place: _RemotePath, opened: FileInfo) -> None:
    """Raise OSError if a file has been replaced since it was opened; it may have grown, as logs do."""
    now = place.system.get_file_info(place.path)
    has_grown = now.is_file and now.size > opened.size
    if not has_grown and (now.size, now.mtime) != (opened.size, opened.mtime):
        raise OSError("changed while it was read; read it again")


def state_of(url: str) -> FileState:
    """The size and modification time of a file.

    Raises `OSError`: the file does not exist.
    """
    with _as_source_error(url):
        place = _place(url)
        info = place.system.get_file_info(place.path)
    if not info.is_file:
        raise FileNotFoundError(2, "no such file", url)
    return FileState(info.size, info.mtime.timestamp() if info.mtime is not None else 0.0)


def find(url: str) -> list[str]:
    """The files of a URL: the file itself, those that match a pattern, or those in a folder.

    Raises `SourceError`: no file was found.
    """
    with reading(url), _as_source_error(url):
        place = _place(url)
        if _MAGIC_CHARACTERS.search(url):
            folder, pattern = posixpath.split(place.path)
            names = [name for name in _names(place.system, folder) if fnmatch.fnmatchcase(name, pattern)]
            urls = [place.url(posixpath.join(folder, name)) for name in names]
            if not urls:
                raise MissingFileError("no file matches the pattern", file=url)
            return urls
        info = place.system.get_file_info(place.path)
        if info.is_file:
            return [url]
        folder = place.path.rstrip("/")
        urls = [place.url(f"{folder}/{name}") for name in _names(place.system, folder)]
    if not urls:
        raise MissingFileError("no such file or directory", file=url)
    return urls


def join(url: str, name: str) -> str:
    """The URL of a file in a folder; options after the folder's URL stay at the end."""
    path, mark, options = split_options(url)
    return f"{path.rstrip('/')}/{name}{mark}{options}"


def without_options(url: str) -> str:
    """A URL without credentials and options."""
    scheme, mark, rest = split_options(url)[0].partition("://")
    host, slash, path = rest.partition("/")
    user, sign, host = host.rpartition("@")
    container = user.partition(":")[0] + sign if scheme_of(url) in _AZURE else ""
    return scheme + mark + container + host + slash + path


def scheme_of(url: str) -> str:
    """The scheme of a URL, by PyArrow's name."""
    scheme = url.partition("://")[0].lower()
    return _SCHEMES.get(scheme, scheme)


def azure(host: str, settings: Mapping[str, str]) -> tuple[FileSystem, str]:
    """The file system of an account, and the container.

    `host`: the URL's host: ``container@account.dfs.core.windows.net``, or the container alone.
    `settings`: by their names in the environment: the account's key, its name if the host does not have it,
    and an endpoint, such as an emulator's.
    """
    from pyarrow import fs

    container, _, domain = host.rpartition("@")
    account = settings.get("AZURE_STORAGE_ACCOUNT_NAME") or domain.partition(".")[0]
    scheme, _, endpoint = settings.get("AZURE_STORAGE_ENDPOINT", "").partition("://")
    place = endpoint.partition("/")[0] or None
    system = fs.AzureFileSystem(
        account_name=account,
        account_key=settings["AZURE_STORAGE_ACCOUNT_KEY"],
        blob_storage_authority=place,
        blob_storage_scheme=scheme or None,
        dfs_storage_authority=place,
        dfs_storage_scheme=scheme or None,
    )
    return system, container.partition(":")[0] or domain


def existing(urls: Sequence[str]) -> list[str]:
    """Those of some files that exist.

    Raises `OSError`: the store cannot be reached, or refuses.
    """
    there = []
    for url in urls:
        with changing(url) as (system, path):
            if system.get_file_info(path).is_file:
                there.append(url)
    return there


@contextmanager
def changing(url: str) -> Iterator[tuple[FileSystem, str]]:
    """The file system of a URL, and a file's path in it.

    Raises `OSError`: the store cannot be reached, or refuses.
    """
    with _as_source_error(url):
        place = _place(url)
        yield place.system, place.path


class _RemotePath(NamedTuple):
    system: FileSystem
    path: str
    head: str  # the URL up to the path
    base: str  # the first part of paths, if the URL has it in the place of a host: bucket or container
    tail: str  # options after it

    def url(self, path: str) -> str:
        return self.head + path.removeprefix(self.base) + self.tail


def _place(url: str) -> _RemotePath:
    rest, mark, options = split_options(url.partition("://")[2])
    scheme, host = scheme_of(url), rest.partition("/")[0]
    login, hidden = _LOGINS.get((scheme, host), _Login("", ""))
    with_login, every = host, "&".join(filter(None, (options, hidden)))
    if login:
        container, _, account = host.rpartition("@")
        with_login = f"{container}:{login}@{account}" if scheme in _AZURE else f"{login}@{host}"
    system, base = _system(scheme, with_login, f"?{every}" if every else "")
    head = url[: url.index("://") + 3] + host
    return _RemotePath(system, base + rest[len(host) :], head, base, mark + options)


def split_options(url: str) -> tuple[str, str, str]:
    """A URL before its options, ``"?"``, and the options; without options, both are empty."""
    return url.partition("?") if "=" in url.rpartition("?")[2] else (url, "", "")


@lru_cache
def _system(scheme: str, host: str, options: str) -> tuple[FileSystem, str]:
    """The file system of a URL, and the first part of its paths."""
    from pyarrow import fs

    if scheme in _AZURE and "AZURE_STORAGE_ACCOUNT_KEY" in os.environ:
        return azure(host, os.environ)
    root = f"{scheme}://{host}"
    try:
        system, base = fs.FileSystem.from_uri(f"{root}/{options}")
    except (ValueError, NotImplementedError) as error:
        return _by_fsspec(root, error), ""
    return system, base.strip("/")


def _by_fsspec(root: str, error: Exception) -> FileSystem:
    from pyarrow import fs

    try:
        import fsspec  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise OSError(f"PyArrow does not open it ({error}); fsspec, which may, is not installed") from None
    system, _ = fsspec.core.url_to_fs(root)
    return fs.PyFileSystem(fs.FSSpecHandler(system))


@contextmanager
def _as_source_error(url: str) -> Iterator[None]:
    """Raise errors of file systems as OSError."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:
        text = str(error)
        login = _LOGINS.get((scheme_of(url), _host_of(url)))
        if login is not None and (hidden := login.hidden_in(text)) != text:
            raise OSError(hidden) from None
        if isinstance(error, OSError):
            raise
        raise OSError(f"{type(error).__name__}: {error}") from error


def _names(system: FileSystem, folder: str) -> list[str]:
    from pyarrow import fs

    infos = system.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    return [info.base_name for info in infos if info.is_file and not info.base_name.startswith(".")]


class Ranged(Layer):
    """A remote file, fetched in ranges.

    `check`: called after each range but the first; raises `OSError` if the file is no longer the same.

    `fetched`: number of bytes fetched so far.
    """

    def __init__(self, file: NativeFile, check: Callable[[], None] = lambda: None) -> None:
        super().__init__(cast(BinaryIO, file))
        self._file = file
        self._check = check
        self._size = int(file.size())
        self._window = _LEAST_FETCHED
        self.fetched = 0

    def _find_size(self) -> int:
        return self._size

    def _load(self, position: int) -> tuple[int, memoryview]:
        if position >= self._size:
            return position, memoryview(b"")
        is_next = len(self._chunk) and position == self._start + len(self._chunk)
        self._window = min(2 * self._window, _MOST_AHEAD) if is_next else _LEAST_FETCHED
        count = min(max(min(self._wanted, _MOST_AHEAD), self._window), self._size - position)
        data = self._fetch(position, count)
        if self.fetched:
            self._check()
        self.fetched += len(data)
        return position, memoryview(data)

    def _fetch(self, position: int, count: int) -> bytes:
        """Bytes from a position on, as many as requested or fewer.

        PyArrow reports a short answer of an object store as complete, but leaves the rest of the buffer as it
        was. So the last byte is preset, twice, to different values.
        """
        for preset in (0x55, 0xAA):
            data = bytearray(count)
            data[-1] = preset
            self._file.seek(position)
            size = self._file.readinto(data)
            if 0 < size < count or data[-1] != preset:
                return bytes(data[:size])
            if not size:
                break
        wanted = f"{position} to {position + count}"
        raise OSError(f"the store sent fewer bytes than {wanted}, though it states {self._size}")
