"""Directories of an archive that `fetch` continued at another server: `archive/era-1`, `archive/era-2` …

The archive itself is the first era, number 0. It may be the URL of a folder in an object store.
"""

from __future__ import annotations

import os
import re

from binlog_kaitai.errors import reading
from binlog_kaitai.sources import remote

#: Each era has a state, from its beginning on.
_STATE = "fetch.json"

_ERA = re.compile(r"era-(?a:(\d{1,9}))")


def folder_of(archive: str, number: int) -> str:
    """The directory of an era, from 1 on."""
    return joined(archive, f"era-{number}")


def folders(archive: str) -> list[str]:
    """The directories of the later eras, oldest first.

    Raises
    ------
    SourceError
        The store that has them cannot be reached.
    """
    found: list[str] = []
    while _exists(joined(era := folder_of(archive, len(found) + 1), _STATE)):
        found.append(era)
    return found


def joined(folder: str, name: str) -> str:
    """The path or URL of a file in a folder."""
    return remote.join(folder, name) if remote.is_url(folder) else os.path.join(folder, name)


def _exists(path: str) -> bool:
    if not remote.is_url(path):
        return os.path.exists(path)
    with reading(remote.without_options(path)):
        return bool(remote.existing([path]))


def number_of(path: str) -> int:
    """The number of the era that a log belongs to; 0 outside of archives, too."""
    if remote.is_url(path):
        path = remote.without_options(path)
    found = _ERA.fullmatch(os.path.basename(os.path.dirname(os.path.normpath(path))))
    return int(found[1]) if found else 0


def log_of(path: str) -> str:
    """A log's path in the directory of its archive."""
    era, name = number_of(path), os.path.basename(path)
    return os.path.join(folder_of("", era), name) if era else name
