"""The folder of a lake: a local path, or a URL of an object store.

PyArrow writes the files, and deltalake the commits; both take their credentials from the environment. Options
after the URL are PyArrow's (``s3://bucket/lake?region=eu-central-1``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote

from binlog_kaitai.errors import SourceError
from binlog_kaitai.sources import remote
from binlog_kaitai.views.parquet_folder import folder_name

#: Characters that need no encoding in any URL or path.
_UNFIT = re.compile(r"[^\w.$@~+-]")

#: Options of a URL, and deltalake's names for them.
_OPTIONS = {"region": "AWS_REGION", "endpoint_override": "AWS_ENDPOINT_URL"}


class Storage:
    """The folder of a lake.

    Attributes
    ----------
    url : str
        Its absolute path, or its URL with options.
    name : str
        Its path or URL for messages, without credentials.
    """

    def __init__(self, url: str) -> None:
        self.is_local = not remote.is_url(url)
        self.url = os.path.abspath(url) if self.is_local else url
        self.name = self.url if self.is_local else remote.without_options(url)

    @contextmanager
    def opened(self, name: str = "") -> Iterator[tuple[Any, str]]:
        """The PyArrow file system, and the path of a file or folder of the lake in it.

        Raises
        ------
        SourceError
            In the body: the store cannot be reached, or refuses.
        """
        try:
            if self.is_local:
                from pyarrow import fs

                yield fs.LocalFileSystem(), os.path.join(self.url, name) if name else self.url
            else:
                with remote.changing(self.url_of(name)) as place:
                    yield place
        except OSError as error:
            raise SourceError(f"cannot be used: {error}", file=f"{self.name}/{name}") from error

    def url_of(self, name: str) -> str:
        """The path or URL of a table."""
        if self.is_local:
            return os.path.join(self.url, name)
        return remote.join(self.url, name) if name else self.url

    def delta_url(self, name: str) -> str:
        """The URL of a table for deltalake, which takes options separately."""
        url = self.url_of(name)
        return url if self.is_local else re.sub(r"^s3[an]://", "s3://", remote.without_options(url))

    def delta_options(self) -> dict[str, str] | None:
        """What deltalake must know besides the environment."""
        if self.is_local:
            return None
        _, _, query = self.url.partition("?") if "=" in self.url.rpartition("?")[2] else ("", "", "")
        given = dict(parse_qsl(query))
        found = {theirs: given[ours] for ours, theirs in _OPTIONS.items() if ours in given}
        endpoint = found.get("AWS_ENDPOINT_URL", "")
        if endpoint and "://" not in endpoint:
            endpoint = found["AWS_ENDPOINT_URL"] = f"{given.get('scheme', 'https')}://{endpoint}"
        if (endpoint or os.environ.get("AWS_ENDPOINT_URL", "")).startswith("http://"):
            found["AWS_ALLOW_HTTP"] = "true"
        user, mark, _ = self.url.partition("://")[2].partition("/")[0].rpartition("@")
        if mark:
            key, _, secret = user.partition(":")
            found |= {"AWS_ACCESS_KEY_ID": unquote(key), "AWS_SECRET_ACCESS_KEY": unquote(secret)}
        return found

    def names(self, folder: str = "") -> list[str]:
        """The files and folders in a folder of the lake; [] if there is none."""
        from pyarrow import fs

        with self.opened(folder) as (system, path):
            infos = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
        return sorted(info.base_name for info in infos)


def table_name(key: tuple[str, str]) -> str:
    """The folder of a table in a lake, unique for each schema and name.

    Only letters, digits and a few characters that no URL encodes are in it; ``~2F`` is a slash.
    """
    return path_of(folder_name(key))


def path_of(name: str) -> str:
    """The same from `folder_name`, whose percent signs some formats' libraries take for their own."""
    name = name.replace("~", "%7E").replace("%%7E", "~~").replace("%", "~")
    return _UNFIT.sub(lambda found: "".join(f"~{byte:02X}" for byte in found[0].encode()), name)
