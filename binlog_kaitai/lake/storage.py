"""The folder of a lake: a local path, or a URL of an object store.

PyArrow writes the files, and deltalake the commits; both take their credentials from the environment, unless
they are storage options. Options after the URL are PyArrow's (``s3://bucket/lake?region=eu-central-1``).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from binlog_kaitai.errors import SourceError, UsageError, reading
from binlog_kaitai.sources import remote
from binlog_kaitai.views.parquet_folder import folder_name

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

#: Characters that need no encoding in any URL or path.
_UNFIT = re.compile(r"[^\w.$@~+-]")

#: Where a TOML file is invalid, in a message of `tomllib`.
_PLACE = re.compile(r"line \d+, column \d+|end of document")

#: Options of a URL, and deltalake's names for them.
_OPTIONS = {"region": "AWS_REGION", "endpoint_override": "AWS_ENDPOINT_URL"}

#: Storage options by deltalake's names, which are those of the environment, and PyArrow's names for them.
_S3 = {
    "AWS_ACCESS_KEY_ID": "access_key",
    "AWS_SECRET_ACCESS_KEY": "secret_key",
    "AWS_SESSION_TOKEN": "session_token",
    "AWS_REGION": "region",
    "AWS_ENDPOINT_URL": "endpoint_override",
}


class _Store(NamedTuple):
    """Storage options of a kind of store: all, the required, those in no message, and the URL."""

    names: tuple[str, ...]
    needed: tuple[str, ...]
    secret: tuple[str, ...]
    endpoint: str


_AMAZON = _Store(
    tuple(_S3),
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    "AWS_ENDPOINT_URL",
)
_AZURE = _Store(
    ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ENDPOINT"),
    ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"),
    ("AZURE_STORAGE_ACCOUNT_KEY",),
    "AZURE_STORAGE_ENDPOINT",
)

#: By the scheme of a URL.
_STORES = {"s3": _AMAZON, "abfs": _AZURE, "abfss": _AZURE}


def read_options(path: str) -> dict[str, str]:
    """The storage options in a TOML file.

    Raises `UsageError`: it is not TOML, or a key or value is invalid; no message has a value.
    """
    options = read_toml(path)
    store = _AZURE if any(key.startswith("AZURE") for key in options) else _AMAZON
    for key, value in options.items():
        if key not in store.names:
            raise UsageError(f"unknown key {key}; use {', '.join(store.names)}", file=path)
        if not isinstance(value, str) or not value:
            raise UsageError(f"{key} must be a text", file=path)
    if missing := [key for key in store.needed if key not in options]:
        raise UsageError(f"{' and '.join(missing)} required", file=path)
    if "://" not in options.get(store.endpoint, "://"):
        raise UsageError(f"{store.endpoint} must be a URL, such as https://minio:9000", file=path)
    return options


def read_toml(path: str) -> dict[str, Any]:
    """The contents of a TOML file.

    Raises `UsageError`: it is not TOML; says where, without the text there, which may be a password.
    """
    with reading(path):
        text = Path(path).read_bytes()
    try:
        return tomllib.loads(text.decode())
    except ValueError as error:
        place = _PLACE.search(str(error))
        raise UsageError(f"not a valid TOML file{f': {place[0]}' if place else ''}", file=path) from None


class ConflictError(SourceError):
    """Another process changed a table first; what was to be committed must be made anew."""


class Storage:
    """The folder of a lake.

    `options`: credentials of a store, see :func:`read_options`; without them, those of the environment or the
    URL.
    `url`: its absolute path, or its URL with options.
    `name`: its path or URL for messages, without credentials.
    Raises `UsageError`: there are options, but not for this URL.
    """

    def __init__(self, url: str, options: Mapping[str, str] | None = None) -> None:
        self.is_local = not remote.is_url(url)
        self.url = os.path.abspath(url) if self.is_local else url
        self.name = self.url if self.is_local else remote.without_options(url)
        self._options = dict(options or {})
        self._scheme = "" if self.is_local else remote.scheme_of(url)
        self._store = _STORES.get(self._scheme)
        if self._options and (
            self._store is None or self.url != self.name or not self._options.keys() <= {*self._store.names}
        ):
            rule = (
                "storage options are for a lake in S3 or Azure, whose URL has neither credentials nor options"
            )
            raise UsageError(f"{self.name}: {rule}")

    @contextmanager
    def opened(self, name: str = "") -> Iterator[tuple[FileSystem, str]]:
        """The PyArrow file system, and the path of a file or folder of the lake in it.

        Raises `SourceError`: in the body: the store cannot be reached, or refuses.
        """
        try:
            if self.is_local:
                from pyarrow import fs

                yield fs.LocalFileSystem(), os.path.join(self.url, name) if name else self.url
            elif self._options:
                host, slash, path = self.url_of(name).partition("://")[2].partition("/")
                system, base = _opened(self._scheme, host, tuple(self._options.items()))
                yield system, (base + slash + path).rstrip("/")
            else:
                with remote.changing(self.url_of(name)) as place:
                    yield place
        except OSError as error:
            raise SourceError(f"cannot be used: {self.text_of(error)}", file=f"{self.name}/{name}") from error

    def text_of(self, error: Exception) -> str:
        """The message of an error; a store may have repeated credentials in it."""
        text = str(error)
        for key in self._options.keys() & (self._store.secret if self._store else ()):
            text = text.replace(self._options[key], "***")
        return text

    def url_of(self, name: str) -> str:
        """The path or URL of a table."""
        if self.is_local:
            return os.path.join(self.url, name)
        return remote.join(self.url, name) if name else self.url

    def delta_url(self, name: str) -> str:
        """The URL of a table for deltalake, which takes options separately."""
        url = self.url_of(name)
        return url if self.is_local else self._scheme + remote.without_options(url)[url.index("://") :]

    def delta_options(self) -> dict[str, str] | None:
        """What deltalake must know besides the environment."""
        if self._store is None:
            return None
        query = dict(parse_qsl(remote.split_options(self.url)[2]))
        options = self._options | {theirs: query[ours] for ours, theirs in _OPTIONS.items() if ours in query}
        name = self._store.endpoint
        endpoint = options.get(name, "")
        if endpoint and "://" not in endpoint:
            endpoint = options[name] = f"{query.get('scheme', 'https')}://{endpoint}"
        if (endpoint or os.environ.get(name, "")).startswith("http://"):
            options["ALLOW_HTTP"] = "true"
        user, mark, _ = self.url.partition("://")[2].partition("/")[0].rpartition("@")
        if mark and self._store is _AMAZON:
            key, _, secret = user.partition(":")
            options |= {"AWS_ACCESS_KEY_ID": unquote(key), "AWS_SECRET_ACCESS_KEY": unquote(secret)}
        return options

    def names(self, folder: str = "") -> list[str]:
        """The files and folders in a folder of the lake; [] if there is none."""
        return sorted(info.base_name for info in self._infos(folder))

    def folders(self) -> list[str]:
        """The folders of the lake."""
        return sorted(info.base_name for info in self._infos("") if not info.is_file)

    def _infos(self, folder: str) -> list[FileInfo]:
        from pyarrow import fs

        with self.opened(folder) as (system, path):
            return list(system.get_file_info(fs.FileSelector(path, allow_not_found=True)))


@lru_cache
def _opened(scheme: str, host: str, options: tuple[tuple[str, str], ...]) -> tuple[FileSystem, str]:
    """The file system of a store, and its bucket or container."""
    from pyarrow import fs

    if _STORES[scheme] is _AZURE:
        return remote.azure(host, dict(options))
    return fs.S3FileSystem(**{_S3[key]: value for key, value in options}), host


def table_name(key: tuple[str, str]) -> str:
    """The folder of a table in a lake, unique for each schema and name.

    Only letters, digits and a few characters that no URL encodes are in it; ``~2F`` is a slash.
    """
    return path_of(folder_name(key))


def path_of(name: str) -> str:
    """A folder name without percent signs, which some formats' libraries take for their own."""
    name = name.replace("~", "%7E").replace("%%7E", "~~").replace("%", "~")
    return _UNFIT.sub(lambda match: "".join(f"~{byte:02X}" for byte in match[0].encode()), name)
